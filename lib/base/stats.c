/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/stats.h"

#include <math.h>
#include <stdlib.h>

#include "base/order.h"

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

double stats_median(double *x, size_t n)
{
	if (n == 0)
		return NAN;
	qsort(x, n, sizeof(*x), order_doubles);
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

/* Both return a factor; times x^a e^-x / Gamma(a) these are the incomplete gamma functions of
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

/* The continued fraction of I_x(a, b) (Abramowitz and Stegun 26.5.8), by Lentz's method; it takes
 * about the square root of the larger parameter in steps. */
static double beta_fraction(double a, double b, double x)
{
	const double tiny = 1e-300;
	double c = 1, d = 1 - (a + b) * x / (a + 1), product, factor = 0;

	d = 1 / (fabs(d) < tiny ? tiny : d);
	product = d;
	for (double n = 1; fabs(factor - 1) > 1e-15 && n < 1e7; n++) {
		double even = n * (b - n) * x / ((a + 2 * n - 1) * (a + 2 * n));
		double odd = -(a + n) * (a + b + n) * x / ((a + 2 * n) * (a + 2 * n + 1));

		for (int i = 0; i < 2; i++) {
			double numerator = i ? odd : even;

			d = 1 + numerator * d;
			d = 1 / (fabs(d) < tiny ? tiny : d);
			c = 1 + numerator / c;
			c = fabs(c) < tiny ? tiny : c;
			factor = c * d;
			product *= factor;
		}
	}
	return product;
}

double stats_beta(double a, double b, double x)
{
	double scale, value;

	if (!(x > 0))
		return 0;
	if (!(x < 1))
		return 1;
	scale = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));
	if (x < (a + 1) / (a + b + 2))
		value = scale * beta_fraction(a, b, x) / a;
	else
		value = 1 - scale * beta_fraction(b, a, 1 - x) / b;
	return value < 0 ? 0 : value > 1 ? 1 : value;
}

double stats_student(double t, double df)
{
	return isfinite(t) ? stats_beta(df / 2, 0.5, df / (df + t * t)) : 0;
}

static double two_sided(double below, double above)
{
	double p = 2 * (below < above ? below : above);

	return p > 1 ? 1 : p;
}

double stats_binomial(double x, double n, double p)
{
	/* P(X <= x), P(X >= x) */
	double below = x >= n ? 1 : stats_beta(n - x, x + 1, 1 - p);
	double above = x <= 0 ? 1 : stats_beta(x, n - x + 1, p);

	return two_sided(below, above);
}

static double log_choose(double n, double k)
{
	return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1);
}

/* Sum of the probabilities of the hypergeometric distribution from x on in steps of `step`, which
 * lead away from where they are largest or reach it soon. */
static double fisher_tail(double x, double k, double n, double m, double step)
{
	double term = exp(log_choose(n, x) + log_choose(m, k - x) - log_choose(n + m, k));
	double sum = term;

	while (x + step >= 0 && x + step <= k && x + step <= n && k - x - step <= m) {
		double before = term;

		if (step > 0)
			term *= (n - x) * (k - x) / ((x + 1) * (m - k + x + 1));
		else
			term *= x * (m - k + x) / ((n - x + 1) * (k - x + 1));
		sum += term;
		x += step;
		if (term <= before && term <= sum * 1e-17) /* both may be 0 */
			break;
	}
	return sum > 1 ? 1 : sum;
}

#define FISHER_NORMAL 1e10 /* variance from which on the normal distribution is as good */

double stats_fisher(double x, double n, double y, double m)
{
	double k = x + y, mean = k * n / (n + m), tail, variance;

	if (!(n > 0) || !(m > 0) || !(k > 0))
		return 1;
	/* A tail has some ten standard deviations of terms. */
	variance = mean * (m / (n + m)) * ((n + m - k) / (n + m - 1));
	if (variance > FISHER_NORMAL)
		return two_sided(erfc((fmax(fabs(x - mean) - 0.5, 0)) / sqrt(2 * variance)) / 2, 1);
	/* the other tail is larger, but for the part between the mean and x */
	tail = fisher_tail(x, k, n, m, x < mean ? -1 : 1);
	return two_sided(tail, 1);
}

/* Wilson and Hilferty: quantile of chi-square with k degrees of freedom. With steps of Newton's
 * method below, it is exact to four digits from one sample up. */
static double chi_square_quantile(double k, double z)
{
	double h = 2 / (9 * k), c = 1 - h + z * sqrt(h);

	return k * c * c * c;
}

/* P(X <= n) for Poisson's X of this mean. */
static double poisson_below(double n, double mean)
{
	double term = 1, sum = 1;

	/* from the largest term down; the rest is below rounding */
	for (double i = n; i > 0 && term > 1e-16 * sum; i--) {
		term *= i / mean;
		sum += term;
	}
	return sum * exp(n * log(mean) - mean - lgamma(n + 1));
}

/* The mean at which P(X <= n) is p, from a first guess. */
static double poisson_mean(double n, double p, double guess)
{
	double mean = guess;

	for (int i = 0; i < 4; i++) {
		double density = exp(n * log(mean) - mean - lgamma(n + 1));

		if (density <= 0)
			break;
		mean += (poisson_below(n, mean) - p) / density;
	}
	return mean;
}

void stats_poisson95(double n, double *low, double *high)
{
	enum { NORMAL = 1000 };
	const double z = 1.959963984540054;

	*low = n > 0 ? fmax(0, chi_square_quantile(2 * n, -z) / 2) : 0;
	*high = chi_square_quantile(2 * n + 2, z) / 2;
	if (n >= NORMAL || n != floor(n))
		return;
	if (n > 0)
		*low = n == 1 ? -log1p(-0.025) : poisson_mean(n - 1, 0.975, *low);
	*high = poisson_mean(n, 0.025, *high);
}

static int by_value(const void *a, const void *b)
{
	const struct stats_weighed *x = a, *y = b;

	return ORDER(x->value, y->value);
}

double stats_weighed(struct stats_weighed *x, size_t n, double part)
{
	double sum = 0;
	size_t i = 0;

	qsort(x, n, sizeof(*x), by_value);
	while (i + 1 < n && sum + x[i].weight < part)
		sum += x[i++].weight;
	return x[i].value;
}
