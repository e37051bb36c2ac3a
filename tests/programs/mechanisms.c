/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mechanisms KERNEL NUMBER NUMBER NUMBER [MIX [TURNS]]: one small piece of code, each made to show
 * one mechanism of a core. Prints how many units a turn has; without TURNS, or if these are 0, also
 * how many cycles a unit takes: the median of many short runs, each beside a chain of additions,
 * which takes a cycle for each, and a reference (rest.h). Then follow what the reference took at
 * its best, how many runs count, and of how many: those beside which it was nearly as fast. With
 * TURNS only these are run, for the model.
 *
 * tests/accuracy/mechanisms has the list of kernels with numbers, and which constant of a machine
 * description each shows.
 */
#include "base/random.h"
#include "kernels/kernels_core.c"
#include "kernels/kernels_data.c"
#include "rest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

enum {
	LINE = 64,
	PAGE = 4096,
	HUGE = 2 << 20,
	RUNS = 300,
	RUNS_MOST = 3000,
	ADDS = 96000,
	TARGETS_MAX = 1024
};

static uint64_t seed = 0x9e3779b97f4a7c15u;
static size_t units; /* of a turn */

/* Of whole huge pages, if there are any. */
static void *room(size_t size)
{
	size_t whole = (size + HUGE - 1) / HUGE * HUGE;
	char *at = mmap(NULL, whole + HUGE, PROT_READ | PROT_WRITE | PROT_EXEC,
		MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (at == MAP_FAILED) {
		perror("mechanisms");
		exit(1);
	}
	return at + (HUGE - (uintptr_t)at % HUGE) % HUGE;
}

/* ---- loads and stores ---- */

static char *data;
static uint32_t *order; /* of lines; null: one after the other */
static size_t data_count, data_stride;

static void load_all(void)
{
	const char *at = data;
	uint64_t sum = 0;

	if (order)
		for (size_t i = 0; i < data_count; i++)
			sum += *(const volatile uint32_t *)(at + (size_t)order[i] * LINE);
	else
		for (size_t i = 0; i < data_count; i++, at += data_stride)
			sum += *(const volatile uint32_t *)at;
	KEEP(sum);
}

static void store_all(void)
{
	char *at = data;

	for (size_t i = 0; i < data_count; i++, at += data_stride)
		*(volatile uint64_t *)at = i;
}

static void add_to_all(void)
{
	char *at = data;

	for (size_t i = 0; i < data_count; i++, at += data_stride)
		*(volatile uint64_t *)at += i;
}

static uint32_t *shuffled(size_t n)
{
	uint32_t *o = malloc((n + 1) * sizeof(*o));

	if (!o)
		exit(1);
	for (size_t i = 0; i < n; i++)
		o[i] = (uint32_t)i;
	for (size_t i = n; i > 1; i--) {
		size_t k = random_next(&seed) % i;
		uint32_t other = o[i - 1];

		o[i - 1] = o[k];
		o[k] = other;
	}
	return o;
}

typedef void (*turn)(void);

/* count lines, so many bytes apart; huge: in huge pages. */
static void lay_out(size_t count, size_t stride, size_t huge)
{
	data = room(count * stride);
	madvise(data, (count * stride + HUGE - 1) / HUGE * HUGE,
		huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
	memset(data, 1, count * stride);
	units = data_count = count;
	data_stride = stride;
}

static turn loads(const size_t *n)
{
	lay_out(n[0], n[1], n[2]);
	return load_all;
}

static turn loads_random(const size_t *n)
{
	lay_out(n[0], LINE, n[2]);
	order = shuffled(n[0]);
	return load_all;
}

static turn stores(const size_t *n)
{
	lay_out(n[0], n[1], n[2]);
	return store_all;
}

static turn adds_to(const size_t *n)
{
	lay_out(n[0], n[1], n[2]);
	return add_to_all;
}

enum { PLACES = 16 };
static uint8_t *places; /* from which values come */

/* Value after value is loaded, changed and stored: each from where an earlier one was stored. */
static void pass_all(void)
{
	for (size_t i = 0; i < data_count; i++) {
		size_t from = ((const volatile uint8_t *)places)[i];
		uint64_t x = *(const volatile uint64_t *)(data + from * LINE);

		*(volatile uint64_t *)(data + i % PLACES * LINE) = x + 1;
	}
}

/* values, how many stores ago each one's was, at random 1 to so many? */
static turn passes(const size_t *n)
{
	lay_out(n[0], LINE, 0);
	places = room(n[0]);
	for (size_t i = 0; i < n[0]; i++) {
		size_t ago = n[2] ? 1 + random_next(&seed) % n[1] : n[1];

		places[i] = (uint8_t)((i + PLACES - ago) % PLACES);
	}
	return pass_all;
}

#if defined(__x86_64__)

/* ---- code ---- */

static unsigned char *code, *put; /* rbx: data, of which there are two MiB */
static const char *mix = "adds";
static unsigned put_count;

#define PUT(text) put_bytes(text, sizeof(text) - 1)

static void put_bytes(const void *bytes, size_t size)
{
	memcpy(put, bytes, size);
	put += size;
}

/* A distance of four bytes, which end at `at`. */
static void set_distance(unsigned char *at, const unsigned char *to)
{
	int32_t distance = (int32_t)(to - at);

	memcpy(at - 4, &distance, sizeof(distance));
}

static void put_branch(const char *opcode, const unsigned char *to)
{
	put_bytes(opcode, strlen(opcode));
	put += 4;
	set_distance(put, to);
}

#define JUMP   "\xe9"
#define CALL   "\xe8"
#define NEVER  "\x0f\x80" /* on overflow, which there is not */
#define ALWAYS "\x0f\x81"
#define IF_SET "\x0f\x85"
#define RETURN PUT("\xc3")

/* An instruction of the mix, independent of those before it. */
static void put_one(void)
{
	static const unsigned char registers[8] = {0, 1, 2, 6, 8, 9, 10, 11};
	unsigned r = registers[put_count++ % 8], low = r & 7, high = r >= 8;
	unsigned char slot = (unsigned char)(8 * (put_count >> 2 & 7));
	const char *what = mix;

	if (strcmp(mix, "typical") == 0) {
		static const char *const kinds[] = {
			"loads", "adds", "tests", "stores", "tests", "adds"};

		what = kinds[put_count % 6];
	} else if (strcmp(mix, "moves+loads") == 0) {
		what = put_count & 1 ? "moves" : "loads";
	}
	if (strcmp(what, "adds") == 0)
		put_bytes((unsigned char[]){0x48 | high, 0x83, 0xc0 | low, 1}, 4);
	else if (strcmp(what, "moves") == 0)
		put_bytes((unsigned char[]){0x48 | high << 2, 0x8b, 0xc3 | low << 3}, 3);
	else if (strcmp(what, "loads") == 0)
		put_bytes((unsigned char[]){0x48 | high << 2, 0x8b, 0x43 | low << 3, slot}, 4);
	else if (strcmp(what, "stores") == 0)
		put_bytes((unsigned char[]){0x48 | high << 2, 0x89, 0x43 | low << 3, 64 + slot}, 4);
	else if (strcmp(what, "tests") == 0)
		put_bytes(
			(unsigned char[]){0x48 | high << 2 | high, 0x85, 0xc0 | low | low << 3}, 3);
	else if (strcmp(what, "shifts") == 0)
		put_bytes((unsigned char[]){0x48 | high, 0xc1, 0xe0 | low, 1}, 4);
	else if (strcmp(what, "pairs") == 0) /* push %rbx, pop %rbx */
		put_bytes(put_count & 1 ? "\x53" : "\x5b", 1);
	else if (strcmp(what, "nops") == 0) /* of four bytes */
		PUT("\x0f\x1f\x40\x00");
	else /* "long": of eight */
		PUT("\x0f\x1f\x84\x00\x00\x00\x00\x00");
}

static void put_some(size_t n)
{
	while (n-- > 0)
		put_one();
}

static void align(size_t bytes)
{
	put += (bytes - (size_t)(put - code) % bytes) % bytes;
}

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

/* targets, instructions of each, jumps before the order repeats itself. shared: one jump for all.
 */
static turn targets(const size_t *n, int shared, int cyclic)
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
		table[i] = at[cyclic ? i % n[0] : random_next(&seed) % n[0]];
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
	return targets(n, 1, 0);
}

static turn targets_own(const size_t *n)
{
	return targets(n, 0, 0);
}

static turn targets_cyclic(const size_t *n)
{
	return targets(n, 0, 1);
}

/* ---- loads that failed to be forwarded ---- */

static void put_at(const char *opcode, size_t at)
{
	int32_t distance = (int32_t)at;

	put_bytes(opcode, strlen(opcode));
	put += 4;
	memcpy(put - 4, &distance, sizeof(distance));
}

#define STORE_HALF "\x89\x8b"     /* mov %ecx, d(%rbx) */
#define STORE_ALL  "\x48\x89\xb3" /* mov %rsi, d(%rbx) */
#define LOAD_NEXT  "\x48\x8b\x8b" /* mov d(%rbx), %rcx */
#define OR_ALL     "\x48\x0b\x83" /* or d(%rbx), %rax */

enum { FAILURES = 16, FAR = 1024 };

/* Other stores of eight bytes before the store of a half, others between that and the load, which
 * gives what the next turn stores; bytes from other to other. */
static turn fails_chain(const size_t *n)
{
	for (units = 0; units < FAILURES; units++) {
		for (size_t i = 0; i < n[0]; i++)
			put_at(STORE_ALL, FAR + i * n[2]);
		put_at(STORE_HALF, 0);
		for (size_t i = 0; i < n[1]; i++)
			put_at(STORE_ALL, FAR + (n[0] + i) * n[2]);
		put_at(LOAD_NEXT, 0);
	}
	RETURN;
	return (turn)(void *)code;
}

/* So many stores of halves, then as many loads, all free of each other; bytes from store to store.
 */
static turn fails_free(const size_t *n)
{
	for (units = 0; units < FAILURES; units++) {
		for (size_t i = 0; i < n[0]; i++)
			put_at(STORE_HALF, i * n[1]);
		for (size_t i = 0; i < n[0]; i++)
			put_at(OR_ALL, i * n[1]);
	}
	RETURN;
	return (turn)(void *)code;
}

/* The address of the load, and with it the load, depends on so many additions, which begin with the
 * turn: the store of a half leaves the buffer meanwhile. */
static turn fails_late(const size_t *n)
{
	put_at("\x4c\x8b\xa3", FAR); /* mov d(%rbx), %r12: 0 */
	for (units = 0; units < FAILURES; units++) {
		PUT("\x89\x33"); /* mov %esi, (%rbx) */
		for (size_t i = 0; i < n[0]; i++)
			PUT("\x48\x83\xc1\x01"); /* add $1, %rcx */
		PUT("\x4c\x21\xe1");             /* and %r12, %rcx */
		PUT("\x48\x8b\x0c\x0b");         /* mov (%rbx,%rcx), %rcx */
	}
	RETURN;
	return (turn)(void *)code;
}

/* ---- long chains ---- */

enum { CHAIN_COUNT = 40 };

/* Instructions of a chain, of which each begins anew and is added to a sum; instructions of the mix
 * that follow each. The chains overlap as far as schedulers, registers and the window reach. */
static turn chains(const size_t *n, const char *first, const char *next, const char *last)
{
	for (units = 0; units < CHAIN_COUNT; units++) {
		put_bytes(first, strlen(first));
		for (size_t i = 0; i < n[0]; i++)
			put_bytes(next, strlen(next));
		put_bytes(last, strlen(last));
		put_some(n[1]);
	}
	RETURN;
	return (turn)(void *)code;
}

#define TO_RDI  "\x48\x89\xdf" /* mov %rbx, %rdi */
#define SUM_RDI "\x49\x01\xfc" /* add %rdi, %r12 */

static turn chains_add(const size_t *n)
{
	return chains(n, TO_RDI, "\x48\x01\xdf", SUM_RDI); /* add %rbx, %rdi */
}

static turn chains_multiply(const size_t *n)
{
	return chains(n, TO_RDI, "\x48\x0f\xaf\xfb", SUM_RDI); /* imul %rbx, %rdi */
}

static turn chains_load(const size_t *n)
{
	memcpy(data, &data, sizeof(data));
	return chains(n, TO_RDI, "\x48\x8b\x3f", SUM_RDI); /* mov (%rdi), %rdi */
}

static turn chains_load_op(const size_t *n)
{
	return chains(n, TO_RDI, "\x48\x33\x3b", SUM_RDI); /* xor (%rbx), %rdi */
}

/* mov %rdi, %rax; shr, %rax; movzbl %al, %eax; xor (%rbx,%rax,8), %r8 */
#define LOOK_UP(bits) "\x48\x89\xf8\x48\xc1\xe8" bits "\x0f\xb6\xc0\x4c\x33\x04\xc3"

/* Rounds of eight look-ups, one for each byte of what the round before gave, as ciphers have. */
static turn chains_look_up(const size_t *n)
{
	for (size_t i = 0; i < 256; i++)
		((uint64_t *)(void *)data)[i] = random_next(&seed);
	return chains(n, TO_RDI "\x49\x89\xf8", /* mov %rdi, %r8 */
		LOOK_UP("\x01") LOOK_UP("\x08") LOOK_UP("\x10") LOOK_UP("\x18") LOOK_UP("\x20")
			LOOK_UP("\x28") LOOK_UP("\x30")
				LOOK_UP("\x38") "\x4c\x89\xc7", /* mov %r8, %rdi */
		SUM_RDI);
}

/* xorps %xmm0, %xmm0; mulsd %xmm1, %xmm0; addsd %xmm0, %xmm2 */
static turn chains_float(const size_t *n)
{
	return chains(n, "\x0f\x57\xc0", "\xf2\x0f\x59\xc1", "\xf2\x0f\x58\xd0");
}

static void begin_code(void)
{
	code = put = room(16 << 20);
	data = room(2 << 20);
}

static void take(turn f)
{
	/* Not into the red zone. */
	__asm__ volatile("mov %1, %%rbx\n\tadd $-128, %%rsp\n\tcall *%0\n\tsub $-128, %%rsp"
			 :
			 : "r"(f), "r"(data)
			 : "rax", "rbx", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11",
			 "r12", "xmm0", "xmm2", "memory", "cc");
}

#endif

static const struct kernel {
	const char *name;
	turn (*make)(const size_t *numbers);
	int is_code;
} kernels[] = {
	{"loads", loads, 0},
	{"random-loads", loads_random, 0},
	{"stores", stores, 0},
	{"adds-to", adds_to, 0},
	{"passes", passes, 0},
#if defined(__x86_64__)
	{"straight", straight, 1},
	{"jumps", jumps, 1},
	{"dense", dense, 1},
	{"dense-near", dense_near, 1},
	{"at", at_place, 1},
	{"at-if", at_place_if, 1},
	{"blocks-if", blocks_if, 1},
	{"calls", calls, 1},
	{"nested-calls", nested_calls, 1},
	{"never", never, 1},
	{"hot-call", hot_call, 1},
	{"loops", loops, 1},
	{"loop-at", loop_at, 1},
	{"skips", skips, 1},
	{"decisions", decisions, 1},
	{"bits-none", bits_none, 1},
	{"bits-all", bits_all, 1},
	{"bits-by-turns", bits_by_turns, 1},
	{"bits-random", bits_random, 1},
	{"bits-chance", bits_chance, 1},
	{"bits-half-new", bits_half_new, 1},
	{"targets-shared", targets_shared, 1},
	{"targets-own", targets_own, 1},
	{"targets-cyclic", targets_cyclic, 1},
	{"targets-told", targets_told, 1},
	{"fails-chain", fails_chain, 1},
	{"fails-free", fails_free, 1},
	{"fails-late", fails_late, 1},
	{"chains-add", chains_add, 1},
	{"chains-multiply", chains_multiply, 1},
	{"chains-load", chains_load, 1},
	{"chains-load-op", chains_load_op, 1},
	{"chains-look-up", chains_look_up, 1},
	{"chains-float", chains_float, 1},
#endif
};

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void run(const struct kernel *k, turn f, size_t turns)
{
#if defined(__x86_64__)
	if (k->is_code) {
		for (size_t i = 0; i < turns; i++)
			take(f);
		return;
	}
#endif
	(void)k;
	for (size_t i = 0; i < turns; i++)
		f();
}

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

struct sample {
	double cycles; /* of a unit */
	double rest;   /* time of the slower of the references before and after, by that of the
			  additions */
	int is_even;   /* took the additions before and after as long as each other? */
};

static double larger(double a, double b)
{
	return a > b ? a : b;
}

static struct sample sample(const struct kernel *k, turn f, size_t turns)
{
	double at[6], before, after, adds;

	for (int i = 0; i < 6; i++) {
		at[i] = seconds();
		if (i == 0 || i == 4)
			kernel_adds(ADDS);
		else if (i == 1 || i == 3)
			rest();
		else if (i == 2)
			run(k, f, turns);
	}
	before = at[1] - at[0];
	after = at[5] - at[4];
	adds = (before + after) / 2;
	return (struct sample){(at[3] - at[2]) / adds * ADDS / (double)turns / (double)units,
		larger(at[2] - at[1], at[4] - at[3]) / adds, larger(before, after) < 1.05 * adds};
}

/* The fifth least reference of even runs: of fewer, some had disturbed additions on both sides. */
static double best_rest(const struct sample *samples, int runs)
{
	double least[5] = {1e9, 1e9, 1e9, 1e9, 1e9};

	for (int i = 0; i < runs; i++) {
		double x = samples[i].is_even ? samples[i].rest : 1e9;

		for (int k = 0; k < 5; k++) {
			double other = least[k];

			if (x >= other)
				continue;
			least[k] = x;
			x = other;
		}
	}
	return least[4];
}

/* Of the runs beside which the reference was not slower by a tenth than at its best. */
static int undisturbed(const struct sample *samples, int runs, double *cycles)
{
	double least = best_rest(samples, runs);
	int n = 0;

	for (int i = 0; i < runs; i++)
		if (samples[i].is_even && samples[i].rest <= 1.1 * least)
			cycles[n++] = samples[i].cycles;
	return n;
}

/* Prints the median of these; the reference at its best; how many these are, and of how many. */
static void print_timed(const struct kernel *k, turn f)
{
	static struct sample samples[RUNS_MOST];
	static double kept[RUNS_MOST];
	double begin, start;
	size_t turns = 1;
	int runs = 0, n = 0;

	for (;; turns *= 2) {
		begin = seconds();
		run(k, f, turns);
		if (seconds() - begin > 2e-4)
			break;
	}
	start = seconds();
	while (runs < RUNS_MOST && (n < 10 || (n < RUNS && seconds() - start < 0.3)) &&
		(runs < RUNS || seconds() - start < 4)) {
		samples[runs++] = sample(k, f, turns);
		n = undisturbed(samples, runs, kept);
	}
	qsort(kept, (size_t)n, sizeof(*kept), ascending);
	printf(" %.3f %.3f %d %d", n ? kept[n / 2] : 0, best_rest(samples, runs), n, runs);
}

int main(int argc, char **argv)
{
	size_t number[3], turns = argc > 6 ? strtoul(argv[6], NULL, 0) : 0;

	for (size_t i = 0; argc > 4 && i < sizeof(kernels) / sizeof(kernels[0]); i++) {
		const struct kernel *k = &kernels[i];
		turn f;

		if (strcmp(argv[1], k->name) != 0)
			continue;
		for (int n = 0; n < 3; n++)
			number[n] = strtoul(argv[2 + n], NULL, 0);
#if defined(__x86_64__)
		mix = argc > 5 ? argv[5] : mix;
		if (k->is_code)
			begin_code();
#endif
		f = k->make(number);
		if (turns)
			run(k, f, turns);
		printf("%zu", units);
		if (!turns)
			print_timed(k, f);
		putchar('\n');
		return 0;
	}
	fprintf(stderr, "usage: mechanisms KERNEL NUMBER NUMBER NUMBER [MIX [TURNS]]\n");
	return 2;
}
