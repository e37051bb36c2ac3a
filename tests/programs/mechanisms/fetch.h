/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Kernels that fetch code: straight, with jumps, with calls. */
#ifndef MECHANISMS_FETCH_H
#define MECHANISMS_FETCH_H

#include "code.h"

/* bytes */
static turn straight(const size_t *n)
{
	while (put < code + n[0]) {
		put_one();
		units++;
	}
	RETURN;
	return (turn)(void *)code;
}

/* lines, instructions without effect in each, 8 to 32, that fill it. */
static turn lines(const size_t *n)
{
	static const unsigned char nop[] = {0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0};

	for (units = 0; units < n[0]; units++)
		for (size_t i = 0; i < n[1]; i++) {
			size_t size = LINE / n[1] + (i < LINE % n[1]);

			/* 66 66 ... 90, or the long one with a prefix less. */
			memset(put, 0x66, size);
			put[size - 1] = 0x90;
			if (size == sizeof(nop))
				memcpy(put, nop, size);
			put += size;
		}
	RETURN;
	return (turn)(void *)code;
}

/* Blocks of n[1] instructions with a branch to the next, `stride` bytes apart, in this order, from
 * a place in each. */
static turn tour(size_t count, size_t length, size_t stride, size_t place, const uint32_t *o,
	const char *branch)
{
	for (size_t i = 0; i < count; i++) {
		put = code + o[i] * stride + place;
		put_some(length);
		if (i + 1 < count)
			put_branch(branch, code + o[i + 1] * stride + place);
		else
			RETURN;
	}
	units = count;
	return (turn)(void *)(code + o[0] * stride + place);
}

static size_t block_size(size_t length)
{
	size_t size;

	put = code;
	put_some(length);
	size = (size_t)(put - code) + 5 + (strchr(mix, '+') || strcmp(mix, "typical") == 0 ? 4 : 0);
	put_count = 0;
	return size;
}

/* bytes, instructions of a block: each in lines of its own. */
static turn jumps(const size_t *n)
{
	size_t stride = (block_size(n[1]) + LINE - 1) / LINE * LINE, count = n[0] / stride;

	return tour(count, n[1], stride, 0, shuffled(count), JUMP);
}

/* Likewise without room between them. */
static turn dense(const size_t *n)
{
	size_t stride = block_size(n[1]), count = n[0] / stride;

	return tour(count, n[1], stride, 0, shuffled(count), JUMP);
}

/* Likewise; each jump is to one of the same 16 blocks, or the next. */
static turn dense_near(const size_t *n)
{
	size_t stride = block_size(n[1]), count = n[0] / stride / 16 * 16;
	uint32_t *o = shuffled(count);

	for (size_t g = 0; g < count; g += 16) {
		const uint32_t *in = shuffled(16);

		for (size_t i = 0; i < 16; i++)
			o[g + i] = (uint32_t)g + in[i];
	}
	return tour(count, n[1], stride, 0, o, JUMP);
}

/* bytes, instructions of a block, where it begins in every fourth line. */
static turn at_place(const size_t *n)
{
	return tour(n[0] / 256, n[1], 256, n[2], shuffled(n[0] / 256), JUMP);
}

static turn at_place_if(const size_t *n)
{
	return tour(n[0] / 256, n[1], 256, n[2], shuffled(n[0] / 256), ALWAYS);
}

/* blocks, instructions of each, bytes from one to the next. */
static turn blocks_if(const size_t *n)
{
	return tour(n[0], n[1], n[2], 0, shuffled(n[0]), ALWAYS);
}

/* bytes of all, instructions of a function, instructions between calls: all are called in turn. */
static turn calls(const size_t *n)
{
	size_t stride = (block_size(n[1]) - 4 + 15) / 16 * 16,
	       count = n[0] / (stride + 5 + 4 * n[2]);
	const uint32_t *o = shuffled(count);
	unsigned char *entry = code + count * stride;

	for (size_t i = 0; i < count; i++) {
		put = code + i * stride;
		put_some(n[1]);
		RETURN;
	}
	put = entry;
	for (size_t i = 0; i < count; i++) {
		put_branch(CALL, code + o[i] * stride);
		put_some(n[2]);
	}
	RETURN;
	units = count;
	return (turn)(void *)entry;
}

/* calls in a row, depth of further calls in each, instructions before and after each. */
static turn nested_calls(const size_t *n)
{
	unsigned char *below = NULL;

	for (size_t depth = 0; depth <= n[1]; depth++) {
		unsigned char *function;

		align(16);
		function = put;
		put_some(n[2]);
		if (below)
			put_branch(CALL, below);
		put_some(n[2]);
		RETURN;
		below = function;
	}
	align(LINE);
	code = put;
	for (units = 0; units < n[0]; units++) {
		put_branch(CALL, below);
		put_some(n[2]);
	}
	RETURN;
	return (turn)(void *)code;
}

/* bytes, instructions between branches that are never taken. */
static turn never(const size_t *n)
{
	while (put < code + n[0]) {
		put_some(n[1]);
		put_branch(NEVER, code);
		units++;
	}
	RETURN;
	return (turn)(void *)code;
}

/* Likewise; a test before each branch is one operation with it. */
static turn never_tested(const size_t *n)
{
	while (put < code + n[0]) {
		put_some(n[1]);
		PUT("\x48\x85\xdb"); /* test %rbx,%rbx */
		put_branch(NEVER, code);
		units++;
	}
	RETURN;
	return (turn)(void *)code;
}

/* bytes of code that is executed once a turn, instructions of it between calls, instructions of
 * the function that is called. */
static turn hot_call(const size_t *n)
{
	unsigned char *hot = code + n[0] + PAGE;

	put = hot;
	put_some(n[2]);
	RETURN;
	put = code;
	while (put < code + n[0]) {
		put_some(n[1]);
		put_branch(CALL, hot);
		units++;
	}
	RETURN;
	return (turn)(void *)code;
}

#endif
