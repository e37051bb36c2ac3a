/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Executions of all runs in the log, by calibrated weights of bursts. Rates of runs were recorded
 * as the clock has them; here the differences follow. So rates, divided by the number of all bursts
 * and multiplied by the time of the program, are these executions.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/stats.h"
#include "branches/native.h"
#include "branches/weigh.h"

#define BURSTS_LEAST 3
#define WEIGHT_MAX   10.0 /* of a burst, in medians */
#define SCATTER      0.1  /* variance of executions per stretch, as a part, squared */
#define COUNT_NS     0.7  /* deviation of the cost of a count */

static const struct stretch *stretch_at(const struct native *n, size_t i)
{
	return i < n->bursts.count ? &n->bursts.data[i].before : &n->now;
}

/* A burst stands for half of the stretches before and after it; the first and the last for all. */
static double stretch_part(const struct native *n, size_t burst, bool after)
{
	bool outer = after ? burst + 1 == n->bursts.count : burst == 0;

	return stretch_at(n, burst + after)->ns * (outer ? 1 : .5);
}

static double share_in_place(const struct native *n, size_t burst, unsigned anchor)
{
	double all = 0, in = 0;

	for (int after = 0; after < 2; after++) {
		double part = stretch_part(n, burst, after);
		const struct stretch *s = stretch_at(n, burst + (size_t)after);

		all += part;
		in += s->active[anchor / 64] >> anchor % 64 & 1 ? part : 0;
	}
	return all > 0 ? in / all : 0;
}

/* An anchor that was in place now and then says less: its stretches are some of many, and the cost
 * of a count is not known well. */
static double doubt_of(const struct cache *c, unsigned a)
{
	const struct native *n = c->native;
	double in = 0, all = 0, times = 0, out;

	for (size_t i = 0; i <= n->bursts.count; i++) {
		const struct stretch *s = stretch_at(n, i);
		bool active = s->active[a / 64] >> a % 64 & 1;

		all += s->ns;
		in += active ? s->ns : 0;
		times += active;
	}
	out = all > 0 ? 1 - in / all : 1;
	return out * (SCATTER / fmax(times, 1) +
			     pow(COUNT_NS * 1e-9 * anchor_rate(&c->anchors->all[a]), 2));
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
		for (unsigned a = 0; a < c->anchors->count; a++)
			if (w->count[a * bursts + i] > 0)
				w->count[a * bursts + i] *= share_in_place(n, i, a);
	}
}

/* A burst that was over at once does not count for much. */
static int limit_weights(struct weigh *w)
{
	double *order = calloc(w->bursts + 1, sizeof(*order)), most;

	if (!order)
		return -1;
	memcpy(order, w->weight, w->bursts * sizeof(*order));
	most = WEIGHT_MAX * stats_median(order, w->bursts);
	for (size_t i = 0; i < w->bursts; i++)
		w->weight[i] = fmin(w->weight[i], most);
	free(order);
	return 0;
}

static int weigh_bursts(const struct cache *c, struct weigh *w)
{
	const struct native *n = c->native;

	if (weigh_make(w, n->bursts.count, c->anchors->count))
		return -1;
	for (size_t i = 0; i < n->bursts.count; i++)
		w->weight[i] = (stretch_part(n, i, false) + stretch_part(n, i, true)) * 1e-9 /
			       n->bursts.data[i].seconds;
	if (limit_weights(w))
		return -1;
	for (unsigned a = 0; a < c->anchors->count; a++) {
		w->total[a] = n->hits[a];
		w->doubt[a] = doubt_of(c, a);
	}
	add_entries(c, w);
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

static void tell_run(const struct cache *c, struct weigh *w, size_t r, const double *count)
{
	const struct native *n = c->native;
	const struct native_run *run = table_at(&n->runs, r);
	double bursts = tallied(c->b, TALLY_BURSTS_TIMED), unit = per_rate(c->b);
	double variance, executions = weigh_sum(w, count, &variance);
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
	told.squares += variance / (unit * unit) + executions * executions / (unit * unit) / bursts;
	branches_put(c->b, &told);
}

struct native_place { /* an entry */
	uint32_t run, burst, count;
};

static int compare_places(const void *a, const void *b)
{
	const struct native_place *x = a, *y = b;

	return (x->run > y->run) - (x->run < y->run);
}

static void tell_all(const struct cache *c, struct weigh *w)
{
	const struct native *n = c->native;
	size_t count = n->entries.count, bursts = n->bursts.count;
	struct native_place *all = calloc(count + 1, sizeof(*all));
	double *counts = calloc(bursts + 1, sizeof(*counts));

	for (size_t i = 0; all && i < bursts; i++)
		for (size_t k = n->bursts.data[i].first; k < native_last(n, i); k++)
			all[k] = (struct native_place){
				n->entries.data[k].run, (uint32_t)i, n->entries.data[k].count};
	if (all && counts)
		qsort(all, count, sizeof(*all), compare_places);
	for (size_t i = 0, next; all && counts && i < count; i = next) {
		memset(counts, 0, bursts * sizeof(*counts));
		for (next = i; next < count && all[next].run == all[i].run; next++)
			counts[all[next].burst] += all[next].count;
		tell_run(c, w, all[i].run, counts);
	}
	free(all);
	free(counts);
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
