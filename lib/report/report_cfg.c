/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The control flow graph of procedures: blocks in order of address, edges beside them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/plural.h"
#include "flow/arrows.h"
#include "report/report_blocks.h"
#include "report/report_views.h"

enum { WHOLE_BLOCKS = 40 /* of larger graphs, blocks without cycles are left out */ };

struct cfg {
	struct report_waits *w;
	struct report_table *t;
	size_t unknown;
};

/* The row of each block, after the heading; gaps have rows of their own. */
struct layout {
	uint32_t *row; /* [block]; of one that is left out, the gap's */
	bool *shown;   /* [block] */
	uint32_t rows;
};

static int layout_make(struct cfg *g, const struct explain_result *p, struct layout *l)
{
	const struct flow *f = p->code.flow;
	size_t count = f->blocks.count;
	bool whole = count <= WHOLE_BLOCKS || g->w->d->request->whole;

	*l = (struct layout){.row = calloc(count + 1, sizeof(*l->row)),
		.shown = calloc(count + 1, sizeof(*l->shown))};
	if (!l->row || !l->shown)
		return -1;
	for (uint32_t i = 0; i < count; i++) {
		l->shown[i] = whole || report_block_cycles(p, i) > 0;
		l->row[i] = i && !l->shown[i] && !l->shown[i - 1] ? l->rows - 1 : l->rows++;
	}
	return 0;
}

static void layout_fini(struct layout *l)
{
	free(l->row);
	free(l->shown);
}

/* Edges other than to the next block, as arrows. */
static int make_margin(const struct flow *f, const struct layout *l, struct flow_margin *m)
{
	VEC(struct flow_arrow) arrows = {0};
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < f->edges.count; i++) {
		const struct flow_edge *e = &f->edges.data[i];
		const struct flow_arrow arrow = {l->row[e->from], l->row[e->to]};

		if (e->to != e->from + 1 && l->shown[e->from] && l->shown[e->to])
			rc = vec_add(&arrows, arrow);
	}
	if (rc == 0)
		rc = flow_margin_make(m, arrows.data, arrows.count, l->rows);
	vec_fini(&arrows);
	return rc;
}

static void add_edges(
	struct cfg *g, const struct explain_result *p, const struct layout *l, size_t first)
{
	static const char *const kinds[] = {"fall", "taken", "jump", "table"};
	const struct flow *f = p->code.flow;

	for (size_t i = 0; i < f->edges.count; i++) {
		const struct flow_edge *e = &f->edges.data[i];
		double times = p->input.edges ? p->input.edges[i] : NAN;
		struct report_arc a = {.from = first + l->row[e->from],
			.to = first + l->row[e->to],
			.kind = kinds[e->kind],
			.back = e->back};

		if (!l->shown[e->from] || !l->shown[e->to])
			continue;
		if (!isnan(times))
			a.executions = quantity_exact(
				times, p->moves.edges ? g->w->x.edges.label : LABEL_ESTIMATED);
		g->t->failed |= vec_add(&g->t->arcs, a) != 0;
	}
}

static const char *margin_at(struct cfg *g, const struct flow_margin *m, uint32_t row)
{
	return m->width
		       ? report_text(g->t, "%.*s", (int)m->width, m->cells + (size_t)row * m->width)
		       : "";
}

static void gap_row(struct cfg *g, uint32_t blocks, const char *margin)
{
	const struct report_row row = {.role = REPORT_GAP,
		.parent = -1,
		.note = report_text(g->t, "%u block%s without cycles %s left out (-whole)", blocks,
			plural(blocks), plural_is(blocks))};
	size_t at = report_row_add(g->t, &row);

	report_no_shares(g->t, at);
	report_cells(g->t, at)[REPORT_BLOCK_MARGIN].text = margin;
}

static void block_rows(struct cfg *g, const struct explain_result *p)
{
	const struct flow *f = p->code.flow;
	struct flow_margin margin = {0};
	struct layout l;
	size_t first = g->t->rows.count;

	if (layout_make(g, p, &l) || make_margin(f, &l, &margin))
		g->t->failed = true;
	for (uint32_t i = 0, next; i < f->blocks.count && !g->t->failed; i = next) {
		struct report_block_row r;

		next = i + 1;
		g->unknown += (f->blocks.data[i].flags & (FLOW_UNKNOWN | FLOW_MIDDLE)) != 0;
		if (l.shown[i]) {
			r = report_block_make(g->t, p, i);
			report_block_add(g->w, &r, margin_at(g, &margin, l.row[i]));
			continue;
		}
		for (; next < f->blocks.count && !l.shown[next]; next++)
			;
		gap_row(g, next - i, margin_at(g, &margin, l.row[i]));
	}
	flow_margin_fini(&margin);
	if (!g->t->failed)
		add_edges(g, p, &l, first);
	layout_fini(&l);
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
			report_left_out(w->t, n - i, "function",
				cut.usual ? "-q N: more; -only" : "-q, -only");
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
