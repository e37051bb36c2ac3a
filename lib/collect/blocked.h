/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Time that threads spend off the processor, for totaltime: each interval is charged to the call
 * path at which the thread was switched out, as samples of a clock that ticks every `period` ns of
 * such time, thread by thread. Besides, each interval is a pause (experiment/pauses.h) with what
 * it waited for and, where the kernel says so, what ended it.
 */
#ifndef COLLECT_BLOCKED_H
#define COLLECT_BLOCKED_H

#include "collect/missed_wakes.h"
#include "collect/obstacles.h"
#include "collect/spaces.h"
#include "collect/unseen.h"
#include "collect/wait_windows.h"

struct blocked {
	struct experiment *experiment; /* borrowed */
	struct spaces *spaces;         /* likewise */
	uint32_t metric;
	uint64_t period;      /* ns */
	struct table threads; /* by tid */
	uint64_t unknown;     /* samples of intervals with unknown call paths */
	struct obstacles obstacles;
	struct wait_windows windows; /* in which waits and wakes are recorded */
	struct unseen_usual usual;   /* in gaps */
	uint64_t next_look;          /* then it is seen again how much was not recorded */
	size_t glances;              /* threads that were asked in gaps */
	bool gaps, wakes;            /* windows are of waits; of wakes, which are recorded */
	struct missed_wakes missed;
};

/* Where a thread is; node: of its call path. */
struct blocked_at {
	pid_t pid, tid;
	uint32_t thread, node;
	uint64_t time;
	bool known; /* the node is that of the sample */
};

/* What lets a thread go on. */
struct blocked_wake {
	enum experiment_wake kind;
	uint32_t thread, node;
};

/* Adds to the experiment of spaces, which must outlive b. */
void blocked_init(struct blocked *b, struct spaces *spaces, uint32_t metric, uint64_t period);
/* The thread is new; its node is unknown. */
int blocked_begins(struct blocked *b, const struct blocked_at *at);
/* The thread leaves the processor. sample: its registers; NULL: none. */
int blocked_out(struct blocked *b, const struct blocked_at *at, const struct record_sample *sample);
/* It could go on, but others were preferred. */
int blocked_preempted(struct blocked *b, pid_t tid);
/* It may go on from that time. */
void blocked_woken(struct blocked *b, pid_t tid, uint64_t time, const struct blocked_wake *wake);
/* A process has ended: its parent's first thread may be waiting for the signal of that. */
void blocked_child_ended(struct blocked *b, pid_t parent, pid_t child, uint64_t time);
/* It is back. */
int blocked_in(struct blocked *b, pid_t tid, uint32_t phase, uint64_t time);
/* It has ended; counted: as in blocked_gap. */
int blocked_exit(struct blocked *b, pid_t tid, uint32_t phase, uint64_t time, bool counted);
/* Waits are not recorded from now on. false: the kernel does not count what they take. */
bool blocked_gap_begins(struct blocked *b);
/* In a gap, or as it ends: what was not recorded up to now is charged. counted: or not, as the run
 * is suspended. */
int blocked_gap(struct blocked *b, uint32_t phase, bool counted);
/* What has not been charged up to that time is not to be charged. */
void blocked_forget(struct blocked *b, uint64_t time);
/* Nor is what was: the experiment has no pauses any more. */
void blocked_clear(struct blocked *b);
/* All that was recorded up to now is taken: asks what is waited for, of threads of which it is not
 * known. */
int blocked_look(struct blocked *b);
/* Charges all threads that are still off, up to time: a phase or the run ends. */
int blocked_settle(struct blocked *b, uint32_t phase, uint64_t time);
/* After the last pause, when the kernel's functions have names. time: the end of the run. */
int blocked_end(struct blocked *b, uint64_t time);
void blocked_fini(struct blocked *b);

#endif
