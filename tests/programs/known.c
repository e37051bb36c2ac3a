/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * known SECONDS: works on values that are known by construction, for tests of value samples. Each
 * planted thing is in a function of its own; plain() has none of them.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define NOINLINE __attribute__((noinline, noclone))
#define CELLS    4096

static uint64_t state = 88172645463325252u, sink;
static uint64_t cells[CELLS];
static volatile uint32_t word;
static unsigned char flags[CELLS];

static uint64_t draw(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

/* e is 7 in nine calls of ten, and in one of 32 others. */
NOINLINE double power(double x, int e)
{
	double y = 1;

	for (; e; e >>= 1, x *= x)
		if (e & 1)
			y *= x;
	return y;
}

/* The divisor is always 10. */
NOINLINE uint64_t divides(uint64_t number, uint64_t divisor)
{
	uint64_t sum = 0;

	for (; number; number /= divisor)
		sum += number % divisor;
	return sum;
}

/* Nearly all stores write what is there already. */
NOINLINE void silent(unsigned char value)
{
	for (int i = 0; i < CELLS; i++)
		*(volatile unsigned char *)&flags[i] = value;
}

/* A value that is loaded again and again. */
NOINLINE uint64_t reloads(const volatile uint64_t *scale)
{
	uint64_t sum = 0;

	for (int i = 0; i < CELLS; i++)
		sum += cells[i] * *scale;
	return sum;
}

/* Four bytes are stored one by one, then read as a word: no store has them all. */
NOINLINE uint32_t blocked(uint32_t value)
{
	uint32_t sum = 0;

	for (int i = 0; i < 500; i++) {
		for (int k = 0; k < 4; k++)
			((volatile unsigned char *)&word)[k] = (unsigned char)(value >> 8 * k);
		sum += word;
	}
	return sum;
}

/* Loads with the low 12 bits of an address that was stored to just before. */
NOINLINE uint64_t aliases(uint64_t *a)
{
	uint64_t sum = 0;

	for (int i = 0; i < 500; i++) {
		*(volatile uint64_t *)&a[i & 63] = (uint64_t)i;
		sum += *(volatile uint64_t *)&a[(i & 63) + 2048]; /* 16 KB farther */
	}
	return sum;
}

/* The first of two stores is never read. */
NOINLINE void dead(volatile uint64_t *a)
{
	for (int i = 0; i < 500; i++) {
		a[i & 7] = 1;
		a[i & 7] = (uint64_t)i;
	}
}

/* Numbers too small for a full mantissa. */
NOINLINE double denormal(const volatile double *tiny)
{
	double sum = 0;

	for (int i = 0; i < 500; i++)
		sum += *tiny * 0.5;
	return sum;
}

struct link {
	struct link *next;
};

NOINLINE struct link *chase(struct link *at)
{
	for (int i = 0; i < 1000; i++)
		at = at->next;
	return at;
}

NOINLINE uint64_t plain(void)
{
	uint64_t sum = 0;

	for (int i = 0; i < CELLS; i++)
		sum += cells[i] ^ (sum << 7);
	return sum;
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void once(struct link *links, uint64_t *far)
{
	volatile double tiny = 1e-310;
	volatile uint64_t scale = 12;
	double y = 0;

	for (int i = 0; i < 600; i++)
		y += power(1.0001, draw() % 10 ? 7 : (int)(draw() % 32));
	for (int i = 0; i < 60; i++)
		sink += divides(draw(), 10);
	silent(5);
	sink += reloads(&scale) + blocked((uint32_t)draw()) + aliases(far) + plain();
	for (int i = 0; i < 4; i++) {
		dead(cells);
		y += denormal(&tiny);
	}
	sink += (uint64_t)y + (chase(links) == links);
}

int main(int argc, char **argv)
{
	double end = now() + (argc > 1 ? atof(argv[1]) : 1);
	static struct link links[512];
	uint64_t *far = calloc(4096, sizeof(*far));
	int rounds = 0;

	if (!far)
		return 1;
	for (int i = 0; i < CELLS; i++)
		cells[i] = draw();
	for (int i = 0; i < 512; i++)
		links[i].next = &links[(i * 37 + 101) % 512];
	/* A number is a count of rounds where it is followed by r. */
	if (argc > 1 && strchr(argv[1], 'r')) {
		for (; rounds < atoi(argv[1]); rounds++)
			once(links, far);
	} else {
		for (; now() < end; rounds++)
			once(links, far);
	}
	printf("%d rounds, %d\n", rounds, (int)(sink & 1));
	free(far);
	return 0;
}
