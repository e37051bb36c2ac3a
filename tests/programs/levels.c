/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Loads whose level is known, for ssrun -values=latency: levels ROUNDS. Chains of pointers in
 * random order through memory that fits into L1, into L2, and into the last cache; and lines that
 * are flushed before. Each is a function with one load in a loop.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define HUGE (2ul << 20) /* bytes: pages without misses of TLBs */
#define STEP 256         /* bytes: beyond the reach of prefetchers of neighbouring lines */

static uint64_t chance = 12345;

static size_t below(size_t n)
{
	chance = chance * 6364136223846793005u + 1442695040888963407u;
	return (size_t)(chance >> 33) % n;
}

static void **chain(size_t bytes)
{
	size_t n = bytes / STEP, *order = malloc(n * sizeof(*order));
	char *memory = aligned_alloc(HUGE, (bytes + HUGE - 1) / HUGE * HUGE);

	if (!order || !memory)
		exit(1);
	madvise(memory, (bytes + HUGE - 1) / HUGE * HUGE, MADV_HUGEPAGE);
	for (size_t i = 0; i < n; i++)
		order[i] = i;
	for (size_t i = n - 1; i; i--) {
		size_t j = below(i + 1), own = order[i];

		order[i] = order[j];
		order[j] = own;
	}
	for (size_t i = 0; i < n; i++)
		*(void **)(void *)(memory + order[i] * STEP) = memory + order[(i + 1) % n] * STEP;
	free(order);
	return (void **)(void *)memory;
}

#define CHASE(name, before)                                                                        \
	__attribute__((noinline)) static void **name(void **at, long n)                            \
	{                                                                                          \
		for (; n; n--) {                                                                   \
			before;                                                                    \
			at = *(void **volatile *)at;                                               \
		}                                                                                  \
		return at;                                                                         \
	}

CHASE(from_l1, )
CHASE(from_l2, )
CHASE(from_last, )
#ifdef __x86_64__
CHASE(from_memory, __asm__ volatile("clflush (%0)\n\tmfence" : : "r"(at) : "memory"))
#else
CHASE(from_memory, )
#endif

int main(int argc, char **argv)
{
	long rounds = argc > 1 ? atol(argv[1]) : 100, l2 = sysconf(_SC_LEVEL2_CACHE_SIZE);
	size_t half = l2 > 0 && l2 <= 4L << 20 ? (size_t)l2 / 2 : 256u << 10;
	void **a = chain(8192), **b = chain(half), **c = chain(8 * half), **d = chain(8 * half);

	for (long i = 0; i < rounds; i++) {
		a = from_l1(a, 400000);
		b = from_l2(b, 200000);
		c = from_last(c, 60000);
		d = from_memory(d, 4000);
	}
	return !(a && b && c && d);
}
