/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * watched SECONDS [clean]: stores and loads of which it is known what becomes of them, farther
 * apart than a window is long, for tests of watched addresses. With clean, there is no needless
 * one.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define NOINLINE __attribute__((noinline, noclone))
#define CELLS    1024

static volatile uint64_t dead_cells[CELLS], silent_cells[CELLS], used_cells[CELLS];
static volatile uint64_t reloaded_cells[CELLS];

/* All of them are overwritten, and none is read. */
NOINLINE void stores_dead(uint64_t value)
{
	for (int i = 0; i < CELLS; i++)
		dead_cells[i] = value;
}

NOINLINE void overwrites(uint64_t value)
{
	for (int i = 0; i < CELLS; i++)
		dead_cells[i] = ~value;
}

/* What is there already; it is read later. */
NOINLINE void stores_silent(void)
{
	for (int i = 0; i < CELLS; i++)
		silent_cells[i] = 5;
}

/* New values, all of them read. */
NOINLINE void stores_used(uint64_t value)
{
	for (int i = 0; i < CELLS; i++)
		used_cells[i] += value + (uint64_t)i;
}

NOINLINE uint64_t loads(const volatile uint64_t *cells)
{
	uint64_t sum = 0;

	for (int i = 0; i < CELLS; i++)
		sum += cells[i];
	return sum;
}

NOINLINE uint64_t loads_again(void)
{
	uint64_t sum = 0;

	for (int i = 0; i < CELLS; i++)
		sum ^= reloaded_cells[i];
	return sum;
}

static double watched_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

int main(int argc, char **argv)
{
	double end = watched_now() + (argc > 1 ? atof(argv[1]) : 1);
	int clean = argc > 2 && strcmp(argv[2], "clean") == 0;
	uint64_t sum = 0, round = 0;

	for (; watched_now() < end; round++) {
		stores_used(round + 1);
		sum += loads(used_cells);
		if (clean)
			continue;
		stores_dead(round);
		overwrites(round);
		stores_silent();
		sum += loads(silent_cells) + loads_again();
	}
	printf("%d\n", (int)(sum != 0) + (int)(round == 0));
	return 0;
}
