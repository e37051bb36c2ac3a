/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kernels -list | kernels -clock | kernels NAME [LENGTH]: one of the calibration kernels, for about
 * LENGTH twentieths of a second on a processor of today; so that it can be timed natively and under
 * the model. -clock: prints the core's clock at this moment, in Hz, by a chain of additions, and
 * how many cycles an instruction without effect takes (rest.h; 0: not known).
 */
#include "base/random.h"
#include "kernels/kernels_code.c"
#include "kernels/kernels_core.c"
#include "kernels/kernels_data.c"
#include "rest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#define KIB ((size_t)1024)
#define MIB (1024 * KIB)

typedef void (*runner)(size_t argument, size_t count);

static uint64_t seed = 0x9e3779b97f4a7c15u;

static char *memory(size_t size, int protection)
{
	char *at = mmap(NULL, size, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (at == MAP_FAILED) {
		perror("kernels");
		exit(1);
	}
	return at;
}

static struct layout lines(size_t size)
{
	return (struct layout){memory(size, PROT_READ | PROT_WRITE), size / 64, 64};
}

/* ---- memory: argument is bytes ---- */

static void chase(size_t size, size_t count)
{
	struct layout l = lines(size);

	kernel_chase(kernel_chain_build(&l, 0, &seed), count & ~(size_t)7);
}

static void chains(size_t size, size_t count)
{
	struct layout l = lines(size);
	void *at[CHAINS];

	for (unsigned i = 0; i < CHAINS; i++)
		at[i] = kernel_chain_build(&l, i, &seed);
	kernel_chains(at, count & ~(size_t)31);
}

static void independent(size_t size, size_t count)
{
	struct layout l = lines(size);

	kernel_sweep_stores(&l, l.count, 0);
	kernel_independent(&l, count & ~(size_t)1, &seed);
}

static void sweep(size_t size, size_t count)
{
	struct layout l = lines(size);

	kernel_sweep_stores(&l, l.count, 0);
	kernel_sweep(&l, count & ~(size_t)7, 0);
}

static void sweep_stores(size_t size, size_t count)
{
	struct layout l = lines(size);

	kernel_sweep_stores(&l, count & ~(size_t)7, 0);
}

/* One line in each of so many pages. */
static void pages(size_t count_pages, size_t count)
{
	struct layout l = {memory(count_pages * (4 * KIB + 64), PROT_READ | PROT_WRITE),
		count_pages, 4 * KIB + 64};

	kernel_chase(kernel_chain_build(&l, 0, &seed), count & ~(size_t)7);
}

/* ---- branches, arithmetic ---- */

static void branches(size_t random, size_t count)
{
	uint8_t *bytes = (uint8_t *)memory(64 * KIB, PROT_READ | PROT_WRITE);

	for (size_t i = 0; i < 64 * KIB; i++)
		bytes[i] = (uint8_t)(random ? random_next(&seed) >> 40 : i & 1);
	for (size_t i = 0; i < count; i += 64 * KIB)
		kernel_branches(bytes, 64 * KIB);
}

static void branches_early(size_t unused, size_t count)
{
	uint64_t *words = (uint64_t *)memory(8 * KIB, PROT_READ | PROT_WRITE);

	(void)unused;
	for (size_t i = 0; i < KIB; i++)
		words[i] = random_next(&seed);
	for (size_t i = 0; i < count; i += 64 * KIB)
		kernel_branches_early(words, 64 * KIB);
}

static void adds(size_t unused, size_t count)
{
	(void)unused;
	kernel_adds(count & ~(size_t)63);
}

static void mix(size_t unused, size_t count)
{
	(void)unused;
	kernel_mix(memory(4 * KIB, PROT_READ), count / 24 * 24);
}

static void divides(size_t chain, size_t count)
{
	if (chain)
		kernel_divides_chain(0x123456789abcdef, 12345, count);
	else
		kernel_divides_free(0x123456789abcdef, 12345, count);
}

static void fp_divides(size_t chain, size_t count)
{
	(chain ? kernel_fp_divides_chain : kernel_fp_divides_free)(count);
}

static void fp_adds(size_t unused, size_t count)
{
	(void)unused;
	kernel_fp_adds_chain(count & ~(size_t)7);
}

/* ---- loads and stores in L1 ---- */

static void forward(size_t fails, size_t count)
{
	(fails ? kernel_forward_fail_chain : kernel_forward_chain)(
		memory(4 * KIB, PROT_READ | PROT_WRITE), count);
}

static void forward_free(size_t fails, size_t count)
{
	(fails ? kernel_forward_fail_free : kernel_forward_free)(
		memory(4 * KIB, PROT_READ | PROT_WRITE), count);
}

static void alias(size_t distance, size_t count)
{
	kernel_store_load(memory(16 * KIB, PROT_READ | PROT_WRITE), distance, count);
}

static void loads(size_t offset, size_t count)
{
	kernel_loads_at(memory(8 * KIB, PROT_READ | PROT_WRITE), offset, count & ~(size_t)7);
}

static void locked(size_t count_lines, size_t count)
{
	kernel_locked(memory(count_lines * 64, PROT_READ | PROT_WRITE), count_lines, count);
}

/* ---- code: argument is bytes ---- */

static void code(size_t size, size_t count, int jumps)
{
	struct layout l = {memory(size + 64, PROT_READ | PROT_WRITE), size / 64, 64};

	if (jumps)
		kernel_code_write_jumps(&l, &seed);
	else
		kernel_code_write_straight(&l);
	if (mprotect(l.base, size + 64, PROT_READ | PROT_EXEC))
		return;
	for (size_t i = 0; i < count; i += l.count)
		((void (*)(void))(void *)l.base)();
}

static void straight(size_t size, size_t count)
{
	code(size, count, 0);
}

static void jumps(size_t size, size_t count)
{
	code(size, count, 1);
}

static const struct kernel {
	const char *name;
	runner run;
	size_t argument;
	double count; /* in a twentieth of a second, or so */
} kernels[] = {
	{"adds", adds, 0, 1.8e8},
	{"mix", mix, 0, 3e8},
	{"chase-16K", chase, 16 * KIB, 4e7},
	{"chase-512K", chase, 512 * KIB, 8e6},
	{"chase-16M", chase, 16 * MIB, 2e5},
	{"chase-64M", chase, 64 * MIB, 1e5},
	{"chains-512K", chains, 512 * KIB, 4e7},
	{"chains-16M", chains, 16 * MIB, 6e5},
	{"independent-512K", independent, 512 * KIB, 5e7},
	{"independent-16M", independent, 16 * MIB, 8e5},
	{"sweep-512K", sweep, 512 * KIB, 8e7},
	{"sweep-16M", sweep, 16 * MIB, 2e6},
	{"stores-512K", sweep_stores, 512 * KIB, 4e7},
	{"stores-16M", sweep_stores, 16 * MIB, 5e6},
	{"pages-512", pages, 512, 1e7},
	{"pages-8192", pages, 8192, 2e5},
	{"branches-even", branches, 0, 6e7},
	{"branches-random", branches, 1, 1.5e7},
	{"branches-early", branches_early, 0, 1.5e7},
	{"divides-chain", divides, 1, 1e7},
	{"divides-free", divides, 0, 1.5e7},
	{"fp-divides-chain", fp_divides, 1, 1.2e7},
	{"fp-divides-free", fp_divides, 0, 4e7},
	{"fp-adds-chain", fp_adds, 0, 8e7},
	{"forward-chain", forward, 0, 6e7},
	{"forward-fail-chain", forward, 1, 1e7},
	{"forward-free", forward_free, 0, 4e7},
	{"forward-fail-free", forward_free, 1, 1e7},
	{"alias", alias, 4096, 6e7},
	{"no-alias", alias, 6144, 6e7},
	{"loads", loads, 0, 2e8},
	{"loads-split", loads, 60, 1.5e8},
	{"locked", locked, 16, 1e7},
	{"straight-16K", straight, 16 * KIB, 2e7},
	{"straight-512K", straight, 512 * KIB, 1.5e7},
	{"jumps-8K", jumps, 8 * KIB, 1e8},
	{"jumps-512K", jumps, 512 * KIB, 1e7},
};

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* An addition of the chain is a cycle. Interrupts make some of the runs longer. */
static void print_clock(void)
{
	enum { RUNS = 11, ADDS = 1280000 };
	double least = 1, resting[RUNS];

	for (int i = 0; i < RUNS; i++) {
		double begin = now(), time;

		kernel_adds(ADDS);
		time = now() - begin;
		least = time < least ? time : least;
		begin = now();
		rest();
		resting[i] = now() - begin;
	}
	qsort(resting, RUNS, sizeof(*resting), ascending);
	printf("%.0f %.4f\n", ADDS / least,
		resting[RUNS / 2] > 1e-6 ? resting[RUNS / 2] / REST_COUNT * ADDS / least : 0);
}

int main(int argc, char **argv)
{
	double length = argc > 2 ? strtod(argv[2], NULL) : 1;

	if (argc > 1 && strcmp(argv[1], "-clock") == 0) {
		print_clock();
		return 0;
	}
	for (size_t i = 0; argc > 1 && i < sizeof(kernels) / sizeof(kernels[0]); i++) {
		const struct kernel *k = &kernels[i];

		if (strcmp(argv[1], "-list") == 0)
			puts(k->name);
		if (strcmp(argv[1], k->name) == 0) {
			k->run(k->argument, (size_t)(k->count * length));
			return 0;
		}
	}
	if (argc > 1 && strcmp(argv[1], "-list") == 0)
		return 0;
	fprintf(stderr, "usage: kernels -list | kernels -clock | kernels NAME [LENGTH]\n");
	return 2;
}
