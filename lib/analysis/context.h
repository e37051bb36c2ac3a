/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Mi in context: the cycles by which each instruction delays retirement on walks through its
 * procedure, where each block begins in the state that the blocks before it leave (lib/schedule,
 * path.c). A block that is scheduled as its own successor waits for its own results even if they
 * are not carried round, and does not overlap with its neighbours.
 *
 * What is executed most begins a walk first, and rarer code does not change what that found: it
 * comes from elsewhere, which counts as little as it is rare.
 *
 * A walk follows the graph and takes each edge in proportion to its share. It is deterministic:
 * the edge that lags its share most is next. Where shares are unknown, edges back to the head of a
 * loop are likely and all others are equally likely.
 */
#ifndef ANALYSIS_CONTEXT_H
#define ANALYSIS_CONTEXT_H

#include "flow/flow.h"
#include "schedule/schedule.h"

/* path has no blocks yet, and is core's. rows: of each instruction, 0 at the beginning; blame is an
 * instruction of f. edge: how often each is passed, in any unit; may be NULL. -1 with *e set when
 * memory is out. Linear in instructions and edges. */
int analysis_context(struct schedule_path *path, const struct flow *f, const struct core *core,
	const double *edge, struct schedule_row *rows, struct error *e);

#endif
