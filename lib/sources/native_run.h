/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How long a command takes without the model: it is run by itself, short ones several times. */
#ifndef SOURCES_NATIVE_RUN_H
#define SOURCES_NATIVE_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "events/label.h"
#include "process/replay.h"

/* Of one run, in seconds: of the command and the descendants that were waited for. */
struct native_run {
	double user, system, elapsed;
};

struct native_times {
	unsigned runs;                         /* 0: there are none */
	int exit_status;                       /* of the last */
	struct quantity user, system, elapsed; /* seconds, measured */
	uint64_t clock_hz; /* of the processor then: before or after the runs, the faster; 0:
			      unknown */
};

enum { NATIVE_RUNS_MAX = 20 };

/*
 * Runs the command up to NATIVE_RUNS_MAX times, as many as fit into a second, and at least once; a
 * command that fails is not run again. What it writes goes nowhere. Each run reads standard input
 * again. -1: it cannot be run, or not read again; *interrupted: perfex received ^C, and that run is
 * not among them.
 */
int native_times_measure(char *const *argv, struct replay *input, struct native_times *t,
	bool *interrupted, struct error *e);

/*
 * The times that runs (at least 1) give. The processor's time is that of the least disturbed run,
 * and its interval extends to the median. The kernel divides it between user and system by what
 * each tick finds: so that division is of all runs together, and its interval that of as many
 * samples as there were ticks of this length (seconds).
 */
void native_times_of(
	const struct native_run *run, unsigned runs, double tick, struct native_times *t);

#endif
