/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sources/clock_sums.h"

#include <math.h>

#include "base/stats.h"
#include "events/numbers.h"

static void clock_sum_add(
	struct model_clock_sum *to, const struct model_clock_sum *from, double sign)
{
	to->value += sign * from->value;
	to->variance += sign * from->variance;
	to->squares += sign * from->squares;
}

static void clock_sums_combine(
	struct model_clock_sums *to, const struct model_clock_sums *from, double sign)
{
	for (int i = 0; i < MODEL_CAUSES; i++)
		clock_sum_add(&to->causes[i], &from->causes[i], sign);
	clock_sum_add(&to->cycles, &from->cycles, sign);
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

static struct quantity clock_sum_quantity(const struct model_clock_sum *s, uint64_t windows)
{
	double value = fmax(0, s->value), half = windows ? clock_sums_half(s) : 0;

	return (struct quantity){value, fmax(0, value - half), value + half, LABEL_MODEL};
}

bool clock_sums_quantities(const struct model_clock_sums *s, struct quantity *to)
{
	bool any = false;

	for (int i = 0; i < MODEL_CAUSES; i++) {
		to[i] = clock_sum_quantity(&s->causes[i], s->windows);
		any |= to[i].value > 0;
	}
	return any;
}

bool clock_sums_event(const struct model_clock_sums *s, unsigned event, struct quantity *to)
{
	static const struct {
		unsigned event;
		int (*is)(unsigned cause);
	} stalls[] = {
		{EV_FRONTEND_STALLS, model_cause_is_front},
		{EV_BACKEND_STALLS, model_cause_is_back},
	};
	struct model_clock_sum sum = s->cycles;
	bool is = event == EV_CYCLES || event == EV_CYCLES_16;

	if (!s->windows)
		return false;
	for (size_t i = 0; i < sizeof(stalls) / sizeof(stalls[0]); i++) {
		if (stalls[i].event != event)
			continue;
		is = true;
		sum = (struct model_clock_sum){0, 0, 0};
		for (unsigned k = 0; k < MODEL_CAUSES; k++)
			if (stalls[i].is(k))
				clock_sum_add(&sum, &s->causes[k], 1);
	}
	*to = clock_sum_quantity(&sum, s->windows);
	return is;
}

void clock_sums_thread(
	const struct model_clock_sums *s, unsigned event, double counted, struct quantity *to)
{
	struct quantity all;
	double half;

	if (counted <= 0 || to->value <= 0 || !clock_sums_event(s, event, &all))
		return;
	half = (all.high - all.value) * sqrt(to->value / counted);
	to->value *= all.value / counted;
	to->low = fmax(0, to->value - half);
	to->high = to->value + half;
}
