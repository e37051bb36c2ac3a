/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Weather: threads that share no data, but cache lines.
 *
 *     weather [-fixed] [THREADS [CELLS [STEPS]]]
 *
 * After the third case study of Zagha et al. (section 4).  Each thread computes the physics of its
 * own columns of air and adds up what it finds.  The sums of all threads stand next to each other,
 * so that several are in one cache line; the line belongs to one processor at a time, and each
 * addition takes it away from another one.
 *
 *     perfex -a -y -mp weather 4           as many interventions as secondary misses
 *     perfex -a -y -mp weather -fixed 4    hardly any
 *
 * Under the model threads take turns of a few hundred blocks of code, and the line changes hands
 * only where they do: far less often than on processors that run side by side, but often enough to
 * show.
 *
 * The fix gives each sum 128 bytes of its own: the largest line in use.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS_MAX = 64, LINE = 128 };

struct work {
	pthread_t thread;
	bool started;
	double *cell, *sum;
	size_t cells, steps;
};

/* Where thread i's sum is: its neighbour's line, or one of its own. */
static double sums[THREADS_MAX * LINE / sizeof(double)] __attribute__((aligned(LINE)));

static __attribute__((noinline)) void physics(double *cell, size_t cells, double *sum)
{
	for (size_t i = 0; i < cells; i++) {
		double heat = cell[i];

		heat += 0.125 * (1.0 - heat) * heat;
		cell[i] = heat;
		*sum += heat; /* in memory each time: for all the compiler knows it is one of the
				 cells */
	}
}

static void *run(void *argument)
{
	struct work *w = argument;

	for (size_t i = 0; i < w->steps; i++)
		physics(w->cell, w->cells, w->sum);
	return NULL;
}

static size_t number(const char *text, size_t limit)
{
	char *end;
	unsigned long value = strtoul(text, &end, 10);

	return *text >= '0' && *text <= '9' && *end == '\0' && value <= limit ? value : 0;
}

/* From one thread's cells to the next's, in cells: whole lines, so that only the sums can share. */
static size_t apart(size_t cells)
{
	size_t line = LINE / sizeof(double);

	return (cells + line - 1) / line * line;
}

static int simulate(size_t threads, size_t cells, size_t steps, bool fixed, double *cell)
{
	static struct work work[THREADS_MAX];
	double total = 0;
	int status = 0;

	for (size_t t = 0; t < threads; t++) {
		work[t].cell = cell + t * apart(cells);
		work[t].sum = &sums[fixed ? t * (LINE / sizeof(double)) : t];
		work[t].cells = cells;
		work[t].steps = steps;
		work[t].started = pthread_create(&work[t].thread, NULL, run, &work[t]) == 0;
		if (!work[t].started)
			status = 1;
	}
	for (size_t t = 0; t < threads; t++) {
		if (work[t].started)
			pthread_join(work[t].thread, NULL);
		total += *work[t].sum;
	}
	if (status)
		fprintf(stderr, "weather: cannot start %zu threads\n", threads);
	else
		printf("%zu steps of %zu cells on %zu threads, heat %.10g\n", steps,
			cells * threads, threads, total);
	return status;
}

int main(int argc, char **argv)
{
	bool fixed = argc > 1 && strcmp(argv[1], "-fixed") == 0;
	char **argument = argv + 1 + fixed;
	int left = argc - 1 - fixed, status;
	size_t threads = left > 0 ? number(argument[0], THREADS_MAX) : 4;
	size_t cells = left > 1 ? number(argument[1], 1 << 24) : 1000;
	size_t steps = left > 2 ? number(argument[2], 1 << 24) : 1000;
	double *cell;

	if (!threads || !cells || !steps || left > 3) {
		fprintf(stderr, "usage: weather [-fixed] [THREADS [CELLS [STEPS]]]\n");
		return 2;
	}
	cell = aligned_alloc(LINE, threads * apart(cells) * sizeof(*cell));
	if (!cell) {
		fprintf(stderr, "weather: out of memory for %zu cells\n", threads * cells);
		return 1;
	}
	for (size_t i = 0; i < threads * apart(cells); i++)
		cell[i] = 0.01 + (double)(i % 100) / 1000;
	status = simulate(threads, cells, steps, fixed, cell);
	free(cell);
	return status;
}
