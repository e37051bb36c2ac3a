/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "experiment/compare_rows.h"

#include <math.h>
#include <stdlib.h>

#include "base/order.h"
#include "base/stats.h"

#define DISCOVERIES 0.05 /* expected share of reported rows that did not change */

enum {
	ENOUGH = 20, /* samples per run: rows with fewer show little of the scatter between runs */
	FEW = 5,     /* unless there are no others */
};

struct sums {
	double counts[2], exposures[2];
	double per_run; /* mean count of a run */
	double share;   /* of both sides together; 0 if they are not shares */
};

static size_t run_count(const struct compare_design *d)
{
	return d->runs[0] + d->runs[1];
}

static struct sums compare_rows_add_up(const struct compare_design *d, const uint64_t *counts)
{
	struct sums s = {0};

	for (size_t i = 0; i < run_count(d); i++) {
		s.counts[i >= d->runs[0]] += (double)counts[i];
		s.exposures[i >= d->runs[0]] += d->exposures[i];
	}
	s.per_run = (s.counts[0] + s.counts[1]) / (double)run_count(d);
	if (d->shares && s.exposures[0] + s.exposures[1] > 0)
		s.share = (s.counts[0] + s.counts[1]) / (s.exposures[0] + s.exposures[1]);
	return s;
}

/* Degrees of freedom for the scatter between the runs of both sides. */
static double freedom(const struct compare_design *d)
{
	return (double)run_count(d) - 2;
}

/* Mean square of the differences of each side's runs from their mean, in units of the variance of
 * sampling and this scatter. */
static double dispersion(const struct compare_design *d, const uint64_t *counts,
	const struct sums *s, double scatter)
{
	double sum = 0;

	for (size_t i = 0; i < run_count(d); i++) {
		size_t side = i >= d->runs[0];
		double mean, variance;

		if (!(s->exposures[side] > 0) || !(s->counts[side] > 0))
			continue;
		mean = s->counts[side] / s->exposures[side] * d->exposures[i];
		variance = mean * (1 - s->share) * (!d->exact + scatter * mean);
		if (variance > 0)
			sum += ((double)counts[i] - mean) * ((double)counts[i] - mean) / variance;
	}
	return sum / freedom(d);
}

/* The row's own scatter: as dispersion, of relative deviations, without that of sampling. */
static double own_scatter(
	const struct compare_design *d, const uint64_t *counts, const struct sums *s)
{
	double excess;

	if (s->per_run <= 0 || s->share >= 1)
		return 0;
	excess = dispersion(d, counts, s, d->exact);
	return d->exact ? excess : fmax(0, (excess - 1) / s->per_run);
}

/* Of the rows with enough samples; returns their number, their dispersions in values. */
static size_t dispersions(const struct compare_design *d, const uint64_t *counts, size_t rows,
	double least, double scatter, double *values)
{
	size_t n = 0;

	for (size_t i = 0; i < rows; i++) {
		const uint64_t *row = counts + i * run_count(d);
		struct sums s = compare_rows_add_up(d, row);

		if (s.per_run >= least && s.share < 1)
			values[n++] = dispersion(d, row, &s, scatter);
	}
	return n;
}

/* The scatter with which half of all rows have a dispersion below the median expected by chance:
 * chi-square's, over its degrees of freedom. */
static double common_scatter(
	const struct compare_design *d, const uint64_t *counts, size_t rows, double *values)
{
	double df = freedom(d), median = pow(1 - 2 / (9 * df), 3), low = 0, high = 1;
	double least = ENOUGH;
	size_t n = dispersions(d, counts, rows, least, d->exact, values);

	if (!n) {
		least = FEW;
		n = dispersions(d, counts, rows, least, d->exact, values);
	}
	if (!n)
		return 0;
	qsort(values, n, sizeof(*values), order_doubles);
	if (d->exact || values[n / 2] <= median)
		return d->exact ? values[n / 2] / median : 0;
	for (int i = 0; i < 40; i++) {
		double scatter = (low + high) / 2;

		dispersions(d, counts, rows, least, scatter, values);
		qsort(values, n, sizeof(*values), order_doubles);
		*(values[n / 2] <= median ? &high : &low) = scatter;
	}
	return high;
}

/* The scatter of counts relative to that of sampling: variances times *factor, with *df degrees of
 * freedom (INFINITY: a known variance). */
static void inflate(const struct compare_design *d, const uint64_t *counts, const struct sums *s,
	double *factor, double *df)
{
	double scatter;

	*factor = d->exact ? 0 : 1;
	*df = INFINITY;
	if (run_count(d) <= 2)
		return;
	scatter = fmax(d->scatter, own_scatter(d, counts, s)) * s->per_run;
	*factor += scatter;
	if (d->alone && (scatter > 0 || !d->exact))
		*df = freedom(d);
	else if (scatter > 0)
		*df = freedom(d) * (*factor / scatter) * (*factor / scatter);
}

static double exact_p(const struct compare_design *d, const struct sums *s)
{
	if (s->counts[0] + s->counts[1] <= 0)
		return 1;
	if (d->shares)
		return stats_fisher(s->counts[0], s->exposures[0], s->counts[1], s->exposures[1]);
	return stats_binomial(s->counts[0], s->counts[0] + s->counts[1],
		s->exposures[0] / (s->exposures[0] + s->exposures[1]));
}

