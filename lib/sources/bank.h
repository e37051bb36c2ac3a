/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A bank: perf events, in groups, opened on one process with all its threads and everything that it
 * creates from then on, and read as sums over all of those.
 *
 * Each event is open at several places: once for each thread that exists at the beginning (one, for
 * a command that we start), and where asked for, once more for each processor.
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

enum bank_flag {
	BANK_FROM_EXEC = 1 << 0,  /* counting begins with the exec */
	BANK_PER_THREAD = 1 << 1, /* for threads.h: threads leave a record when they end */
	BANK_PER_CPU = 1 << 2,    /* an event for each processor */
};

struct bank_event {
	struct perf_event_attr attr;
	size_t leader; /* index of its group's first event; its own if that is it */
	bool out;      /* of a leader: bank_enable leaves it alone (see bank_switch) */
	int *fds;      /* one per place; -1 where the thread is gone */
};

struct bank_value {
	uint64_t value;
	uint64_t enabled, running; /* nanoseconds, summed over threads */
};

struct bank {
	pid_t pid;
	bool running; /* the process runs already */
	unsigned flags;
	bool on, started; /* enabled now; enabled once */
	pid_t *tasks;
	size_t task_count;
	int *cpus; /* {-1}, or all that are online, ascending */
	size_t cpu_count;
	struct bank_event *events;
	size_t count, capacity;
	uint64_t *scratch;
	size_t scratch_size;
};

/* Lists the threads and processors; opens nothing.  flags: enum bank_flag. */
int bank_begin(struct bank *b, pid_t pid, bool running, unsigned flags, struct error *e);
static inline size_t bank_places(const struct bank *b)
{
	return b->task_count * b->cpu_count;
}
/*
 * Opens one more event, in the group of the event with index leader or BANK_LEADER.  What and which
 * levels stand in attr; the rest is filled in here.  out: a leader that does not count until
 * bank_switch.  On failure -1 with errno, and the bank is as before.
 */
int bank_add(struct bank *b, const struct perf_event_attr *attr, size_t leader, bool out);
int bank_enable(struct bank *b, bool on, struct error *e);
/* Takes a group, by its leader, out of what bank_enable enables, or back in. */
int bank_switch(struct bank *b, size_t leader, bool in, struct error *e);
/* values: one per event. */
int bank_read(struct bank *b, struct bank_value *values, struct error *e);
/* Of tasks[task] and what it created. */
int bank_read_task(struct bank *b, size_t task, struct bank_value *values, struct error *e);
/* Zero-initialised is closed. */
void bank_close(struct bank *b);

#endif
