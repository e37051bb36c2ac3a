/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Executions by branch records (ssrun -branches). If bursts were timed, rates of runs are
 * executions (analysis/runs.h). Else (by_branches_clock.c) they come from the directions that
 * branches took in bursts, from executions counted in windows, and from the clock's samples.
 */
#ifndef EXPLAIN_BY_BRANCHES_H
#define EXPLAIN_BY_BRANCHES_H

#include "analysis/runs.h"
#include "explain/procedure.h"

struct explain_branches;

/* Whether there are branch records, and rates among them. */
bool explain_branches_any(const struct prof_data *d);
bool explain_branches_rated(const struct prof_data *d);
/* The number of bursts that rates of runs come from; 0: none, or too few. */
double explain_branches_timed(const struct prof_data *d);
/* The weight of a sample: those in bursts and windows were left out. */
double explain_branches_weight(const struct prof_data *d, size_t metric);

/* *b is NULL if experiments have no branch records. -1 with *e set when memory is out. */
int explain_branches_new(
	struct explain_branches **b, const struct explain_analysis *a, struct error *e);
void explain_branches_free(struct explain_branches *b);

/* Frequency of each edge of f, in samples per cycle; to be freed by the caller. NULL when memory
 * is out. */
double *explain_branches_edges(
	const struct explain_branches *b, const struct flow *f, uint32_t image);
/* Frequencies of p, whose samples and schedule are known and frequencies have room. */
void explain_branches_fill(const struct explain_branches *b, struct explain_analysed *p);

#endif
