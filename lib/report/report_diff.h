/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * prof -diff, for the files lib/report/report_diff*.c: the inputs of a request are runs of two
 * sides; rows are matched by name, because the two may be different builds.
 */
#ifndef REPORT_REPORT_DIFF_H
#define REPORT_REPORT_DIFF_H

#include "experiment/compare_rows.h"
#include "report/report_entity.h"

/* A metric that both sides have. */
struct report_pair {
	const struct experiment_metric *metric; /* of the first run that has it */
	const char *name;                       /* of its columns, without ".before" ... */
	VEC(size_t) runs;                       /* metrics of prof_data, those before first */
	size_t sides[2];                        /* how many of them are of each side */
	struct compare_table table;             /* of the rows; the last is the whole */
	size_t before, after, change, p;        /* columns */
	double unit;                            /* of the shown values: 1, or 100 of shares */
};

struct report_diff {
	struct prof_data *data;
	struct report_table *table;
	struct prof_sums sums; /* its entities are the rows */
	VEC(struct report_pair) pairs;
	enum prof_grain grain;
};

/* report_diff_rows.c: sums by entities that are the same in both builds. Images match by name
 * without version, the two programs always; procedures without the compiler's suffixes; lines by
 * their distance from the beginning of the function that they were written in, inlined or not;
 * files by base name. */
int report_diff_sums(struct prof_sums *s, struct prof_data *d, enum prof_grain grain);
/* The innermost function at the place, as it was written. How many functions are there together: 0
 * without debug information, 2 and more where it is inlined. */
size_t report_diff_written(const struct prof_data *d, size_t place, struct image_frame *function);

/* report_diff_pairs.c: which metrics there are to compare; then, with sums, their changes. */
int report_diff_pairs(struct report_diff *f, struct error *e);
int report_diff_compare(struct report_diff *f, struct error *e);
void report_diff_pairs_fini(struct report_diff *f);

/* report_diff_head.c: the lines above and below the rows. */
void report_diff_head(struct report_diff *f);
void report_diff_notes(struct report_diff *f, size_t changed);

#endif
