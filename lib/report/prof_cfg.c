/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The control flow graph of procedures: blocks in order of address, edges beside them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/plural.h"
#include "flow/arrows.h"
#include "report/prof_blocks.h"
#include "report/prof_columns.h"
#include "report/prof_views.h"

struct cfg {
	struct prof_data *d;
	struct prof_table *t;
	struct prof_explain x;
	struct prof_block_columns columns;
	size_t unknown;
};

/* Edges that do not just go on to the next block, as arrows. */
static int make_margin(const struct flow *f, struct flow_margin *m)
{
	VEC(struct flow_arrow) arrows = {0};
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < f->edges.count; i++) {
		const struct flow_edge *e = &f->edges.data[i];
		struct flow_arrow *a;

		if (e->to == e->from + 1)
			continue;
		a = vec_push(&arrows);
		if (a)
			*a = (struct flow_arrow){e->from, e->to};
		else
			rc = -1;
	}
	if (rc == 0)
		rc = flow_margin_make(m, arrows.data, arrows.count, (uint32_t)f->blocks.count);
	vec_fini(&arrows);
	return rc;
}

static int add_edges(struct cfg *g, const struct prof_explained *p, size_t first)
{
	static const char *const kinds[] = {"fall", "taken", "jump", "table"};
	const struct flow *f = p->code.flow;

	for (size_t i = 0; i < f->edges.count; i++) {
		const struct flow_edge *e = &f->edges.data[i];
		struct prof_arc *a = vec_push(&g->t->arcs);
		double times = p->input.edges ? p->input.edges[i] : NAN;

		if (!a)
			return -1;
		*a = (struct prof_arc){.from = first + e->from,
			.to = first + e->to,
			.kind = kinds[e->kind],
			.back = e->back};
		if (!isnan(times))
			a->executions = quantity_exact(
				times, p->counted_edges ? g->x.edges.label : LABEL_ESTIMATED);
	}
	return 0;
}

static int block_rows(struct cfg *g, const struct prof_explained *p)
{
	const struct flow *f = p->code.flow;
	struct flow_margin margin = {0};
	size_t first = g->t->rows.count;
	int rc = make_margin(f, &margin);

	for (uint32_t i = 0; rc == 0 && i < f->blocks.count; i++) {
		struct prof_block_row r;
		long at = prof_block_make(&r, g->t, p, i)
				  ? -1
				  : prof_block_add(&g->columns, g->t, &g->x, &r);

		g->unknown += (f->blocks.data[i].flags & (FLOW_UNKNOWN | FLOW_MIDDLE)) != 0;
		if (at >= 0 && margin.width)
			prof_cells(g->t, (size_t)at)[g->columns.margin].text = prof_text(g->t,
				"%.*s", (int)margin.width, margin.cells + (size_t)i * margin.width);
		rc = at < 0 ? -1 : 0;
	}
	flow_margin_fini(&margin);
	return rc == 0 ? add_edges(g, p, first) : -1;
}

static int take_procedure(struct cfg *g, const struct prof_procedure *procedure, struct error *e)
{
	struct prof_explained p;
	struct prof_row head = {.role = PROF_HEAD,
		.parent = -1,
		.image = g->d->images.data[procedure->image].name,
		.addressed = true,
		.address = procedure->begin};
	int rc = prof_explained_make(&p, &g->x, procedure, e);

	if (rc == 0) {
		head.procedure = p.name;
		head.note =
			p.told ? prof_text(g->t, "%zu block%s, %zu edge%s, %zu loop%s",
					 p.code.flow->blocks.count,
					 plural(p.code.flow->blocks.count),
					 p.code.flow->edges.count, plural(p.code.flow->edges.count),
					 p.code.flow->loops.count, plural(p.code.flow->loops.count))
			       : "its code cannot be had";
		if (prof_row_add(g->t, &head) < 0 || (p.told && block_rows(g, &p)))
			rc = error_nomem(e);
	}
	prof_explained_fini(&p, &g->x);
	return rc;
}

/* One procedure, unless -q says otherwise. */
static int all_procedures(struct cfg *g, struct error *e)
{
	struct prof_quit quit = g->d->request->quit;
	double all = fmax(g->x.total, 1), before = 0;
	size_t n = g->x.procedures.list.count;

	if (!quit.rows && !(quit.percent > 0) && !(quit.cumulative > 0))
		quit.rows = 1;
	for (size_t i = 0; i < n; i++) {
		const struct prof_procedure *p = &g->x.procedures.list.data[i];
		double percent = 100 * (double)p->value / all;

		if (prof_quits(&quit, i, percent, before))
			return prof_note(g->t, "%zu more function%s %s left out (-q, -only)", n - i,
				       plural(n - i), plural_is(n - i))
				       ? error_nomem(e)
				       : 0;
		before += percent;
		if (take_procedure(g, p, e))
			return -1;
	}
	return 0;
}

int prof_cfg(struct prof_data *d, struct prof_table *t, struct error *e)
{
	struct cfg g = {.d = d, .t = t};
	int rc = -1;

	t->report = "cfg";
	t->title = "Control flow, blocks in order of address";
	t->layout = PROF_CODE;
	if (prof_data_name(d, false, e) || prof_describe(t, d, e) || prof_explain_init(&g.x, d, e))
		goto out;
	if (prof_culprits_describe(t, &g.x) || prof_block_columns(&g.columns, t, &g.x, true))
		rc = error_nomem(e);
	else
		rc = all_procedures(&g, e);
	if (rc == 0 && g.unknown &&
		prof_note(t, "%zu jump%s where is not known: edges are missing", g.unknown,
			g.unknown == 1 ? " goes" : "s go"))
		rc = error_nomem(e);
	if (rc == 0)
		rc = prof_coverage(t, d, e);
out:
	prof_explain_fini(&g.x);
	return rc;
}
