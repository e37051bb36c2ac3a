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

struct prof_branches;

/* Whether there are branch records, and rates among them. */
bool prof_branches_any(const struct prof_data *d);
bool prof_branches_rated(const struct prof_data *d);
/* How many bursts tell how often runs were executed; 0: none, or too few for that. */
double prof_branches_timed(const struct prof_data *d);
/* Times that a sample counts for: those in bursts and windows were left out. */
double prof_branches_weight(const struct prof_data *d, size_t metric);

/* *b is NULL where experiments have no branch records.  -1 with *e set when memory is out. */
int prof_branches_new(struct prof_branches **b, const struct prof_analysis *a, struct error *e);
void prof_branches_free(struct prof_branches *b);

/* How often each edge of f was passed, in samples a cycle; yours to free.  NULL when memory is out.
 */
double *prof_branches_edges(const struct prof_branches *b, const struct flow *f, uint32_t image);
/* Frequencies of p, whose samples and schedule are known and frequencies have room. */
void prof_branches_tell(const struct prof_branches *b, struct prof_analysed *p);

#endif
