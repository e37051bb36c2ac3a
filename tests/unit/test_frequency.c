/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Frequencies from samples made of random walks, whose frequencies are known. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "../tap.h"
#include "analysis/frequency.h"
#include "flow_walks.h"

enum { ROOM = 400 };

struct trial {
	struct flow *flow;
	struct analysis_classes *classes;
	uint32_t blocks[ROOM], edges[ROOM];
	double mi[ROOM], samples[ROOM];
	bool unsure[ROOM];
};

static struct trial *trial_new(void)
{
	struct trial *t = calloc(1, sizeof(*t));
	uint8_t bytes[8 * 24];
	struct error e;

	t->flow = flow_of(bytes, random_code(bytes, 2 + dice(22)));
	t->classes = analysis_classes_new(t->flow, &e);
	walk(t->flow, t->classes, t->blocks, t->edges);
	for (uint32_t i = 0; i < t->flow->insns.count; i++) {
		t->mi[i] = dice(3) ? 40 : 0; /* long against what schedules are not sure of */
		t->samples[i] = t->mi[i] * t->blocks[t->flow->block_of[i]];
	}
	return t;
}

static void trial_free(struct trial *t)
{
	analysis_classes_free(t->classes);
	flow_free(t->flow);
	free(t);
}

/* Share of samples in blocks whose frequency is within 10%; *sane: values, intervals, confidence.
 */
static double near(const struct trial *t, enum analysis_method method, bool *sane)
{
	struct analysis_input in = {t->flow, t->classes, t->samples, t->mi, t->unsure, method};
	struct analysis_frequencies q;
	struct error e;
	double all = 0, good = 0;

	if (analysis_frequencies_make(&q, &in, &e)) {
		*sane = false;
		return 0;
	}
	for (uint32_t i = 0; i < t->flow->insns.count; i++) {
		uint32_t b = t->flow->block_of[i];

		all += t->samples[i];
		if (fabs(q.block[b].value - t->blocks[b]) <= 0.1 * t->blocks[b])
			good += t->samples[i];
	}
	for (uint32_t b = 0; b < t->flow->blocks.count; b++)
		*sane = *sane && q.block[b].value >= 0 && q.block[b].low <= q.block[b].value &&
			q.block[b].high >= q.block[b].value;
	for (uint32_t i = 0; i < t->flow->edges.count; i++)
		*sane = *sane && q.edge[i].value >= 0;
	analysis_frequencies_fini(&q);
	return all > 0 ? good / all : 1;
}

/* Without stalls both methods find all there is, up to the weight of short blocks. */
static void test_plain(void)
{
	double fit = 0, classic = 0;
	bool sane = true;

	for (int i = 0; i < 300; i++) {
		struct trial *t = trial_new();

		fit += near(t, ANALYSIS_FLOW, &sane) / 300;
		classic += near(t, ANALYSIS_CLASSIC, &sane) / 300;
		trial_free(t);
	}
	ok(sane, "no frequency is below 0 or outside its interval");
	ok(fit > 0.9, "without stalls, the fit is within 10%% for most samples (%.2f)", fit);
	ok(classic > 0.9, "and so is the cluster rule (%.2f)", classic);
}

/* A third of the instructions wait ten times as long. */
static void test_stalls(void)
{
	double classic = 0;
	bool sane = true;

	for (int i = 0; i < 300; i++) {
		struct trial *t = trial_new();

		for (uint32_t k = 0; k < t->flow->insns.count; k++)
			if (dice(3) == 0)
				t->samples[k] *= 10;
		classic += near(t, ANALYSIS_CLASSIC, &sane) / 300;
		near(t, ANALYSIS_FLOW, &sane);
		trial_free(t);
	}
	ok(sane, "nor with stalls");
	ok(classic > 0.5, "the cluster rule sees through stalls that not all have (%.2f)", classic);
}

int main(void)
{
	test_plain();
	test_stalls();
	return done();
}
