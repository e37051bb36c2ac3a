/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/fit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/network.h"

/* Chosen once for all programs and cores: round numbers near the best overlap of profiles with
 * exact ones on the programs of tests/accuracy/frequencies. The optimum is flat. */
#define PENALTY  3.0  /* cycles of an edge that is never foreseen: the cost of half-foreseen ones */
#define BLOCK    0.5  /* T of a block is not much less than this ... */
#define INSN     0.15 /* ... and this for each instruction, as schedules are uncertain */
#define FREE     0.1  /* weight of an edge's usual share, against 1 / variance of a logarithm */
#define CUT      1.0  /* larger excesses are cut */
#define BACKWARD 4.0  /* edges: to a lower address, but not to the head of a loop ... */
#define FALLS    1.5  /* ... to the next instruction ... */
#define LEAVES   4.0  /* ... not out of a loop ... */
#define GIVES_UP 50.0 /* ... nor to blocks that do not return */
#define STRIDE   8.0  /* a step changes no flow by more than this factor */
#define LEAST    1e-12 /* flow */

enum { STEPS = 16 }; /* of a procedure by itself */

struct pull {
	double target, weight;
};

struct analysis_fit {
	uint32_t blocks, edges, arcs, entry;
	struct analysis_pair *arc; /* of blocks, edges, arcs from and to outside */
	struct analysis_network *network;
	uint32_t *class; /* of blocks */
	uint32_t classes;
	double *class_samples, *class_time, *class_blocks;
	double *samples, *mi, *time, *base; /* of blocks */
	uint32_t *insns;
	uint8_t *choice;                         /* of edges: one of several */
	double *usual;                           /* of edges: share of their block */
	struct pull *pull;                       /* of blocks, and of the entry */
	double *flow, *before, *weight, *target; /* of arcs */
};

static uint32_t node_in(uint32_t block)
{
	return 1 + 2 * block;
}

static uint32_t node_out(uint32_t block)
{
	return 2 + 2 * block;
}

static int make_arcs(struct analysis_fit *t, const struct analysis_input *in)
{
	const struct flow *f = in->flow;
	const struct analysis_classes *k = in->classes;

	for (uint32_t i = 0; i < t->blocks; i++)
		t->arc[i] = (struct analysis_pair){node_in(i), node_out(i)};
	for (uint32_t i = 0; i < t->edges; i++)
		t->arc[t->blocks + i] = (struct analysis_pair){
			node_out(f->edges.data[i].from), node_in(f->edges.data[i].to)};
	t->entry = FLOW_NONE;
	for (uint32_t i = 0; i < k->arcs.count; i++) {
		const struct analysis_arc *a = &k->arcs.data[i];
		uint32_t at = t->blocks + t->edges + i;

		t->arc[at] = a->into ? (struct analysis_pair){0, node_in(a->block)}
				     : (struct analysis_pair){node_out(a->block), 0};
		if (a->into && a->block == 0)
			t->entry = at;
	}
	t->network = analysis_network_new(1 + 2 * t->blocks, t->arc, t->arcs);
	return t->network ? 0 : -1;
}

/* Likelihood of an edge against the others of its block, as far as the code shows it: loops
 * iterate, compilers let the likely case fall through or jump back, and calls that do not return
 * are unlikely. */
static double likelihood(const struct flow *f, const struct flow_edge *edge)
{
	const struct flow_block *from = &f->blocks.data[edge->from];
	const struct flow_block *to = &f->blocks.data[edge->to];
	double l = 1;

	if (edge->back)
		l *= ANALYSIS_BACK;
	else if (edge->to <= edge->from)
		l *= BACKWARD;
	else if (edge->kind == FLOW_FALL)
		l *= FALLS;
	if (!flow_in_loop(f, edge->to, from->loop))
		l /= LEAVES;
	if (to->flags & (FLOW_NO_RETURN | FLOW_STOPS))
		l /= GIVES_UP;
	return l;
}

static void fit_add_up(struct analysis_fit *t, const struct analysis_input *in)
{
	const struct flow *f = in->flow;

	for (size_t i = 0; i < f->insns.count; i++) {
		uint32_t b = f->block_of[i];

		t->samples[b] += in->samples[i];
		t->mi[b] += in->mi[i];
		t->insns[b]++;
	}
	for (uint32_t i = 0; i < t->blocks; i++) {
		const struct flow_block *b = &f->blocks.data[i];
		double sum = 0;

		t->class[i] = in->classes->block[i];
		t->class_samples[t->class[i]] += t->samples[i];
		t->class_blocks[t->class[i]]++;
		t->base[i] = hypot(t->mi[i], BLOCK + INSN * t->insns[i]);
		for (uint32_t e = b->first_out; e < b->first_out + b->outs; e++)
			sum += likelihood(f, &f->edges.data[e]);
		for (uint32_t e = b->first_out; e < b->first_out + b->outs; e++) {
			t->choice[e] = b->outs > 1;
			t->usual[e] = likelihood(f, &f->edges.data[e]) / sum;
		}
	}
}

