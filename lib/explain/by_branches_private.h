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
	double scale;   /* deviation of the logarithm of what all estimates have in common */
	double slower;  /* cycles of a segment against those expected, on average */
	double once;    /* frequency of what is seen once */
};

#define EXPLAIN_BRANCHES_OFTEN                                                                     \
	20 /* windows of an address, at least: fewer met all of a phase, or nothing */

/* How often an edge of f was passed, as runs have it. */
struct analysis_passage explain_branches_edge(
	const struct explain_branches *b, const struct flow *f, uint32_t image, uint32_t edge);
/* Cycles of so many instructions with these Mi, where little goes wrong. */
double explain_branches_expected(double mi, uint32_t insns);
/* Makes frequencies of runs that have no rates.  -1 with *e set when memory is out. */
int explain_branches_by_clock(struct explain_branches *b, struct error *e);

#endif
