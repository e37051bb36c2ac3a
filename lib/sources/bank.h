/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A bank: perf events, in groups, opened on one process with all its threads and everything that it
 * creates from then on, and read as sums over all of those.
 *
 * Each event is open at several places: once for each thread that exists at the beginning (one, for
 * a command that we start) and, where rows per thread are wanted, once more for each processor (see
 * threads.h for why).
 *
 * Threads that a running process creates while bank_begin lists it are the one gap: such a thread
 * inherits the counters if its creator had them already, and cannot be told from one that does not,
 * so it is not opened again; counting nothing of a thread for a moment is the lesser evil than
 * counting it twice.
 */
#ifndef SOURCES_BANK_H
#define SOURCES_BANK_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

#define BANK_LEADER SIZE_MAX /* in place of a leader: the event leads a group of its own */

struct bank_event {
	struct perf_event_attr attr;
	size_t leader; /* index of its group's first event; its own if that is it */
	int *fds;      /* one per place; -1 where the thread is gone */
};

struct bank_value {
	uint64_t value;
	uint64_t enabled, running; /* nanoseconds, summed over threads */
};

struct bank {
	pid_t pid;
	bool running;    /* the process runs already */
	bool per_thread; /* for threads.h: an event for each processor, reported as each thread ends
			  */
	bool from_exec;  /* counting begins with the exec */
	bool alone;      /* set between bank_begin and bank_add: not what the process creates */
	bool started;    /* enabled once */
	pid_t *tasks;
	size_t task_count;
	int *cpus; /* {-1}, or all that are online */
	size_t cpu_count;
	struct bank_event *events;
	size_t count, capacity;
	uint64_t *scratch;
	size_t scratch_size;
};

/* Lists the threads and processors; opens nothing. */
int bank_begin(
	struct bank *b, pid_t pid, bool running, bool per_thread, bool from_exec, struct error *e);
static inline size_t bank_places(const struct bank *b)
{
	return b->task_count * b->cpu_count;
}
/*
 * Opens one more event, in the group of the event with index leader or BANK_LEADER.  What and which
 * levels stand in attr; the rest is filled in here.  On failure -1 with errno, and the bank is as
 * before.
 */
int bank_add(struct bank *b, const struct perf_event_attr *attr, size_t leader);
/* Closes the events from index count on. */
void bank_shrink(struct bank *b, size_t count);
int bank_enable(struct bank *b, bool on, struct error *e);
/* values: one per event. */
int bank_read(struct bank *b, struct bank_value *values, struct error *e);
/* Zero-initialised is closed. */
void bank_close(struct bank *b);

#endif
