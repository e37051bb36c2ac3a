/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Time that threads spend off the processor, for totaltime: each interval is charged to the call
 * path at which the thread was switched out, as samples of a clock that ticks every `period` ns of
 * such time, thread by thread.
 */
#ifndef COLLECT_BLOCKED_H
#define COLLECT_BLOCKED_H

#include "collect/spaces.h"

struct blocked {
	struct experiment *experiment; /* borrowed */
	const struct spaces *spaces;   /* likewise */
	uint32_t metric;
	uint64_t period;      /* ns */
	struct table threads; /* by tid */
	uint64_t unknown;     /* samples of intervals with unknown call paths */
};

/* Adds to the experiment of spaces, which must outlive b. */
void blocked_init(struct blocked *b, const struct spaces *spaces, uint32_t metric, uint64_t period);
/* The thread leaves the processor at node; with known false, the node is unknown. */
int blocked_out(
	struct blocked *b, pid_t tid, uint32_t thread, uint32_t node, uint64_t time, bool known);
/* It is back. */
int blocked_in(struct blocked *b, pid_t tid, uint32_t phase, uint64_t time);
/* It has ended. */
int blocked_exit(struct blocked *b, pid_t tid, uint32_t phase, uint64_t time);
/* Charges all threads that are still off, up to time: a phase or the run ends. */
int blocked_settle(struct blocked *b, uint32_t phase, uint64_t time);
void blocked_fini(struct blocked *b);

#endif
