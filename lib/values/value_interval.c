/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "values/interval.h"

#include <math.h>

#define Z95 1.959963984540054

/* Wilson's score interval. */
static void wilson(double p, double n, struct value_share *s)
{
	double z2 = Z95 * Z95, middle = (p + z2 / (2 * n)) / (1 + z2 / n),
	       half = Z95 * sqrt(p * (1 - p) / n + z2 / (4 * n * n)) / (1 + z2 / n);

	s->low = middle - half;
	s->high = middle + half;
}

/* slack: of the list, either way; lost: what may be missing besides. */
static void share_finish(struct value_share *s, double slack, double lost, uint64_t moments)
{
	s->few = moments < VALUES_MOMENTS_FEW;
	s->low = s->few ? 0 : fmax(0, s->low - slack);
	s->high = s->few ? 1 : fmin(1, s->high + slack + lost);
	/* Rounding must not put it outside of its interval. */
	s->low = fmin(s->low, s->share);
	s->high = fmax(s->high, s->share);
}

/*
 * Windows begin at moments of time, not of execution, so what is executed slowly is seen more
 * often. Slow turns of a loop among fast ones add to the scatter: all of it, as a multiple of the
 * variance between windows, is BEYOND_SCATTER. Slow phases of a program bias the share, and more
 * windows do not make that less: its error is this part of the standard deviation of the share
 * between windows, the correlation of the share with cycles per instruction by the relative
 * deviation of these. Chosen with gzip, bzip2, sed and bc (docs/accuracy.md has others). What a
 * window costs cannot be learned from where windows begin: phases without common code have as many
 * windows as they take time, however many instructions they execute.
 */
#define BEYOND_SCATTER 1.5
#define BIAS           0.06

static double beyond_scatter(const struct experiment_value_site *site)
{
	return BEYOND_SCATTER + BIAS * BIAS * (double)site->moments;
}

/* least: independent values that the site has at least; beyond: see above. */
static struct value_share value_share_at_least(const struct experiment_value_site *site,
	const struct experiment_value *value, double least, double beyond)
{
	double n = (double)site->count, b = (double)site->moments, most, sure, p, variance, size;
	struct value_share s = {0};

	if (!site->count)
		return s;
	most = (double)site->least + (value ? (double)value->over : 0);
	sure = value ? (double)value->sure : 0;
	p = fmin(1, (most + sure) / 2 / n);
	s.share = p;
	size = fmin(b, n);
	if (value && b > 1) {
		variance = b / (b - 1) *
			   ((double)value->squares - 2 * p * (double)value->products +
				   p * p * (double)site->squares) /
			   (n * n);
		if (variance > 0 && p < 1)
			size = fmin(n, fmax(fmin(size, least), p * (1 - p) / variance)) / beyond;
	}
	wilson(p, fmax(1, size), &s);
	share_finish(
		&s, (most - sure) / 2 / n, experiment_value_cut_share(site->cut), site->moments);
	return s;
}

struct value_share value_share_of(
	const struct experiment_value_site *site, const struct experiment_value *value)
{
	return value_share_at_least(site, value, (double)site->count, beyond_scatter(site));
}

struct value_share value_share_fitted(
	const struct experiment_value_site *site, const struct experiment_value *value)
{
	return value_share_at_least(site, value, 1, 1);
}

struct value_share value_share_counted(
	const struct experiment_value_site *site, uint64_t count, uint64_t of)
{
	struct value_share s = {0};
	double n = (double)of;

	if (!of)
		return s;
	s.share = (double)count / n;
	wilson(s.share, fmin((double)site->moments, n), &s);
	share_finish(&s, 0, 0, site->moments);
	return s;
}
