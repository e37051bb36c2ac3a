/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Loads of known levels, timed as bursts time loads (branches/timing.c): chains of pointers through
 * memory of the right size, in random order, and lines that are flushed before. Where the memory is
 * in steps of several lines, so that prefetchers of neighbouring lines do not help.
 */
#include "base/clock.h"
#include "values/latencies.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define STEP       256 /* bytes */
#define HUGE_PAGE  (2u << 20)
#define LOADS      8000
#define FEW        100 /* of these, the least and the greatest */
#define FLUSHED    1500
#define L2_USUAL   (512u << 10)
#define L2_MOST    (4u << 20)
#define PASSES     2
#define PAUSE_MOST 128 /* rounds of a loop */
#define L1_BYTES   8192u

struct timed_by {
	uint64_t saved[2];
	uint32_t before;
};

/* The chain's next address goes through rcx, or through rax, which was just restored. */
static uint32_t timed_load(void **at, void **to, struct timed_by *by, int form)
{
	uint32_t ticks;
	void *got;

	if (form) {
		__asm__ volatile(
			"mov %%rax, %[rax]\n\tmov %%rdx, %[rdx]\n\tlfence\n\trdtsc\n\t"
			"mov %%eax, %[before]\n\tmov %[rax], %%rax\n\tmov %[rdx], %%rdx\n\t"
			"lfence\n\tmov (%%rax), %%rcx\n\tlfence\n\tmov %%rax, %[rax]\n\t"
			"mov %%rdx, %[rdx]\n\trdtsc\n\tsub %[before], %%eax"
			: "=a"(ticks), "=&c"(got), [rax] "+m"(by->saved[0]),
			[rdx] "+m"(by->saved[1]), [before] "+m"(by->before)
			: "0"(at)
			: "rdx", "memory", "cc");
	} else {
		__asm__ volatile(
			"mov %%rax, %[rax]\n\tmov %%rdx, %[rdx]\n\tlfence\n\trdtsc\n\t"
			"mov %%eax, %[before]\n\tmov %[rax], %%rax\n\tmov %[rdx], %%rdx\n\t"
			"lfence\n\tmov (%%rcx), %%rcx\n\tlfence\n\tmov %%rax, %[rax]\n\t"
			"mov %%rdx, %[rdx]\n\trdtsc\n\tsub %[before], %%eax"
			: "=&a"(ticks), "=c"(got), [rax] "+m"(by->saved[0]),
			[rdx] "+m"(by->saved[1]), [before] "+m"(by->before)
			: "1"(at)
			: "rdx", "memory", "cc");
	}
	*to = got;
	return ticks;
}

static uint64_t next_chance(uint64_t *chance)
{
	*chance = *chance * 6364136223846793005u + 1442695040888963407u;
	return *chance >> 33;
}

/* A ring through all steps of the memory in random order. */
static void **levels_chain(char *memory, size_t bytes, uint32_t *order)
{
	size_t n = bytes / STEP;
	uint64_t chance = 0x9e3779b97f4a7c15u;

	for (size_t i = 0; i < n; i++)
		order[i] = (uint32_t)i;
	for (size_t i = n - 1; i > 0; i--) {
		size_t j = next_chance(&chance) % (i + 1);
		uint32_t own = order[i];

		order[i] = order[j];
		order[j] = own;
	}
	for (size_t i = 0; i < n; i++) {
		void *next = memory + (size_t)order[(i + 1) % n] * STEP;

		memcpy(memory + (size_t)order[i] * STEP, &next, sizeof(next));
	}
	return (void **)(void *)(memory + (size_t)order[0] * STEP);
}

/* The counter's steps may be longer than a load. Pauses of random lengths make all phases of a step
 * equally likely, as they are in programs. */
