/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * In which part of the spells an anchor is in place. A count takes time, so anchors that are
 * executed often cannot be in place always. The cheapest are: others are extrapolated by them. What
 * an anchor counts in some of the spells is extrapolated to the others. The error of that falls
 * with the number of spells, and matters as far as no cheaper anchor goes with it. So the sum of
 * errors, in proportion to need / duty, is least for duties in proportion to the root of need /
 * rate.
 *
 * Anchors that go with each other say together how often all of them were executed, so one of them
 * is to be in place as regularly as can be, and several at once are no use. So anchors are in an
 * order in which each is beside one that goes with it, as intervals as long as their duties, and a
 * systematic sample is taken of these. It begins in each spell by the golden section later: then
 * the spells of every anchor, and of all that are side by side, are spread evenly.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "branches/native.h"

#define NEED_LEAST 0.02 /* of an anchor that goes with another one in all bursts */
#define KNOWN_NS   5e6  /* in place for so long: its own counts say how often it is executed */
#define CHEAP      0.5  /* of what all may count: the cheapest anchors, always in place */
#define ROUNDS     8
/* What anchors may count before the next turn: half a millisecond. */
#define COUNTS_SPELL 5e5
#define GOLDEN       0.6180339887498949

struct duty {
	struct anchor *anchor;
	double rate, need;
	const double *counts; /* by burst, per second */
};

static double rate_of(const struct native *n, const struct anchor *a, unsigned number)
{
	const struct native_count *own = &n->counted[number];

	return own->ns > KNOWN_NS ? own->hits / own->ns * 1e9 : anchor_rate(a);
}

void native_look_back(struct cache *c)
{
	const struct native *n = c->native;
	const struct native_burst *last;

	if (!n->bursts.count)
		return;
	last = &n->bursts.data[n->bursts.count - 1];
	for (unsigned k = 0; k < c->anchors->count; k++)
		c->anchors->all[k].latest = 0;
	for (size_t k = last->first; k < n->entries.count; k++) {
		const struct native_run *run = native_run_at(c, n->entries.data[k].run);

		for (size_t a = 0; a < run->anchors.count; a++)
			c->anchors->all[run->anchors.data[a]].latest +=
				n->entries.data[k].count / last->seconds;
	}
}

double native_expects(const struct cache *c)
{
	const struct native *n = c->native;
	double rate = 0;

	for (unsigned k = 0; k < c->anchors->count; k++) {
		const struct anchor *a = &c->anchors->all[k];

		if (a->in)
			rate += fmax(rate_of(n, a, k), a->latest);
	}
	return rate;
}

double native_lasts(const struct cache *c)
{
	return COUNTS_SPELL / fmax(fmax(native_expects(c), c->native->heat), 1) * 1e9;
}

static int compare_duties(const void *a, const void *b)
{
	const struct duty *x = a, *y = b;

	return (x->rate > y->rate) - (x->rate < y->rate);
}

/* counts[anchor * bursts + burst], of the last bursts. */
static void duty_add_counts(const struct cache *c, double *counts, size_t first, size_t bursts)
{
	const struct native *n = c->native;

	for (size_t i = 0; i < bursts; i++) {
		const struct native_burst *own = &n->bursts.data[first + i];

		for (size_t k = own->first; k < native_last(n, first + i); k++) {
			const struct native_run *run = native_run_at(c, n->entries.data[k].run);

			for (size_t a = 0; a < run->anchors.count; a++)
				counts[run->anchors.data[a] * bursts + i] +=
					n->entries.data[k].count / own->seconds;
		}
	}
}

static double product_of(const double *x, const double *y, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += x[i] * y[i];
	return sum;
}

/* Squared cosines, over bursts, of all with all: near[anchor * count + other]. */
static void duty_compare(const struct duty *all, unsigned count, size_t bursts, float *near)
{
	double own[ANCHORS_MAX];

	for (unsigned k = 0; k < count; k++)
		own[k] = product_of(all[k].counts, all[k].counts, bursts);
	for (unsigned k = 0; k < count; k++)
		for (unsigned i = 0; i < k && own[k] > 0; i++) {
			double both = product_of(all[k].counts, all[i].counts, bursts);

			if (own[i] > 0)
				near[k * count + i] = near[i * count + k] =
					(float)(both * both / (own[k] * own[i]));
		}
}

