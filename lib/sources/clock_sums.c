/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sources/clock_sums.h"

#include <math.h>

#include "base/stats.h"

static void clock_sums_combine(
	struct model_clock_sums *to, const struct model_clock_sums *from, double sign)
{
	for (int i = 0; i < MODEL_CAUSES; i++) {
		to->causes[i].value += sign * from->causes[i].value;
		to->causes[i].variance += sign * from->causes[i].variance;
		to->causes[i].squares += sign * from->causes[i].squares;
	}
}

void clock_sums_add(struct model_clock_sums *to, const struct model_clock_sums *from)
{
	to->windows += from->windows;
	clock_sums_combine(to, from, 1);
}

void clock_sums_subtract(struct model_clock_sums *to, const struct model_clock_sums *from)
{
	to->windows -= from->windows;
	clock_sums_combine(to, from, -1);
}

/* Half of the interval from the scatter between windows. */
static double clock_sums_half(const struct model_clock_sum *s)
{
	double df = s->squares > 0 ? 2 * s->variance * s->variance / s->squares : 1e9;

	return s->variance > 0 ? stats_t95(fmax(df, 1)) * sqrt(s->variance) : 0;
}

bool clock_sums_quantities(const struct model_clock_sums *s, struct quantity *to)
{
	bool any = false;

	for (int i = 0; i < MODEL_CAUSES; i++) {
		double value = fmax(0, s->causes[i].value);
		double half = s->windows ? clock_sums_half(&s->causes[i]) : 0;

		to[i] = (struct quantity){value, fmax(0, value - half), value + half, LABEL_MODEL};
		any |= value > 0;
	}
	return any;
}
