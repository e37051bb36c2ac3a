/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The few statistics that the toolkit needs.  All pure functions.
 */
#ifndef BASE_STATS_H
#define BASE_STATS_H

#include <stddef.h>

double stats_mean(const double *x, size_t n);
/* Unbiased standard deviation; 0 for n < 2. */
double stats_stddev(const double *x, size_t n);
/* Sorts x in place; NaN for n == 0. */
double stats_median(double *x, size_t n);
/* Two-sided 95% quantile of Student's t with df degrees of freedom (df >= 1; 1.96 in the limit). */
double stats_t95(double df);
/* Probability that chi-square with df degrees of freedom (df > 0) is x or more; [0,1], to relative
 * precision 1e-10 also where it is small. */
double stats_chi_square(double x, double df);

#endif
