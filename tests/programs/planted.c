/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * planted PERCENT SECONDS: things that value samples find, each in a function of its own and in
 * this share of its executions, drawn anew for each turn. With "clean" instead of PERCENT, five
 * functions have none of them.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define NOINLINE __attribute__((noinline, noclone))
#define CELLS    4096
#define CALLS    2000
#define PASSES   4 /* with what was drawn */

static uint64_t state = 88172645463325252u, cells[CELLS], results[CELLS];
static volatile uint64_t sink;
static uint8_t area[65536] __attribute__((aligned(4096)));
static double numbers[CELLS], tiny[CELLS];
static unsigned char chosen[CELLS];
static unsigned percent;

static uint64_t draw(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

static int choose(void)
{
	return (draw() >> 20) % 100 < percent;
}

/* A store of what is there. */
NOINLINE void silent(void)
{
	for (int i = 0; i < CELLS; i++) {
		uint64_t there = cells[i];

		*(volatile uint64_t *)&cells[i] = chosen[i] ? there : there + 1;
	}
}

/* A load of what was loaded by the turn before. */
NOINLINE uint64_t reloads(void)
{
	uint64_t sum = 0;
	unsigned at = 0, fresh = 1;

	for (int i = 0; i < CELLS; i++) {
		if (!chosen[i])
			at = fresh++ % CELLS;
		sum += *(volatile uint64_t *)&cells[at];
	}
	return sum;
}

/* A load of four bytes that were stored one by one. */
NOINLINE uint32_t blocked(void)
{
	uint32_t sum = 0;

	for (int i = 0; i < CELLS; i++) {
		volatile uint8_t *p = area + (i * 8 & 32767);

		if (chosen[i]) {
			p[0] = (uint8_t)i;
			p[1] = 1;
			p[2] = 2;
			p[3] = 3;
		} else {
			*(volatile uint32_t *)p = (uint32_t)i;
		}
		sum += *(volatile uint32_t *)p;
	}
	return sum;
}

/* A load 16 KB from a store just before it, or 18 KB. */
NOINLINE uint64_t aliases(void)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < CELLS; i++) {
		unsigned o = i * 8 & 4095;

		*(volatile uint64_t *)(void *)(area + o) = i;
		sum += *(volatile uint64_t *)(void *)(area + 16384 +
						      (chosen[i] ? o : (o + 2048) & 4095));
	}
	return sum;
}

/* A store that another one follows. */
NOINLINE uint64_t dead(void)
{
	uint64_t sum = 0;

	for (int i = 0; i < CELLS; i++) {
		volatile uint64_t *p = &cells[i];

		*p = (uint64_t)i;
		if (!chosen[i])
			sum += *p;
		*p = (uint64_t)i + 7;
		sum += *p;
	}
	return sum;
}

/* A number too small for a full mantissa. */
NOINLINE double denormal(void)
{
	double sum = 0;

	for (int i = 0; i < CELLS; i++)
		sum += *(volatile double *)&numbers[i] * 0.5;
	return sum;
}

/* The divisor is 12. */
NOINLINE uint64_t divides(uint64_t number, uint64_t divisor)
{
	return number / divisor;
}

/* e is 7. */
NOINLINE double power(double x, int e)
{
	double y = 1;

	for (; e; e >>= 1, x *= x)
		if (e & 1)
			y *= x;
	return y;
}

static double once(void)
{
	uint64_t sum = 0;
	double y = 0;

	for (int i = 0; i < CELLS; i++) {
		chosen[i] = (unsigned char)choose();
		numbers[i] = chosen[i] ? tiny[i] : 1.0 + i;
	}
	for (int k = 0; k < PASSES; k++) {
		silent();
		sum += reloads() + blocked() + aliases() + dead();
		y += denormal();
	}
	for (int i = 0; i < CALLS; i++)
		sum += divides(draw(), choose() ? 12 : 13 + (draw() >> 40));
	for (int i = 0; i < CALLS; i++)
		y += power(1.0001, choose() ? 7 : 8 + (int)(draw() >> 44) % 24);
	sink = sum;
	return y;
}

/* ---- nothing planted ---- */

NOINLINE uint64_t clean_sum(void)
{
	uint64_t sum = 0;

	for (int i = 0; i < CELLS; i++)
		sum += cells[i] ^ (sum << 7);
	return sum;
}

NOINLINE void clean_draw(void)
{
	for (int i = 0; i < CELLS; i++)
		results[i] = draw();
}

NOINLINE void clean_add(void)
{
	for (int i = 0; i < CELLS; i++)
		cells[i] += results[i] | 1;
}

NOINLINE double clean_scale(void)
{
	double sum = 0;

	for (int i = 0; i < CELLS; i++)
		sum += numbers[i] * 1.5;
	return sum;
}

NOINLINE uint64_t clean_divide(void)
{
	uint64_t sum = 0;

	for (int i = 0; i < CELLS; i++)
		sum += draw() / (draw() >> 24 | 1);
	return sum;
}

static double once_clean(void)
{
	clean_draw();
	clean_add();
	sink = clean_sum() + clean_divide();
	return clean_scale();
}

int main(int argc, char **argv)
{
	clock_t end = clock() + (clock_t)((argc > 2 ? atof(argv[2]) : 1) * CLOCKS_PER_SEC);
	int clean = argc > 1 && strcmp(argv[1], "clean") == 0;
	double sum = 0;

	percent = argc > 1 && !clean ? (unsigned)atoi(argv[1]) : 50;
	for (int i = 0; i < CELLS; i++) {
		cells[i] = draw();
		numbers[i] = 1.0 + i;
		tiny[i] = 1e-310 * (1 + i % 100);
	}
	while (clock() < end)
		sum += clean ? once_clean() : once();
	printf("%d\n", sum > 0);
	return 0;
}
