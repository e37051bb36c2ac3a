/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Experiments added up.  The sum is a function of the set of files: any order, any grouping (sums
 * of sums), the same bytes once written.
 *
 * Differences:
 *   images     the same where kind, path, build-id, size, fingerprint and pid are. So generated
 *              code (JIT) of two processes stays apart, unless they had the same pid
 *   metrics    the same where all but counts and note are; counts add up, the least note stays
 *   phases     the n-th of one name is the n-th of that name in each run; the earliest time stays
 *   facts      the least value stays, marked `several` where runs differ
 *   total      of a metric: unknown (0) as soon as one run that has samples does not have its own
 *   began      the earliest; elapsed: the sum; complete: where all are; type: all there are
 *   processes  see MERGE_THREADS
 * Counts stop at 2^64 - 1.
 */
#ifndef EXPERIMENT_MERGE_H
#define EXPERIMENT_MERGE_H

#include "base/progress.h"
#include "experiment/file.h"

enum experiment_merge_flag {
	/*
	 * Keeps processes, ranks and threads apart: each has its row (equal ones become one) and
	 * its histograms; memory grows with the number of files.
	 *
	 * Without it all samples go to thread 0 and the tables of processes and threads stay
	 * empty; `folded` has their number, their lowest and highest rank and the number that
	 * failed. Then memory grows with distinct addresses (call paths, phases) only, not with
	 * files.
	 */
	MERGE_THREADS = 1 << 0,
};

/* An empty sum, to be added to.  runs is 0. */
int experiment_merge_begin(struct experiment *x, struct error *e);

/* Adds b to a. a is such a sum, or settled (as experiment_read, experiment_write and
 * experiment_settle leave it). It must be settled before it is used. b has the order that files
 * have. After an error a can only be passed to experiment_fini. */
int experiment_merge(
	struct experiment *a, const struct experiment *b, unsigned flags, struct error *e);

struct experiment_merge_report {
	size_t damaged;         /* files with a readable beginning only */
	char first_damage[512]; /* path and message of the first of them, in the order of paths */
};

/*
 * Reads and adds up count files into x (fresh), settled. Each processor reads one file after the
 * other and adds it to a sum of its own: there are as many sums and files in memory as processors.
 * progress may be NULL. report may be NULL: then a damaged file is an error. On failure x is as
 * after experiment_fini.
 */
int experiment_merge_files(struct experiment *x, const char *const *paths, size_t count,
	unsigned flags, struct progress *progress, struct experiment_merge_report *report,
	struct error *e);

#endif
