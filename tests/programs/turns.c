/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * turns -list | turns KIND SECONDS: a loop of known counts, for so long; then prints how many turns
 * the loop in the function turns_KIND has made. For executions that are estimated
 * (tests/accuracy/loops).
 */
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define LOOP    __attribute__((noipa))
#define KEEP(x) __asm__ volatile("" : "+r"(x)) /* the compiler knows nothing of it */

struct node {
	struct node *next;
	uint64_t value, rest[14];
};

static uint64_t sink;

static uint64_t draw(uint64_t x)
{
	x ^= x << 13;
	x ^= x >> 7;
	return x ^ x << 17;
}

/* ---- loops that wait for themselves ---- */

LOOP uint64_t turns_multiply(uint64_t n)
{
	uint64_t x = 1;

	for (; n; n--) {
		x = x * 25 + n;
		KEEP(x);
	}
	return x;
}

LOOP uint64_t turns_divide(uint64_t n)
{
	uint64_t x = ~0ull;

	for (uint64_t by = 3; n; n--) {
		KEEP(by);
		x = ~0ull - x / by;
	}
	return x;
}

LOOP uint64_t turns_count(uint64_t n)
{
	for (; n; n--)
		KEEP(n);
	return n;
}

/* ---- loops that do not ---- */

LOOP uint64_t turns_wide(uint64_t n)
{
	uint64_t a = 0, b = 0, c = 0, d = 0, e = 0;

	for (; n; n--) {
		a += n, b ^= n, c -= n, d |= n, e += 3;
		KEEP(a);
		KEEP(b);
		KEEP(c);
		KEEP(d);
		KEEP(e);
	}
	return a + b + c + d + e;
}

LOOP uint64_t turns_nested(uint64_t n)
{
	uint64_t sum = 0;

	for (; n >= 6; n -= 6)
		for (uint64_t i = 0; i < 6; i++) {
			sum += i;
			KEEP(sum);
		}
	return sum;
}

LOOP uint64_t turns_either(uint64_t n)
{
	uint64_t x = 88172645463325252u, sum = 0;

	for (; n; n--) {
		x = draw(x);
		if (x & 1) {
			sum += x;
			KEEP(sum);
		} else {
			sum ^= n;
			KEEP(sum);
		}
	}
	return sum;
}

LOOP uint64_t turns_cases(uint64_t n)
{
	uint64_t x = 88172645463325252u, sum = 0;

	for (; n; n--) {
		x = draw(x);
		switch (x >> 20 & 7) {
		case 0:
			sum += 1;
			KEEP(sum);
			break;
		case 1:
			sum ^= x;
			KEEP(sum);
			break;
		case 2:
			sum -= n;
			KEEP(sum);
			break;
		case 3:
			sum |= 5;
			KEEP(sum);
			break;
		case 4:
			sum *= 3;
			KEEP(sum);
			break;
		default:
			sum <<= 1;
			KEEP(sum);
		}
	}
	return sum;
}

/* ---- calls ---- */

LOOP static uint64_t tiny(uint64_t x)
{
	return x + 1;
}

LOOP static uint64_t other(uint64_t x)
{
	return x ^ 3;
}

LOOP uint64_t turns_call(uint64_t n)
{
	uint64_t sum = 0;

	for (; n; n--)
		sum += tiny(n);
	return sum;
}

/* With other work around the call. */
LOOP uint64_t turns_callwide(uint64_t n)
{
	uint64_t a = 0, b = 0, c = 0;

	for (; n; n--) {
		a += tiny(n);
		b ^= n;
		KEEP(b);
		c += b & 7;
		KEEP(c);
	}
	return a + b + c;
}

/* Each call needs the result of the last. */
LOOP uint64_t turns_callchain(uint64_t n)
{
	uint64_t x = 0;

	for (; n; n--)
		x = other(tiny(x));
	return x;
}

LOOP uint64_t turns_pointer(uint64_t n)
{
	static uint64_t (*const ways[2])(uint64_t) = {tiny, other};
	uint64_t sum = 0;

	for (; n; n--)
		sum += ways[n & 1](n);
	return sum;
}

LOOP uint64_t turns_fibonacci(uint64_t n)
{
	return n < 2 ? n : turns_fibonacci(n - 1) + turns_fibonacci(n - 2);
}

/* ---- loops that wait for memory ---- */

LOOP uint64_t turns_chase(const struct node *at, uint64_t n)
{
	for (; n; n--)
		at = at->next;
	return at->value;
}

LOOP uint64_t turns_list(const struct node *at)
{
	uint64_t sum = 0;

	for (; at; at = at->next)
		sum += at->value;
	return sum;
}

/* Nodes far from each other, in random order or not, in lists of this length: place[i * length] is
 * the head of the i-th. */
