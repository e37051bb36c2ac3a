/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Beginnings and ends of threads, for counts per thread.
 *
 * Counters for each thread must be opened on it before its first instruction and read when it has
 * ended. An unprivileged observer can learn of both only through ptrace: every new thread and
 * process of a traced one starts stopped, and its end is reported to the tracer first. (The kernel
 * also has inherit_stat with a PERF_RECORD_READ at the end of each thread, but from 5.13 on some
 * versions do not write it: 6.1 does not, 6.18 does.)
 *
 * Effects on the command: a few dozen microseconds at the beginning of a thread, some for each
 * signal; a debugger in it cannot trace the same processes; and, as with any tracer without root, a
 * set-user-id program in it runs without its privileges. So only -mp does this.
 */
#ifndef PROCESS_THREADS_H
#define PROCESS_THREADS_H

#include <stdbool.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "base/error.h"
#include "base/vec.h"

enum trace_news {
	TRACE_BEGINS,  /* stopped before its first instruction, or when tracing began */
	TRACE_ENDS,    /* has run its last */
	TRACE_RENAMED, /* thread `tid` continues as `pid`, whose number it takes: an exec */
};

struct trace {
	/* 0, or -1 with *e, which ends the tracing. */
	int (*hear)(void *context, enum trace_news news, pid_t pid, pid_t tid, const char *command,
		struct error *e);
	void *context;
	pid_t child; /* threads_trace_poll returns its end */
	VEC(pid_t) threads;
};

/*
 * Follows the process from now on; with running, hear is called for each of its threads. child: pid
 * is our own child.
 */
int threads_trace_begin(struct trace *t, pid_t pid, bool running, struct error *e);
/* Deals with all that happened; does not wait.  1 when the child has ended: *status and *usage are
 * its own. */
int threads_trace_poll(struct trace *t, int *status, struct rusage *usage, struct error *e);
/* Detaches from all that still exist. */
void threads_trace_end(struct trace *t);

#endif
