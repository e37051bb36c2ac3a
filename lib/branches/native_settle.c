/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Executions of all runs in the log, by calibrated weights of bursts. Rates of runs were recorded
 * as the clock has them; here the differences follow. So rates, divided by the number of all bursts
 * and multiplied by the time of the program, are these executions.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/stats.h"
#include "branches/native.h"
#include "branches/weigh.h"

#define BURSTS_LEAST 3
#define TOGETHER     0.5 /* of the median burst */
#define FEW          0.15 /* variance, as a part squared, of code that one of very many bursts has seen */
/* Variance of the logarithm of the factor of bursts' times, at least. */
#define CLOCK_LEAST 0.0004

static double stretch_at(const struct native *n, size_t i)
{
	return i < n->bursts.count ? n->bursts.data[i].before : n->now;
}

/* A burst stands for half of the stretches before and after it; the first and the last for all. */
static double stretch_part(const struct native *n, size_t burst, bool after)
{
	bool outer = after ? burst + 1 == n->bursts.count : burst == 0;

	return stretch_at(n, burst + after) * (outer ? 1 : .5);
}

static void add_entries(const struct cache *c, struct weigh *w)
{
	const struct native *n = c->native;
	size_t bursts = n->bursts.count;

	for (size_t i = 0; i < bursts; i++) {
		for (size_t k = n->bursts.data[i].first; k < native_last(n, i); k++) {
			const struct native_run *run = native_run_at(c, n->entries.data[k].run);

			for (size_t a = 0; a < run->anchors.count; a++)
				w->count[run->anchors.data[a] * bursts + i] +=
					n->entries.data[k].count;
		}
	}
}

/*
 * Weights by the clock: the time that a burst stands for, by its own time. A burst that was over at
 * once, or that only met new code, says little of a long time. So it is taken together with the
 * bursts after it, until they are as long as a part of the median burst.
 */
static int weigh_by_clock(const struct native *n, struct weigh *w)
{
	double *order = calloc(w->bursts + 1, sizeof(*order)), least;
	size_t first = 0, last = 0, before = 0;

	if (!order)
		return -1;
	for (size_t i = 0; i < w->bursts; i++)
		order[i] = n->bursts.data[i].seconds;
	w->usual = stats_median(order, w->bursts);
	least = TOGETHER * w->usual;
	free(order);
	for (size_t i = 0; i < w->bursts; i = last) {
		double ns = 0, seconds = 0;

		first = i;
		for (last = i; last < w->bursts && seconds < least; last++)
			seconds += n->bursts.data[last].seconds;
		if (seconds < least) /* the rest goes with those before it */
			first = before;
		before = first;
		seconds = 0;
		for (size_t k = first; k < last; k++) {
			ns += stretch_part(n, k, false) + stretch_part(n, k, true);
			seconds += n->bursts.data[k].seconds;
		}
		for (size_t k = first; k < last; k++)
			w->weight[k] = ns * 1e-9 / seconds;
	}
	return 0;
}

/* How well the clock knows the factor: bursts in the same code are off alike, so their number does
 * not help. */
static void doubt_clock(const struct native *n, struct weigh *w)
{
	double doubt = 0, time = 0;

	for (size_t i = 0; i < w->bursts; i++) {
		const struct native_burst *b = &n->bursts.data[i];

		w->time[i] = w->weight[i] * b->seconds;
		w->vague[i] = b->doubt;
		doubt += w->time[i] * b->doubt;
		time += w->time[i];
	}
	w->open = CLOCK_LEAST + pow(doubt / fmax(time, 1e-9), 2);
}

static int weigh_bursts(const struct cache *c, struct weigh *w)
{
	const struct native *n = c->native;

	if (weigh_make(w, n->bursts.count, c->anchors->count))
		return -1;
	if (weigh_by_clock(n, w))
		return -1;
	doubt_clock(n, w);
	add_entries(c, w);
	if (native_totals(c, w))
		return -1;
	weigh_calibrate(w);
	return 0;
}

/* ---- telling ---- */

static double tallied(const struct branches *b, enum experiment_tally_kind kind)
{
	return (double)(b->told[kind] + b->counts[kind]);
}

/* What prof multiplies a sum of rates by. */
static double per_rate(const struct branches *b)
{
	double ns = (double)b->used - tallied(b, TALLY_STOP_NS) + tallied(b, TALLY_TIMED_NS);

	return ns * 1e-9 / fmax(tallied(b, TALLY_BURSTS_TIMED), 1);
}

