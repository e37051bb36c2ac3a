/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From counts to an explanation: the classic statistics, and a breakdown of the run's time into
 * causes that adds up to the whole.  Pure functions of counts, costs and the machine.
 */
#ifndef COSTS_BREAKDOWN_H
#define COSTS_BREAKDOWN_H

#include <stdbool.h>
#include <stddef.h>

#include "costs/costs.h"
#include "events/label.h"
#include "machine/machine.h"
#include "model/cause.h"

/* Counts by event number; LABEL_NONE where not counted. */
struct counted {
	struct quantity event[EVENT_LIMIT];
	struct quantity seconds; /* CPU time of the run, all threads: what the breakdown divides */
	bool user_level;         /* the time and the cycles are of user level only: the kernel's are
				    excluded */
};

struct statistic {
	const char *name; /* static */
	const char *unit; /* static; "" for ratios */
	struct quantity quantity;
};
#define STATISTICS_MAX 64
/* Fills at most STATISTICS_MAX; returns their number. A statistic appears only if its inputs were
 * counted and its denominator is not zero. Names and formulas: perfex(1), STATISTICS. */
size_t costs_statistics(const struct counted *c, const struct cost_table *costs,
	const struct machine *machine, struct statistic *out);

struct cause {
	const char *name;        /* static: "L2 data misses" ... or "unexplained", "overlap" */
	int number;              /* the event, -1 if there is none */
	bool rest;               /* it is unexplained or overlap */
	struct quantity seconds; /* of costs: label estimated; fitted; low..high: counts at minimum
				    and maximum cost */
	double share;            /* of the whole; all shares add up to 1 */
	enum label share_label;
};
#define CAUSES_MAX 64
/* The name of the cause that is an event; NULL: it costs nothing. */
const char *costs_cause_name(int number);
/*
 * Fitted costs: every cause begins at its typical cost and moves towards its maximum (or minimum),
 * in proportion to its range, until the sum is the run's time (breakdown.c). Time that even the
 * maxima do not explain is the cause "unexplained"; if even the minima exceed the time, the
 * negative cause "overlap" compensates. Largest first, that one last. Causes of no time are left
 * out. Events of the same time are charged once: the parts of a sum if they were counted, else the
 * sum. 0 if the time is unknown (neither c->seconds, nor cycles and a clock); a clock_hz of 0
 * means that of the costs.
 */
size_t costs_breakdown(const struct counted *c, const struct cost_table *costs, double clock_hz,
	struct cause *out);
/*
 * The same from cycles[MODEL_CAUSES], as the model's clock saw them spent: shares as the cycles',
 * of the time `whole`. Largest first, without causes of no time. 0 if the time is unknown or
 * nothing was clocked.
 */
size_t costs_clock_breakdown(const struct quantity *cycles, const struct machine *machine,
	const struct quantity *whole, struct cause *out);

#endif
