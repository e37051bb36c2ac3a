/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/runs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/runs_private.h"
#include "base/sort.h"
#include "base/vec.h"

#define LONGEST (1u << 20) /* bytes of a run: longer ones are errors */

/* ---- segments ---- */

static int compare_segments(const void *a, const void *b)
{
	const struct runs_segment *x = a, *y = b;

	return sort_rising(x->image, y->image) ?: sort_rising(x->begin, y->begin);
}

/* The first segment that begins at or after this address (of this image or a later one). */
static uint32_t first_from(const struct analysis_runs *r, uint32_t image, uint64_t address)
{
	const struct runs_segment key = {.image = image, .begin = address};
	return (uint32_t)vec_search(i, r->segments, compare_segments(&r->segment[i], &key) < 0);
}

uint32_t analysis_runs_segment(const struct analysis_runs *r, uint32_t image, uint64_t address)
{
	uint32_t at = first_from(r, image, address);

	if (at < r->segments && r->segment[at].image == image && r->segment[at].begin == address)
		return r->segment[at].outs ? at : ANALYSIS_RUNS_NONE;
	if (at == 0 || r->segment[at - 1].image != image || r->segment[at - 1].last < address)
		return ANALYSIS_RUNS_NONE;
	return at - 1;
}

uint32_t analysis_runs_count(const struct analysis_runs *r)
{
	return r->segments;
}

static bool sensible(const struct analysis_run *run)
{
	return run->count && run->rate >= 0 && isfinite(run->rate) && run->variance >= 0 &&
	       run->begin <= run->end && run->end - run->begin < LONGEST;
}

static int make_segments(struct analysis_runs *r, const struct analysis_run *runs, size_t count)
{
	uint32_t n = 0;

	r->segment = calloc(2 * count + 1, sizeof(*r->segment));
	if (!r->segment || count > UINT32_MAX / 4)
		return -1;
	for (size_t i = 0; i < count; i++) {
		if (!sensible(&runs[i]))
			continue;
		r->segment[n].image = runs[i].image;
		r->segment[n++].begin = runs[i].begin;
		r->segment[n].image = runs[i].to_image;
		r->segment[n++].begin = runs[i].to;
	}
	qsort(r->segment, n, sizeof(*r->segment), compare_segments);
	for (uint32_t i = 0; i < n; i++)
		if (i == 0 || compare_segments(&r->segment[i], &r->segment[r->segments - 1]))
			r->segment[r->segments++] = r->segment[i];
	return 0;
}

/* ---- edges ---- */

static int add_way(struct analysis_runs *r, uint32_t from, uint64_t end, uint32_t to,
	const struct analysis_run *run)
{
	struct runs_way key = {.key = {.from = from, .to = to, .end = end}}, *own;
	double count = (double)run->count, alone = run->rate * run->rate / count;

	own = table_add(&r->ways, &key.key);
	if (!own)
		return -1;
	own->count += count;
	own->flow += run->rate;
	own->alone += fmin(alone, run->variance);
	own->together += sqrt(fmax(run->variance - alone, 0));
	r->rated |= run->rate > 0;
	r->segment[from].out += count;
	r->segment[to].in += count;
	return 0;
}

static void reach(struct analysis_runs *r, uint32_t segment, uint64_t address)
{
	if (address > r->segment[segment].last)
		r->segment[segment].last = address;
}

static int runs_add_run(struct analysis_runs *r, const struct analysis_run *run)
{
	uint32_t at = first_from(r, run->image, run->begin);

	for (; at + 1 < r->segments; at++) {
		const struct runs_segment *next = &r->segment[at + 1];

		if (next->image != run->image || next->begin > run->end)
			break;
		reach(r, at, next->begin - 1);
		if (add_way(r, at, RUNS_PASSES, at + 1, run))
			return -1;
	}
	reach(r, at, run->end);
	return add_way(r, at, run->end, first_from(r, run->to_image, run->to), run);
}

static int compare_ways(const void *a, const void *b)
{
	const struct runs_way *x = a, *y = b;

	return sort_rising(x->key.from, y->key.from) ?:
	       sort_rising(x->key.end, y->key.end) ?:
	       sort_rising(x->key.to, y->key.to);
}

