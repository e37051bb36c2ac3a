/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/context.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/frequency.h"
#include "base/order.h"

enum {
	VISITS = 2, /* of each block, at least */
	BEFORE = 3, /* blocks that lead to where a walk begins */
	STEPS = 24, /* blocks of a walk */
};
struct context_start {
	uint32_t block;
	double often;
};

#define LEAST 0.02 /* share of an edge that is probably never passed */

struct context {
	const struct flow *f;
	const double *edge; /* how often each is passed, or NULL */
	struct schedule_path *path;
	struct op *ops;
	struct schedule_row *rows;
	float *vote;
	float *share, *passed; /* of edges; passed: in this procedure's walks */
	uint32_t *visits;      /* of blocks: those included in rows */
	uint32_t *done, walk;  /* of blocks: the walk, from 1, in which they had visits enough */
	bool *code;            /* of blocks: no bytes that are none */
	struct context_start *starts;
	bool cut; /* the last walk ended in the middle of the procedure */
};

static int make_context(struct context *c, const struct flow *f, const struct core *core,
	const double *edge, struct schedule_row *rows)
{
	size_t n = f->insns.count + 1, blocks = f->blocks.count + 1, edges = f->edges.count + 1;

	*c = (struct context){.f = f, .edge = edge, .rows = rows};
	c->ops = malloc(n * sizeof(*c->ops));
	c->vote = calloc(n, sizeof(*c->vote));
	c->share = calloc(edges, sizeof(*c->share));
	c->passed = calloc(edges, sizeof(*c->passed));
	c->visits = calloc(blocks, sizeof(*c->visits));
	c->done = calloc(blocks, sizeof(*c->done));
	c->code = calloc(blocks, sizeof(*c->code));
	c->starts = calloc(blocks, sizeof(*c->starts));
	if (!c->ops || !c->vote || !c->share || !c->passed || !c->visits || !c->done || !c->code ||
		!c->starts)
		return -1;
	for (uint32_t i = 0; i < f->blocks.count; i++) {
		const struct flow_block *b = &f->blocks.data[i];

		c->code[i] = !(b->flags & (FLOW_BAD | FLOW_PADDING));
		for (uint32_t k = b->first; k < b->first + b->count && c->code[i]; k++)
			c->code[i] = !(f->insns.data[k].classes & INSN_BAD);
		if (c->code[i])
			op_make_block(
				core, f->insns.data + b->first, b->count, true, c->ops + b->first);
	}
	return 0;
}

static void free_context(struct context *c)
{
	free(c->ops);
	free(c->vote);
	free(c->share);
	free(c->passed);
	free(c->visits);
	free(c->done);
	free(c->starts);
	free(c->code);
}

static void set_shares(struct context *c, const double *edge)
{
	const struct flow *f = c->f;

	for (uint32_t i = 0; i < f->blocks.count; i++) {
		const struct flow_block *b = &f->blocks.data[i];
		double sum = 0;

		for (uint32_t k = b->first_out; k < b->first_out + b->outs; k++)
			sum += edge ? edge[k] : f->edges.data[k].back ? ANALYSIS_BACK : 1;
		for (uint32_t k = b->first_out; k < b->first_out + b->outs; k++) {
			double own = edge ? edge[k] : f->edges.data[k].back ? ANALYSIS_BACK : 1;

			own = sum > 0 ? own / sum : 1.0 / b->outs;
			c->share[k] = (float)((own + LEAST) / (1 + LEAST * b->outs));
		}
	}
}

/* The edge out of block that lags its share most; FLOW_NONE. */
static uint32_t next_edge(struct context *c, uint32_t block)
{
	const struct flow_block *b = &c->f->blocks.data[block];
	uint32_t best = FLOW_NONE;
	float most = 0;

	for (uint32_t k = b->first_out; k < b->first_out + b->outs; k++) {
		c->passed[k] += c->share[k];
		if (c->code[c->f->edges.data[k].to] && (best == FLOW_NONE || c->passed[k] > most)) {
			most = c->passed[k];
			best = k;
		}
	}
	if (best != FLOW_NONE)
		c->passed[best]--;
	return best;
}

static uint32_t depth_of(const struct flow *f, uint32_t block)
{
	uint32_t loop = f->blocks.data[block].loop;

	return loop == FLOW_NONE ? 0 : f->loops.data[loop].depth;
}

static double edge_often(const struct context *c, uint32_t k)
{
	return c->edge ? c->edge[k]
		       : c->share[k] * pow(ANALYSIS_BACK, depth_of(c->f, c->f->edges.data[k].from));
}

