/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef ANALYSIS_RUNS_PRIVATE_H
#define ANALYSIS_RUNS_PRIVATE_H

#include "analysis/runs.h"
#include "base/table.h"

#define RUNS_PASSES UINT64_MAX /* end of an edge to the next segment */

struct runs_segment {
	uint64_t begin, last; /* addresses; last: of the last instruction that was executed */
	uint32_t image;
	uint32_t first, outs; /* edges */
	double in, out;       /* times that it was entered and left */
	double flow, deviation;
	double told, weight;
};

struct runs_way { /* table entry */
	struct {
		uint64_t end; /* of the last instruction before it, or RUNS_PASSES */
		uint32_t from, to;
	} key;
	double count, flow;
	double round; /* part of count that is in circulation */
	/* By rates: deviation of the part that varies with others, variance of its own part. */
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

#define RUNS_LINK  0.02  /* weight of the edge between bursts, against an observed edge */
#define RUNS_BURST 256.0 /* a burst ends about this number of edges after its beginning */

/* The stationary distribution: flow of all segments and edges. -1 when memory is out. */
int runs_make_stationary(struct analysis_runs *r);
/* The circular part of the observed edges (round). -1 when memory is out. */
int runs_find_circles(struct analysis_runs *r);

#endif
