/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Edges that were counted exactly (ssrun -ideal), of all experiments of a report. */
#ifndef EXPLAIN_EDGES_H
#define EXPLAIN_EDGES_H

#include "flow/flow.h"
#include "profile/places.h"

struct explain_edges {
	struct table all; /* by image and addresses */
	bool any;
	enum label label;
};

int explain_edges_init(struct explain_edges *edges, const struct prof_data *d);
void explain_edges_fini(struct explain_edges *edges);

/* Executions of each edge of f, a procedure of image; to be freed by the caller. times[i *
 * stride], which may be NULL: executions of instruction i, from which those of fall-through edges
 * follow. *entered: executions of the entry from elsewhere, if known, else NAN. NULL when memory
 * is out. */
double *explain_edges_of(const struct explain_edges *edges, const struct flow *f, uint32_t image,
	const uint64_t *times, size_t stride, double *entered);

#endif
