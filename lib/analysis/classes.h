/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which blocks and edges of a procedure must be executed equally often.
 *
 * Cycle equivalence after Johnson, Pearson and Pingali (PLDI'94): two arcs of a strongly connected
 * graph are in one class when every cycle through one passes the other, too.  Blocks are arcs here,
 * from where they are entered to where they are left.  The world outside is a node: it enters
 * entries, and what returns or leaves goes back to it.  Loops without end (Anderson et al.,
 * SOSP'97, section 6.1) get a way out that is not in the code, blocks that nothing leads to a way
 * in.  Such ways are virtual arcs: they can only make classes smaller.
 *
 * What a class says holds for executions from entry to exit: not for what longjmp, exceptions or
 * signals leave in the middle.
 */
#ifndef ANALYSIS_CLASSES_H
#define ANALYSIS_CLASSES_H

#include "flow/flow.h"

struct analysis_arc { /* between the world outside and a block */
	uint32_t block;
	bool into;       /* else out of it */
	bool artificial; /* nothing in the code says so */
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

/* The algorithm itself, on any graph: class[i] is the class of arc i.  Directions do not matter as
 * long as the graph is strongly connected; an arc on no cycle is a class of its own.  Returns how
 * many classes there are, FLOW_NONE when memory is out. */
struct analysis_pair {
	uint32_t from, to; /* nodes */
};
uint32_t analysis_cycle_classes(
	uint32_t nodes, const struct analysis_pair *arcs, uint32_t arc_count, uint32_t *class);

#endif
