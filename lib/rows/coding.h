/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The encoding of numbers and texts in experiment files, ssexp(5), and in those of the modelled
 * processor: numbers in groups of seven bits, least first, with the eighth bit set in all bytes but
 * the last (LEB128); signed ones with their sign in the lowest bit (zigzag); texts as their length
 * and bytes.
 */
#ifndef ROWS_CODING_H
#define ROWS_CODING_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/strbuf.h"

#define CODING_UINT_MOST 10 /* bytes */

static inline void put_uint(struct strbuf *s, uint64_t v)
{
	char *at = strbuf_room(s, CODING_UINT_MOST);

	if (!at)
		return;
	for (; v >= 0x80; v >>= 7)
		*at++ = (char)(v | 0x80);
	*at++ = (char)v;
	*at = '\0';
	s->length = (size_t)(at - s->data);
}

static inline void put_sint(struct strbuf *s, int64_t v)
{
	put_uint(s, (uint64_t)v << 1 ^ (v < 0 ? UINT64_MAX : 0));
}

static inline void put_bytes(struct strbuf *s, const void *data, size_t length)
{
	put_uint(s, length);
	strbuf_add(s, data, length);
}

static inline void put_text(struct strbuf *s, const char *text)
{
	put_bytes(s, text, strlen(text));
}

static inline void put_fixed(uint8_t *to, uint64_t v, int bytes)
{
	for (int i = 0; i < bytes; i++)
		to[i] = (uint8_t)(v >> (8 * i));
}

static inline uint64_t get_fixed(const uint8_t *from, int bytes)
{
	uint64_t v = 0;

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	if (bytes == 8) {
		memcpy(&v, from, 8);
		return v;
	}
#endif
	for (int i = 0; i < bytes; i++)
		v |= (uint64_t)from[i] << (8 * i);
	return v;
}

/* The rest of a section. Reading past its end, or an invalid number, makes it bad, and all later
 * reads return 0. */
struct cursor {
	const uint8_t *at, *end;
	bool bad;
	bool nomem; /* it is bad because memory was out */
};

static inline uint64_t get_slowly(struct cursor *c)
{
	uint64_t v = 0;

	for (int shift = 0; shift < 64 && c->at < c->end; shift += 7) {
		uint8_t byte = *c->at++;

		if (shift == 63 && byte > 1)
			break;
		v |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return v;
	}
	c->bad = true;
	c->at = c->end;
	return 0;
}

/* Up to eight bytes at once: their groups of seven bits are moved together in pairs. */
static inline uint64_t get_uint(struct cursor *c)
{
	uint64_t v, ends;

	if (c->at < c->end && *c->at < 0x80)
		return *c->at++;
	if (c->end - c->at < 8)
		return get_slowly(c);
	v = get_fixed(c->at, 8);
	ends = ~v & 0x8080808080808080u;
	if (!ends)
		return get_slowly(c);
	c->at += __builtin_ctzll(ends) / 8 + 1;
	v &= (ends ^ (ends - 1)) & 0x7f7f7f7f7f7f7f7fu;
	v = (v & 0x007f007f007f007fu) | (v & 0x7f007f007f007f00u) >> 1;
	v = (v & 0x00003fff00003fffu) | (v & 0x3fff00003fff0000u) >> 2;
	return (v & 0x000000000fffffffu) | (v & 0x0fffffff00000000u) >> 4;
}

/* One below limit. */
static inline uint32_t get_below(struct cursor *c, uint64_t limit)
{
	uint64_t v = get_uint(c);

	if (v < limit)
		return (uint32_t)v;
	c->bad = true;
	return 0;
}

static inline uint32_t get_u32(struct cursor *c)
{
	return get_below(c, (uint64_t)UINT32_MAX + 1);
}

static inline int64_t unzigzag(uint64_t v)
{
	return (int64_t)(v >> 1) ^ -(int64_t)(v & 1);
}

static inline int32_t get_s32(struct cursor *c)
{
	return (int32_t)unzigzag(get_u32(c));
}

/* Borrowed from the section. */
static inline const uint8_t *get_bytes(struct cursor *c, size_t *length)
{
	uint64_t n = get_uint(c);
	const uint8_t *data = c->at;

	if (n > (uint64_t)(c->end - c->at)) {
		c->bad = true;
		n = 0;
	}
	c->at += n;
	*length = (size_t)n;
	return data;
}

/* A text of its own; "" if it is missing, NULL where it cannot be read. */
static inline char *get_string_or_none(struct cursor *c, bool missing)
{
	size_t length = 0;
	const uint8_t *data = missing ? (const uint8_t *)"" : get_bytes(c, &length);
	char *text;

	if (length && memchr(data, 0, length))
		c->bad = true;
	if (c->bad)
		return NULL;
	text = strndup((const char *)data, length);
	c->nomem |= !text;
	c->bad |= !text;
	return text;
}

static inline char *get_string(struct cursor *c)
{
	return get_string_or_none(c, false);
}

#endif
