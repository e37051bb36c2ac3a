/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Executions of the edges of a procedure, by runs. */
#include <stdlib.h>

#include "explain/by_branches_private.h"

struct analysis_passage explain_branches_edge(
	const struct explain_branches *b, const struct flow *f, uint32_t image, uint32_t edge)
{
	const struct flow_edge *x = &f->edges.data[edge];

	return analysis_runs_edge(b->runs, image, flow_last(f, &f->blocks.data[x->from])->address,
		f->insns.data[f->blocks.data[x->to].first].address, x->kind == FLOW_FALL);
}

double *explain_branches_edges(
	const struct explain_branches *b, const struct flow *f, uint32_t image)
{
	double *edges = calloc(f->edges.count + 1, sizeof(*edges));

	for (uint32_t i = 0; edges && i < f->edges.count; i++)
		edges[i] = explain_branches_edge(b, f, image, i).flow;
	return edges;
}