static void chase_level(void **at, size_t loads, int form, bool flush, uint32_t *ticks)
{
	struct timed_by by = {{0}, 0};
	uint64_t chance = loads;
	void *next;

	for (size_t i = 0; i < loads; i++) {
		if (flush)
			__asm__ volatile("clflush (%0)\n\tmfence" : : "r"(at) : "memory");
		for (uint64_t n = next_chance(&chance) % PAUSE_MOST; n; n--)
			__asm__ volatile("" : "+r"(n));
		ticks[i] = timed_load(at, &next, &by, form);
		at = next;
	}
}

static void **walk(void **at, size_t steps)
{
	for (; steps; steps--)
		at = *(void **volatile *)at;
	return at;
}

static int compare_ticks(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

/* Without the few least and greatest. */
static uint32_t middle_mean(const uint32_t *ticks, size_t count)
{
	size_t from = count / FEW, to = count - from;
	uint64_t sum = 0;

	for (size_t i = from; i < to; i++)
		sum += ticks[i];
	return (uint32_t)((sum + (to - from) / 2) / (to - from));
}

struct levels_room {
	char *memory;
	uint32_t *order;
	uint32_t ticks[LOADS];
	size_t bytes[LEVELS];
};

static void measure_form(struct latency_levels *l, struct levels_room *r, int form,
	uint32_t bins[LEVELS][LATENCY_BINS])
{
	for (int k = 0; k < LEVELS; k++) {
		size_t loads = k == LEVEL_MEMORY ? FLUSHED : LOADS;
		void **at = levels_chain(r->memory, r->bytes[k], r->order);

		at = walk(at, PASSES * r->bytes[k] / STEP);
		chase_level(at, loads, form, k == LEVEL_MEMORY, r->ticks);
		if (k == LEVEL_L1) {
			qsort(r->ticks, loads, sizeof(*r->ticks), compare_ticks);
			l->least[form] = r->ticks[loads / FEW];
			l->floor[form] = middle_mean(r->ticks, loads);
		}
		for (size_t i = 0; i < loads; i++) {
			int bin = latencies_bin_of(l, l->least[form], r->ticks[i]);

			if (bin >= 0)
				bins[k][bin]++;
		}
	}
}

/* Before it is known how long a tick is, a few milliseconds are timed. */
static double tick_length(void)
{
	uint64_t began = clock_ns(), ticks = __builtin_ia32_rdtsc(), now;

	do
		now = clock_ns();
	while (now - began < 3000000);
	ticks = __builtin_ia32_rdtsc() - ticks;
	return (double)(now - began) / (double)ticks;
}

int values_levels_measure(struct latency_levels *l, latency_counts counts, struct error *e)
{
	long l2 = sysconf(_SC_LEVEL2_CACHE_SIZE);
	size_t half = l2 > 0 && (unsigned long)l2 <= L2_MOST ? (size_t)l2 / 2 : L2_USUAL / 2;
	struct levels_room *r = calloc(1, sizeof(*r));
	size_t size = 8 * half + HUGE_PAGE;
	int rc = -1;

	memset(l, 0, sizeof(*l));
	memset(counts, 0, sizeof(latency_counts));
	if (!r) {
		error_nomem(e);
		goto out;
	}
	r->bytes[LEVEL_L1] = L1_BYTES;
	r->bytes[LEVEL_L2] = half;
	r->bytes[LEVEL_LAST] = r->bytes[LEVEL_MEMORY] = 8 * half;
	r->order = calloc(8 * half / STEP, sizeof(*r->order));
	r->memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (!r->order || r->memory == MAP_FAILED) {
		r->memory = NULL;
		error_nomem(e);
		goto out;
	}
	madvise(r->memory, size, MADV_HUGEPAGE);
	l->tick_ns = tick_length();
	for (int form = 0; form < LATENCY_FORMS; form++)
		measure_form(l, r, form, counts[form]);
	rc = 0;
out:
	if (r && r->memory)
		munmap(r->memory, size);
	if (r)
		free(r->order);
	free(r);
	return rc;
}
