/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Experiments added up.  The sum is a function of the set of files: any order, any grouping, the
 * same bytes once written.
 */
#ifndef EXPERIMENT_MERGE_H
#define EXPERIMENT_MERGE_H

#include "base/progress.h"
#include "experiment/file.h"

enum experiment_merge_flag {
	/* Keeps processes, ranks and threads apart.  Without it samples go to thread 0 and one row
	 * a process stays, so that memory grows with distinct addresses, not with files. */
	MERGE_THREADS = 1 << 0,
};

/* Adds b to a.  Metrics are the same where all but their counts and notes are. */
int experiment_merge(
	struct experiment *a, const struct experiment *b, unsigned flags, struct error *e);

struct experiment_merge_report {
	size_t damaged;         /* files of which only the beginning could be read */
	char first_damage[512]; /* path and message */
};

/* Reads and adds up count files into x (fresh), on all cores, a few at a time.  progress may be
 * NULL.  report may be NULL: then a damaged file is an error. */
int experiment_merge_files(struct experiment *x, const char *const *paths, size_t count,
	unsigned flags, struct progress *progress, struct experiment_merge_report *report,
	struct error *e);

#endif
