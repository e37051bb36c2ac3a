/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Branch records: control transfers of a run, recorded at random moments.
 *
 * Runs come from bursts in which a thread is followed for some hundred transfers of control: each
 * is a straight sequence of instructions from the target of one transfer to the next transfer,
 * with that one's target. A branch that falls through is a transfer, too. Bursts begin at moments
 * uniform in CPU time. So among runs that begin at one address, the shares of their ends and
 * targets are estimates of the program's; counts of runs at different places compare time, not
 * executions.
 *
 * Of a timed burst, the native CPU time t of its code (without the tracer) is known, too. A run
 * that occurs c times in it has the rate c/t; of n timed bursts (a tally), the sum of these over n
 * is the mean rate. The mean rate times the program's CPU time estimates executions of the whole.
 * Its standard error follows from squares: sqrt((squares/n - (rate/n)^2) / (n - 1)). A burst
 * without the run counts as one with rate 0. Errors of runs in the same bursts are correlated.
 *
 * Rates are executions of an instruction per time of the program: a breakpoint counted them in
 * windows of time, which were chosen independently of what the program does.
 *
 * Tallies give the totals that runs and rates refer to. All of these are tables whose rows add up,
 * in any order; settled ones (experiment/file.h; those that were read are) are sorted by their
 * keys.
 */
#ifndef EXPERIMENT_BRANCHES_H
#define EXPERIMENT_BRANCHES_H

#include "experiment/experiment.h"

/* table entries ("key" first, see base/table.h) */
struct experiment_run {
	struct {
		uint64_t begin, end, to; /* addresses: of its first instruction, of the transfer
					    that ended it, of that one's target */
		uint32_t image, to_image;
	} key;
	uint64_t count;  /* in all bursts, timed or not; not 0 */
	uint64_t bursts; /* timed ones that include it */
	double rate;     /* sum over those of executions per second of native CPU time */
	double squares;  /* sum of their squares */
};

struct experiment_rate {
	struct {
		uint64_t address; /* of an instruction */
		uint32_t image, reserved;
	} key;
	uint64_t hits;        /* executions during the windows */
	uint64_t nanoseconds; /* of the process's CPU time in the windows, without that of stops */
	uint64_t windows;
	uint64_t span; /* ns of CPU time of the program in which windows were possible: since it was
			  first recorded */
};

/* What a tally counts; numbers are those of the file. */
enum experiment_tally_kind {
	TALLY_BURSTS,       /* in which at least a run was recorded */
	TALLY_BURSTS_CUT,   /* of these, ended before their length: by a signal, by code that cannot
			       be followed ... */
	TALLY_BURSTS_EMPTY, /* bursts without a run */
	TALLY_TRANSFERS,    /* runs recorded, all together */
	TALLY_BURST_NS,     /* CPU time that bursts took, of threads and of ssrun */
	TALLY_WINDOWS,      /* in which hits were counted */
	TALLY_WINDOW_NS,    /* CPU time of the process in them, with that of stops */
	TALLY_STOPS,        /* times that a thread was stopped, for any reason */
	TALLY_STOP_NS,      /* CPU time of threads in bursts and, estimated, of stops in windows */
	TALLY_SAMPLES_LEFT_OUT, /* clock samples in or right after a burst or window, in no
				   histogram */
	TALLY_PROGRAM_NS,       /* CPU time of all threads that could be followed */
	TALLY_COST_NS,          /* CPU time that following it cost: all of ours, and TALLY_STOP_NS
				   without TALLY_TIMED_NS, which is the program's own */
	TALLY_BURSTS_TIMED,     /* bursts that rates of runs are of, including empty ones */
	TALLY_TIMED_NS,         /* native CPU time of these, together */
	TALLY_TIMED_TRANSFERS,  /* runs in these, together */
	TALLY_NATIVE_PAIRS, /* branches that were counted in the program's time, and then in a burst
			     */
	TALLY_NATIVE, /* ratio to TALLY_COPIED: they were more frequent natively, and so are all
			 runs */
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

/* Are there any? */
static inline bool experiment_has_branches(const struct experiment *x)
{
	return x->branch_runs.count || x->branch_rates.count || x->branch_tallies.count;
}

/* Adds to the one of that kind; -1 when memory is out. */
int experiment_add_tally(struct experiment *x, enum experiment_tally_kind kind, uint64_t count);
/* 0: there is none. */
uint64_t experiment_tally(const struct experiment *x, enum experiment_tally_kind kind);

#endif
