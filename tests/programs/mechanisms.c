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
#include "kernels/kernels_core.c"
#include "kernels/kernels_data.c"
#include "mechanisms/data.h"
#include "rest.h"
#if defined(__x86_64__)
#include "mechanisms/branches.h"
#include "mechanisms/chains.h"
#include "mechanisms/crosses.h"
#include "mechanisms/fetch.h"
#endif

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { RUNS = 300, RUNS_MOST = 3000, ADDS = 96000 };

#if defined(__x86_64__)

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
	{"chase-near", chase_near, 0},
	{"chase-steps", chase_steps, 0},
	{"stores", stores, 0},
	{"adds-to", adds_to, 0},
	{"passes", passes, 0},
#if defined(__x86_64__)
	{"straight", straight, 1},
	{"lines", lines, 1},
	{"jumps", jumps, 1},
	{"dense", dense, 1},
	{"dense-near", dense_near, 1},
	{"at", at_place, 1},
	{"at-if", at_place_if, 1},
	{"blocks-if", blocks_if, 1},
	{"calls", calls, 1},
	{"nested-calls", nested_calls, 1},
	{"never", never, 1},
	{"never-tested", never_tested, 1},
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
	{"targets-same", targets_same, 1},
	{"targets-told", targets_told, 1},
	{"fails-chain", fails_chain, 1},
	{"fails-free", fails_free, 1},
	{"fails-late", fails_late, 1},
	{"aliases", aliases, 1},
	{"chains-add", chains_add, 1},
	{"chains-multiply", chains_multiply, 1},
	{"chains-load", chains_load, 1},
	{"chains-load-op", chains_load_op, 1},
	{"chains-look-up", chains_look_up, 1},
	{"chains-float", chains_float, 1},
	{"cross-move", cross_move, 1},
	{"cross-compare", cross_compare, 1},
	{"cross-convert", cross_convert, 1},
	{"cross-convert-in", cross_convert_in, 1},
	{"cross-extract", cross_extract, 1},
	{"cross-multiply", cross_multiply, 1},
	{"cross-memory-in", cross_memory_in, 1},
	{"cross-memory-out", cross_memory_out, 1},
	{"cross-x87", cross_x87, 1},
	{"cross-x87-long", cross_x87_long, 1},
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