static void index_ways(struct analysis_runs *r)
{
	table_sort(&r->ways, compare_ways);
	for (uint32_t i = 0; i < r->ways.count; i++) {
		struct runs_segment *from = &r->segment[runs_way(r, i)->key.from];

		if (!from->outs++)
			from->first = i;
	}
	for (uint32_t i = 0; i < r->segments; i++)
		r->links += fmax(r->segment[i].out - r->segment[i].in, 0);
}

struct analysis_runs *analysis_runs_new(
	const struct analysis_run *runs, size_t count, struct error *e)
{
	struct analysis_runs *r = calloc(1, sizeof(*r));
	int rc;

	if (!r) {
		error_nomem(e);
		return NULL;
	}
	r->ways = (struct table){.entry_size = sizeof(struct runs_way),
		.key_size = sizeof(((struct runs_way *)0)->key)};
	rc = make_segments(r, runs, count);
	for (size_t i = 0; i < count && rc == 0; i++)
		if (sensible(&runs[i]))
			rc = runs_add_run(r, &runs[i]);
	if (rc == 0) {
		index_ways(r);
		if (!r->rated)
			rc = runs_make_stationary(r) || runs_find_circles(r) ? -1 : 0;
	}
	if (rc == 0)
		return r;
	analysis_runs_free(r);
	error_nomem(e);
	return NULL;
}

void analysis_runs_free(struct analysis_runs *r)
{
	if (!r)
		return;
	free(r->segment);
	table_fini(&r->ways);
	free(r);
}

/* ---- answers ---- */

bool analysis_runs_rated(const struct analysis_runs *r)
{
	return r->rated;
}

struct sum {
	double flow, count, together, alone;
};

static void runs_add_up(struct sum *sum, const struct runs_way *w)
{
	sum->flow += w->flow;
	sum->count += w->count;
	sum->together += w->together;
	sum->alone += w->alone;
}

static struct analysis_passage passage(
	const struct analysis_runs *r, const struct sum *sum, double deviation)
{
	if (r->rated)
		deviation = sum->flow > 0
				    ? sqrt(sum->together * sum->together + sum->alone) / sum->flow
				    : INFINITY;
	return (struct analysis_passage){sum->flow, deviation, (uint64_t)sum->count};
}

struct analysis_passage analysis_runs_at(
	const struct analysis_runs *r, uint32_t image, uint64_t address)
{
	uint32_t at = analysis_runs_segment(r, image, address);
	const struct runs_segment *s = at == ANALYSIS_RUNS_NONE ? NULL : &r->segment[at];
	struct sum sum = {0};

	for (uint32_t i = 0; s && i < s->outs; i++)
		if (runs_way(r, s->first + i)->key.end >= address)
			runs_add_up(&sum, runs_way(r, s->first + i));
	return passage(r, &sum, s ? s->deviation : INFINITY);
}

struct analysis_passage analysis_runs_edge(
	const struct analysis_runs *r, uint32_t image, uint64_t from, uint64_t to, bool falls)
{
	uint32_t at = analysis_runs_segment(r, image, from);
	const struct runs_segment *s = at == ANALYSIS_RUNS_NONE ? NULL : &r->segment[at];
	struct sum sum = {0};

	for (uint32_t i = 0; s && i < s->outs; i++) {
		const struct runs_way *w = runs_way(r, s->first + i);
		const struct runs_segment *next = &r->segment[w->key.to];
		bool passes = w->key.end > from;
		bool goes = w->key.end == from && next->image == image && next->begin == to;

		if (goes || (passes && falls))
			runs_add_up(&sum, w);
	}
	return passage(r, &sum, sqrt(1 / fmax(sum.count, 1)));
}

double analysis_runs_flow(const struct analysis_runs *r, uint32_t segment)
{
	return r->segment[segment].flow;
}

uint64_t analysis_runs_taken(const struct analysis_runs *r, uint32_t segment)
{
	return (uint64_t)r->segment[segment].out;
}

void analysis_runs_observe(
	struct analysis_runs *r, uint32_t segment, double log_factor, double weight)
{
	struct runs_segment *s = &r->segment[segment];

	if (!(weight > 0) || !isfinite(log_factor))
		return;
	s->told += weight * log_factor;
	s->weight += weight;
}

void analysis_runs_scale(struct analysis_runs *r, double factor)
{
	for (uint32_t i = 0; i < r->segments; i++)
		r->segment[i].flow *= factor;
	for (uint32_t i = 0; i < r->ways.count; i++)
		runs_way(r, i)->flow *= factor;
}
