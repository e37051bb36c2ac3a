/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Executions by branch records (ssrun -branches).  Where bursts were timed, rates of runs are
 * executions (analysis/runs.h).  Else (by_branches_clock.c) they come from which way control went
 * in bursts, how often places were passed in windows of time, and what the clock's samples say
 * beside both.
 */
#ifndef EXPLAIN_BY_BRANCHES_H
#define EXPLAIN_BY_BRANCHES_H

#include "analysis/runs.h"
#include "explain/procedure.h"

struct explain_branches;

/* Whether there are branch records, and rates among them. */
bool explain_branches_any(const struct prof_data *d);
bool explain_branches_rated(const struct prof_data *d);
/* How many bursts tell how often runs were executed; 0: none, or too few for that. */
double explain_branches_timed(const struct prof_data *d);
/* Times that a sample counts for: those in bursts and windows were left out. */
double explain_branches_weight(const struct prof_data *d, size_t metric);

/* *b is NULL where experiments have no branch records.  -1 with *e set when memory is out. */
int explain_branches_new(
	struct explain_branches **b, const struct explain_analysis *a, struct error *e);
void explain_branches_free(struct explain_branches *b);

/* How often each edge of f was passed, in samples a cycle; yours to free.  NULL when memory is out.
 */
double *explain_branches_edges(
	const struct explain_branches *b, const struct flow *f, uint32_t image);
/* Frequencies of p, whose samples and schedule are known and frequencies have room. */
void explain_branches_tell(const struct explain_branches *b, struct explain_analysed *p);

#endif
