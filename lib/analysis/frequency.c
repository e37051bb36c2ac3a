/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/frequency.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *analysis_confidence_name(enum analysis_confidence confidence)
{
	static const char *const names[] = {"", "low", "medium", "high"};

	return names[confidence];
}

/* How wrong an estimate of each confidence may be by the rule for cores that issue in order, as a
 * factor to either side, besides the scatter of the samples. Chosen after real programs
 * (tests/accuracy/frequencies), where mispredicted branches make short blocks seem ten times as
 * frequent as they are; not a proven bound. */
static const double factors[] = {
	[ANALYSIS_UNKNOWN] = 1, [ANALYSIS_LOW] = 12, [ANALYSIS_MEDIUM] = 6, [ANALYSIS_HIGH] = 2};

/* one: the frequency that one sample gives. */
static void frequency_widen(struct analysis_estimate *x, double samples, double one)
{
	double scatter = 1 + 1.96 / sqrt(fmax(samples, 1));

	if (x->confidence == ANALYSIS_UNKNOWN) {
		*x = (struct analysis_estimate){.low = 0, .high = INFINITY};
		return;
	}
	x->low = x->value / (factors[x->confidence] * scatter);
	x->high = fmax(x->value * factors[x->confidence] * scatter, x->value + 3 * one);
	if (!(x->value > 0))
		x->low = 0;
}

/* Samples and cycles of each block. */
static void bound(struct analysis_frequencies *q, const struct analysis_input *in)
{
	const struct flow *f = in->flow;

	for (size_t i = 0; i < f->blocks.count; i++) {
		const struct flow_block *b = &f->blocks.data[i];
		double samples = 0, cycles = 0;

		for (uint32_t k = b->first; k < b->first + b->count; k++) {
			samples += in->samples[k];
			cycles += in->mi[k];
		}
		frequency_widen(&q->block[i], samples, cycles > 0 ? 1 / cycles : 1);
	}
	for (size_t i = 0; i < f->edges.count; i++)
		frequency_widen(&q->edge[i], 1e6, 1);
}

int analysis_frequencies_make(
	struct analysis_frequencies *q, const struct analysis_input *input, struct error *e)
{
	int rc = -1;

	q->block = calloc(input->flow->blocks.count + 1, sizeof(*q->block));
	q->edge = calloc(input->flow->edges.count + 1, sizeof(*q->edge));
	if (q->block && q->edge)
		rc = input->method == ANALYSIS_CLASSIC ? analysis_classic(q, input)
						       : analysis_flow(q, input);
	if (rc) {
		analysis_frequencies_fini(q);
		return error_nomem(e);
	}
	if (input->method == ANALYSIS_CLASSIC)
		bound(q, input);
	return 0;
}

void analysis_frequencies_fini(struct analysis_frequencies *q)
{
	free(q->block);
	free(q->edge);
	memset(q, 0, sizeof(*q));
}