/* The beginning of a walk that is to include block: up the edges that are passed most. */
static uint32_t way_before(const struct context *c, uint32_t block, uint32_t way[BEFORE + 1])
{
	const struct flow *f = c->f;
	uint32_t n = 0;

	for (; n < BEFORE; n++) {
		const struct flow_block *b = &f->blocks.data[block];
		uint32_t best = FLOW_NONE;

		for (uint32_t k = 0; k < b->ins; k++) {
			uint32_t edge = f->in[b->first_in + k];

			if (c->code[f->edges.data[edge].from] &&
				(best == FLOW_NONE || edge_often(c, edge) > edge_often(c, best)))
				best = edge;
		}
		if (best == FLOW_NONE)
			break;
		way[n] = best;
		block = f->edges.data[best].from;
	}
	return n;
}

static void pass(struct context *c, uint32_t block, uint32_t edge, bool count)
{
	const struct flow_block *b = &c->f->blocks.data[block];
	bool taken = edge == FLOW_NONE || c->f->edges.data[edge].kind != FLOW_FALL;

	for (uint32_t done = 0; done < b->count; done += SCHEDULE_BLOCK_MAX) {
		uint32_t left = b->count - done;

		schedule_path_block(c->path, c->ops, b->first + done,
			left < SCHEDULE_BLOCK_MAX ? left : SCHEDULE_BLOCK_MAX, taken,
			count ? c->rows : NULL, c->vote);
	}
	c->visits[block] += count;
	if (count && c->visits[block] == VISITS)
		c->done[block] = c->walk;
}

/* Of a block: by its edges, or by its loops where these are not known. */
static double how_often(const struct flow *f, const double *edge, uint32_t block)
{
	const struct flow_block *b = &f->blocks.data[block];
	double out = 0, in = 0;

	if (!edge)
		return depth_of(f, block);
	for (uint32_t k = 0; k < b->outs; k++)
		out += edge[b->first_out + k];
	for (uint32_t k = 0; k < b->ins; k++)
		in += edge[f->in[b->first_in + k]];
	return fmax(in, out);
}

static int by_how_often(const void *a, const void *b)
{
	const struct context_start *x = a, *y = b;

	return ORDER(y->often, x->often) ?: ORDER(x->block, y->block);
}

/* Walks past block. The blocks before it only set the state at its entry. */
static void walk_by(struct context *c, uint32_t block)
{
	uint32_t way[BEFORE + 1], n = way_before(c, block, way), edge;

	c->walk++;
	/* What follows it there is not this one's beginning, and must not overlap with it. */
	if (c->cut)
		schedule_path_drain(c->path);
	while (n-- > 0)
		pass(c, c->f->edges.data[way[n]].from, way[n], false);
	for (int step = 0; step < STEPS; step++) {
		edge = next_edge(c, block);
		pass(c, block, edge, !c->done[block] || c->done[block] == c->walk);
		c->cut = edge != FLOW_NONE;
		if (!c->cut)
			return;
		block = c->f->edges.data[edge].to;
	}
}

static void context_average(struct context *c)
{
	for (uint32_t i = 0; i < c->f->blocks.count; i++) {
		const struct flow_block *b = &c->f->blocks.data[i];

		for (uint32_t k = b->first; k < b->first + b->count && c->visits[i]; k++)
			c->rows[k].mi /= c->visits[i];
	}
}

int analysis_context(struct schedule_path *path, const struct flow *f, const struct core *core,
	const double *edge, struct schedule_row *rows, struct error *e)
{
	struct context c;
	int rc = make_context(&c, f, core, edge, rows);

	c.path = path;
	if (rc)
		error_nomem(e);
	for (size_t i = 0; i < f->insns.count && rc == 0; i++)
		rows[i].blame = -1;
	if (rc == 0)
		set_shares(&c, edge);
	for (uint32_t i = 0; i < f->blocks.count && rc == 0; i++)
		c.starts[i] = (struct context_start){i, how_often(f, edge, i)};
	if (rc == 0)
		qsort(c.starts, f->blocks.count, sizeof(*c.starts), by_how_often);
	for (uint32_t i = 0; i < f->blocks.count && rc == 0; i++)
		while (c.code[c.starts[i].block] && c.visits[c.starts[i].block] < VISITS)
			walk_by(&c, c.starts[i].block);
	if (rc == 0)
		context_average(&c);
	free_context(&c);
	return rc;
}
