/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Kernels whose branches are predicted: loops, conditions, several targets. */
#ifndef MECHANISMS_BRANCHES_H
#define MECHANISMS_BRANCHES_H

#include "code.h"

enum { TARGETS_MAX = 1024 };

/* loops, turns of each, instructions of a turn. */
static turn loops(const size_t *n)
{
	int32_t turns = (int32_t)n[1];

	for (units = 0; units < n[0]; units++) {
		unsigned char *top;

		PUT("\x41\xbc"); /* mov $turns, %r12d */
		put_bytes(&turns, sizeof(turns));
		top = put;
		put_some(n[2]);
		PUT("\x41\xff\xcc"); /* dec %r12d */
		put_branch(IF_SET, top);
	}
	RETURN;
	return (turn)(void *)code;
}

/* instructions of a loop, its turns, and where it begins in a line. */
static turn loop_at(const size_t *n)
{
	int32_t turns = (int32_t)n[1];
	unsigned char *top;

	PUT("\x41\xbc"); /* mov $turns, %r12d */
	put_bytes(&turns, sizeof(turns));
	while ((size_t)(put - code) % LINE != n[2] % LINE)
		PUT("\x90"); /* nop */
	top = put;
	put_some(n[0]);
	PUT("\x41\xff\xcc"); /* dec %r12d */
	put_branch(IF_SET, top);
	RETURN;
	units = n[1];
	return (turn)(void *)code;
}

/* blocks, instructions before a branch that is never taken and again before one that is always,
 * instructions that it skips. */
static turn skips(const size_t *n)
{
	for (units = 0; units < n[0]; units++) {
		unsigned char *end;

		put_some(n[1]);
		put_branch(NEVER, code);
		put_some(n[1]);
		put_branch(ALWAYS, code);
		end = put;
		put_some(n[2]);
		set_distance(end, put);
	}
	RETURN;
	return (turn)(void *)code;
}

/* A loop: branches in it, each by a bit of a byte, instructions that each skips and that follow;
 * bytes. */
static turn by_bits(const size_t *n, int (*bits)(size_t i))
{
	int32_t period = (int32_t)n[2];
	unsigned char *top;

	for (size_t i = 0; i < n[2]; i++)
		data[PAGE + i] = (char)bits(i);
	PUT("\x45\x31\xe4"); /* xor %r12d, %r12d */
	top = put;
	PUT("\x42\x0f\xb6\xbc\x23\x00\x10\x00\x00"); /* movzbl PAGE(%rbx,%r12), %edi */
	for (size_t k = 0; k < n[0]; k++) {
		unsigned char bit = (unsigned char)(1u << k), *end;

		PUT("\x40\xf6\xc7"); /* test $bit, %dil */
		put_bytes(&bit, 1);
		put_branch(IF_SET, code);
		end = put;
		put_some(n[1]);
		set_distance(end, put);
		put_some(n[1]);
	}
	PUT("\x41\xff\xc4\x41\x81\xfc"); /* inc %r12d; cmp $period, %r12d */
	put_bytes(&period, sizeof(period));
	put_branch(IF_SET, top);
	RETURN;
	units = n[2];
	return (turn)(void *)code;
}

enum { DECISIONS = 4096 };

/* A chain of multiplications and additions, of each of which a bit decides: instructions that the
 * branch skips, and that follow; 1: the bit is random, 0: no bit. */
static turn decisions(const size_t *n)
{
	static const int32_t turns = DECISIONS;
	unsigned char *top, *end;

	PUT("\x48\x8b\x3b"); /* mov (%rbx), %rdi */
	PUT("\x41\xbc");     /* mov $turns, %r12d */
	put_bytes(&turns, sizeof(turns));
	top = put;
	PUT("\x48\x69\xff\x2d\x7f\x95\x4c"); /* imul $0x4c957f2d, %rdi, %rdi */
	PUT("\x48\x81\xc7\x4f\x81\x76\x67"); /* add $0x6776814f, %rdi */
	PUT("\xf7\xc7\x00\x00\x00");         /* test $0x80000000, %edi */
	put_bytes(n[2] ? "\x80" : "\x00", 1);
	put_branch(IF_SET, code);
	end = put;
	for (size_t i = 0; i < n[0]; i++)
		PUT("\x90"); /* nop */
	set_distance(end, put);
	for (size_t i = 0; i < n[1]; i++)
		PUT("\x48\x83\xc0\x01"); /* add $1, %rax */
	PUT("\x41\xff\xcc");             /* dec %r12d */
	put_branch(IF_SET, top);
	PUT("\x48\x89\x3b"); /* mov %rdi, (%rbx) */
	RETURN;
	units = DECISIONS;
	return (turn)(void *)code;
}

static int none(size_t i)
{
	(void)i;
	return 0;
}

static int all(size_t i)
{
	(void)i;
	return 255;
}

static int every_other(size_t i)
{
	return i & 1 ? 255 : 0;
}

