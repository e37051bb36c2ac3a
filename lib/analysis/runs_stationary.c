/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Elimination after Grassmann, Taksar and Heyman: a state is removed from a chain by joining each
 * of its predecessors directly to each of its successors; the rest is a chain of fewer states. In
 * reverse order, the flow of a state is the sum from its predecessors. Nothing is subtracted, so
 * no digits are lost even if a loop iterates a million times.
 *
 * States with few neighbours go first. Where a program's core is too dense for this, the rest is
 * solved by iteration.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/runs_private.h"
#include "base/vec.h"

#define WORK 300000000u /* steps of elimination, then iteration */
#define NONE UINT32_MAX

enum { SWEEPS = 2000 };

struct arc { /* table entry */
	struct {
		uint32_t from, to;
	} key;
	double share;
	uint32_t next_out, next_in; /* of the same from, to */
};

struct turn {
	uint64_t cost;
	uint32_t node;
};

struct chain {
	struct table arcs;
	uint32_t nodes;
	uint32_t *out, *in;   /* first arc of each */
	uint32_t *outs, *ins; /* to and from remaining nodes */
	bool *gone;
	double *left; /* shares of all edges to other nodes, at its elimination */
	uint32_t *order;
	uint32_t taken;
	VEC(struct turn) turns; /* a heap: the least cost first */
	uint64_t work;
	double *flow;
};

static struct arc *arc_at(const struct chain *c, uint32_t i)
{
	return (struct arc *)(void *)c->arcs.entries + i;
}

static int stationary_add_arc(struct chain *c, uint32_t from, uint32_t to, double share)
{
	struct arc key = {.key = {from, to}}, *own;
	size_t before = c->arcs.count;

	if (from == to || !(share > 0))
		return 0;
	own = table_add(&c->arcs, &key.key);
	if (!own)
		return -1;
	own->share += share;
	if (c->arcs.count == before)
		return 0;
	own->next_out = c->out[from];
	own->next_in = c->in[to];
	c->out[from] = c->in[to] = (uint32_t)before;
	c->outs[from]++;
	c->ins[to]++;
	return 0;
}

/* ---- the heap of next nodes ---- */

static int push_turn(struct chain *c, uint32_t node)
{
	struct turn own = {(uint64_t)c->ins[node] * c->outs[node], node};
	size_t at = c->turns.count;

	if (node == c->nodes - 1) /* the edge from burst to burst is kept to the end */
		return 0;
	if (!vec_push(&c->turns))
		return -1;
	for (; at && c->turns.data[(at - 1) / 2].cost > own.cost; at = (at - 1) / 2)
		c->turns.data[at] = c->turns.data[(at - 1) / 2];
	c->turns.data[at] = own;
	return 0;
}

static struct turn pop_turn(struct chain *c)
{
	struct turn top = c->turns.data[0], last = c->turns.data[--c->turns.count];
	size_t at = 0, n = c->turns.count;

	for (;;) {
		size_t child = 2 * at + 1;

		if (child >= n)
			break;
		if (child + 1 < n && c->turns.data[child + 1].cost < c->turns.data[child].cost)
			child++;
		if (c->turns.data[child].cost >= last.cost)
			break;
		c->turns.data[at] = c->turns.data[child];
		at = child;
	}
	if (n)
		c->turns.data[at] = last;
	return top;
}

/* ---- elimination ---- */

static int bypass(struct chain *c, uint32_t node)
{
	double sum = 0;

	for (uint32_t k = c->out[node]; k != NONE; k = arc_at(c, k)->next_out)
		if (!c->gone[arc_at(c, k)->key.to])
			sum += arc_at(c, k)->share;
	c->left[node] = sum;
	c->gone[node] = true;
	c->order[c->taken++] = node;
	for (uint32_t i = c->in[node]; i != NONE; i = arc_at(c, i)->next_in) {
		uint32_t from = arc_at(c, i)->key.from;
		double share = arc_at(c, i)->share;

		if (c->gone[from])
			continue;
		for (uint32_t k = c->out[node]; k != NONE; k = arc_at(c, k)->next_out) {
			struct arc a = *arc_at(c, k);

			c->work++;
			if (!c->gone[a.key.to] &&
				stationary_add_arc(c, from, a.key.to, share * a.share / sum))
				return -1;
		}
	}
	for (uint32_t i = c->in[node]; i != NONE; i = arc_at(c, i)->next_in) {
		uint32_t from = arc_at(c, i)->key.from;

		if (!c->gone[from]) {
			c->outs[from]--;
			if (push_turn(c, from))
				return -1;
		}
	}
	for (uint32_t k = c->out[node]; k != NONE; k = arc_at(c, k)->next_out) {
		uint32_t to = arc_at(c, k)->key.to;

		if (!c->gone[to]) {
			c->ins[to]--;
			if (push_turn(c, to))
				return -1;
		}
	}
	return 0;
}

