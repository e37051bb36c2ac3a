/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/stats.h"

#include <math.h>
#include <stdlib.h>

double stats_mean(const double *x, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += x[i];
	return n ? sum / (double)n : NAN;
}

double stats_stddev(const double *x, size_t n)
{
	double mean = stats_mean(x, n), sum = 0;

	if (n < 2)
		return 0;
	for (size_t i = 0; i < n; i++)
		sum += (x[i] - mean) * (x[i] - mean);
	return sqrt(sum / (double)(n - 1));
}

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

double stats_median(double *x, size_t n)
{
	if (n == 0)
		return NAN;
	qsort(x, n, sizeof(*x), ascending);
	return n % 2 ? x[n / 2] : (x[n / 2 - 1] + x[n / 2]) / 2;
}

double stats_t95(double df)
{
	/* Exact to four digits where the expansion below is poor. */
	static const double small[] = {
		12.7062, 4.3027, 3.1824, 2.7764, 2.5706, 2.4469, 2.3646, 2.3060, 2.2622, 2.2281};
	const double z = 1.959964;

	if (df < 1)
		df = 1;
	if (df <= 10) {
		size_t k = (size_t)df;
		double low = small[k - 1], high = k < 10 ? small[k] : low;

		return low + (high - low) * (df - (double)k);
	}
	/* Cornish-Fisher expansion about the normal quantile (Abramowitz and Stegun 26.7.5). */
	return z + (pow(z, 3) + z) / (4 * df) +
	       (5 * pow(z, 5) + 16 * pow(z, 3) + 3 * z) / (96 * df * df);
}

/* Both return what is multiplied by x^a e^-x / Gamma(a): the incomplete gamma functions of
 * Abramowitz and Stegun, P(a, x) by the series 6.5.29, and Q(a, x) = 1 - P by the continued
 * fraction 6.5.31, with Lentz's method. */
static double gamma_series(double a, double x)
{
	double term = 1 / a, sum = term;

	for (double n = a + 1; term > sum * 1e-16; n++)
		sum += term *= x / n;
	return sum;
}

static double gamma_fraction(double a, double x)
{
	const double tiny = 1e-300;
	double b = x + 1 - a, c = 1 / tiny, d = 1 / b, product = d, factor = 0;

	for (double n = 1; fabs(factor - 1) > 1e-15 && n < 1e7; n++) {
		double numerator = n * (a - n);

		b += 2;
		d = numerator * d + b;
		d = 1 / (fabs(d) < tiny ? tiny : d);
		c = b + numerator / c;
		c = fabs(c) < tiny ? tiny : c;
		factor = c * d;
		product *= factor;
	}
	return product;
}

double stats_chi_square(double x, double df)
{
	double a = df / 2, half = x / 2, scale, p;

	if (!(x > 0) || !(df > 0))
		return 1;
	scale = exp(a * log(half) - half - lgamma(a));
	p = half < a + 1 ? 1 - scale * gamma_series(a, half) : scale * gamma_fraction(a, half);
	return p < 0 ? 0 : p > 1 ? 1 : p;
}
