/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whether the counters count correctly. In some virtual machines the PMU opens every event and
 * counts nothing, or something else. So before using any, we count code of our own whose counts are
 * known.
 */
#ifndef SOURCES_SELFTEST_H
#define SOURCES_SELFTEST_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

/*
 * Runs a loop of known length in user mode: instructions must be right within 1% and cycles not
 * zero.  0, or -1 with the reason and its remedy.
 */
int selftest_pmu(struct error *why);

/* The result of selftest_pmu for a count; seen_instructions and seen_cycles are of `expected`
 * instructions. */
int selftest_judge(
	double seen_instructions, double seen_cycles, double expected, struct error *why);

/*
 * Counts attr over provoke().  1: it counted, 0: it counted nothing at all although it was on a
 * counter, -1: it could not be tried (errno; EBUSY when it never got a counter).
 */
int selftest_event(const struct perf_event_attr *attr);

/*
 * Provokes all events that the event table marks as provoked: misses in all caches and in the data
 * TLB, mispredicted branches, calls, returns, divisions, floating-point and vector instructions,
 * stores, atomic additions. About half a millisecond; the first call takes some more and keeps its
 * memory for later ones.
 */
void provoke(void);

#endif
