/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The combined ratio estimator, with the variance of a systematic sample (Cochran, Sampling
 * Techniques, 3rd ed., chapters 6 and 8; Wolter, Introduction to Variance Estimation, 2nd ed.,
 * chapter 8).
 *
 * The kernel gives each group its turn in a fixed order, so a group observes a systematic sample of
 * the run: one visit in each cycle. An event with the count `value` while the anchor event counted
 * `anchor` out of anchor_total is estimated as value / f with f = anchor / anchor_total: the
 * observed part plus the same number per anchor event in the rest.
 *
 * Variance: n (1 - f) / f^2 times the variance of the residuals d = value - ratio * anchor of the n
 * visits, (1 - f) being the finite population correction, times a factor for phases. Programs have
 * phases: neighbouring visits are alike, and a systematic sample profits from that. (Successive
 * differences alone, which allow for half of it, made intervals 1.6 times as wide in the simulation
 * of tests/unit/test_estimate.c.) With correlation rho between successive visits (measured:
 * successive differences against plain variance), decaying exponentially in between, and k = 1 / f,
 * the factor is Cochran's (1946; Sampling Techniques, chapter 8, for large n)
 *     1 - 2/(k-1) q/(1-q) + 2k/(k-1) rho/(1-rho),  q = rho^(1/k).
 * Without correlation it is 1; with a negative one, 1 - rho is used, which is the factor of
 * successive differences alone. rho is reduced by half a standard error, 0.5 / sqrt(n): too high a
 * rho makes the interval too narrow, too low a one only wide. The part of the variance that a
 * Poisson process has (the mean count of a visit) is noise that neighbours do not share: the factor
 * is not applied to it, and it does not reduce rho.
 *
 * Scattered visits, one at a random place in each cycle, do not profit from phases: then only the
 * successive differences are used, whose errors are on the wide side.
 *
 * The t quantile has Satterthwaite's degrees of freedom of the squared differences: 2 (sum d^2)^2 /
 * sum d^4. That is 2n/3 for normal ones, and about 2 if a single change of phase causes all the
 * difference, so that heavy tails and few phases widen the interval.
 *
 * Cost: some twenty operations for each observation, no memory.
 *
 * Rare events. A variance from few events is itself inexact, so the interval is never narrower than
 * that of a Poisson process of which the counted events are a part: x events mean a mean between
 * the chi-square limits (by Wilson and Hilferty's cube root), and the unobserved part also varies.
 * With x = 0 the upper limit is about 3.7 / f. The observed part is certain: no lower limit is
 * below it.
 *
 * Known deviation: a program that repeats itself in step with the rotation (a period of a whole
 * number of cycles, or a simple fraction) shows each group the same part of itself every time. No
 * estimate from within the run can detect that; -passes can.
 */
#include "sources/estimate.h"

#include <math.h>

#include "base/stats.h"

static void moments_add(struct moments *m, double v, double a)
{
	double vv = v * v, va = v * a, aa = a * a;

	m->second[0] += vv;
	m->second[1] += va;
	m->second[2] += aa;
	m->fourth[0] += vv * vv;
	m->fourth[1] += vv * va;
	m->fourth[2] += vv * aa;
	m->fourth[3] += va * aa;
	m->fourth[4] += aa * aa;
}

/* The sums of (v - r a)^2 and of (v - r a)^4. */
static double sum_squares(const struct moments *m, double r)
{
	return fmax(0, m->second[0] - 2 * r * m->second[1] + r * r * m->second[2]);
}

static double sum_fourths(const struct moments *m, double r)
{
	return fmax(0, m->fourth[0] - 4 * r * m->fourth[1] + 6 * r * r * m->fourth[2] -
			       4 * r * r * r * m->fourth[3] + r * r * r * r * m->fourth[4]);
}

static void visit_end(struct spread *s)
{
	moments_add(&s->visits_sum, s->visit.value, s->visit.anchor);
	if (s->visits)
		moments_add(&s->steps_sum, s->visit.value - s->last.value,
			s->visit.anchor - s->last.anchor);
	s->visits++;
	s->last = s->visit;
	s->visit = (struct observation){0, 0, 0, 0};
}

static void observation_add(struct observation *to, const struct observation *o)
{
	to->value += o->value;
	to->anchor += o->anchor;
	to->running += o->running;
	to->enabled += o->enabled;
}

void estimate_spread_add(struct spread *s, const struct observation *o, double cycle)
{
	observation_add(&s->total, o);
	if (o->running > 0)
		observation_add(&s->visit, o);
	if (s->visit.running > 0 && (o->running <= 0 || s->visit.enabled >= cycle))
		visit_end(s);
}

bool estimate_spread_is_short(const struct spread *s)
{
	return s->visits < SPREAD_VISITS_MIN;
}

/* Cochran's factor, within [0,1] for rho in [0,1). */
static double phases(double rho, double k)
{
	double q = pow(rho, 1 / k), h;

	if (rho <= 0 || k <= 1)
		return 1 - fmin(rho, 0);
	h = 1 - 2 / (k - 1) * q / (1 - q) + 2 * k / (k - 1) * rho / (1 - rho);
	return fmin(fmax(h, 0), 1);
}

/* Half of the 95% interval from the scatter between visits. */
static double estimate_scatter(const struct spread *s, double ratio, double f)
{
	double n = (double)s->visits, squares, steps, fourths, noise, rho, df;

	if (n < 2) /* one visit has no variance */
		return s->total.value / f;
	squares = sum_squares(&s->visits_sum, ratio) / (n - 1);
	steps = sum_squares(&s->steps_sum, ratio) / (2 * (n - 1));
	if (squares <= 0)
		return 0;
	fourths = sum_fourths(&s->steps_sum, ratio);
	noise = fmin(s->total.value / n, squares);
	if (s->scattered)
		squares = noise = steps;
	rho = squares > noise ? (squares - steps) / (squares - noise) : 0;
	rho = fmin(rho - 0.5 / sqrt(n), 0.999999);
	df = fourths > 0 ? 2 * (steps * 2 * (n - 1)) * (steps * 2 * (n - 1)) / fourths : n;
	return stats_t95(df) *
	       sqrt(n * (1 - f) / (f * f) * (noise + (squares - noise) * phases(rho, 1 / f)));
}

/* Limits of a Poisson mean with x observed events. */
static double poisson_low(double x)
{
	double root = x > 0 ? 1 - 1 / (9 * x) - 1.96 / (3 * sqrt(x)) : 0;

	return root > 0 ? x * root * root * root : 0;
}

static double poisson_high(double x)
{
	double y = x + 1, root = 1 - 1 / (9 * y) + 1.96 / (3 * sqrt(y));

	return y * root * root * root;
}

/* The estimate without an interval yet; *f becomes the observed part of the whole. */
static struct quantity estimate_scale(const struct observation *o, double anchor_total, double *f)
{
	struct quantity q = {0, 0, 0, LABEL_NONE};

	*f = 1;
	if (o->running <= 0)
		return q;
	/* The kernel takes both times from one clock: they are equal for an event that is always
	 * on. */
	if (o->running >= o->enabled)
		return quantity_exact(o->value, LABEL_MEASURED);
	*f = anchor_total > 0 && o->anchor > 0 ? o->anchor / anchor_total : o->running / o->enabled;
	*f = fmin(*f, 1);
	return quantity_exact(o->value / *f, LABEL_SCALED);
}

/* Sets the interval of q, with x observed events: error on both sides, but at least Poisson's. */
static void estimate_widen(struct quantity *q, double x, double f, double error)
{
	double wider = sqrt(1 - f) / f, value = q->value;

	q->low = fmin(value - error, value - (x - poisson_low(x)) * wider);
	q->high = fmax(value + error, value + (poisson_high(x) - x) * wider);
	q->low = fmax(q->low, x);
}

struct quantity estimate_spread(const struct spread *s, double anchor_total)
{
	struct spread done = *s;
	double x = s->total.value, f;
	struct quantity q = estimate_scale(&s->total, anchor_total, &f);

	if (q.label != LABEL_SCALED)
		return q;
	if (done.visit.running > 0)
		visit_end(&done);
	estimate_widen(&q, x, f,
		estimate_scatter(&done, s->total.anchor > 0 ? x / s->total.anchor : 0, f));
	return q;
}

struct quantity estimate_spread_part(const struct quantity *whole, const struct observation *part,
	double anchor_total, double share)
{
	double f, relative = whole->value > 0 ? (whole->high - whole->value) / whole->value : 1;
	struct quantity q = estimate_scale(part, anchor_total, &f);

	if (q.label == LABEL_SCALED)
		estimate_widen(
			&q, part->value, f, q.value * relative / sqrt(fmin(fmax(share, 1e-6), 1)));
	return q;
}
