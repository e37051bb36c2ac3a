/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sources/windows.h"

#include <math.h>
#include <stddef.h>

#include "base/stats.h"

/* Fewer than this and the interval is hardly worth the name. */
#define STRETCHES_MIN 30

/* All fields from stood_for on are numbers of one type. */
#define SUMS                                                                                       \
	((sizeof(struct model_windows) - offsetof(struct model_windows, stood_for)) /              \
		sizeof(double))

void windows_add(struct model_windows *to, const struct model_windows *from)
{
	double *sums = &to->stood_for;
	const double *more = &from->stood_for;

	to->count += from->count;
	to->beyond += from->beyond;
	for (size_t i = 0; i < SUMS; i++)
		sums[i] += more[i];
}

void windows_subtract(struct model_windows *to, const struct model_windows *from)
{
	double *sums = &to->stood_for;
	const double *less = &from->stood_for;

	to->count -= from->count;
	to->beyond -= from->beyond;
	for (size_t i = 0; i < SUMS; i++)
		sums[i] -= less[i];
}

/* The relative error of an estimate for the part that was not modelled is at least this. Predictors
 * learn only in the modelled part, which changes their final state in some programs. */
static double windows_at_best(unsigned event)
{
	switch (event) {
	case EV_MISPREDICTED_BRANCHES:
	case EV_MISPREDICTED_CONDITIONALS:
	case EV_MISPREDICTED_INDIRECTS:
	case EV_MISPREDICTED_RETURNS:
	case EV_FRONTEND_STALLS:
		return 0.05;
	case EV_CYCLES:
	case EV_CYCLES_16:
		return 0.02;
	}
	return 0.005;
}

/* A run of few stretches has parts that none of them covers: intervals are widened by UNSEEN_PARTS
 * / number of stretches. */
#define UNSEEN_PARTS 4

/* Half of the interval from the scatter between stretches. */
static double windows_scatter(const struct model_window_sums *s, double scale)
{
	double df = s->squares > 0 ? 2 * s->variance * s->variance / s->squares : 1e9;

	return stats_t95(fmax(df, 1)) * sqrt(s->variance) * scale;
}

struct quantity windows_estimate(
	const struct model_windows *w, unsigned event, double counted, bool *few)
{
	const struct model_window_sums *s = &w->events[event];
	struct quantity q;
	double scale, error;

	*few = false;
	if (!w->beyond || model_fast_exact(event))
		return quantity_exact(counted, LABEL_MODEL);
	if (!w->count || w->stood_for <= 0)
		return (struct quantity){0, 0, 0, LABEL_NONE};
	*few = w->count < STRETCHES_MIN;
	/* The part that no stretch represents yet is treated like the rest. */
	scale = (double)w->beyond / w->stood_for;
	error = windows_scatter(s, scale) * (1 + UNSEEN_PARTS / (double)w->count);
	error = hypot(error, windows_at_best(event) * (s->value * scale - s->modelled));
	counted -= s->modelled;
	q.value = counted + s->value * scale;
	q.low = fmax(q.value - hypot(error, s->below * scale), counted);
	q.high = q.value + hypot(error, s->above * scale);
	q.label = LABEL_SCALED;
	return q;
}
