/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "explain/edges.h"

#include <math.h>
#include <stdlib.h>

#include "events/numbers.h"
#include "profile/modelled.h"

struct counted { /* table entry */
	struct {
		uint64_t from, to;
		uint32_t image, reserved;
	} key;
	uint64_t count;
};

static enum label label_of(const struct experiment *x)
{
	for (size_t i = 0; i < x->metrics.count; i++)
		if (x->metrics.data[i].flags & METRIC_EXACT)
			return x->metrics.data[i].label;
	return LABEL_MODEL;
}

/* Edges within one image only: others are calls and returns, which no procedure contains. */
int explain_edges_init(struct explain_edges *edges, const struct prof_data *d)
{
	edges->any = false;
	edges->all = TABLE_OF(struct counted);
	for (size_t i = 0; i < d->request->count; i++) {
		const struct experiment *x = d->request->inputs[i].experiment;

		if (profile_counts_foreign(d, i))
			continue;
		for (size_t k = 0; k < x->edges.count; k++) {
			const struct experiment_edge *edge = table_at(&x->edges, k);
			struct counted key = {.key = {.from = edge->key.from, .to = edge->key.to}},
				       *own;

			if (edge->key.from_image != edge->key.to_image ||
				edge->key.from_image >= x->images.count)
				continue;
			key.key.image = d->image_of.data[i][edge->key.from_image];
			own = table_add(&edges->all, &key.key);
			if (!own)
				return -1;
			own->count += edge->count;
			edges->any = true;
			edges->label = label_of(x);
		}
	}
	return 0;
}

void explain_edges_fini(struct explain_edges *edges)
{
	table_fini(&edges->all);
}

static double recorded(const struct explain_edges *edges, const struct flow *f, uint32_t image,
	const struct flow_edge *edge)
{
	const struct flow_block *to = &f->blocks.data[edge->to];
	struct counted key = {.key = {.from = flow_last(f, &f->blocks.data[edge->from])->address,
				      .to = f->insns.data[to->first].address,
				      .image = image}};
	const struct counted *found = table_find(&edges->all, &key.key);

	return found ? (double)found->count : 0;
}

/* An edge that falls through has the executions that did not jump: it need not have been
 * recorded. */
static double fallen(
	const struct flow *f, const struct flow_block *b, const double *counts, uint64_t times)
{
	double left = (double)times;

	for (uint32_t k = 0; k < b->outs; k++)
		if (f->edges.data[b->first_out + k].kind != FLOW_FALL)
			left -= counts[b->first_out + k];
	return fmax(left, 0);
}

double *explain_edges_of(const struct explain_edges *edges, const struct flow *f, uint32_t image,
	const uint64_t *times, size_t stride, double *entered)
{
	double *counts = calloc(f->edges.count + 1, sizeof(*counts)), into = 0;

	*entered = NAN;
	for (size_t i = 0; counts && i < f->edges.count; i++)
		counts[i] = recorded(edges, f, image, &f->edges.data[i]);
	for (uint32_t i = 0; counts && times && i < f->blocks.count; i++) {
		const struct flow_block *b = &f->blocks.data[i];
		uint32_t last = b->first + b->count - 1;

		for (uint32_t k = b->first_out; k < b->first_out + b->outs; k++)
			if (f->edges.data[k].kind == FLOW_FALL && !(b->flags & FLOW_LEAVES))
				counts[k] = fallen(f, b, counts, times[last * stride]);
	}
	for (size_t i = 0; counts && i < f->edges.count; i++)
		into += f->edges.data[i].to == 0 ? counts[i] : 0;
	if (counts && times && f->insns.count)
		*entered = fmax((double)times[0] - into, 0);
	return counts;
}
