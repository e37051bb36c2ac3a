/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One run of a command as an experiment: with nothing on its standard input, its output in files, a
 * limit of time, in a process group of its own, which is killed when the command has ended, and the
 * processor time that it took. Unlike launch.h, nothing is counted in it.
 *
 * SIGINT, SIGTERM and SIGHUP that this process gets meanwhile end the run, as an error, and no
 * other begins, so that callers come to their end and remove their files. A caller that does more
 * than run commands holds these signals meanwhile: the next run then ends by them, or the release.
 */
#ifndef PROCESS_TRIAL_H
#define PROCESS_TRIAL_H

#include <signal.h>
#include <stdbool.h>

#include "base/error.h"

struct trial {
	char *const *argv;  /* NULL-terminated; the program is searched in PATH */
	const char *output; /* file for standard output; NULL: discarded */
	const char *errors; /* likewise, standard error */
	double limit;       /* seconds; then it is killed; 0: none */
	bool cleans;        /* it also runs after a signal */
	/* "NAME=value", NULL-terminated: it gets these, too. NULL: none. */
	char *const *environment;
	/* As a shell would run it: with our files and in our process group. A signal is passed on
	 * to it, and its end is awaited. */
	bool shares;
};

struct trial_result {
	int status;     /* wait status */
	bool late;      /* killed at the limit */
	double cpu;     /* seconds, user and system, with awaited descendants */
	double elapsed; /* seconds */
};

/* -1 with *e set: it could not be started (ERR_CANNOT_RUN), or not be waited for, or a signal came.
 * Files that it writes end at 1 GiB. */
int trial_run(const struct trial *t, struct trial_result *r, struct error *e);
void trial_signals_hold(sigset_t *before);
void trial_signals_release(const sigset_t *before);
/* "exit status 3", "killed by signal 11 (Segmentation fault)", "no end within the limit". */
void trial_status_text(const struct trial_result *r, char *text, int size);

#endif
