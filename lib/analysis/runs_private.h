/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef ANALYSIS_RUNS_PRIVATE_H
#define ANALYSIS_RUNS_PRIVATE_H

#include "analysis/runs.h"
#include "base/table.h"

#define RUNS_PASSES UINT64_MAX /* end of a way that goes on to the next segment */

struct runs_segment {
	uint64_t begin, last; /* addresses; last: of the last instruction that was executed */
	uint32_t image;
	uint32_t first, outs; /* ways */
	double in, out;       /* how often it was entered and left */
	double flow, deviation;
	double told, weight;
};

struct runs_way { /* table entry */
	struct {
		uint64_t end; /* of the last instruction before it, or RUNS_PASSES */
		uint32_t from, to;
	} key;
	double count, flow;
	double round; /* of count: what came back to where it began */
	/* By rates: deviation of what varies with others, variance of what varies by itself. */
	double together, alone;
};

struct analysis_runs {
	struct runs_segment *segment; /* in order of image and address */
	uint32_t segments;
	struct table ways; /* in order of `from` */
	double links;      /* bursts */
	bool rated;        /* flow comes from rates */
};

static inline struct runs_way *runs_way(const struct analysis_runs *r, size_t i)
{
	return (struct runs_way *)(void *)r->ways.entries + i;
}

#define RUNS_LINK  0.02  /* a burst's end and beginning, against a way that was seen */
#define RUNS_BURST 256.0 /* about so many ways behind where a burst began it may end */

/* The stationary distribution: flow of all segments and ways.  -1 when memory is out. */
int runs_make_stationary(struct analysis_runs *r);
/* What of the ways seen goes in circles (round).  -1 when memory is out. */
int runs_find_circles(struct analysis_runs *r);

#endif