static void fit_begin(struct analysis_fit *t)
{
	double samples = 0, time = 0;

	for (uint32_t i = 0; i < t->blocks; i++) {
		samples += t->samples[i];
		time += t->base[i];
	}
	for (uint32_t i = 0; i < t->arcs; i++)
		t->flow[i] = (samples + 1e-3) / (time + 1);
	for (uint32_t i = 0; i < t->blocks; i++)
		t->flow[i] = (t->samples[i] + t->flow[i] * t->base[i]) / (2 * t->base[i]);
}

struct analysis_fit *analysis_fit_new(const struct analysis_input *in)
{
	struct analysis_fit *t = calloc(1, sizeof(*t));
	size_t blocks = in->flow->blocks.count + 1, edges = in->flow->edges.count + 1;
	size_t arcs = blocks + edges + in->classes->arcs.count, classes = in->classes->count + 1;

	if (!t)
		return NULL;
	t->blocks = (uint32_t)blocks - 1;
	t->edges = (uint32_t)edges - 1;
	t->arcs = (uint32_t)(arcs - 2);
	t->classes = in->classes->count;
	t->arc = calloc(arcs, sizeof(*t->arc));
	t->class = calloc(blocks, sizeof(*t->class));
	t->insns = calloc(blocks, sizeof(*t->insns));
	t->choice = calloc(edges, sizeof(*t->choice));
	t->pull = calloc(blocks + 1, sizeof(*t->pull));
	t->class_samples = calloc(3 * classes + 4 * blocks + edges + 4 * arcs, sizeof(double));
	if (t->arc && t->class && t->insns && t->choice && t->pull && t->class_samples) {
		t->class_time = t->class_samples + classes;
		t->class_blocks = t->class_time + classes;
		t->samples = t->class_blocks + classes;
		t->mi = t->samples + blocks;
		t->time = t->mi + blocks;
		t->base = t->time + blocks;
		t->usual = t->base + blocks;
		t->flow = t->usual + edges;
		t->before = t->flow + arcs;
		t->weight = t->before + arcs;
		t->target = t->weight + arcs;
		if (make_arcs(t, in) == 0) {
			fit_add_up(t, in);
			fit_begin(t);
			return t;
		}
	}
	analysis_fit_free(t);
	return NULL;
}

void analysis_fit_free(struct analysis_fit *t)
{
	if (!t)
		return;
	analysis_network_free(t->network);
	free(t->arc);
	free(t->class);
	free(t->insns);
	free(t->choice);
	free(t->pull);
	free(t->class_samples);
	free(t);
}

/* T of each block, by the edges that it is entered by. */
static void make_times(struct analysis_fit *t)
{
	const double *edge = t->flow + t->blocks;

	memcpy(t->time, t->base, t->blocks * sizeof(*t->time));
	for (uint32_t i = 0; i < t->edges; i++) {
		uint32_t from = (t->arc[t->blocks + i].from - 2) / 2;
		uint32_t to = (t->arc[t->blocks + i].to - 1) / 2;
		double share = edge[i] / fmax(t->flow[from], edge[i]);

		if (t->choice[i])
			t->time[to] += PENALTY * (1 - share) * fmin(edge[i] / t->flow[to], 1);
	}
	memset(t->class_time, 0, t->classes * sizeof(*t->class_time));
	for (uint32_t i = 0; i < t->blocks; i++)
		t->class_time[t->class[i]] += t->time[i];
}

/* The relative difference of a class from its flow: the direction of its next change. */
static double fit_distance(
	const struct analysis_fit *t, uint32_t class, double flow, double *weight)
{
	double s = t->class_samples[class], time = t->class_time[class];
	double displaced = ANALYSIS_SHADOW / time, spread = ANALYSIS_SPREAD * ANALYSIS_SPREAD;
	double q = displaced / (displaced + spread), ratio = s / (flow * time);
	double u = q > 0.99 ? ratio - 1 : (pow(ratio, q) - 1) / q;

	*weight = 1 / (spread + displaced + 1 / fmax(fmax(flow * time, s), 1e-9));
	return fmin(fmax(u, -1), CUT);
}

static void aim(struct analysis_fit *t, uint32_t a, double distance, double weight)
{
	double x = t->flow[a];

	t->weight[a] = weight / (x * x);
	t->target[a] = x * (1 + distance);
}

