/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Frequencies that fit all blocks of a procedure and flow through it without loss.
 *
 * Of a block with S samples and M cycles, S = F * M + stalls, and up to SHADOW cycles an execution
 * may stand at a neighbour instead.  So F = S / M with the variance
 *	(S + 1 + F^2 * (SHADOW^2 + (ERROR * M)^2)) / M^2.
 * Flows x of edges and of ways in and out, none below 0, minimise the sum over blocks of
 * (into - F)^2 and (out of - F)^2 by variance, and of (into - out of)^2 with a weight that is much
 * larger: by descent along one flow after the other, weights made again from the frequencies found.
 * Cost: a constant number of passes over the edges.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/frequency.h"

enum { WEIGHINGS = 4, PASSES = 40 };
#define SHADOW 4.0
#define ERROR  0.5
#define TIED   50.0 /* weight of conservation, in those of the block */

struct arc {
	uint32_t from, to; /* blocks; FLOW_NONE: outside */
};

struct fit {
	const struct analysis_input *in;
	uint32_t blocks, arcs;
	struct arc *arc;
	double *flow;                  /* of arcs */
	double *into, *out;            /* sums at blocks */
	double *samples, *cycles;      /* of blocks */
	double *ratio, *weight, *best; /* of blocks */
};

static void free_fit(struct fit *t)
{
	free(t->arc);
	free(t->flow);
	free(t->into);
}

static int make_fit(struct fit *t, const struct analysis_input *in)
{
	const struct flow *f = in->flow;
	size_t n = f->blocks.count + 1;

	t->in = in;
	t->blocks = (uint32_t)f->blocks.count;
	t->arc = calloc(f->edges.count + in->classes->arcs.count + 1, sizeof(*t->arc));
	t->flow = calloc(f->edges.count + in->classes->arcs.count + 1, sizeof(*t->flow));
	t->into = calloc(7 * n, sizeof(*t->into));
	if (!t->arc || !t->flow || !t->into)
		return -1;
	t->out = t->into + n;
	t->samples = t->out + n;
	t->cycles = t->samples + n;
	t->ratio = t->cycles + n;
	t->weight = t->ratio + n;
	t->best = t->weight + n;
	for (size_t i = 0; i < f->edges.count; i++)
		t->arc[t->arcs++] = (struct arc){f->edges.data[i].from, f->edges.data[i].to};
	for (size_t i = 0; i < in->classes->arcs.count; i++) {
		const struct analysis_arc *a = &in->classes->arcs.data[i];

		t->arc[t->arcs++] = a->into ? (struct arc){FLOW_NONE, a->block}
					    : (struct arc){a->block, FLOW_NONE};
	}
	for (size_t i = 0; i < f->insns.count; i++) {
		t->samples[f->block_of[i]] += in->samples[i];
		t->cycles[f->block_of[i]] += in->mi[i];
	}
	return 0;
}

static void weigh(struct fit *t)
{
	for (uint32_t i = 0; i < t->blocks; i++) {
		double m = t->cycles[i], s = t->samples[i], x = t->best[i];

		if (!(m > 0)) {
			t->weight[i] = 0;
			continue;
		}
		t->ratio[i] = s / m;
		t->weight[i] = m * m / (s + 1 + x * x * (SHADOW * SHADOW + ERROR * ERROR * m * m));
	}
}

/* Moves the flow of one arc to where the sum is least. */
static void settle(struct fit *t, uint32_t a)
{
	uint32_t from = t->arc[a].from, to = t->arc[a].to;
	double slope = 0, curve = 0, change;

	if (from != FLOW_NONE) {
		double w = t->weight[from], tie = TIED * w + 1e-9;

		slope += w * (t->out[from] - t->ratio[from]) + tie * (t->out[from] - t->into[from]);
		curve += w + tie;
	}
	if (to != FLOW_NONE) {
		double w = t->weight[to], tie = TIED * w + 1e-9;

		slope += w * (t->into[to] - t->ratio[to]) + tie * (t->into[to] - t->out[to]);
		curve += w + tie;
	}
	if (from == to) /* both sums change alike: they are tied anyway */
		curve -= 2 * (TIED * t->weight[to] + 1e-9);
	if (!(curve > 0))
		return;
	change = fmax(-slope / curve, -t->flow[a]);
	t->flow[a] += change;
	if (from != FLOW_NONE)
		t->out[from] += change;
	if (to != FLOW_NONE)
		t->into[to] += change;
}

static void solve(struct fit *t)
{
	for (int round = 0; round < WEIGHINGS; round++) {
		for (uint32_t i = 0; i < t->blocks; i++)
			t->best[i] = round ? (t->into[i] + t->out[i]) / 2
					   : t->samples[i] / fmax(t->cycles[i], 1);
		weigh(t);
		for (int pass = 0; pass < PASSES; pass++) {
			for (uint32_t a = 0; a < t->arcs; a++)
				settle(t, a);
			for (uint32_t a = t->arcs; a-- > 0;)
				settle(t, a);
		}
	}
	for (uint32_t i = 0; i < t->blocks; i++)
		t->best[i] = (t->into[i] + t->out[i]) / 2;
}

/* Of how many samples a class is, and how many cycles long: short ones are at the mercy of their
 * neighbours. */
static enum analysis_confidence judge(double samples, double cycles)
{
	if (samples >= 400 && cycles >= 8 * SHADOW)
		return ANALYSIS_HIGH;
	return samples >= 50 && cycles >= SHADOW ? ANALYSIS_MEDIUM : ANALYSIS_LOW;
}

/* Blocks of a class are executed equally often: by their common weight. */
static int even_out(struct fit *t, struct analysis_frequencies *q)
{
	const struct analysis_classes *k = t->in->classes;
	double *sums = calloc(4 * ((size_t)k->count + 1), sizeof(*sums));

	if (!sums)
		return -1;
	for (uint32_t i = 0; i < t->blocks; i++) {
		double *s = sums + 4 * (size_t)k->block[i];

		s[0] += t->best[i];
		s[1]++;
		s[2] += t->samples[i];
		s[3] += t->cycles[i];
	}
	for (uint32_t i = 0; i < t->blocks; i++) {
		const double *s = sums + 4 * (size_t)k->block[i];

		q->block[i] = (struct analysis_estimate){s[0] / s[1], s[0] / s[1], s[0] / s[1],
			k->apart ? ANALYSIS_LOW : judge(s[2], s[3])};
	}
	for (uint32_t i = 0; i < t->in->flow->edges.count; i++) {
		const double *s = sums + 4 * (size_t)k->edge[i];
		double value = s[1] > 0 ? s[0] / s[1] : t->flow[i];

		q->edge[i] = (struct analysis_estimate){value, value, value,
			s[1] > 0 && !k->apart ? judge(s[2], s[3]) : ANALYSIS_LOW};
	}
	free(sums);
	return 0;
}

int analysis_flow(struct analysis_frequencies *q, const struct analysis_input *in)
{
	struct fit t = {0};
	int rc = make_fit(&t, in);

	if (rc == 0) {
		solve(&t);
		rc = even_out(&t, q);
	}
	free_fit(&t);
	return rc;
}
