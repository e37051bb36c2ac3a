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
/* The regularised incomplete beta function I_x(a, b), a and b > 0, x in [0,1]. */
double stats_beta(double a, double b, double x);
/* Probability that Student's t with df degrees of freedom is as far from 0 as t or farther. */
double stats_student(double t, double df);
/* Two-sided exact tests, as twice the smaller tail: x of n when each is one with probability p;
 * x of the first n and y of the second m when all that make up x + y are equally likely
 * (Fisher's). */
double stats_binomial(double x, double n, double p);
double stats_fisher(double x, double n, double y, double m);
/* The 95% interval of the mean of Poisson's distribution of which n was seen.  Exact for whole n; n
 * may be a fraction. */
void stats_poisson95(double n, double *low, double *high);

struct stats_weighed {
	double value, weight;
};
/* The least value such that values up to it weigh at least `part` of the whole, or else the
 * greatest. Sorts x, of n > 0, by value. */
double stats_weighed(struct stats_weighed *x, size_t n, double part);

#endif
