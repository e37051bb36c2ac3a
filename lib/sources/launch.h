/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Running the user's command untouched: same process group, terminal, stdin, stdout, stderr, signal mask and
 * dispositions as if the shell had run it; held before its exec until the sources are attached.
 */
#ifndef SOURCES_LAUNCH_H
#define SOURCES_LAUNCH_H

#include <stdbool.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "base/error.h"

struct launch {
	char **argv;   /* owned, NULL-terminated; a source may replace it in prepare (launch_wrap) */
	char **added_environment; /* "NAME=value" to set in the child only; owned, NULL-terminated, may be NULL */
	pid_t pid;     /* 0 before launch_start */
	int gate;      /* writing end: releases the child */
	int exec_error; /* reading end: errno of a failed exec */
	bool reaped;
	int status;    /* wait status, once reaped */
	struct rusage usage; /* once reaped: child and its awaited descendants */
};

/* Copies argv. */
int launch_init(struct launch *l, char *const *argv, struct error *e);
/* Puts prefix (NULL-terminated) before the command's own words. */
int launch_wrap(struct launch *l, char *const *prefix, struct error *e);
int launch_setenv(struct launch *l, const char *name, const char *value, struct error *e);
/* Forks; the child waits at the gate. */
int launch_start(struct launch *l, struct error *e);
/* Opens the gate.  0 once the exec succeeded; -1 with errnum ENOENT (not found: exit 127), else (cannot run: 126). */
int launch_release(struct launch *l, struct error *e);
/* Reaps the child if it ended: 1; 0 if it still runs; -1 on error.  block: waits, but returns 0 on EINTR. */
int launch_poll(struct launch *l, bool block, struct error *e);
/* Exit status as a shell gives it: the child's own, or 128 + signal. */
int launch_exit_status(const struct launch *l);
void launch_fini(struct launch *l);

#endif
