/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A bank: perf events, in groups, opened on threads, and read as sums over all of them.
 *
 * Usually the events are opened on the threads that a process has at the beginning (one, for a
 * command that we start) and inherited by all that it creates. Counts of inherited events are in
 * the sum, also after their thread has ended. With per_thread, nothing is inherited, and every new
 * thread must be given to bank_join before its first instruction (trace.h).
 *
 * With inheritance, threads that a running process creates while bank_begin lists them are a gap.
 * Such a thread has the counters if its creator had them already, and cannot be distinguished from
 * one that has not, so it is not opened again: missing a thread is better than counting it twice.
 */
#ifndef SOURCES_BANK_H
#define SOURCES_BANK_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "base/vec.h"
#include "sources/source.h"

#define BANK_LEADER SIZE_MAX /* instead of a leader: the event leads a group of its own */

struct bank_event {
	struct perf_event_attr attr;
	size_t leader; /* index of its group's first event; its own if it is the first */
};

struct bank_task {
	pid_t tid;
	int *fds; /* one per event; -1 if the thread has ended */
	size_t capacity;
};

struct bank_value {
	uint64_t value;
	uint64_t enabled, running; /* nanoseconds, summed over threads */
};

struct bank {
	pid_t pid;
	bool running;     /* the process runs already */
	bool from_exec;   /* counting begins with the exec */
	bool alone;       /* only this thread, not those that it creates */
	bool each;        /* each thread by itself: bank_join, bank_leave */
	bool on, started; /* enabled now; enabled once */
	VEC(struct bank_event) events;
	VEC(struct bank_task) tasks;
	VEC(struct bank_value) past; /* of tasks that left; one per event, or none yet */
	uint64_t *scratch;
	size_t scratch_size;
};

/* Lists the threads; opens nothing.  Of the options: per_thread, alone, from_exec. */
int bank_begin(struct bank *b, pid_t pid, bool running, const struct source_options *options,
	struct error *e);
/*
 * Opens one more event, in the group of the event with index leader or BANK_LEADER. attr has the
 * event and its levels; the other fields are filled in here. On failure -1 with errno, and the bank
 * is unchanged.
 */
int bank_add(struct bank *b, const struct perf_event_attr *attr, size_t leader);
int bank_enable(struct bank *b, bool on, struct error *e);
/* values: one per event. */
int bank_read(struct bank *b, struct bank_value *values, struct error *e);

/* One more thread: counted from now on if the bank is enabled.  -1 with errno. */
int bank_join(struct bank *b, pid_t tid);
/* A thread that ended: its last values, which stay in the sums. */
int bank_leave(struct bank *b, pid_t tid, struct bank_value *values, struct error *e);
/* The thread `former` continues as tid (an exec by a thread that is not the first). */
void bank_rename(struct bank *b, pid_t former, pid_t tid);
/* One thread's values; tasks.data has them all. */
int bank_read_task(struct bank *b, size_t task, struct bank_value *values, struct error *e);

/* Zero-initialised is closed. */
void bank_close(struct bank *b);

#endif