static int any(size_t i)
{
	(void)i;
	return (int)(random_next(&seed) >> 20 & 255);
}

/* Each bit once in eight times. */
static int one_in_eight(size_t i)
{
	(void)i;
	return (int)(random_next(&seed) >> 20 & random_next(&seed) >> 30 &
		     random_next(&seed) >> 40 & 255);
}

/* Series of so many bits: every other one is the same. */
static size_t series;

static int half_new(size_t i)
{
	static uint8_t same[1 << 16];
	uint8_t now = (uint8_t)(random_next(&seed) >> 20);

	if (i / series % 2)
		return now;
	if (i < series)
		same[i] = now;
	return same[i % series];
}

/* bytes of a series, up to 65536; nothing; bytes. */
static turn bits_half_new(const size_t *n)
{
	series = n[0] < 1 << 16 ? n[0] : 1 << 16;
	return by_bits((const size_t[]){1, 2, n[2]}, half_new);
}

static turn bits_none(const size_t *n)
{
	return by_bits(n, none);
}

static turn bits_all(const size_t *n)
{
	return by_bits(n, all);
}

static turn bits_by_turns(const size_t *n)
{
	return by_bits(n, every_other);
}

static turn bits_random(const size_t *n)
{
	return by_bits(n, any);
}

static turn bits_chance(const size_t *n)
{
	return by_bits(n, one_in_eight);
}

enum order { ORDER_RANDOM, ORDER_CYCLIC, ORDER_SAME };

static size_t ordered(enum order order, size_t i, size_t count)
{
	if (order == ORDER_SAME)
		return i == 0;
	return (order == ORDER_CYCLIC ? i : random_next(&seed)) % count;
}

/* targets, instructions of each, jumps before the order repeats itself. shared: one jump for all.
 * same: all but one go to the first. */
static turn targets(const size_t *n, int shared, enum order order)
{
	static const char dispatch[] = "\x49\x8b\x04\x24\x49\x83\xc4\x08\xff\xe0";
	/* mov (%r12), %rax; add $8, %r12; jmp *%rax */
	uint64_t *table = (uint64_t *)(void *)(data + 16 * PAGE), at[TARGETS_MAX];
	unsigned char *jump;

	PUT("\x4c\x8d\xa3\x00\x00\x01\x00"); /* lea 16 * PAGE(%rbx), %r12 */
	jump = put;
	put_bytes(dispatch, sizeof(dispatch) - 1);
	for (size_t t = 0; t < n[0] && t < TARGETS_MAX; t++) {
		align(16);
		at[t] = (uintptr_t)put;
		put_some(n[1]);
		if (shared)
			put_branch(JUMP, jump);
		else
			put_bytes(dispatch, sizeof(dispatch) - 1);
	}
	align(16);
	for (size_t i = 0; i < n[2]; i++)
		table[i] = at[ordered(order, i, n[0])];
	table[n[2]] = (uintptr_t)put;
	RETURN;
	units = n[2];
	return (turn)(void *)code;
}

/* targets, up to 16; nothing; jumps before the order repeats itself. Before each jump there are
 * branches to the next instruction, one for each bit of the target's number: who knows the outcomes
 * of the last of these knows the target. */
static turn targets_told(const size_t *n)
{
	static const unsigned char rest[] = "\x0f\x84\x00\x00\x00\x00"; /* jz to the next */
	uint64_t *table = (uint64_t *)(void *)(data + 16 * PAGE);
	const size_t size = 2 * LINE, all = 16 * size;

	code = put = code + all - (uintptr_t)code % all;
	for (size_t t = 0; t <= n[0]; t++) {
		put = code + t * size;
		if (t == n[0])
			PUT("\x4c\x8d\xa3\x00\x00\x01\x00"); /* lea 16 * PAGE(%rbx), %r12 */
		PUT("\x49\x8b\x04\x24\x49\x83\xc4\x08");
		for (size_t bit = 1; bit < n[0]; bit *= 2) {
			uint32_t tested = (uint32_t)(bit * size);

			PUT("\xa9"); /* test $tested, %eax */
			put_bytes(&tested, sizeof(tested));
			put_bytes(rest, 6);
		}
		PUT("\xff\xe0");
	}
	for (size_t i = 0; i < n[2]; i++)
		table[i] = (uintptr_t)code + random_next(&seed) % n[0] * size;
	table[n[2]] = (uintptr_t)put;
	RETURN;
	units = n[2];
	return (turn)(void *)(code + n[0] * size);
}

static turn targets_shared(const size_t *n)
{
	return targets(n, 1, ORDER_RANDOM);
}

static turn targets_own(const size_t *n)
{
	return targets(n, 0, ORDER_RANDOM);
}

static turn targets_cyclic(const size_t *n)
{
	return targets(n, 0, ORDER_CYCLIC);
}

static turn targets_same(const size_t *n)
{
	return targets(n, 1, ORDER_SAME);
}

#endif
