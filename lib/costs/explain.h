/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From counts to an explanation: the classic statistics, and a breakdown of the run's time into causes that adds up
 * to the whole.  Pure functions of counts, costs and the machine.
 */
#ifndef COSTS_EXPLAIN_H
#define COSTS_EXPLAIN_H

#include <stdbool.h>
#include <stddef.h>

#include "costs/costs.h"
#include "events/label.h"
#include "machine/machine.h"

/* Counts by event number; LABEL_NONE where not counted. */
struct counted {
	struct quantity event[EVENT_LIMIT];
	struct quantity seconds; /* CPU time of the run, all threads: what the breakdown divides */
};

struct statistic {
	const char *name; /* static */
	const char *unit; /* static; "" for ratios */
	struct quantity quantity;
};
#define STATISTICS_MAX 64
/* Fills at most STATISTICS_MAX; returns how many.  A statistic appears only if its inputs were counted and its
 * denominator is not zero.  Names and formulas: perfex(1), STATISTICS. */
size_t explain_statistics(const struct counted *c, const struct cost_table *costs, const struct machine *machine,
	struct statistic *out);

struct cause {
	const char *name; /* static: "L2 data misses" ... or "unexplained", "overlap" */
	int number;	  /* the event, -1 for unexplained and overlap */
	struct quantity seconds; /* label estimated, or model; fitted; low..high: its minimum and maximum cost */
	double share;	  /* of the whole; all shares add up to 1 */
};
#define CAUSES_MAX 64
/*
 * Fitted costs: one lambda moves every cause from its typical cost towards its maximum (or minimum) until the sum
 * is the run's time.  What even the maxima do not explain is the cause "unexplained"; if even the minima exceed
 * the time, the negative cause "overlap" makes up for it.  Largest first, the last two at the end.  0 if the time is not
 * known.
 */
size_t explain_breakdown(const struct counted *c, const struct cost_table *costs, double clock_hz, struct cause *out);

#endif
