/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef EXPLAIN_BY_BRANCHES_PRIVATE_H
#define EXPLAIN_BY_BRANCHES_PRIVATE_H

#include "base/vec.h"
#include "explain/by_branches.h"

struct rate { /* of windows */
	uint64_t address, hits, nanoseconds, windows;
	uint32_t image;
};

struct explain_branches {
	const struct explain_analysis *analysis;
	struct analysis_runs *runs;
	VEC(struct analysis_run) list;
	VEC(struct rate) rates;
	double seconds; /* CPU time of the program, as samples have it */
	double scale;   /* deviation of the logarithm of the common factor of all estimates */
	double slower;  /* cycles of a segment relative to those expected, on average */
	double once;    /* frequency of code seen once */
};

#define EXPLAIN_BRANCHES_OFTEN                                                                     \
	20 /* windows of an address, at least: fewer include all of a phase, or nothing */

/* Frequency of an edge of f, by runs. */
struct analysis_passage explain_branches_edge(
	const struct explain_branches *b, const struct flow *f, uint32_t image, uint32_t edge);
/* Expected cycles of instructions with these Mi, without large waits. */
double explain_branches_expected(double mi, uint32_t insns);
/* Estimates frequencies of runs without rates. -1 with *e set when memory is out. */
int explain_branches_by_clock(struct explain_branches *b, struct error *e);

#endif
