/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Mi in context: the cycles that each instruction keeps retirement waiting on the ways that lead
 * through its procedure, each block in the state that those before it leave (lib/schedule, path.c).
 * A block that is scheduled as if it followed itself waits for results of its own that nobody
 * hands round, and does not overlap with those around it.
 *
 * Ways are walks through the graph, which choose each edge as often as its share says: no dice, the
 * edge that is most behind is next.  Where shares are not known, edges back to the head of a loop
 * are likely and others equally so.
 */
#ifndef ANALYSIS_CONTEXT_H
#define ANALYSIS_CONTEXT_H

#include "flow/flow.h"
#include "schedule/schedule.h"

/* rows: of each instruction, 0 at the beginning; blame is an instruction of f.  edge: how often
 * each is passed, in any unit; may be NULL.  -1 with *e set when memory is out.  Linear in
 * instructions and edges. */
int analysis_context(const struct flow *f, const struct core *core, const double *edge,
	struct schedule_row *rows, struct error *e);

#endif
