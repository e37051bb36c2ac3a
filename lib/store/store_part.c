/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The rows of one image of an experiment, as an experiment. */
#include <stdlib.h>
#include <string.h>

#include "experiment/branches.h"
#include "experiment/tables.h"
#include "store/private.h"

struct parting {
	struct experiment *to;
	const struct experiment *from;
	uint32_t image; /* of from; in to it is 1, as the first after image 0 */
	bool any;
};

enum { OWN = 1 };

static int part_metrics(struct parting *p, struct error *e)
{
	for (size_t i = 0; i < p->from->metrics.count; i++) {
		struct experiment_metric m = p->from->metrics.data[i];

		/* what is of the whole run does not add up by image */
		m.total = m.lost = m.throttled = 0;
		m.flags &= ~(uint32_t)(METRIC_STACKS | METRIC_DATA);
		for (int k = 0; k < EXPERIMENT_REASONS; k++)
			m.reasons[k] = 0;
		if (experiment_metric(p->to, &m, e) < 0)
			return -1;
	}
	return 0;
}

static int take_samples(struct parting *p)
{
	for (size_t i = 0; i < p->from->samples.count; i++) {
		const struct experiment_sample *s = experiment_sample_at(p->from, i);
		const struct experiment_node *n = experiment_node_at(p->from, s->key.node);
		long node;

		if (n->key.image != p->image || !s->key.node)
			continue;
		node = experiment_node(p->to, EXPERIMENT_ROOT, OWN, n->key.address);
		if (node < 0 ||
			experiment_add(p->to, s->key.metric, 0, 0, (uint32_t)node, s->count))
			return -1;
		p->any = true;
	}
	return 0;
}

static int take_edge_rows(struct parting *p)
{
	for (size_t i = 0; i < p->from->edges.count; i++) {
		struct experiment_edge edge =
			*(const struct experiment_edge *)table_at(&p->from->edges, i);
		bool here = edge.key.from_image == p->image, to = edge.key.to_image == p->image;

		if (!here && !to)
			continue;
		edge.key.from_image = here ? OWN : 0;
		edge.key.from = here ? edge.key.from : 0;
		edge.key.to_image = to ? OWN : 0;
		edge.key.to = to ? edge.key.to : 0;
		if (experiment_row(p->to, EXPERIMENT_EDGES, &edge) < 0)
			return -1;
		p->any = true;
	}
	return 0;
}

static int take_branches(struct parting *p)
{
	for (size_t i = 0; i < experiment_runs(p->from); i++) {
		struct experiment_run run = *experiment_run_at(p->from, i);
		bool here = run.key.image == p->image, to = run.key.to_image == p->image;

		if (!here && !to)
			continue;
		if (!here)
			run.key.begin = run.key.end = 0;
		run.key.image = here ? OWN : 0;
		run.key.to_image = to ? OWN : 0;
		run.key.to = to ? run.key.to : 0;
		if (experiment_row(p->to, EXPERIMENT_RUNS, &run) < 0)
			return -1;
		p->any = true;
	}
	for (size_t i = 0; i < experiment_rates(p->from); i++) {
		struct experiment_rate rate = *experiment_rate_at(p->from, i);

		if (rate.key.image != p->image)
			continue;
		rate.key.image = OWN;
		if (experiment_row(p->to, EXPERIMENT_RATES, &rate) < 0)
			return -1;
	}
	for (size_t i = 0; i < p->from->branch_tallies.count; i++)
		if (experiment_row(
			    p->to, EXPERIMENT_TALLIES, table_at(&p->from->branch_tallies, i)) < 0)
			return -1;
	return 0;
}

static int part_rows(struct parting *p, struct error *e)
{
	if (experiment_image(p->to, &p->from->images.data[p->image], e) != OWN)
		return -1;
	if (part_metrics(p, e))
		return -1;
	return take_samples(p) || take_edge_rows(p) || take_branches(p) ? error_nomem(e) : 0;
}

/* rows: what to take. */
static int part_with(
	struct parting *p, int (*rows)(struct parting *p, struct error *e), struct error *e)
{
	const struct experiment *x = p->from;
	struct experiment *part = p->to;
	int rc;

	if (experiment_init(part, e))
		return -1;
	free(part->type);
	part->type = strdup(x->type);
	part->began = x->began;
	part->elapsed = x->elapsed;
	part->runs = x->runs;
	part->complete = x->complete;
	rc = part->type ? rows(p, e) : error_nomem(e);
	if (rc == 0 && !p->any)
		rc = 1;
	if (rc)
		experiment_fini(part);
	return rc;
}

int store_part(struct experiment *part, const struct experiment *x, uint32_t image, struct error *e)
{
	struct parting p = {part, x, image, false};

	return part_with(&p, part_rows, e);
}

static int removed_rows(struct parting *p, struct error *e)
{
	if (part_metrics(p, e))
		return -1;
	for (size_t i = 0; i < p->from->samples.count; i++) {
		const struct experiment_sample *s = experiment_sample_at(p->from, i);
		const struct experiment_node *n = experiment_node_at(p->from, s->key.node);
		const struct experiment_image *image = &p->from->images.data[n->key.image];
		long at, node;

		if (image->kind != EXPERIMENT_IMAGE_FILE || !image->build_id_length)
			continue;
		at = experiment_image(p->to, image, e);
		node = at < 0 ? -1
			      : experiment_node(
					p->to, EXPERIMENT_ROOT, (uint32_t)at, n->key.address);
		if (node < 0 ||
			experiment_add(p->to, s->key.metric, 0, 0, (uint32_t)node, s->count))
			return error_nomem(e);
		p->any = true;
	}
	return 0;
}

int store_part_removed(struct experiment *part, const struct experiment *x, struct error *e)
{
	struct parting p = {.to = part, .from = x};

	return part_with(&p, removed_rows, e);
}
