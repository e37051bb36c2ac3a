/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Branch records: which way control went, at random moments of a run.
 *
 * Runs come from bursts in which a thread is followed for some hundred transfers of control: each
 * is a straight sequence of instructions from the target of one transfer to the next transfer, and
 * where that went.  A branch that falls through is a transfer, too.  Bursts begin at moments
 * uniform in CPU time, so among runs that begin at one address the shares of where they end and go
 * are estimates of the program's; counts of runs at different places compare time, not executions.
 *
 * Of a burst that is timed it is known, moreover, what native CPU time t its code takes where
 * nobody follows it.  Then a run met c times in it has the rate c/t; of n timed bursts (a tally),
 * the sum of these over n is the mean rate, which times the program's CPU time estimates executions
 * of the whole; from squares follows its standard error, sqrt((squares/n - (rate/n)^2) / (n - 1)).
 * A burst that did not meet the run counts as one with rate 0.  Errors of runs met together vary
 * together.
 *
 * Rates say how often in the time of the program an instruction was executed: in windows of time,
 * chosen without regard to what the program does, a breakpoint counted its executions.
 *
 * What runs and rates are made of is told by tallies.  All of it are tables whose rows add up, in
 * any order; settled ones (experiment/file.h; as read, they are) are sorted by their keys.
 */
#ifndef EXPERIMENT_BRANCHES_H
#define EXPERIMENT_BRANCHES_H

#include "experiment/experiment.h"

/* table entries ("key" first, see base/table.h) */
struct experiment_run {
	struct {
		uint64_t begin, end, to; /* addresses: of its first instruction, of the transfer
					    that ended it, of where that went */
		uint32_t image, to_image;
	} key;
	uint64_t count;  /* in all bursts, timed or not; not 0 */
	uint64_t bursts; /* timed ones that met it */
	double rate;     /* sum over those of executions a second of native CPU time */
	double squares;  /* sum of their squares */
};

struct experiment_rate {
	struct {
		uint64_t address; /* of an instruction */
		uint32_t image, reserved;
	} key;
	uint64_t hits;        /* executions during the windows */
	uint64_t nanoseconds; /* of the process's CPU time in the windows, without what the stops
				 took */
	uint64_t windows;
	uint64_t span; /* ns of CPU time of the program in which windows could be: from when it was
			  met first */
};

/* What a tally counts; numbers are those of the file. */
enum experiment_tally_kind {
	TALLY_BURSTS,       /* in which at least a run was recorded */
	TALLY_BURSTS_CUT,   /* of these, ended before their length: by a signal, by code that
			       cannot be followed ... */
	TALLY_BURSTS_EMPTY, /* bursts in which none was */
	TALLY_TRANSFERS,    /* runs recorded, all together */
	TALLY_BURST_NS,     /* CPU time that bursts took, of threads and of ssrun */
	TALLY_WINDOWS,      /* in which hits were counted */
	TALLY_WINDOW_NS,    /* CPU time of the process in them, with what the stops took */
	TALLY_STOPS,        /* times that a thread was stopped, for whatever reason */
	TALLY_STOP_NS,      /* CPU time of threads in bursts and, estimated, of stops in windows */
	TALLY_SAMPLES_LEFT_OUT, /* clock samples in or right behind a burst or window, in no
				   histogram */
	TALLY_PROGRAM_NS,       /* CPU time of all threads that could be followed */
	TALLY_COST_NS,      /* CPU time that bursts and windows cost: of TALLY_STOP_NS, and ours */
	TALLY_BURSTS_TIMED, /* bursts that rates of runs are of, also those that met none */
	TALLY_TIMED_NS,     /* native CPU time of these, together */
	TALLY_TIMED_TRANSFERS, /* runs in these, together */
	TALLY_NATIVE_PAIRS,    /* branches that were counted in the program's time, and then in a
				  burst */
	TALLY_NATIVE, /* by this against TALLY_COPIED they were more frequent then: so rates of all
			 runs are */
	TALLY_COPIED,
	TALLY_KINDS
};

struct experiment_tally {
	struct {
		uint32_t kind, reserved;
	} key;
	uint64_t count;
};

static inline size_t experiment_runs(const struct experiment *x)
{
	return x->branch_runs.count;
}

static inline const struct experiment_run *experiment_run_at(const struct experiment *x, size_t i)
{
	return (const struct experiment_run *)(const void *)x->branch_runs.entries + i;
}

static inline size_t experiment_rates(const struct experiment *x)
{
	return x->branch_rates.count;
}

static inline const struct experiment_rate *experiment_rate_at(const struct experiment *x, size_t i)
{
	return (const struct experiment_rate *)(const void *)x->branch_rates.entries + i;
}

/* Has it been looked for any? */
static inline bool experiment_has_branches(const struct experiment *x)
{
	return x->branch_runs.count || x->branch_rates.count || x->branch_tallies.count;
}

/* Each adds to the row with its key; -1 when memory is out. */
int experiment_add_run(struct experiment *x, const struct experiment_run *run);
int experiment_add_rate(struct experiment *x, const struct experiment_rate *rate);
int experiment_add_tally(struct experiment *x, enum experiment_tally_kind kind, uint64_t count);
/* 0: there is none. */
uint64_t experiment_tally(const struct experiment *x, enum experiment_tally_kind kind);

#endif
