/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef FLOW_PRIVATE_H
#define FLOW_PRIVATE_H

#include "flow/flow.h"

/* Targets of an indirect jump. */
struct flow_table {
	uint32_t jump;         /* instruction */
	uint32_t first, count; /* of targets: instructions, each once */
	uint32_t flags;        /* FLOW_UNKNOWN, FLOW_SEEN, FLOW_LEAVES, FLOW_MIDDLE, FLOW_GUESSED */
};

struct flow_tables {
	VEC(struct flow_table) tables; /* in order of jump; each indirect jump has one */
	VEC(uint32_t) targets;
};

/* f has instructions and `at`, no blocks yet. */
int flow_tables_find(
	const struct flow *f, const struct flow_request *r, struct flow_tables *t, struct error *e);

/* Depth-first order from the entries, then from blocks that these do not reach. */
struct flow_order {
	uint32_t *number; /* of each block, in preorder */
	uint32_t *block;  /* by number */
	uint32_t *last;   /* by number: the highest number among its descendants */
	uint32_t *parent; /* by number: number of the parent; FLOW_NONE of roots */
	uint32_t count;
};

/* Sets FLOW_ORPHAN.  -1 when memory is out. */
int flow_order_make(struct flow *f, struct flow_order *order);
void flow_order_fini(struct flow_order *order);

/* Edges from orphans to other blocks do not count: they may never have been taken. */
static inline bool flow_edge_counts(const struct flow *f, const struct flow_edge *edge)
{
	return !(f->blocks.data[edge->from].flags & FLOW_ORPHAN) ||
	       f->blocks.data[edge->to].flags & FLOW_ORPHAN;
}

int flow_dominators(struct flow *f, const struct flow_order *order);
int flow_loops(struct flow *f, const struct flow_order *order);

#endif
