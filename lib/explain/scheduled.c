/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Samples of a procedure and its schedule, the input of all estimates. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "explain/procedure.h"

#define LEAST_WAIT 0.15 /* cycles after a block, if a schedule has none */

static bool repeats(const struct flow *f, uint32_t block)
{
	const struct flow_block *b = &f->blocks.data[block];

	for (uint32_t k = 0; k < b->outs; k++)
		if (f->edges.data[b->first_out + k].to == block)
			return true;
	return false;
}

/* Each block as if it followed itself. Bytes that are not code have no schedule: no issue
 * points. */
static void schedule_blocks(struct explain_analysed *p, struct schedule_work *work)
{
	const struct flow *f = p->code->flow;

	for (uint32_t i = 0; i < f->blocks.count; i++) {
		const struct flow_block *b = &f->blocks.data[i];
		const struct schedule_options options = {.loop = repeats(f, i)};
		uint32_t n = b->count < SCHEDULE_BLOCK_MAX ? b->count : SCHEDULE_BLOCK_MAX;
		struct schedule total;

		if (schedule_block(work, &p->analysis->core, f->insns.data + b->first, n, &options,
			    &total, p->rows + b->first, NULL))
			memset(p->rows + b->first, 0, n * sizeof(*p->rows));
		for (uint32_t k = b->first; k < b->first + n; k++)
			p->rows[k].blame += p->rows[k].blame >= 0 ? (int)b->first : 0;
	}
}

static int take_room(struct explain_analysed *p)
{
	size_t n = p->code->flow->insns.count;

	p->mi = calloc(n + 1, sizeof(*p->mi));
	p->samples = calloc(n + 1, sizeof(*p->samples));
	p->rows = calloc(n + 1, sizeof(*p->rows));
	p->unsure = calloc(n + 1, sizeof(*p->unsure));
	return p->mi && p->samples && p->rows && p->unsure ? 0 : -1;
}

static void scheduled_take_samples(struct explain_analysed *p, const struct explain_moved *moved)
{
	size_t n = p->code->flow->insns.count, metrics = p->analysis->d->metrics.count;

	for (size_t i = 0; i < n; i++) {
		p->samples[i] = moved ? moved[i].value
				      : (double)p->code->counts[i * metrics + p->analysis->metric];
		p->unsure[i] = moved && moved[i].estimated;
	}
}

/* Cycles by which the origin of an edge delays retirement: its last instruction, or that and the
 * instruction fused with it. */
static double wait_before(const struct explain_analysed *p, const struct flow_edge *edge)
{
	const struct flow *f = p->code->flow;
	const struct flow_block *b = &f->blocks.data[edge->from];
	uint32_t last = b->first + b->count - 1;
	double wait = p->mi[last] + LEAST_WAIT;

	if (b->count > 1 && isa_fuses(f->machine, &f->insns.data[last - 1], &f->insns.data[last]))
		wait += p->mi[last - 1];
	return wait;
}

/* Samples after edges are split by the executions and cycles of these. */
static int move_by(struct explain_analysed *p, const double *edges)
{
	const struct explain_analysis *a = p->analysis;
	const struct flow *f = p->code->flow;
	struct explain_skid s = {.flow = f, .entered = NAN};
	struct explain_moved *moved;
	double *shares;
	int rc;

	if (!(a->d->metrics.data[a->metric].metric->flags & METRIC_SKID)) {
		scheduled_take_samples(p, NULL);
		return 0;
	}
	shares = calloc(f->edges.count + 1, sizeof(*shares));
	moved = calloc(f->insns.count + 1, sizeof(*moved));
	if (!shares || !moved) {
		free(moved);
		free(shares);
		return -1;
	}
	for (size_t i = 0; edges && i < f->edges.count; i++)
		shares[i] = edges[i] * wait_before(p, &f->edges.data[i]);
	s.edges = edges ? shares : NULL;
	rc = explain_skid_move(&s, p->code->counts + a->metric, a->d->metrics.count, moved);
	if (rc == 0)
		scheduled_take_samples(p, moved);
	free(moved);
	free(shares);
	return rc;
}

static int schedule_all(struct explain_analysed *p, const double *edges, struct error *e)
{
	const struct explain_analysis *a = p->analysis;
	struct schedule_path *path = schedule_path_begin(a->paths, e);
	size_t n = p->code->flow->insns.count;
	int rc = path ? 0 : -1;

	if (path && (a->core.in_order || a->d->request->classic))
		schedule_blocks(p, schedule_path_work(path));
	else if (path)
		rc = analysis_context(path, p->code->flow, &a->core, edges, p->rows, e);
	schedule_path_end(a->paths, path);
	for (size_t i = 0; rc == 0 && i < n; i++)
		p->mi[i] = p->rows[i].mi;
	return rc;
}

int explain_schedule(struct explain_analysed *p, const struct explain_analysis *a,
	const struct explain_code *code, const double *edges, const struct explain_moved *moved,
	struct error *e)
{
	memset(p, 0, sizeof(*p));
	p->analysis = a;
	p->code = code;
	if (take_room(p))
		return error_nomem(e);
	if (schedule_all(p, edges, e))
		return -1;
	if (!moved)
		return move_by(p, edges) ? error_nomem(e) : 0;
	scheduled_take_samples(p, moved);
	return 0;
}

void explain_analysed_fini(struct explain_analysed *p)
{
	analysis_frequencies_fini(&p->frequencies);
	free(p->mi);
	free(p->samples);
	free(p->rows);
	free(p->unsure);
}