struct native_sum { /* executions */
	double sum, variance;
};

static void tell_run(
	const struct cache *c, size_t r, const double *count, const struct native_sum *s)
{
	const struct native *n = c->native;
	const struct native_run *run = table_at(&n->runs, r);
	double bursts = tallied(c->b, TALLY_BURSTS_TIMED), unit = per_rate(c->b);
	double executions = s->sum;
	struct branch_record told = {.kind = BRANCH_MET,
		.pid = c->pid,
		.time = branches_now(CLOCK_MONOTONIC),
		.id = run->id};

	for (size_t i = 0; i < n->bursts.count; i++) {
		double rate = count[i] / n->bursts.data[i].seconds;

		executions += count[i];
		told.rate -= rate;
		told.squares -= rate * rate;
	}
	told.rate += executions / unit;
	told.squares +=
		s->variance / (unit * unit) + executions * executions / (unit * unit) / bursts;
	branches_put(c->b, &told);
}

struct native_place { /* an entry */
	uint32_t run, burst, count;
};

static int compare_places(const void *a, const void *b)
{
	const struct native_place *x = a, *y = b;

	if (x->run != y->run)
		return x->run < y->run ? -1 : 1;
	return (x->burst > y->burst) - (x->burst < y->burst);
}

/* Code of a part of the program's time is seen by a part of the bursts: how many executions it has
 * between these is the less known, the fewer they are, whatever goes with it in them. */
static double doubt_of_few(
	const struct weigh *w, const struct native_place *first, const struct native_place *last)
{
	double in = 0, all = 0;

	for (size_t i = 0; i < w->bursts; i++)
		all += w->time[i];
	for (const struct native_place *p = first; p <= last; p++)
		in += w->time[p->burst];
	return FEW * fmax(1 - in / fmax(all, 1e-9), 0) / (double)(last - first + 1);
}

/* Most runs of a program that is never long in the same code are in one burst only. Then the sum is
 * in proportion to the count. */
static struct native_sum native_sum_up(struct weigh *w, struct native_sum *alone,
	const double *counts, const struct native_place *first, const struct native_place *last)
{
	struct native_sum *one = &alone[first->burst], sum;
	double count = counts[first->burst];

	if (first->burst != last->burst) {
		sum.sum = weigh_sum(w, counts, &sum.variance);
		sum.variance = fmax(sum.variance, sum.sum * sum.sum * doubt_of_few(w, first, last));
		return sum;
	}
	if (!(one->sum > 0)) {
		one->sum = weigh_sum(w, counts, &one->variance) / count;
		one->variance /= count * count;
	}
	return (struct native_sum){one->sum * count, one->variance * count * count};
}

static void tell_all(const struct cache *c, struct weigh *w)
{
	const struct native *n = c->native;
	size_t count = n->entries.count, bursts = n->bursts.count;
	struct native_place *all = calloc(count + 1, sizeof(*all));
	double *counts = calloc(bursts + 1, sizeof(*counts));
	struct native_sum *alone = calloc(bursts + 1, sizeof(*alone));

	for (size_t i = 0; all && i < bursts; i++)
		for (size_t k = n->bursts.data[i].first; k < native_last(n, i); k++)
			all[k] = (struct native_place){
				n->entries.data[k].run, (uint32_t)i, n->entries.data[k].count};
	if (all && counts && alone)
		qsort(all, count, sizeof(*all), compare_places);
	for (size_t i = 0, next; all && counts && alone && i < count; i = next) {
		struct native_sum sum;

		memset(counts, 0, bursts * sizeof(*counts));
		for (next = i; next < count && all[next].run == all[i].run; next++)
			counts[all[next].burst] += all[next].count;
		sum = native_sum_up(w, alone, counts, &all[i], &all[next - 1]);
		tell_run(c, all[i].run, counts, &sum);
	}
	free(all);
	free(counts);
	free(alone);
}

void native_settle(struct cache *c)
{
	struct native *n = c->native;
	struct weigh w = {0};
	double pairs = n->pairs;

	n->pairs = 0;
	if (n->bursts.count < BURSTS_LEAST)
		return;
	if (weigh_bursts(c, &w) == 0) {
		tell_all(c, &w);
		c->b->counts[TALLY_NATIVE_PAIRS] += (uint64_t)pairs;
		c->b->counts[TALLY_NATIVE] += (uint64_t)pairs;
		c->b->counts[TALLY_COPIED] += (uint64_t)pairs;
	}
	weigh_free(&w);
}
