/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sources/windows.h"

#include <math.h>
#include <stddef.h>

#include "sources/estimate.h"

/* What stands behind count and beyond are numbers of one type. */
#define SUMS ((sizeof(struct model_windows) - offsetof(struct model_windows, a)) / sizeof(double))

void windows_add(struct model_windows *to, const struct model_windows *from)
{
	double *sums = &to->a;
	const double *more = &from->a;

	to->count += from->count;
	to->beyond += from->beyond;
	for (size_t i = 0; i < SUMS; i++)
		sums[i] += more[i];
}

void windows_subtract(struct model_windows *to, const struct model_windows *from)
{
	double *sums = &to->a;
	const double *less = &from->a;

	to->count -= from->count;
	to->beyond -= from->beyond;
	for (size_t i = 0; i < SUMS; i++)
		sums[i] -= less[i];
}

/* Instructions stand for time: an event is "on" in windows. */
static struct spread spread_of(const struct model_windows *w, const struct model_window_sums *s)
{
	return (struct spread){
		.total = {s->v, w->a, w->a, (double)w->beyond},
		.visits = (size_t)w->count,
		.visits_sum = {.second = {s->vv, s->va, w->aa}},
		.steps_sum = {.second = {s->dvdv, s->dvda, w->dada},
			.fourth = {s->dvdvdvdv, s->dvdvdvda, s->dvdvdada, s->dvdadada,
				w->dadadada}},
		.scattered = true,
	};
}

/* Predictors learn only in what is modelled, and so windows have more mispredictions than the whole
 * run, for which no warm-up is long enough: by at most these parts of them in the programs that
 * were compared (perfex-model(7)).  Lower limits allow for it. */
static const double unlearned[EVENT_LIMIT] = {
	[EV_MISPREDICTED_BRANCHES] = 0.06,
	[EV_MISPREDICTED_CONDITIONALS] = 0.06,
	[EV_MISPREDICTED_INDIRECTS] = 0.06,
	[EV_FRONTEND_STALLS] = 0.06,
	[EV_CYCLES] = 0.03,
	[EV_CYCLES_16] = 0.03,
};

/* A window whose first half has more than its second was not warm yet, and has too many; or the
 * other way round.  Of the difference that chance makes, a part goes in as well. */
static void widen(
	struct quantity *q, const struct model_windows *w, const struct model_window_sums *s)
{
	double late = w->a - w->early, unseen = (double)w->beyond - w->a, drift;

	if (w->early <= 0 || late <= 0 || unseen <= 0)
		return;
	drift = (s->early / w->early - (s->v - s->early) / late) * unseen;
	if (drift > 0)
		q->low = fmax(q->value - hypot(q->value - q->low, drift), s->v);
	else
		q->high = q->value + hypot(q->high - q->value, drift);
}

struct quantity windows_estimate(
	const struct model_windows *w, unsigned event, double counted, bool *few)
{
	struct spread spread;
	struct quantity q;

	*few = false;
	if (!w->beyond || model_fast_exact(event))
		return quantity_exact(counted, LABEL_MODEL);
	if (!w->count)
		return (struct quantity){0, 0, 0, LABEL_NONE};
	spread = spread_of(w, &w->events[event]);
	*few = spread_is_short(&spread);
	q = spread_estimate(&spread, (double)w->beyond);
	widen(&q, w, &w->events[event]);
	q.low = fmax(q.low - unlearned[event] * (q.value - spread.total.value), spread.total.value);
	q.label = LABEL_SCALED;
	q.value += counted;
	q.low += counted;
	q.high += counted;
	return q;
}
