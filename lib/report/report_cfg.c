/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The control flow graph of procedures: blocks in order of address, edges beside them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/plural.h"
#include "flow/arrows.h"
#include "report/report_blocks.h"
#include "report/report_views.h"

struct cfg {
	struct report_waits *w;
	struct report_table *t;
	size_t unknown;
};

/* Edges other than to the next block, as arrows. */
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

static void add_edges(struct cfg *g, const struct explain_result *p, size_t first)
{
	static const char *const kinds[] = {"fall", "taken", "jump", "table"};
	const struct flow *f = p->code.flow;

	for (size_t i = 0; i < f->edges.count; i++) {
		const struct flow_edge *e = &f->edges.data[i];
		double times = p->input.edges ? p->input.edges[i] : NAN;
		struct report_arc a = {.from = first + e->from,
			.to = first + e->to,
			.kind = kinds[e->kind],
			.back = e->back};

		if (!isnan(times))
			a.executions = quantity_exact(
				times, p->moves.edges ? g->w->x.edges.label : LABEL_ESTIMATED);
		g->t->failed |= vec_add(&g->t->arcs, a) != 0;
	}
}

static void block_rows(struct cfg *g, const struct explain_result *p)
{
	const struct flow *f = p->code.flow;
	struct flow_margin margin = {0};
	size_t first = g->t->rows.count;

	if (make_margin(f, &margin))
		g->t->failed = true;
	for (uint32_t i = 0; i < f->blocks.count && !g->t->failed; i++) {
		const struct report_block_row r = report_block_make(g->t, p, i);

		g->unknown += (f->blocks.data[i].flags & (FLOW_UNKNOWN | FLOW_MIDDLE)) != 0;
		report_block_add(g->w, &r,
			margin.width ? report_text(g->t, "%.*s", (int)margin.width,
					       margin.cells + (size_t)i * margin.width)
				     : "");
	}
	flow_margin_fini(&margin);
	add_edges(g, p, first);
}

static int cfg_take_procedure(
	struct cfg *g, const struct explain_procedure *procedure, struct error *e)
{
	struct explain_result p;
	struct report_row head = {.role = REPORT_HEAD,
		.parent = -1,
		.image = g->w->d->images.data[procedure->image].name,
		.addressed = true,
		.address = procedure->begin,
		.note = "its code is not available"};
	int rc = explain_result_make(&p, &g->w->x, procedure, e);

	if (rc == 0) {
		const struct flow *f = p.told ? p.code.flow : NULL;

		head.procedure = p.name;
		if (f)
			head.note = report_text(g->t, "%zu block%s, %zu edge%s, %zu loop%s",
				f->blocks.count, plural(f->blocks.count), f->edges.count,
				plural(f->edges.count), f->loops.count, plural(f->loops.count));
		report_row_add(g->t, &head);
		if (f)
			block_rows(g, &p);
	}
	explain_result_fini(&p, &g->w->x);
	return rc;
}

/* One procedure, unless -q asks for more. */
static int cfg_make(struct report_waits *w, struct error *e)
{
	struct report_cut cut = report_cut_of(w->d, (struct prof_quit){.rows = 1});
	struct cfg g = {.w = w, .t = w->t};
	size_t n = w->x.procedures.list.count;

	report_culprits_describe(w->t, &w->x);
	report_block_columns(w, true);
	for (size_t i = 0; i < n && !w->t->failed; i++) {
		const struct explain_procedure *p = &w->x.procedures.list.data[i];

		if (report_cuts(&cut, 100 * (double)p->value / fmax(w->x.total, 1))) {
			report_left_out(w->t, n - i, "function", "-q, -only");
			break;
		}
		if (cfg_take_procedure(&g, p, e))
			return -1;
	}
	if (g.unknown)
		report_note(w->t, "%zu jump%s to an unknown target: edges are missing", g.unknown,
			g.unknown == 1 ? " goes" : "s go");
	return 0;
}

int report_cfg(struct prof_data *d, struct report_table *t, struct error *e)
{
	t->report = "cfg";
	t->title = "Control flow, blocks in order of address";
	t->layout = REPORT_CODE;
	return report_waits_report(d, t, cfg_make, e);
}