/* Student's t-test, with the variance of the difference if there is no change. */
static double scattered_p(const struct sums *s, double factor, double df)
{
	double change = s->counts[1] / s->exposures[1] - s->counts[0] / s->exposures[0];
	double rate = (s->counts[0] + s->counts[1]) / (s->exposures[0] + s->exposures[1]);
	double variance =
		rate * (1 - s->share) * factor * (1 / s->exposures[0] + 1 / s->exposures[1]);

	if (change == 0)
		return 1;
	return variance > 0 ? stats_student(change / sqrt(variance), df) : 0;
}

/* The interval of a side's rate: counts are divided by the factor of their variance. */
static void side_interval(const struct compare_design *d, const struct sums *s, size_t side,
	double factor, double df, struct compare_change *c)
{
	const double z = 1.959963984540054;
	double t = isfinite(df) ? stats_t95(df) : z, by = factor * (t / z) * (t / z);
	double n, p, centre, half;

	c->rates[side] = s->counts[side] / s->exposures[side];
	c->lows[side] = c->highs[side] = c->rates[side];
	if (!(by > 0))
		return;
	if (!d->shares) {
		stats_poisson95(s->counts[side] / by, &c->lows[side], &c->highs[side]);
		c->lows[side] *= by / s->exposures[side];
		c->highs[side] *= by / s->exposures[side];
		return;
	}
	n = s->exposures[side] / by;
	p = c->rates[side];
	centre = (p + z * z / (2 * n)) / (1 + z * z / n);
	half = z * sqrt(p * (1 - p) / n + z * z / (4 * n * n)) / (1 + z * z / n);
	c->lows[side] = fmax(0, centre - half);
	c->highs[side] = fmin(1, centre + half);
}

static void compare_row(
	const struct compare_design *d, const uint64_t *counts, struct compare_change *c)
{
	struct sums s = compare_rows_add_up(d, counts);
	double factor, df, change, down, up;

	*c = (struct compare_change){.p = 1};
	if (!(s.exposures[0] > 0) || !(s.exposures[1] > 0))
		return;
	inflate(d, counts, &s, &factor, &df);
	c->p = d->exact ? 0 : exact_p(d, &s);
	if (d->exact || isfinite(df))
		c->p = fmax(c->p, scattered_p(&s, factor, df));
	for (size_t side = 0; side < 2; side++)
		side_interval(d, &s, side, factor, df, c);
	change = c->rates[1] - c->rates[0];
	down = hypot(c->rates[1] - c->lows[1], c->highs[0] - c->rates[0]);
	up = hypot(c->highs[1] - c->rates[1], c->rates[0] - c->lows[0]);
	c->low = change - down;
	c->high = change + up;
	c->differs = c->p <= DISCOVERIES && (c->low > 0 || c->high < 0);
}

void compare_alone(const struct compare_design *d, const uint64_t *counts, struct compare_change *c)
{
	struct compare_design alone = *d;

	alone.alone = true;
	alone.scatter = 0;
	compare_row(&alone, counts, c);
}

static bool compare_rows_empty(const struct compare_design *d, const uint64_t *counts)
{
	for (size_t i = 0; i < run_count(d); i++)
		if (counts[i])
			return false;
	return true;
}

/* Benjamini and Hochberg: the largest p, of rank k among n, that is k/n of the limit or less. */
static double threshold(const struct compare_design *d, const uint64_t *counts, size_t rows,
	const struct compare_change *changes, double *values)
{
	double limit = -1;
	size_t n = 0;

	for (size_t i = 0; i < rows; i++)
		if (!compare_rows_empty(d, counts + i * run_count(d)))
			values[n++] = changes[i].p;
	qsort(values, n, sizeof(*values), order_doubles);
	for (size_t i = 0; i < n; i++)
		if (values[i] <= DISCOVERIES * (double)(i + 1) / (double)n)
			limit = values[i];
	return limit;
}

int compare_rows(struct compare_design *d, const uint64_t *counts, size_t rows,
	struct compare_change *changes, struct error *e)
{
	double *values = calloc(rows + 1, sizeof(*values)), limit;

	if (!values)
		return error_nomem(e);
	d->scatter = run_count(d) > 2 ? common_scatter(d, counts, rows, values) : 0;
	for (size_t i = 0; i < rows; i++)
		compare_row(d, counts + i * run_count(d), &changes[i]);
	limit = threshold(d, counts, rows, changes, values);
	for (size_t i = 0; i < rows; i++)
		changes[i].differs =
			changes[i].p <= limit && (changes[i].low > 0 || changes[i].high < 0);
	free(values);
	return 0;
}

int compare_table_init(struct compare_table *t, const size_t *runs, size_t rows, struct error *e)
{
	*t = (struct compare_table){
		.design = {.runs = {runs[0], runs[1]}}, .rows = rows, .runs = runs[0] + runs[1]};
	t->exposures = calloc(t->runs, sizeof(*t->exposures));
	t->counts = calloc((rows + 1) * t->runs, sizeof(*t->counts));
	t->changes = calloc(rows + 1, sizeof(*t->changes));
	t->design.exposures = t->exposures;
	return t->exposures && t->counts && t->changes ? 0 : error_nomem(e);
}

int compare_table(struct compare_table *t, struct error *e)
{
	if (compare_rows(&t->design, t->counts, t->rows, t->changes, e))
		return -1;
	compare_alone(&t->design, t->counts + t->rows * t->runs, &t->changes[t->rows]);
	return 0;
}

void compare_table_fini(struct compare_table *t)
{
	free(t->exposures);
	free(t->counts);
	free(t->changes);
	*t = (struct compare_table){.rows = 0};
}
