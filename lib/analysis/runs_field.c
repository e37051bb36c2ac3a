/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Logarithms of frequencies from observed edges and other evidence: a Gaussian field over the
 * graph. An edge that was taken n times ties its ends with a variance of about 4 / n, less if it
 * is all that leaves the one and enters the other. The mean is one solution of a Laplacian system
 * (analysis/network.h). Deviations are estimated from solutions with noise of these variances,
 * which are draws of the field.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/network.h"
#include "analysis/runs_private.h"

enum { DRAWS = 24 };
#define CERTAIN 0.02 /* remaining variance of an edge that is the only one */
#define VAGUE   1e-4 /* weight of absent evidence */
#define TIE     0.25 /* 1 / variance of an edge that was taken once */

struct field {
	struct analysis_network *network;
	struct analysis_pair *arc;
	double *weight, *target, *flow; /* of arcs; weight is 1 / conductance */
	uint32_t arcs, anchors;         /* anchors: index of the first, one per node */
	uint64_t random;
};

static void field_add_arc(struct field *f, uint32_t from, uint32_t to, double conductance)
{
	f->arc[f->arcs] = (struct analysis_pair){from, to};
	f->weight[f->arcs++] = 1 / fmax(conductance, 1e-12);
}

/* Room for this number of arcs. -1 when memory is out. */
static int make_field(struct field *f, size_t arcs)
{
	f->arc = calloc(arcs + 1, sizeof(*f->arc));
	f->weight = calloc(3 * (arcs + 1), sizeof(*f->weight));
	f->target = f->weight + arcs + 1;
	f->flow = f->target + arcs + 1;
	return f->arc && f->weight ? 0 : -1;
}

static void free_field(struct field *f)
{
	analysis_network_free(f->network);
	free(f->arc);
	free(f->weight);
}

/* The circular part of the observed edges: bursts begin in slow code, so the number of times that
 * code was left does not give the number of times it is entered. */
int runs_find_circles(struct analysis_runs *r)
{
	struct field f = {0};
	int rc = make_field(&f, r->ways.count);

	for (uint32_t i = 0; i < r->ways.count && rc == 0; i++) {
		const struct runs_way *w = runs_way(r, i);

		f.arc[i] = (struct analysis_pair){w->key.from + 1, w->key.to + 1};
		f.weight[i] = 1 / (w->count * w->count);
		f.target[i] = w->count;
	}
	if (rc == 0)
		f.network = analysis_network_new(r->segments + 1, f.arc, (uint32_t)r->ways.count);
	if (f.network)
		analysis_network_solve(f.network, f.weight, f.target, f.flow);
	for (uint32_t i = 0; i < r->ways.count && f.network; i++)
		runs_way(r, i)->round = fmin(fmax(f.flow[i], 0), runs_way(r, i)->count);
	rc = f.network ? 0 : -1;
	free_field(&f);
	return rc;
}

/* If one edge is all that enters a place, its share of its origin's exits gives its weight; if it
 * is one of several, its circular part does. */
static double conductance(const struct analysis_runs *r, const struct runs_way *w)
{
	const struct runs_segment *from = &r->segment[w->key.from], *to = &r->segment[w->key.to];
	double out = w->count / from->out, in = to->flow > 0 ? w->flow / to->flow : 0;
	double only = pow(fmin(in, 1), 8);

	return TIE * (w->round + only * w->count) / (1 - out * fmin(in, 1) + CERTAIN);
}

static void fill_field(struct field *f, const struct analysis_runs *r)
{
	uint32_t link = r->segments + 1;

	for (uint32_t i = 0; i < r->ways.count; i++) {
		const struct runs_way *w = runs_way(r, i);

		field_add_arc(f, w->key.from + 1, w->key.to + 1, conductance(r, w));
	}
	for (uint32_t i = 0; i < r->segments; i++)
		field_add_arc(f, i + 1, link,
			TIE * RUNS_LINK *
				(r->segment[i].out / RUNS_BURST +
					fabs(r->segment[i].out - r->segment[i].in)));
	f->anchors = f->arcs;
	for (uint32_t i = 0; i < r->segments; i++)
		field_add_arc(f, i + 1, 0, r->segment[i].weight + VAGUE);
	field_add_arc(f, link, 0, VAGUE);
}

/* A normal distribution, approximately. */
static double noise(struct field *f)
{
	double sum = 0;

	for (int i = 0; i < 12; i++) {
		f->random = f->random * 6364136223846793005u + 1442695040888963407u;
		sum += (double)(f->random >> 11) / 9007199254740992.0 - 0.5;
	}
	return sum;
}

static void field_solve(struct field *f, const struct analysis_runs *r, double how_much)
{
	for (uint32_t i = 0; i < f->arcs; i++)
		f->target[i] = how_much > 0 ? how_much * noise(f) / sqrt(f->weight[i]) : 0;
	for (uint32_t i = 0; i < r->segments && !(how_much > 0); i++)
		f->target[f->anchors + i] = -r->segment[i].told;
	analysis_network_solve(f->network, f->weight, f->target, f->flow);
}

static void take_mean(const struct field *f, struct analysis_runs *r)
{
	for (uint32_t i = 0; i < r->ways.count; i++) {
		struct runs_way *w = runs_way(r, i);
		double from = analysis_network_potential(f->network, w->key.from + 1);
		double to = analysis_network_potential(f->network, w->key.to + 1);
		double out = w->count / r->segment[w->key.from].out;
		double in = w->count / r->segment[w->key.to].in;

		w->flow *= exp((out * from + in * to) / (out + in));
	}
	for (uint32_t i = 0; i < r->segments; i++)
		r->segment[i].flow *= exp(analysis_network_potential(f->network, i + 1));
}

static void take_deviations(struct field *f, struct analysis_runs *r)
{
	for (uint32_t i = 0; i < r->segments; i++)
		r->segment[i].deviation = 0;
	for (int draw = 0; draw < DRAWS; draw++) {
		field_solve(f, r, 1);
		for (uint32_t i = 0; i < r->segments; i++) {
			double u = analysis_network_potential(f->network, i + 1);

			r->segment[i].deviation += u * u / DRAWS;
		}
	}
	for (uint32_t i = 0; i < r->segments; i++)
		r->segment[i].deviation = sqrt(r->segment[i].deviation);
}

int analysis_runs_settle(struct analysis_runs *r, bool deviations)
{
	struct field f = {.random = 1};
	int rc = make_field(&f, r->ways.count + 2 * (size_t)r->segments + 1);

	if (rc == 0) {
		fill_field(&f, r);
		f.network = analysis_network_new(r->segments + 2, f.arc, f.arcs);
		rc = f.network ? 0 : -1;
	}
	if (rc == 0) {
		field_solve(&f, r, 0);
		take_mean(&f, r);
		if (deviations)
			take_deviations(&f, r);
		for (uint32_t i = 0; i < r->segments; i++)
			r->segment[i].told = r->segment[i].weight = 0;
	}
	free_field(&f);
	return rc;
}
