/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The real clock of the core: the time of a chain of exclusive-ors, each of which waits one cycle
 * for the one before on every processor that we know. Another thread on the same core does not slow
 * it down. A core that was idle needs some time to reach its speed. Bursts that took much longer
 * than the fastest ones were interrupted; the median of the others counts.
 */

#include <stdlib.h>

#include "base/clock.h"
#include "base/order.h"
#include "machine/private.h"

#if defined(__x86_64__)
#define STEP "xorq %1, %0\n\t"
#define LOOP(body, x, y, n)                                                                        \
	__asm__ volatile("1:\n\t" body "subq $1, %2\n\tjnz 1b"                                     \
			 : "+r"(x), "+r"(y), "+r"(n)                                               \
			 :                                                                         \
			 : "c"                                                                     \
			   "c")
#elif defined(__aarch64__)
#define STEP "eor %0, %0, %1\n\t"
#define LOOP(body, x, y, n)                                                                        \
	__asm__ volatile("1:\n\t" body "subs %2, %2, #1\n\tb.ne 1b"                                \
			 : "+r"(x), "+r"(y), "+r"(n)                                               \
			 :                                                                         \
			 : "cc")
#endif

#ifdef STEP
enum { STEPS = 32, ROUNDS = 1024, WARM_MS = 2, WARM_MS_MAX = 60 };
#define STEPS_8 STEP STEP STEP STEP STEP STEP STEP STEP

static uint64_t burst_ns(void)
{
	uint64_t n = ROUNDS, x = 1, y = 3, begin = clock_ns();

	LOOP(STEPS_8 STEPS_8 STEPS_8 STEPS_8, x, y, n);
	return clock_ns() - begin;
}

/* The fastest burst of some milliseconds. */
static uint64_t fastest_of(uint64_t ms)
{
	uint64_t end = clock_ns() + ms * 1000000, best = UINT64_MAX;

	do {
		uint64_t took = burst_ns();

		best = took < best ? took : best;
	} while (clock_ns() < end);
	return best;
}

/* Until the core does not become faster. */
static void clock_warm_up(void)
{
	uint64_t before, now = fastest_of(WARM_MS);

	for (int ms = WARM_MS; ms < WARM_MS_MAX; ms += WARM_MS) {
		before = now;
		now = fastest_of(WARM_MS);
		if (now + now / 100 >= before)
			break;
	}
}

struct machine_clock_timing machine_time_clock(void)
{
	enum { BURSTS = 4096, MS = 50 };
	uint64_t end, *took = calloc(BURSTS, sizeof(*took));
	struct machine_clock_timing t = {0, 1};
	size_t n = 0;

	if (!took)
		return t;
	clock_warm_up();
	end = clock_ns() + MS * UINT64_C(1000000);
	while (n < BURSTS && (n == 0 || clock_ns() < end))
		took[n++] = burst_ns();
	t = machine_judge_clock(took, n, STEPS * ROUNDS);
	free(took);
	return t;
}
#else
struct machine_clock_timing machine_time_clock(void)
{
	return (struct machine_clock_timing){0, 1};
}
#endif

struct machine_clock_timing machine_judge_clock(uint64_t *ns, size_t n, uint64_t cycles)
{
	struct machine_clock_timing t = {0, 1};
	size_t whole = 0;
	uint64_t median;

	if (n == 0)
		return t;
	qsort(ns, n, sizeof(*ns), order_u64);
	while (whole < n && ns[whole] <= ns[n / 10] + ns[n / 10] / 4)
		whole++;
	median = ns[whole / 2];
	if (!median)
		return t;
	t.hz = (uint64_t)((double)cycles * 1e9 / (double)median);
	if (whole >= n / 2)
		t.scatter = (double)(ns[whole * 9 / 10] - ns[whole / 10]) / (double)median;
	return t;
}