static void add_pull(struct analysis_fit *t, uint32_t a, const struct pull *p)
{
	double all = t->weight[a] + p->weight;

	if (!(p->weight > 0))
		return;
	t->target[a] = (t->weight[a] * t->target[a] + p->weight * p->target) / all;
	t->weight[a] = all;
}

static void aim_all(struct analysis_fit *t)
{
	for (uint32_t i = 0; i < t->blocks; i++) {
		double weight, u = fit_distance(t, t->class[i], t -> flow[i], &weight);

		aim(t, i, u, weight / t->class_blocks[t->class[i]] + 1e-6);
		add_pull(t, i, &t->pull[i]);
	}
	for (uint32_t i = t->blocks; i < t->arcs; i++) {
		uint32_t e = i - t->blocks;
		double u = 0;

		if (e < t->edges)
			u = log(t->usual[e] * t->flow[(t->arc[i].from - 2) / 2] / t->flow[i]);
		aim(t, i, fmin(fmax(u, -1), 1), FREE * (e < t->edges && t->choice[e] ? 1 : 0.1));
	}
	if (t->entry != FLOW_NONE)
		add_pull(t, t->entry, &t->pull[t->blocks]);
}

void analysis_fit_step(struct analysis_fit *t)
{
	make_times(t);
	aim_all(t);
	memset(t->pull, 0, (t->blocks + 1) * sizeof(*t->pull));
	memcpy(t->before, t->flow, t->arcs * sizeof(*t->before));
	analysis_network_solve(t->network, t->weight, t->target, t->flow);
	for (uint32_t i = 0; i < t->arcs; i++) { /* bounds the step, and keeps it above 0 */
		double x = fmin(fmax(t->flow[i], t->before[i] / STRIDE), t->before[i] * STRIDE);

		t->flow[i] = fmax(x, LEAST);
	}
}

double analysis_fit_block(const struct analysis_fit *t, uint32_t block)
{
	return t->flow[block];
}

double analysis_fit_entered(const struct analysis_fit *t)
{
	return t->entry == FLOW_NONE ? 0 : t->flow[t->entry];
}

void analysis_fit_pull(struct analysis_fit *t, uint32_t block, double target, double weight)
{
	struct pull *p = &t->pull[block == FLOW_NONE ? t->blocks : block];
	double all = p->weight + weight;

	if (!(weight > 0) || !isfinite(weight))
		return;
	p->target = (p->weight * p->target + weight * target) / all;
	p->weight = all;
}

double *analysis_fit_edges(const struct analysis_fit *t)
{
	double *edges = malloc((t->edges + 1) * sizeof(*edges));

	if (edges)
		memcpy(edges, t->flow + t->blocks, t->edges * sizeof(*edges));
	return edges;
}

/* The factor by which an estimate may be off to either side, by the samples of a class: 95% of the
 * estimates were within it on the programs of tests/accuracy/frequencies. Not a proven bound. */
static double factor_of(double samples)
{
	static const struct {
		double samples, factor;
	} rows[] = {{100, 6}, {20, 7}, {4, 20}, {0, 100}};
	size_t i = 0;

	while (samples < rows[i].samples)
		i++;
	return rows[i].factor;
}

static struct analysis_estimate fit_estimate(double value, double samples, double time)
{
	double factor = factor_of(samples);

	return (struct analysis_estimate){.value = value,
		.low = samples > 0 ? value / factor : 0,
		.high = fmax(value * factor, value + 3 / time), /* none of three expected: 5% */
		.confidence = ANALYSIS_LOW};
}

void analysis_fit_fill(const struct analysis_fit *t, struct analysis_frequencies *q)
{
	for (uint32_t i = 0; i < t->blocks; i++)
		q->block[i] = fit_estimate(
			t->flow[i], t->class_samples[t->class[i]], t->class_time[t->class[i]]);
	for (uint32_t i = 0; i < t->edges; i++) {
		const struct analysis_estimate *from =
			&q->block[(t->arc[t->blocks + i].from - 2) / 2];
		double x = t->flow[t->blocks + i];

		q->edge[i] = (struct analysis_estimate){
			.value = x, .high = fmax(from->high, x), .confidence = ANALYSIS_LOW};
	}
}

int analysis_flow(struct analysis_frequencies *q, const struct analysis_input *in)
{
	struct analysis_fit *t = analysis_fit_new(in);

	if (!t)
		return -1;
	for (int step = 0; step < STEPS; step++)
		analysis_fit_step(t);
	analysis_fit_fill(t, q);
	analysis_fit_free(t);
	return 0;
}
