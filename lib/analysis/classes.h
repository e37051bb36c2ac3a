/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which blocks and edges of a procedure must be executed equally often.
 *
 * Cycle equivalence after Johnson, Pearson and Pingali (PLDI'94): two arcs of a strongly connected
 * graph are in one class when every cycle through one passes the other, too. A block is an arc
 * here, from its entry to its exit. A node stands for the outside: it has arcs to the procedure's
 * entries, and blocks that return or leave have arcs to it. A loop without an exit gets a virtual
 * arc out (Anderson et al., SOSP'97, section 6.1), and an unreachable block gets a virtual arc in.
 * Virtual arcs can only make classes smaller.
 *
 * Classes hold for executions from entry to exit. They do not hold for executions that longjmp, an
 * exception or a signal ends early.
 */
#ifndef ANALYSIS_CLASSES_H
#define ANALYSIS_CLASSES_H

#include "flow/flow.h"

struct analysis_arc { /* from or to the outside */
	uint32_t block;
	bool into;       /* else an exit */
	bool artificial; /* no such arc is in the code */
};

struct analysis_classes {
	uint32_t *block, *edge;        /* class of each */
	VEC(struct analysis_arc) arcs; /* virtual ones */
	uint32_t *arc;                 /* class of each */
	uint32_t count;                /* of classes */
	bool apart; /* edges are missing: each block and edge is a class of its own */
};

/* NULL with *e set when memory is out.  O(blocks + edges). */
struct analysis_classes *analysis_classes_new(const struct flow *f, struct error *e);
void analysis_classes_free(struct analysis_classes *c);

/* The algorithm itself, on any graph: class[i] is the class of arc i. Directions do not matter as
 * long as the graph is strongly connected; an arc on no cycle is a class of its own. Returns the
 * number of classes, FLOW_NONE when memory is out. */
struct analysis_pair {
	uint32_t from, to; /* nodes */
};
uint32_t analysis_cycle_classes(
	uint32_t nodes, const struct analysis_pair *arcs, uint32_t arc_count, uint32_t *class);

#endif
