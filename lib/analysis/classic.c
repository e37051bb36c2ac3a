/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The clustering rule of the paper's section 6.1 and its local propagation.
 *
 * Where the paper gives no numbers, these are used: a cluster's largest ratio is 1.5 times its
 * smallest (its own example); it holds a quarter of the class's issue points at least, and no
 * issue point may have waited 60 times its Mi longer than it would imply. Mi is that of
 * retirement, fractions included; here, windows are single instructions, as no schedule names the
 * issue point that one depends on. An instruction whose samples may be another's is no issue
 * point.
 */
#include <math.h>
#include <stdlib.h>

#include "analysis/frequency.h"
#include "base/sort.h"

enum { FEW_SAMPLES = 8, ROUNDS = 20 };
#define LEAST_MI   0.05
#define TIGHT      1.5
#define LEAST_PART 0.25
#define LONG_STALL 60

struct point {
	uint32_t class;
	double ratio, mi, samples;
};

struct classic {
	const struct analysis_input *in;
	VEC(struct point) points;
	struct analysis_estimate *class;
};

static int by_class(const void *a, const void *b)
{
	const struct point *p = a, *q = b;

	return sort_rising(p->class, q->class) ?: sort_rising_number(p->ratio, q->ratio);
}

static int find_points(struct classic *c)
{
	const struct flow *f = c->in->flow;

	for (uint32_t i = 0; i < f->insns.count; i++) {
		struct point p;

		if (c->in->mi[i] < LEAST_MI || (c->in->unsure && c->in->unsure[i]))
			continue;
		p = (struct point){.class = c->in->classes->block[f->block_of[i]],
			.ratio = c->in->samples[i] / c->in->mi[i],
			.mi = c->in->mi[i],
			.samples = c->in->samples[i]};
		if (vec_add(&c->points, p))
			return -1;
	}
	if (c->points.count)
		qsort(c->points.data, c->points.count, sizeof(*c->points.data), by_class);
	return 0;
}

static void pool(struct analysis_estimate *x, const struct point *p, size_t n)
{
	double samples = 0, mi = 0;

	for (size_t i = 0; i < n; i++) {
		samples += p[i].samples;
		mi += p[i].mi;
	}
	x->value = mi > 0 ? samples / mi : 0;
}

static bool believable(double frequency, const struct point *p, size_t n)
{
	return p[n - 1].ratio <= LONG_STALL * frequency;
}

/* p[0..n), in order of ratio: the issue points of one class. */
static void classic_estimate(struct analysis_estimate *x, const struct point *p, size_t n)
{
	double samples = 0;

	for (size_t i = 0; i < n; i++)
		samples += p[i].samples;
	x->confidence = ANALYSIS_LOW;
	if (samples < FEW_SAMPLES * (double)n) { /* too few: all of them together */
		pool(x, p, n);
		return;
	}
	for (size_t from = 0; from < n; from++) {
		size_t to = from;

		while (to < n && p[to].ratio <= TIGHT * p[from].ratio)
			to++;
		if (!(p[from].ratio > 0) || (double)(to - from) < LEAST_PART * (double)n)
			continue;
		pool(x, p + from, to - from);
		if (!believable(x->value, p, n))
			continue;
		if (to - from >= 4 && 2 * (to - from) >= n)
			x->confidence = ANALYSIS_HIGH;
		else if (to - from >= 2)
			x->confidence = ANALYSIS_MEDIUM;
		return;
	}
	pool(x, p, n);
}

static void estimate_classes(struct classic *c)
{
	for (size_t from = 0, to; from < c->points.count; from = to) {
		const struct point *p = &c->points.data[from];

		for (to = from; to < c->points.count && c->points.data[to].class == p->class;)
			to++;
		classic_estimate(&c->class[p->class], p, to - from);
	}
}

/* One side of a block's equation (block = sum of edges and arcs to the outside). If its class is
 * the only unknown one, it gets the rest. */
static bool balance(struct classic *c, uint32_t block, bool into)
{
	const struct analysis_classes *k = c->in->classes;
	const struct flow *f = c->in->flow;
	const struct flow_block *b = &f->blocks.data[block];
	uint32_t count = into ? b->ins : b->outs, unknown = FLOW_NONE, unknowns = 0;
	bool ends = into ? b->flags & FLOW_ENTRY || !b->ins
			 : !b->outs || b->flags & (FLOW_RETURNS | FLOW_LEAVES);
	double left = c->class[k->block[block]].value;

	if (ends || k->apart) /* a boundary */
		return false;
	if (c->class[k->block[block]].confidence == ANALYSIS_UNKNOWN) {
		unknown = k->block[block];
		unknowns++;
	}
	for (uint32_t i = 0; i < count; i++) {
		uint32_t edge = into ? f->in[b->first_in + i] : b->first_out + i;
		const struct analysis_estimate *x = &c->class[k->edge[edge]];

		left -= x->value;
		if (x->confidence == ANALYSIS_UNKNOWN) {
			unknown = k->edge[edge];
			unknowns++;
		}
	}
	if (unknowns != 1)
		return false;
	if (unknown == k->block[block])
		left = -left;
	c->class[unknown].value = fmax(left, 0);
	c->class[unknown].confidence = ANALYSIS_LOW;
	return true;
}

static void propagate(struct classic *c)
{
	bool more = true;

	for (int round = 0; round < ROUNDS && more; round++) {
		more = false;
		for (uint32_t i = 0; i < c->in->flow->blocks.count; i++) {
			more |= balance(c, i, true);
			more |= balance(c, i, false);
		}
	}
}

int analysis_classic(struct analysis_frequencies *q, const struct analysis_input *in)
{
	struct classic c = {.in = in};
	int rc = -1;

	c.class = calloc((size_t)in->classes->count + 1, sizeof(*c.class));
	if (c.class && find_points(&c) == 0) {
		estimate_classes(&c);
		propagate(&c);
		for (size_t i = 0; i < in->flow->blocks.count; i++)
			q->block[i] = c.class[in->classes->block[i]];
		for (size_t i = 0; i < in->flow->edges.count; i++)
			q->edge[i] = c.class[in->classes->edge[i]];
		rc = 0;
	}
	vec_fini(&c.points);
	free(c.class);
	return rc;
}
