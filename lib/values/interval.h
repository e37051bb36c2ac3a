/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The share of a value among all executions, from values seen at random moments.
 *
 * Values of one moment are alike, so moments are the sample, not values: the variance of the share
 * p is that of a ratio of sums over moments b of x_b (this value's count) and n_b (all values'),
 * B/(B-1) sum (x_b - p n_b)^2 / N^2. It gives the number of independent values that would be as
 * good, n = p(1-p)/variance, between B and N, and Wilson's interval for n values follows.
 */
#ifndef VALUES_INTERVAL_H
#define VALUES_INTERVAL_H

#include <stdbool.h>

#include "experiment/values.h"

#define VALUES_MOMENTS_FEW 5 /* with fewer there is no interval to rely on */

struct value_share {
	double share, low, high; /* [0,1]; 95% */
	bool few;                /* moments: low and high are 0 and 1 */
};

/* value: of this site; NULL: one that is not listed. */
struct value_share value_share_of(
	const struct experiment_value_site *site, const struct experiment_value *value);
/* The same where shares were fitted (values/latencies.h): their error may be larger than that of a
 * share counted in as many values as there are moments. */
struct value_share value_share_fitted(
	const struct experiment_value_site *site, const struct experiment_value *value);
/* The same for something counted exactly in a site: `count` of `of` values. */
struct value_share value_share_counted(
	const struct experiment_value_site *site, uint64_t count, uint64_t of);

#endif
