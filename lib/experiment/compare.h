/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Are two profiles the same, but for chance?
 *
 * Zagha, Larson, Turner and Itzkowitz (1996) give each counter two prime overflow periods:
 * profiles that are similar at both should be statistically valid; if they differ, one of the
 * periods is in step with the program. Here "similar" is a test: Pearson's chi-square for the
 * homogeneity of two rows of counts. Samples are grouped by the caller's choice: procedure, line,
 * instruction.
 *
 * The test assumes independent samples. Samples at a fixed distance are spread more evenly over a
 * program without resonance, so false alarms are not more frequent than p, as long as both
 * profiles are of the same run (or of runs that are the same, event by event). For two different
 * runs of a program, the test also finds the differences between them.
 */
#ifndef EXPERIMENT_COMPARE_H
#define EXPERIMENT_COMPARE_H

#include "base/vec.h"
#include "experiment/experiment.h"

struct compare_group {
	uint64_t key;
	uint64_t counts[2]; /* samples */
	double residual;    /* adjusted standardised residual of the first profile: above 0 if its
			       share is larger; normal with variance 1 if there is only chance */
	bool pooled;        /* too few for a cell of its own: joined with others */
	bool differs;       /* its share, by more than chance (compare_rows.h) */
};

struct comparison {
	uint64_t samples[2];
	uint32_t cells;   /* of the test: groups with 5 samples expected in both, and at most one of
			     all others together */
	double statistic; /* chi-square with cells - 1 degrees of freedom */
	double p; /* probability of that or more if there is only chance, [0,1]; 1 if there are
		     fewer than two cells */
	double difference; /* typical relative difference of shares, root mean square weighted by
			      share, without the contribution of chance; 0: none visible */
	/* By |residual|, largest first. Joined groups follow all others: their residuals are not
	 * normal. */
	VEC(struct compare_group) groups;
};

/* The group of a row of samples, and how many of them count; 0: it is left out. */
typedef uint64_t experiment_group_of(
	const struct experiment *x, size_t sample, uint64_t *key, void *data);

/* Metric a of x and metric b of y (which may be x).  On failure *c is empty. */
int experiment_compare(struct comparison *c, const struct experiment *x, uint32_t a,
	const struct experiment *y, uint32_t b, experiment_group_of *group_of, void *data,
	struct error *e);
void compare_fini(struct comparison *c);

#endif
