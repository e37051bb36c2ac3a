/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which rows of two profiles differ by more than chance, and by how much?
 *
 * Each side is one run or several. A count has Poisson's distribution around the run's own value
 * (samples at a fixed distance scatter less, so this is safe), and that value varies from run to
 * run, which only several runs show. A row has changed if two tests agree:
 *
 *   - given the sum of both sides, the exact conditional one: binomial for rates, Fisher's for
 *     shares;
 *   - where there are more runs than sides, Student's, with the variance of the counts increased
 *     by the scatter between runs of one side: that of the row itself or, if greater, that of most
 *     rows (a common square of the coefficient of variation).
 *
 * The degrees of freedom of the latter are Satterthwaite's, of a known part (Poisson's) and of one
 * estimated from the runs: not from runs times rows, since one difference between runs changes many
 * rows at once.
 *
 * Of many rows some differ by chance: Benjamini and Hochberg's procedure (1995) keeps their
 * expected share of the reported rows at 5%, for correlated rows, too. Intervals are those of each
 * row by itself: Poisson's or Wilson's of the sides, combined after Newcombe (1998).
 *
 * Cost: rows * runs, some forty times if there is scatter to estimate.
 */
#ifndef EXPERIMENT_COMPARE_ROWS_H
#define EXPERIMENT_COMPARE_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct compare_design {
	size_t runs[2]; /* of each side, at least one */
	/* [run], side 0 first: divisor of the counts. Of rates 1 / unit; of shares the samples of
	 * the run. */
	const double *exposures;
	bool shares;
	bool exact; /* counts are exact: without scatter between runs, any difference is a change */
	bool alone; /* of compare_alone */
	double scatter; /* square of the coefficient of variation from run to run of most rows; set
			   by compare_rows */
};

struct compare_change {
	double rates[2];          /* of each side, all its runs together */
	double lows[2], highs[2]; /* their 95% intervals */
	double low, high;         /* that of rates[1] - rates[0] */
	double p;                 /* probability of such a difference by chance */
	bool differs;             /* more than chance, among all rows */
};

/* counts: [row * runs of both sides + run].  Sets design->scatter and changes[row]; rows without
 * any count take no part.  -1 when memory is out. */
int compare_rows(struct compare_design *design, const uint64_t *counts, size_t rows,
	struct compare_change *changes, struct error *e);
/* One row by itself, as a total: only its own scatter counts, since differences between
 * runs may even out. differs: at 5%. */
void compare_alone(
	const struct compare_design *design, const uint64_t *counts, struct compare_change *change);

/* Room for all of it, zeroed, and one row more, after the others, for compare_alone. */
struct compare_table {
	struct compare_design design;
	size_t rows, runs;
	double *exposures; /* the design's */
	uint64_t *counts;
	struct compare_change *changes;
};
int compare_table_init(struct compare_table *t, const size_t *runs, size_t rows, struct error *e);
/* compare_rows, and compare_alone of the last one. */
int compare_table(struct compare_table *t, struct error *e);
void compare_table_fini(struct compare_table *t);

#endif