static int stationary_eliminate(struct chain *c)
{
	for (uint32_t i = 0; i < c->nodes; i++)
		if (push_turn(c, i))
			return -1;
	while (c->turns.count && c->work < WORK) {
		struct turn t = pop_turn(c);

		if (!c->gone[t.node] && t.cost == (uint64_t)c->ins[t.node] * c->outs[t.node] &&
			bypass(c, t.node))
			return -1;
	}
	return 0;
}

static double sent_to(const struct chain *c, uint32_t node)
{
	double sum = 0;

	for (uint32_t i = c->in[node]; i != NONE; i = arc_at(c, i)->next_in)
		sum += c->flow[arc_at(c, i)->key.from] * arc_at(c, i)->share;
	return sum;
}

/* Solves the dense rest; flow is a first estimate. */
static void iterate(struct chain *c)
{
	for (uint32_t i = 0; i < c->nodes; i++) {
		if (c->gone[i])
			c->flow[i] = 0;
		c->left[i] = c->gone[i] ? c->left[i] : 0;
	}
	for (uint32_t a = 0; a < c->arcs.count; a++)
		if (!c->gone[arc_at(c, a)->key.from] && !c->gone[arc_at(c, a)->key.to])
			c->left[arc_at(c, a)->key.from] += arc_at(c, a)->share;
	for (int sweep = 0; sweep < SWEEPS; sweep++) {
		double most = 0;

		for (uint32_t i = 0; i < c->nodes; i++) {
			double own;

			if (c->gone[i] || !(c->left[i] > 0))
				continue;
			own = sent_to(c, i) / c->left[i];
			most = fmax(most, fabs(own - c->flow[i]) / fmax(own, 1e-300));
			c->flow[i] = own;
		}
		if (most < 1e-9)
			return;
	}
}

static void go_back(struct chain *c)
{
	for (uint32_t i = 0; i < c->taken; i++)
		c->flow[c->order[i]] = 0; /* not yet reached: its predecessors have sent nothing */
	for (uint32_t i = c->taken; i-- > 0;) {
		uint32_t node = c->order[i];

		if (c->left[node] > 0)
			c->flow[node] = sent_to(c, node) / c->left[node];
		c->gone[node] = false;
	}
}

/* ---- from and to segments ---- */

static int fill_chain(struct chain *c, const struct analysis_runs *r)
{
	uint32_t link = r->segments;

	for (uint32_t i = 0; i < r->segments; i++) {
		const struct runs_segment *s = &r->segment[i];
		double begins = s->out / RUNS_BURST + fmax(s->out - s->in, 0);
		double ends = s->out / RUNS_BURST + fmax(s->in - s->out, 0);
		double all = s->out + (s->out > 0 ? RUNS_LINK : 1) * ends;

		for (uint32_t k = s->first; k < s->first + s->outs; k++)
			if (stationary_add_arc(
				    c, i, runs_way(r, k)->key.to, runs_way(r, k)->count / all))
				return -1;
		if (stationary_add_arc(c, i, link, all > 0 ? 1 - s->out / all : 0) ||
			stationary_add_arc(c, link, i, RUNS_LINK * begins / fmax(r->links, 1)))
			return -1;
		c->flow[i] = s->out;
	}
	c->flow[link] = fmax(r->links, 1);
	return 0;
}

static void take_flow(struct analysis_runs *r, const struct chain *c)
{
	for (uint32_t i = 0; i < r->segments; i++) {
		struct runs_segment *s = &r->segment[i];

		s->flow = c->flow[i];
		for (uint32_t k = s->first; k < s->first + s->outs; k++)
			runs_way(r, k)->flow = s->flow * runs_way(r, k)->count / s->out;
	}
}

int runs_make_stationary(struct analysis_runs *r)
{
	struct chain c = {.nodes = r->segments + 1};
	size_t n = c.nodes;
	int rc = -1;

	c.arcs = (struct table){
		.entry_size = sizeof(struct arc), .key_size = sizeof(((struct arc *)0)->key)};
	c.out = malloc(n * sizeof(*c.out));
	c.in = malloc(n * sizeof(*c.in));
	c.outs = calloc(n, sizeof(*c.outs));
	c.ins = calloc(n, sizeof(*c.ins));
	c.gone = calloc(n, sizeof(*c.gone));
	c.left = calloc(n, sizeof(*c.left));
	c.order = calloc(n, sizeof(*c.order));
	c.flow = calloc(n, sizeof(*c.flow));
	if (c.out && c.in && c.outs && c.ins && c.gone && c.left && c.order && c.flow) {
		memset(c.out, 0xff, n * sizeof(*c.out));
		memset(c.in, 0xff, n * sizeof(*c.in));
		rc = fill_chain(&c, r);
		if (rc == 0)
			rc = stationary_eliminate(&c);
	}
	if (rc == 0) {
		if (c.taken == c.nodes - 1)
			c.flow[c.nodes - 1] = 1;
		else
			iterate(&c);
		go_back(&c);
		take_flow(r, &c);
	}
	table_fini(&c.arcs);
	vec_fini(&c.turns);
	free(c.out);
	free(c.in);
	free(c.outs);
	free(c.ins);
	free(c.gone);
	free(c.left);
	free(c.order);
	free(c.flow);
	return rc;
}
