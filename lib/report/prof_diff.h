/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * prof -diff, for the files lib/report/prof_diff*.c: the inputs of a request are runs of two sides;
 * what rows stand for is matched by name, as the two may be different builds.
 */
#ifndef REPORT_PROF_DIFF_H
#define REPORT_PROF_DIFF_H

#include "experiment/compare_rows.h"
#include "report/prof_entity.h"

/* A metric that both sides have. */
struct prof_pair {
	const struct experiment_metric *metric; /* of the first run that has it */
	const char *name;                       /* of its columns, without ".before" ... */
	VEC(size_t) runs;                       /* metrics of prof_data, those before first */
	size_t sides[2];                        /* how many of them are of each side */
	struct compare_table table;             /* of the rows; the last is the whole */
	size_t before, after, change, p;        /* columns */
	double unit;                            /* of what is shown: 1, or 100 of shares */
};

struct prof_diff {
	struct prof_data *data;
	struct prof_table *table;
	struct prof_sums sums; /* its entities are the rows */
	VEC(struct prof_pair) pairs;
	enum prof_grain grain;
};

/* prof_diff_rows.c: sums by what rows stand for in both builds.  Images go by name without version,
 * the programs themselves whatever they are called; procedures without the compiler's suffixes;
 * lines by their distance from where the procedure begins; files by base name. */
int prof_diff_sums(struct prof_sums *s, struct prof_data *d, enum prof_grain grain);

/* prof_diff_pairs.c: which metrics there are to compare; then, with sums, their changes. */
int prof_diff_pairs(struct prof_diff *f, struct error *e);
int prof_diff_compare(struct prof_diff *f, struct error *e);
void prof_diff_pairs_fini(struct prof_diff *f);

/* prof_diff_head.c: what is said above and below the rows. */
void prof_diff_head(struct prof_diff *f);
void prof_diff_notes(struct prof_diff *f, size_t changed);

#endif
