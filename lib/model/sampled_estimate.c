/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The regression of sampled_clock.h: what windows say of the cycles that were not clocked. */
#include "model/run.h"

#define N SAMPLED_EVENTS
/* The scatter and the coefficients depend on each other: how often each is computed. */
#define ROUNDS 4
/* The scatter at first: this part of the mean square of windows. */
#define SCATTER_FIRST 0.1
/* What warming up leaves out: a standard deviation, as a part of the cycles that were not clocked.
 */
#define WARMTH 0.001

/* Costs of events: those that make the windows' cycles and the priors most likely. */
struct regression {
	const struct sampled_clock *c;
	double windows;      /* of equal weight that say as much */
	double scatter;      /* variance of a window's cycles that events do not explain */
	double factor[N][N]; /* the coefficients' precision as L D L', L below the diagonal */
	double left[N];      /* events that were not clocked */
	double spread;       /* of the estimate for `left`, by the coefficients' precision */
};

static double prior_precision(const struct sampled_clock *c, unsigned event)
{
	return c->prior[event] > 0 ? 1 / (c->prior[event] * c->prior[event]) : 1;
}

static void regression_factor(struct regression *r)
{
	for (unsigned i = 0; i < N; i++)
		for (unsigned j = 0; j <= i; j++) {
			double sum = r->c->events_events[i][j] / r->scatter;

			if (i == j)
				sum += prior_precision(r->c, i);
			for (unsigned k = 0; k < j; k++)
				sum -= r->factor[i][k] * r->factor[k][k] * r->factor[j][k];
			r->factor[i][j] = i == j ? sum : sum / r->factor[j][j];
		}
}

/* x becomes precision^-1 x. */
static void regression_solve(const struct regression *r, double x[N])
{
	unsigned i, k;

	for (i = 0; i < N; i++)
		for (k = 0; k < i; k++)
			x[i] -= r->factor[i][k] * x[k];
	for (i = 0; i < N; i++)
		x[i] /= r->factor[i][i];
	for (i = N; i-- > 0;)
		for (k = i + 1; k < N; k++)
			x[i] -= r->factor[k][i] * x[k];
}

/* Costs in cycles of a cause, or of all. */
static void costs_of(const struct regression *r, unsigned result, double costs[N])
{
	for (unsigned i = 0; i < N; i++) {
		costs[i] = r->c->events_results[i][result] / r->scatter;
		if (result == MODEL_CAUSES || result == r->c->prior_cause[i])
			costs[i] += prior_precision(r->c, i) * r->c->prior[i];
	}
	regression_solve(r, costs);
}

/* Events whose cost the windows determine. */
static unsigned explained(const struct sampled_clock *c)
{
	unsigned n = 0;

	for (unsigned i = 0; i < N; i++)
		n += c->events_events[i][i] > 0;
	return n;
}

/* Variance of a window's cycles around what its events cost. */
static double scatter_of(const struct regression *r, unsigned result, const double costs[N])
{
	const struct sampled_clock *c = r->c;
	double sum = c->results_squared[result], freedom = r->windows - explained(c);

	for (unsigned i = 0; i < N; i++) {
		double all = -2 * c->events_results[i][result];

		for (unsigned j = 0; j < N; j++)
			all += c->events_events[i][j] * costs[j];
		sum += costs[i] * all;
	}
	if (freedom < r->windows / 4)
		freedom = r->windows / 4;
	return sum > 0 && freedom > 0 ? sum / freedom : 0;
}

/* At least: rounding, and windows that are all alike. */
static double at_least(double scatter, double least)
{
	return scatter > least ? scatter : least;
}