/* What cheaper anchors leave open of each. */
static void find_needs(struct duty *all, unsigned count, size_t bursts, const float *near)
{
	double trust = (double)bursts / ((double)bursts + BURSTS_PRIOR);

	for (unsigned k = 0; k < count; k++) {
		double most = 0;

		for (unsigned i = 0; i < k; i++)
			most = fmax(most, near[k * count + i]);
		all[k].need = fmax(1 - trust * most, NEED_LEAST);
	}
}

/* Each is followed by the one of the others that goes with it best. */
static void put_in_order(
	struct anchors *anchors, const struct duty *all, unsigned count, const float *near)
{
	bool done[ANCHORS_MAX] = {false};

	for (unsigned n = 0, last = 0; n < count; n++) {
		unsigned best = count;

		for (unsigned k = 0; k < count; k++)
			if (!done[k] && (best == count ||
						near[last * count + k] > near[last * count + best]))
				best = k;
		done[best] = true;
		last = best;
		anchors->order[n] = (uint8_t)(all[best].anchor - anchors->all);
	}
}

void native_draw(const struct cache *c, bool *want, bool rest)
{
	struct anchors *anchors = c->anchors;
	double at = anchors->turn;

	for (unsigned n = 0; n < anchors->count; n++) {
		unsigned number = anchors->order[n];
		double duty = anchors->all[number].duty, end = at + duty;

		want[number] = duty >= 1 || (!rest && floor(end) > floor(at));
		at = duty < 1 ? end : at;
	}
	if (!rest)
		anchors->turn = fmod(anchors->turn + GOLDEN, 1);
}

/* Duties above 1 are 1, and leave more to the others. all: the cheapest first. */
static void share_out(struct duty *all, unsigned count, double most)
{
	double cheap = 0;

	for (unsigned k = 0; k < count; k++) {
		cheap += all[k].rate;
		all[k].anchor->duty = cheap <= CHEAP * most;
	}
	for (int round = 0; round < ROUNDS; round++) {
		double left = most, sum = 0, unit;

		for (unsigned k = 0; k < count; k++)
			if (all[k].anchor->duty >= 1)
				left -= all[k].rate;
			else
				sum += sqrt(all[k].need * all[k].rate);
		unit = sum > 0 ? fmax(left, 0) / sum : 0;
		for (unsigned k = 0; k < count; k++)
			if (all[k].anchor->duty < 1)
				all[k].anchor->duty =
					all[k].rate > 0
						? fmin(unit * sqrt(all[k].need / all[k].rate), 1)
						: 1;
	}
}

/* With several threads, anchors are in place always or never. */
static void take_cheapest(struct duty *all, unsigned count, double most)
{
	double sum = 0;

	for (unsigned k = 0; k < count; k++) {
		sum += all[k].rate;
		all[k].anchor->duty = sum <= most;
	}
}

void native_set_duties(struct cache *c)
{
	const struct native *n = c->native;
	size_t first = n->bursts.count > BURSTS_LOOKED_AT ? n->bursts.count - BURSTS_LOOKED_AT : 0;
	size_t bursts = n->bursts.count - first;
	struct anchors *anchors = c->anchors;
	struct duty all[ANCHORS_MAX];
	double *counts = calloc(anchors->count * bursts + 1, sizeof(*counts));
	float *near = calloc(anchors->count * anchors->count + 1, sizeof(*near));

	if (!counts || !near) {
		free(counts);
		free(near);
		return;
	}
	duty_add_counts(c, counts, first, bursts);
	for (unsigned k = 0; k < anchors->count; k++)
		all[k] = (struct duty){.anchor = &anchors->all[k],
			.rate = rate_of(n, &anchors->all[k], k),
			.counts = counts + k * bursts};
	qsort(all, anchors->count, sizeof(*all), compare_duties);
	if (c->process->threads > TURN_THREADS) {
		take_cheapest(all, anchors->count, native_most(c));
	} else {
		duty_compare(all, anchors->count, bursts, near);
		find_needs(all, anchors->count, bursts, near);
		share_out(all, anchors->count, native_most(c));
		put_in_order(anchors, all, anchors->count, near);
	}
	free(counts);
	free(near);
}
