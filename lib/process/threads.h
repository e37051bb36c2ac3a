/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Births and deaths of threads, for counts per thread.
 *
 * Counters that are to be read for each thread must be opened on each before its first instruction
 * and read when it has ended.  The kernel tells an unprivileged observer of both in one way only,
 * ptrace: every new thread and process of a traced one starts stopped, and its end is reported to
 * us first.  (The kernel has a way of its own, inherit_stat with a PERF_RECORD_READ at the end of
 * each thread, but from 5.13 on for some years it wrote none: 6.1 does not, 6.18 does.)
 *
 * What the command notices: a few dozen microseconds at the birth of a thread, some for each
 * signal; a debugger in it cannot trace what we trace; and, as with any tracer that is not root, a
 * set-user-id program in it runs without its privileges.  So only -mp does this.
 */
#ifndef PROCESS_THREADS_H
#define PROCESS_THREADS_H

#include <stdbool.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "base/error.h"
#include "base/vec.h"

enum trace_news {
	TRACE_BEGINS,  /* stopped before its first instruction, or when we came */
	TRACE_ENDS,    /* has run its last */
	TRACE_RENAMED, /* thread `tid` goes on as `pid`, whose own number it takes: an exec */
};

struct trace {
	/* 0, or -1 with *e, which ends the tracing. */
	int (*hear)(void *context, enum trace_news news, pid_t pid, pid_t tid, const char *command,
		struct error *e);
	void *context;
	pid_t child; /* whose end trace_poll hands on */
	VEC(pid_t) threads;
};

/*
 * Follows the process from now on; with running, hear is told of each thread that it has.  child:
 * pid is our own child.
 */
int trace_begin(struct trace *t, pid_t pid, bool running, struct error *e);
/* Deals with all that happened; does not wait.  1 when the child has ended: *status and *usage are
 * its own. */
int trace_poll(struct trace *t, int *status, struct rusage *usage, struct error *e);
/* Lets go of all that are still there. */
void trace_end(struct trace *t);

#endif
