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
	const struct store_division *division; /* of from */
	uint32_t image; /* of from; in to it is 1, as the first after image 0 */
	bool any;
};

enum { OWN = 1 };

/* ---- which rows an image has ---- */

/* The images of a row, which may be the same. */
typedef void images_of(const struct experiment *x, size_t i, uint32_t images[2]);

static void images_of_sample(const struct experiment *x, size_t i, uint32_t images[2])
{
	const struct experiment_sample *s = experiment_sample_at(x, i);

	images[0] = images[1] = experiment_node_at(x, s->key.node)->key.image;
}

static void images_of_edge(const struct experiment *x, size_t i, uint32_t images[2])
{
	const struct experiment_edge *edge = table_at(&x->edges, i);

	images[0] = edge->key.from_image;
	images[1] = edge->key.to_image;
}

static void images_of_run(const struct experiment *x, size_t i, uint32_t images[2])
{
	const struct experiment_run *run = experiment_run_at(x, i);

	images[0] = run->key.image;
	images[1] = run->key.to_image;
}

static void images_of_rate(const struct experiment *x, size_t i, uint32_t images[2])
{
	images[0] = images[1] = experiment_rate_at(x, i)->key.image;
}

/* Sorted by counting. */
static int divide_rows(struct store_rows *r, const struct experiment *x, size_t rows, images_of *of)
{
	size_t images = x->images.count, n = 0;
	uint32_t is[2];

	/* one more: while rows are placed, first[i + 1] is where the next of i goes */
	r->first = calloc(images + 2, sizeof(*r->first));
	if (!r->first)
		return -1;
	for (size_t i = 0; i < rows; i++) {
		of(x, i, is);
		r->first[is[0] + 2]++;
		r->first[is[1] + 2] += is[1] != is[0];
	}
	for (size_t i = 2; i < images + 2; i++)
		r->first[i] += r->first[i - 1];
	n = r->first[images + 1];
	r->rows = calloc(n + 1, sizeof(*r->rows));
	if (!r->rows)
		return -1;
	for (size_t i = 0; i < rows; i++) {
		of(x, i, is);
		r->rows[r->first[is[0] + 1]++] = (uint32_t)i;
		if (is[1] != is[0])
			r->rows[r->first[is[1] + 1]++] = (uint32_t)i;
	}
	return 0;
}

int store_divide(struct store_division *d, const struct experiment *x, struct error *e)
{
	memset(d, 0, sizeof(*d));
	if (divide_rows(&d->samples, x, x->samples.count, images_of_sample) ||
		divide_rows(&d->edges, x, x->edges.count, images_of_edge) ||
		divide_rows(&d->runs, x, experiment_runs(x), images_of_run) ||
		divide_rows(&d->rates, x, experiment_rates(x), images_of_rate))
		return error_nomem(e);
	d->from = x;
	return 0;
}

static void rows_fini(struct store_rows *r)
{
	free(r->first);
	free(r->rows);
}

void store_division_fini(struct store_division *d)
{
	rows_fini(&d->samples);
	rows_fini(&d->edges);
	rows_fini(&d->runs);
	rows_fini(&d->rates);
}

/* ---- its part ---- */

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
	const struct store_rows *r = &p->division->samples;

	for (uint32_t i = r->first[p->image]; i < r->first[p->image + 1]; i++) {
		const struct experiment_sample *s = experiment_sample_at(p->from, r->rows[i]);
		const struct experiment_node *n = experiment_node_at(p->from, s->key.node);
		long node;

		if (!s->key.node)
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
	const struct store_rows *r = &p->division->edges;

	for (uint32_t i = r->first[p->image]; i < r->first[p->image + 1]; i++) {
		struct experiment_edge edge =
			*(const struct experiment_edge *)table_at(&p->from->edges, r->rows[i]);
		bool here = edge.key.from_image == p->image, to = edge.key.to_image == p->image;

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
	const struct store_rows *r = &p->division->runs, *rates = &p->division->rates;

	for (uint32_t i = r->first[p->image]; i < r->first[p->image + 1]; i++) {
		struct experiment_run run = *experiment_run_at(p->from, r->rows[i]);
		bool here = run.key.image == p->image, to = run.key.to_image == p->image;

		if (!here)
			run.key.begin = run.key.end = 0;
		run.key.image = here ? OWN : 0;
		run.key.to_image = to ? OWN : 0;
		run.key.to = to ? run.key.to : 0;
		if (experiment_row(p->to, EXPERIMENT_RUNS, &run) < 0)
			return -1;
		p->any = true;
	}
	for (uint32_t i = rates->first[p->image]; i < rates->first[p->image + 1]; i++) {
		struct experiment_rate rate = *experiment_rate_at(p->from, rates->rows[i]);

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

int store_part(
	struct experiment *part, const struct store_division *d, uint32_t image, struct error *e)
{
	struct parting p = {.to = part, .from = d->from, .division = d, .image = image};

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
