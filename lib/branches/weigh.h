/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Weights of bursts from totals that are known exactly: calibration, as of surveys (Deville and
 * Saerndal, Journal of the American Statistical Association 87, 1992). Each burst stands for some
 * time of a program: by its weight, what it recorded becomes executions in that time. Of anchors,
 * the executions are known. The weights that come nearest to those by the clock and make the
 * anchors' executions right make other executions right, too, as far as these go with anchors: in
 * the same bursts.
 *
 * Pure functions.
 */
#ifndef BRANCHES_WEIGH_H
#define BRANCHES_WEIGH_H

#include <stddef.h>

/* Of an anchor, natively: fewer say nothing. */
#define WEIGH_HITS_LEAST 30.0

struct weigh {
	size_t bursts, anchors;
	/* Executions of each anchor in each burst: count[anchor * bursts + burst]; then in all the
	 * time that bursts stand for: total[anchor]. */
	double *count, *total;
	double *doubt;  /* of anchors: the variance of total, as a part of it, squared */
	double *weight; /* of bursts: by the clock; then as calibrated */
	double *time;   /* of bursts: what they stand for; */
	double *vague;  /* and the deviation of its logarithm, alike for bursts of the same code */
	double usual;   /* seconds of a burst: the median */
	double open;    /* variance of the logarithm of factor, by the clock; then as calibrated; 0:
			   not known */
	double factor;  /* between the two, of all bursts together */
	double disagree; /* as calibrated: anchors differ by as many times their doubts, squared */
	double off; /* variance of the logarithm of code that goes with no anchor, by what weights
		       leave unexplained of these */
	/* from here on private */
	size_t counted; /* anchors that are no times, which come after them */
	double *matrix, *part, *left, *norm, *unsure, *lever;
	/* As calibrated: executions of each anchor in each burst, by weights and totals, as count
	 * has them and burst by burst; the latter solved; and of what is looked at. */
	double *scaled, *by_burst, *solved, *rest, *solution;
};

/* Allocates the arrays, zeroed. -1 when memory is out. */
int weigh_make(struct weigh *w, size_t bursts, size_t anchors);
void weigh_free(struct weigh *w);
/* Changes weights. Anchors with few executions are left out. */
void weigh_calibrate(struct weigh *w);
/* Executions of other code in the time that all bursts stand for, of which bursts have these
 * counts. What anchors have more than the weights explain, code has as well if it goes with them.
 * The variance is that of what of it does not go with anchors, and that of the anchors' totals. */
double weigh_sum(struct weigh *w, const double *count, double *variance);

#endif
