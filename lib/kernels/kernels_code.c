/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Kernels that are code to be fetched: long straight lines, and jumps from line to line. */
#include "kernels/kernels.h"

#include <string.h>

#include "kernels/private.h"

#if defined(__x86_64__)

static size_t put_nop(char *at)
{
	/* Eight bytes: few instructions per line, so that fetching them takes the time. */
	static const char nop[8] = "\x0f\x1f\x84\x00\x00\x00\x00\x00";

	memcpy(at, nop, sizeof(nop));
	return sizeof(nop);
}

static size_t put_jump(char *at, const char *to)
{
	int32_t distance = (int32_t)(to - (at + 5));

	*at = (char)0xe9;
	memcpy(at + 1, &distance, sizeof(distance));
	return 5;
}

static size_t put_return(char *at)
{
	*at = (char)0xc3;
	return 1;
}

#elif defined(__aarch64__)

static size_t code_put_word(char *at, uint32_t word)
{
	memcpy(at, &word, sizeof(word));
	return sizeof(word);
}

static size_t put_nop(char *at)
{
	return code_put_word(at, 0xd503201f);
}

static size_t put_jump(char *at, const char *to)
{
	return code_put_word(at, 0x14000000u | ((uint32_t)((to - at) >> 2) & 0x3ffffffu));
}

static size_t put_return(char *at)
{
	return code_put_word(at, 0xd65f03c0);
}

#else

static size_t put_nop(char *at)
{
	(void)at;
	return 64;
}

static size_t put_jump(char *at, const char *to)
{
	(void)at;
	(void)to;
	return 64;
}

static size_t put_return(char *at)
{
	(void)at;
	return 64;
}

#endif

void kernel_code_write_straight(const struct layout *l)
{
	char *at = l->base, *end = l->base + l->count * l->stride;

	while (at < end)
		at += put_nop(at);
	at += put_return(at);
	__builtin___clear_cache(l->base, at);
}

void kernel_code_write_jumps(const struct layout *l, uint64_t *random)
{
	char *first = kernel_chain_build(l, 0, random), *at = first;

	/* Each line's jump overwrites the pointer to its target. */
	for (;;) {
		char *next;

		memcpy(&next, at, sizeof(next));
		if (next == first)
			break;
		put_jump(at, next);
		at = next;
	}
	put_return(at);
	__builtin___clear_cache(l->base, layout_line(l, l->count - 1) + 64);
}
