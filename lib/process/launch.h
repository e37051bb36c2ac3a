/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs the user's command unchanged: same process group, terminal, stdin, stdout, stderr, signal
 * mask and dispositions as if the shell had run it; held before its exec until the sources are
 * attached. Its standard files are others where the caller says so (input, silent).
 *
 * launch_init saves the current signal mask and ignored signals, and the command gets those back: a
 * caller may block, ignore and handle signals between launch_init and launch_start.
 */
#ifndef PROCESS_LAUNCH_H
#define PROCESS_LAUNCH_H

#include <signal.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "base/error.h"

struct launch {
	char **argv; /* owned, NULL-terminated; a source may replace it in prepare (launch_wrap) */
	char **added_environment; /* "NAME=value" to set in the child only; owned, NULL-terminated,
				     may be NULL */
	pid_t pid;                /* 0 before launch_start */
	int gate;                 /* writing end: releases the child */
	int exec_error;           /* reading end: errno of a failed exec */
	bool began;               /* the child was about to call exec */
	bool reaped;
	int status;          /* wait status, once reaped */
	struct rusage usage; /* once reaped: child, from its exec on, and its awaited descendants */
	struct rusage before;   /* usage of the child when it called exec; already subtracted */
	sigset_t mask, ignored; /* of the caller, at launch_init */
	int input;   /* the child's standard input; 0: ours; borrowed until launch_start */
	bool silent; /* what the child writes to standard output and error is discarded */
};

/* Copies argv. */
int launch_init(struct launch *l, char *const *argv, struct error *e);
/* Puts prefix (NULL-terminated) before the command's own words. */
int launch_wrap(struct launch *l, char *const *prefix, struct error *e);
int launch_setenv(struct launch *l, const char *name, const char *value, struct error *e);
/* Forks; the child waits at the gate. */
int launch_start(struct launch *l, struct error *e);
/* Opens the gate.  0 once the exec succeeded; -1 with errnum ENOENT (not found: exit 127), else
 * (cannot run: 126). */
int launch_release(struct launch *l, struct error *e);
/* The same in two steps, for callers that must handle the child's stops meanwhile (trace.h). */
void launch_open_gate(struct launch *l);
/* Waits for `milliseconds`, -1: without limit. 1 once the exec succeeded, 0 not yet, -1 as
 * launch_release, but that the child's end is to be waited for. */
int launch_began(struct launch *l, int milliseconds, struct error *e);
/* Whether there is a child that went through the gate and has not been reaped. */
bool launch_was_released(const struct launch *l);
/* Reaps the child if it ended: 1; 0 if it still runs; -1 on error.  block: waits, but returns 0 on
 * EINTR. */
int launch_poll(struct launch *l, bool block, struct error *e);
/* Another process reaped the child. */
void launch_reaped(struct launch *l, int status, const struct rusage *usage);
/* Exit status as a shell gives it: the child's own, or 128 + signal. */
int launch_exit_status(const struct launch *l);
/* Ends a child that was never released; one that runs is left alone. */
void launch_fini(struct launch *l);

#endif
