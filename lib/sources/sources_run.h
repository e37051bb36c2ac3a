/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One run of a command (or one attachment to a process) under the sources of a plan's pass: starts
 * it, passes signals on, ticks the sources, starts and stops counting on SIGUSR1 and SIGUSR2, and
 * reads the counts at the end.
 */
#ifndef SOURCES_SOURCES_RUN_H
#define SOURCES_SOURCES_RUN_H

#include "base/progress.h"
#include "sources/plan.h"

/* The line with the progress of a slow run; the same one over several runs of the command. */
struct run_progress {
	struct progress line;
	double expected; /* instructions that the command executes, 0: unknown */
	/* Called once, soon, if the run is long; may be NULL. */
	void (*on_long)(void *context, const char *text);
	void *context;
	bool was_long; /* it was called */
};

struct run_request {
	char *const *argv; /* the command; NULL with pid */
	pid_t pid;         /* attach to this process; 0: run argv */
	int input;         /* the command's standard input; 0: ours */
	bool silent;       /* its standard output and error are discarded */
	bool by_signal;    /* -s: do not count until SIGUSR1 arrives; SIGUSR2 stops */
	double period;     /* -p: seconds between read-outs; 0: none */
	/* Called at each read-out; counts as in run_result.reading.  May be NULL. */
	void (*on_period)(void *context, double seconds, const struct reading *r);
	void *context;
	struct run_progress *progress; /* NULL: none */
};

struct run_result {
	struct reading
		reading;  /* one count an event of the plan, of this pass; others LABEL_NONE */
	int exit_status;  /* the command's, as a shell gives it; 0 with pid */
	bool killed;      /* by a signal */
	int signal;       /* ^C or a termination signal that perfex received, also while it read the
			     counts; 0 */
	bool interrupted; /* perfex received ^C or a termination signal */
	double elapsed;   /* seconds of wall-clock time */
	pid_t pid;        /* the command's */
	struct rusage usage; /* likewise, and of its descendants; zero with pid */
	size_t groups;       /* the most groups that took turns in a source */
};

/* A command that cannot be run: -1 with errnum ENOENT for not found.  result is valid only on 0. */
int run_pass(const struct run_request *request, const struct plan *p, unsigned pass,
	const struct source_options *options, struct event_spec *specs, struct run_result *result,
	struct error *e);
void run_result_fini(struct run_result *r);

#endif
