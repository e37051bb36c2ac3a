/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reading bytes of a section, never beyond its end: from the first read that would be, all give 0
 * and `bad` stays set, so that it is enough to ask once.
 */
#ifndef IMAGE_CURSOR_H
#define IMAGE_CURSOR_H

#include <stdbool.h>
#include <string.h>

#include "image/elf_file.h"

struct cursor {
	const uint8_t *at, *end;
	bool bad;
};

static inline struct cursor cursor_none(void)
{
	static const uint8_t nothing;

	return (struct cursor){&nothing, &nothing, true};
}

static inline struct cursor cursor_at(struct span s, uint64_t offset)
{
	if (!s.data || offset > s.size)
		return cursor_none();
	return (struct cursor){s.data + offset, s.data + s.size, false};
}

static inline size_t cursor_left(const struct cursor *c)
{
	return (size_t)(c->end - c->at);
}

static inline void cursor_fail(struct cursor *c)
{
	c->bad = true;
	c->at = c->end;
}

static inline void cursor_skip(struct cursor *c, uint64_t n)
{
	if (n > cursor_left(c))
		cursor_fail(c);
	else if (n)
		c->at += n;
}

/* n bytes, little-endian, at most 8. */
static inline uint64_t cursor_fixed(struct cursor *c, unsigned n)
{
	uint64_t value = 0;

	if (n > cursor_left(c) || n > sizeof(value)) {
		cursor_fail(c);
		return 0;
	}
	memcpy(&value, c->at, n);
	c->at += n;
	return value;
}

static inline uint8_t cursor_u8(struct cursor *c)
{
	if (c->at == c->end) {
		cursor_fail(c);
		return 0;
	}
	return *c->at++;
}

static inline uint16_t cursor_u16(struct cursor *c)
{
	return (uint16_t)cursor_fixed(c, 2);
}

static inline uint32_t cursor_u32(struct cursor *c)
{
	return (uint32_t)cursor_fixed(c, 4);
}

static inline uint64_t cursor_u64(struct cursor *c)
{
	return cursor_fixed(c, 8);
}

/* DWARF's LEB128.  Bits beyond 64 are lost. */
static inline uint64_t cursor_uleb(struct cursor *c)
{
	uint64_t value = 0;
	unsigned shift = 0;

	while (c->at != c->end) {
		uint8_t byte = *c->at++;

		if (shift < 64)
			value |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return value;
		shift += 7;
	}
	cursor_fail(c);
	return 0;
}

static inline int64_t cursor_sleb(struct cursor *c)
{
	uint64_t value = 0;
	unsigned shift = 0;

	while (c->at != c->end) {
		uint8_t byte = *c->at++;

		if (shift < 64)
			value |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
		if (byte & 0x80)
			continue;
		if (shift < 64 && (byte & 0x40))
			value |= UINT64_MAX << shift;
		return (int64_t)value;
	}
	cursor_fail(c);
	return 0;
}

/* NULL, and bad, where it does not end. */
static inline const char *cursor_string(struct cursor *c)
{
	const char *text = (const char *)c->at;
	const uint8_t *zero = c->at == c->end ? NULL : memchr(c->at, '\0', cursor_left(c));

	if (!zero) {
		cursor_fail(c);
		return NULL;
	}
	c->at = zero + 1;
	return text;
}

/* A part of n bytes; the cursor goes on behind it. */
static inline struct cursor cursor_part(struct cursor *c, uint64_t n)
{
	struct cursor part = *c;

	cursor_skip(c, n);
	if (c->bad)
		return cursor_none();
	part.end = c->at;
	return part;
}

#endif