static void regression_init(struct regression *r, const struct sampled_clock *c)
{
	double costs[N], mean;
	unsigned i;

	r->c = c;
	r->windows = c->windows ? c->weights * c->weights / c->squared_weights : 0;
	mean = c->windows ? c->results_squared[MODEL_CAUSES] / r->windows
			  : (double)(SAMPLED_MEASURED * SAMPLED_MEASURED);
	r->scatter = mean * SCATTER_FIRST;
	for (i = 0; i < N; i++) {
		double left = c->all[i] - c->clocked[i];

		r->left[i] = left > 0 ? left : 0;
	}
	for (i = 0; c->windows && i < ROUNDS; i++) {
		regression_factor(r);
		costs_of(r, MODEL_CAUSES, costs);
		r->scatter = at_least(scatter_of(r, MODEL_CAUSES, costs), mean * 1e-9);
	}
	regression_factor(r);
	for (i = 0; i < N; i++)
		costs[i] = r->left[i];
	regression_solve(r, costs);
	r->spread = 0;
	for (i = 0; i < N; i++)
		r->spread += r->left[i] * costs[i];
}

/* Of the cycles by cause, or of all, that were not clocked. The variance of a window that was not
 * measured counts as often as there are such windows. */
static struct model_clock_sum regression_estimate(const struct regression *r, unsigned result)
{
	const struct sampled_clock *c = r->c;
	double costs[N], scatter, freedom = r->windows - explained(c);
	struct model_clock_sum s = {0, 0, 0};

	costs_of(r, result, costs);
	for (unsigned i = 0; i < N; i++)
		s.value += costs[i] * r->left[i];
	if (s.value < 0)
		s.value = 0;
	scatter = c->windows ? scatter_of(r, result, costs) : r->scatter;
	s.variance = r->spread * scatter / r->scatter +
		     scatter * r->left[0] / (double)SAMPLED_MEASURED +
		     WARMTH * s.value * WARMTH * s.value;
	s.squares = 2 * s.variance * s.variance / (freedom > 1 ? freedom : 1);
	return s;
}

/* Sums as of windows of equal weight, of which fewer say as much (Kish, "Survey Sampling", 1965).
 */
static void equal_weights(struct sampled_clock *c)
{
	double by = c->windows ? c->weights / c->squared_weights : 0;
	unsigned i, j;

	for (i = 0; i < N; i++) {
		for (j = 0; j < N; j++)
			c->events_events[i][j] *= by;
		for (j = 0; j < SAMPLED_RESULTS; j++)
			c->events_results[i][j] *= by;
	}
	for (j = 0; j < SAMPLED_RESULTS; j++)
		c->results_squared[j] *= by;
}

/* With what the current windows have so far. */
static struct sampled_clock so_far(struct model *m)
{
	struct sampled_clock c = *m->sampled;

	equal_weights(&c);

	for (uint64_t active = m->active; active; active &= active - 1)
		sampled_clock_partial(&m->cores[__builtin_ctzll(active)], &c);
	return c;
}

void sampled_clock_publish(struct model *m)
{
	static const struct model_clock_sums none;
	struct model_clock_sums *sums = m->clock_sums;
	struct sampled_clock c;
	struct regression r;
	double parts = 0;
	unsigned i;

	if (!sums)
		return;
	m->sampled->published = m->sampled->windows;
	c = so_far(m);
	*sums = none;
	for (i = 0; i < MODEL_CAUSES; i++)
		sums->causes[i].value = c.cycles[i];
	sums->cycles.value = c.cycles[MODEL_CAUSES];
	regression_init(&r, &c);
	if (r.left[0] < 1)
		return;
	sums->windows = c.windows;
	sums->cycles = regression_estimate(&r, MODEL_CAUSES);
	for (i = 0; i < MODEL_CAUSES; i++) {
		sums->causes[i] = regression_estimate(&r, i);
		parts += sums->causes[i].value;
	}
	for (i = 0; i < MODEL_CAUSES; i++) {
		if (parts > 0)
			sums->causes[i].value *= sums->cycles.value / parts;
		sums->causes[i].value += c.cycles[i];
	}
	sums->cycles.value += c.cycles[MODEL_CAUSES];
}
