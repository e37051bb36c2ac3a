/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The control flow graph of procedures: blocks in order of address, edges beside them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/plural.h"
#include "flow/arrows.h"
#include "report/prof_blocks.h"
#include "report/prof_views.h"

struct cfg {
	struct prof_waits *w;
	struct prof_table *t;
	size_t unknown;
};

/* Edges that do not just go on to the next block, as arrows. */
static int make_margin(const struct flow *f, struct flow_margin *m)
{
	VEC(struct flow_arrow) arrows = {0};
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < f->edges.count; i++) {
		const struct flow_edge *e = &f->edges.data[i];
		const struct flow_arrow arrow = {e->from, e->to};

		if (e->to != e->from + 1)
			rc = vec_add(&arrows, arrow);
	}
	if (rc == 0)
		rc = flow_margin_make(m, arrows.data, arrows.count, (uint32_t)f->blocks.count);
	vec_fini(&arrows);
	return rc;
}

static void add_edges(struct cfg *g, const struct prof_explained *p, size_t first)
{
	static const char *const kinds[] = {"fall", "taken", "jump", "table"};
	const struct flow *f = p->code.flow;

	for (size_t i = 0; i < f->edges.count; i++) {
		const struct flow_edge *e = &f->edges.data[i];
		double times = p->input.edges ? p->input.edges[i] : NAN;
		struct prof_arc a = {.from = first + e->from,
			.to = first + e->to,
			.kind = kinds[e->kind],
			.back = e->back};

		if (!isnan(times))
			a.executions = quantity_exact(
				times, p->moves.edges ? g->w->x.edges.label : LABEL_ESTIMATED);
		g->t->failed |= vec_add(&g->t->arcs, a) != 0;
	}
}

static void block_rows(struct cfg *g, const struct prof_explained *p)
{
	const struct flow *f = p->code.flow;
	struct flow_margin margin = {0};
	size_t first = g->t->rows.count;

	if (make_margin(f, &margin))
		g->t->failed = true;
	for (uint32_t i = 0; i < f->blocks.count && !g->t->failed; i++) {
		const struct prof_block_row r = prof_block_make(g->t, p, i);

		g->unknown += (f->blocks.data[i].flags & (FLOW_UNKNOWN | FLOW_MIDDLE)) != 0;
		prof_block_add(g->w, &r,
			margin.width ? prof_text(g->t, "%.*s", (int)margin.width,
					       margin.cells + (size_t)i * margin.width)
				     : "");
	}
	flow_margin_fini(&margin);
	add_edges(g, p, first);
}

static int take_procedure(struct cfg *g, const struct prof_procedure *procedure, struct error *e)
{
	struct prof_explained p;
	struct prof_row head = {.role = PROF_HEAD,
		.parent = -1,
		.image = g->w->d->images.data[procedure->image].name,
		.addressed = true,
		.address = procedure->begin,
		.note = "its code is not available"};
	int rc = prof_explained_make(&p, &g->w->x, procedure, e);

	if (rc == 0) {
		const struct flow *f = p.told ? p.code.flow : NULL;

		head.procedure = p.name;
		if (f)
			head.note = prof_text(g->t, "%zu block%s, %zu edge%s, %zu loop%s",
				f->blocks.count, plural(f->blocks.count), f->edges.count,
				plural(f->edges.count), f->loops.count, plural(f->loops.count));
		prof_row_add(g->t, &head);
		if (f)
			block_rows(g, &p);
	}
	prof_explained_fini(&p, &g->w->x);
	return rc;
}

/* One procedure, unless -q says otherwise. */
static int make(struct prof_waits *w, struct error *e)
{
	struct prof_cut cut = prof_cut_of(w->d, (struct prof_quit){.rows = 1});
	struct cfg g = {.w = w, .t = w->t};
	size_t n = w->x.procedures.list.count;

	prof_culprits_describe(w->t, &w->x);
	prof_block_columns(w, true);
	for (size_t i = 0; i < n && !w->t->failed; i++) {
		const struct prof_procedure *p = &w->x.procedures.list.data[i];

		if (prof_cuts(&cut, 100 * (double)p->value / fmax(w->x.total, 1))) {
			prof_left_out(w->t, n - i, "function", "-q, -only");
			break;
		}
		if (take_procedure(&g, p, e))
			return -1;
	}
	if (g.unknown)
		prof_note(w->t, "%zu jump%s to an unknown target: edges are missing", g.unknown,
			g.unknown == 1 ? " goes" : "s go");
	return 0;
}

int prof_cfg(struct prof_data *d, struct prof_table *t, struct error *e)
{
	t->report = "cfg";
	t->title = "Control flow, blocks in order of address";
	t->layout = PROF_CODE;
	return prof_waits_report(d, t, make, e);
}