static struct node **lists(uint64_t nodes, uint64_t length, bool random)
{
	struct node *all = calloc(nodes, sizeof(*all));
	struct node **place = calloc(nodes, sizeof(struct node *));
	uint64_t x = 88172645463325252u;

	if (!all || !place)
		exit(1);
	for (uint64_t i = 0; i < nodes; i++) {
		uint64_t other = random ? (x = draw(x)) % (i + 1) : i;

		place[i] = place[other];
		place[other] = &all[i * 61803 % nodes];
	}
	for (uint64_t i = 0; i + 1 < nodes; i++)
		place[i]->next = (i + 1) % length ? place[i + 1] : NULL;
	return place;
}

/* ---- kinds ---- */

static uint64_t ring(void)
{
	static struct node *all;

	if (!all) {
		all = calloc(32, sizeof(*all));
		for (int i = 0; all && i < 32; i++)
			all[i].next = &all[(i + 1) % 32];
	}
	if (!all)
		exit(1);
	sink += turns_chase(all, 4000000);
	return 4000000;
}

#define FAR 200000ul /* nodes: 25 MB */

/* One list through all of the memory; short ones; both with other work between them. */
static uint64_t far_lists(uint64_t length, bool random, bool mixed)
{
	static struct node **place;

	if (!place)
		place = lists(FAR, length, random);
	for (uint64_t i = 0; i < FAR; i += length) {
		if (mixed)
			sink += turns_multiply(50 * length);
		sink += turns_list(place[i]);
	}
	return FAR;
}

static uint64_t far(void)
{
	return far_lists(FAR, true, false);
}

static uint64_t far_short(void)
{
	return far_lists(20, true, false);
}

static uint64_t far_mixed(void)
{
	return far_lists(20, true, true);
}

static uint64_t far_phased(void)
{
	return far_lists(FAR, true, true);
}

/* A distance that is always the same: what prefetchers make of it depends on the code. */
static uint64_t far_even(void)
{
	return far_lists(FAR, false, false);
}

/* Stops of the program's own, between short loops. */
static uint64_t with_reads(void)
{
	static int zero = -1;
	uint64_t turns = 0;
	char buffer[512];

	if (zero < 0)
		zero = open("/dev/zero", O_RDONLY);
	for (int i = 0; i < 20000; i++) {
		if (read(zero, buffer, sizeof(buffer)) != sizeof(buffer))
			exit(1);
		sink += turns_either(100);
		turns += 100;
	}
	return turns;
}

static uint64_t fibonacci(void)
{
	sink += turns_fibonacci(27);
	return 635621; /* calls */
}

static const struct kind {
	const char *name, *function;
	uint64_t (*loop)(uint64_t n); /* with this number of turns: */
	uint64_t turns;
	uint64_t (*run)(void); /* or this, which tells it */
} kinds[] = {
	{"multiply", "turns_multiply", turns_multiply, 3000000, NULL},
	{"divide", "turns_divide", turns_divide, 1000000, NULL},
	{"count", "turns_count", turns_count, 10000000, NULL},
	{"wide", "turns_wide", turns_wide, 8000000, NULL},
	{"nested", "turns_nested", turns_nested, 6000000, NULL},
	{"either", "turns_either", turns_either, 1000000, NULL},
	{"cases", "turns_cases", turns_cases, 1000000, NULL},
	{"call", "turns_call", turns_call, 5000000, NULL},
	{"callwide", "turns_callwide", turns_callwide, 5000000, NULL},
	{"callchain", "turns_callchain", turns_callchain, 3000000, NULL},
	{"pointer", "turns_pointer", turns_pointer, 5000000, NULL},
	{"fibonacci", "turns_fibonacci", NULL, 0, fibonacci},
	{"chase", "turns_chase", NULL, 0, ring},
	{"far", "turns_list", NULL, 0, far},
	{"even", "turns_list", NULL, 0, far_even},
	{"short", "turns_list", NULL, 0, far_short},
	{"mixed", "turns_list", NULL, 0, far_mixed},
	{"phased", "turns_list", NULL, 0, far_phased},
	{"reads", "turns_either", NULL, 0, with_reads},
};

enum { KINDS = sizeof(kinds) / sizeof(kinds[0]) };

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int main(int count, char **words)
{
	const struct kind *kind = NULL;
	uint64_t turns = 0;

	for (size_t i = 0; i < KINDS; i++) {
		if (count == 2 && strcmp(words[1], "-list") == 0)
			printf("%s %s\n", kinds[i].name, kinds[i].function);
		if (count == 3 && strcmp(words[1], kinds[i].name) == 0)
			kind = &kinds[i];
	}
	if (!kind)
		return count != 2;
	for (double end = seconds() + strtod(words[2], NULL); seconds() < end;) {
		if (kind->run) {
			turns += kind->run();
		} else {
			sink += kind->loop(kind->turns);
			turns += kind->turns;
		}
	}
	printf("%lu\n", (unsigned long)turns);
	return 0;
}
