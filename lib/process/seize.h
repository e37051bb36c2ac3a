/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Threads of another process taken under ptrace without stopping them (PTRACE_SEIZE). The caller
 * keeps the list of its threads, and waits for their stops.
 */
#ifndef PROCESS_SEIZE_H
#define PROCESS_SEIZE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

struct seizer {
	unsigned long options; /* PTRACE_O_... */
	const char *purpose;   /* for errors: "branch records" need ptrace */
	bool (*known)(void *context, pid_t tid);
	/* Called for each thread that was seized. */
	int (*begins)(void *context, pid_t tid, struct error *e);
	void *context;
	/* seize_process: by proc_began, or the number has gone to another; 0: any */
	uint64_t began;
};

/* 0 also where it has ended meanwhile. */
int seize_thread(const struct seizer *s, pid_t tid, struct error *e);
/* All threads that a running process has. */
int seize_process(const struct seizer *s, pid_t pid, struct error *e);

/* Stops a seized thread wherever it is, and waits for that; waited: flags of waitpid.  *status is
 * that of the stop.  False: it has ended. */
bool seize_stop(pid_t tid, int waited, int *status);

#endif
