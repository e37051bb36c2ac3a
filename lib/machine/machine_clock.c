/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The real clock of the core, for hosts where nothing gives it (virtual machines have neither
 * cpufreq nor the time-stamp counter's rate): the time of a chain of exclusive-ors, each of which
 * waits one cycle for the one before on every processor that we know. The fastest of a few bursts
 * counts; the others were interrupted.
 */

#include "base/clock.h"
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
enum { STEPS = 32, ROUNDS = 2048, BURSTS = 8 };
#define STEPS_8 STEP STEP STEP STEP STEP STEP STEP STEP

uint64_t machine_timed_hz(void)
{
	uint64_t best = UINT64_MAX, x = 1, y = 3;

	for (int i = 0; i < BURSTS; i++) {
		uint64_t n = ROUNDS, begin = clock_ns(), took;

		LOOP(STEPS_8 STEPS_8 STEPS_8 STEPS_8, x, y, n);
		took = clock_ns() - begin;
		if (took < best)
			best = took;
	}
	return best ? (uint64_t)STEPS * ROUNDS * 1000000000 / best : 0;
}
#else
uint64_t machine_timed_hz(void)
{
	return 0;
}
#endif
