/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Are two profiles the same, but for chance?
 *
 * Zagha, Larson, Turner and Itzkowitz (1996) give each counter two prime overflow periods: profiles
 * that are similar at both should be statistically valid, and where they are not, one of the
 * periods is in step with the program.  Here "similar" is a test: Pearson's chi-square for the
 * homogeneity of two rows of counts.  Samples are grouped by what the caller chooses: procedure,
 * line, instruction.
 *
 * The test takes samples for independent.  Those at a fixed distance are spread more evenly over a
 * program without resonance, so that false alarms are not more frequent than p says: as long as
 * both profiles are of the same run (or of runs that do the same, event by event).  Of two runs of
 * a program that does not do the same twice, the test finds that, too.
 */
#ifndef EXPERIMENT_COMPARE_H
#define EXPERIMENT_COMPARE_H

#include "base/vec.h"
#include "experiment/experiment.h"

struct compare_group {
	uint64_t key;
	uint64_t counts[2]; /* samples */
	double residual;    /* adjusted standardised residual of the first profile: above 0 where it
			       has    more than its part; normal with variance 1 if there is only
			       chance
			     */
	bool pooled;        /* too few for a cell of its own: with others in one cell */
	bool differs;       /* its share, by more than chance (compare_rows.h) */
};

struct comparison {
	uint64_t samples[2];
	uint32_t cells;   /* of the test: groups with 5 samples expected in both, and at most one of
			     the others together */
	double statistic; /* chi-square with cells - 1 degrees of freedom */
	double p; /* probability of that or more if there is only chance, [0,1]; 1 where there
		     are no two cells to compare */
	double difference; /* typical relative difference of shares, root mean square weighted by
			      share, less what chance adds; 0: none to be seen */
	/* By |residual|, largest first; those that are pooled behind all others: their residuals
	 * are not normal. */
	VEC(struct compare_group) groups;
};

/* The group of a sample; false: it does not take part. */
typedef bool experiment_group_of(const struct experiment *x, const struct experiment_sample *sample,
	uint64_t *key, void *data);

/* Metric a of x and metric b of y (which may be x).  On failure *c is empty. */
int experiment_compare(struct comparison *c, const struct experiment *x, uint32_t a,
	const struct experiment *y, uint32_t b, experiment_group_of *group_of, void *data,
	struct error *e);
void comparison_fini(struct comparison *c);

#endif
