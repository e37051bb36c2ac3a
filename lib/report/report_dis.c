/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Disassembly of the procedures with most samples: numbers, jumps, code, source lines. Samples at
 * the address that an interrupt found are moved to the instruction that waited (explain/skid.h);
 * the original addresses are in columns of their own, for scripts and with -raw.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/plural.h"
#include "report/report_calc.h"
#include "report/report_dis.h"
#include "report/report_views.h"

enum {
	USUAL_SHARE = 90,  /* percent of samples, without -q */
	WHOLE_LIMIT = 256, /* instructions; of larger procedures only what has samples is shown */
	AROUND = 8,        /* instructions before and after */
};

static bool dis_has_skid(const struct dis *l, size_t metric)
{
	return l->d->metrics.data[metric].metric->flags & METRIC_SKID;
}

static void raw_columns(struct dis *l)
{
	for (size_t i = 0; i < l->d->metrics.count; i++) {
		struct report_column column = l->t->columns.data[l->columns.own[i]];

		if (!dis_has_skid(l, i))
			continue;
		column.name = report_text(l->t, "%s.raw", column.name);
		column.heading = column.name;
		column.flags &= ~(unsigned)(REPORT_CUMULATIVE | REPORT_BAR | REPORT_PERCENT);
		column.flags |= l->d->request->raw ? 0 : REPORT_SCRIPTS;
		l->raw[i] = report_column_add(l->t, &column);
	}
}

static const struct report_column text_columns[REPORT_DIS_TEXTS] = {
	[REPORT_DIS_LOOP] = {.kind = REPORT_TEXT, .name = "loop"},
	[REPORT_DIS_MARGIN] = {.kind = REPORT_TEXT,
		.flags = REPORT_MARGIN,
		.name = "margin",
		.heading = ""},
	[REPORT_DIS_BYTES] = {.kind = REPORT_TEXT, .flags = REPORT_SCRIPTS, .name = "bytes"},
	[REPORT_DIS_TARGET] = {.kind = REPORT_TEXT, .flags = REPORT_SCRIPTS, .name = "target"},
};

static int dis_add_columns(struct dis *l)
{
	const struct report_column taken = {.kind = REPORT_COUNT,
		.flags = REPORT_EXACT,
		.name = "taken",
		.unit = "branches",
		.label = l->edges.label};

	const struct report_column values = {
		.kind = REPORT_TEXT, .name = "values", .heading = "value (est.)"};

	l->raw = report_scratch(l->t, l->d->metrics.count, sizeof(*l->raw));
	l->own = report_scratch(l->t, l->d->metrics.count, sizeof(*l->own));
	if (l->raw)
		raw_columns(l);
	if (l->edges.any)
		l->taken = report_columns_add(l->t, &taken, 1);
	report_beside_init(&l->columns.beside, l->t, l->d);
	if (l->values.sites.count)
		l->valued = report_columns_add(l->t, &values, 1);
	l->text = report_columns_add(l->t, text_columns, REPORT_DIS_TEXTS);
	return l->t->failed ? -1 : 0;
}

/* The part of a large procedure that is shown: instructions with numbers, and those around. */
static int choose_shown(struct dis *l, struct report_dis_body *b)
{
	uint32_t n = (uint32_t)b->code.flow->insns.count;
	size_t metrics = l->d->metrics.count;

	b->shown = calloc(n + 1, 1);
	if (!b->shown)
		return -1;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t from = i > AROUND ? i - AROUND : 0;
		uint32_t to = i + AROUND < n ? i + AROUND : n - 1;
		bool any = n <= WHOLE_LIMIT || l->d->request->whole;

		for (size_t k = 0; k < metrics && !any; k++)
			any = b->code.counts[i * metrics + k] > 0;
		if (any)
			memset(b->shown + from, 1, to - from + 1);
	}
	return 0;
}

static int make_arrows(struct report_dis_body *b)
{
	const struct flow *f = b->code.flow;
	VEC(struct flow_arrow) arrows = {0};
	int rc = 0;

	for (size_t i = 0; i < f->edges.count && rc == 0; i++) {
		const struct flow_edge *edge = &f->edges.data[i];
		const struct flow_block *from = &f->blocks.data[edge->from];
		const struct flow_arrow arrow = {
			from->first + from->count - 1, f->blocks.data[edge->to].first};

		if (edge->kind != FLOW_FALL)
			rc = vec_add(&arrows, arrow);
	}
	if (rc == 0)
		rc = flow_margin_make(
			&b->arrows, arrows.data, arrows.count, (uint32_t)f->insns.count);
	vec_fini(&arrows);
	return rc;
}

static int move_samples(struct dis *l, struct report_dis_body *b)
{
	const uint64_t *times =
		l->columns.executions >= 0 ? b->code.counts + l->columns.exact : NULL;
	const struct explain_moved *first = NULL;

	if (explain_moves_make(&b->moves, l->d, &l->edges, &b->code, times))
		return -1;
	for (size_t k = l->d->metrics.count; k-- > 0;)
		first = b->moves.moved[k] ? b->moves.moved[k] : first;
	for (size_t i = 0; first && i < b->code.flow->insns.count; i++)
		l->guessed += (uint64_t)llround(fmax(first[i].value - (double)first[i].sure, 0));
	return 0;
}

/* Without code: addresses with their samples. */
static void dis_bare_rows(struct dis *l, const struct report_dis_body *b)
{
	const struct prof_data *d = l->d;
	uint32_t image = b->procedure->image;

	for (size_t i = explain_place_from(d, &l->procedures, image, b->code.begin);
		i < d->places.count; i++) {
		uint32_t index = l->procedures.places[i];
		const struct profile_place *place = profile_place_at(d, index);
		const struct report_row row = {.role = REPORT_ROW,
			.procedure = b->name,
			.image = d->images.data[image].name,
			.address = place->key.address,
			.addressed = true,
			.parent = -1};

		if (place->key.image != image || place->key.address - b->code.begin >= b->code.size)
			break;
		report_columns_fill(&l->columns, report_row_add(l->t, &row),
			&d->counts.data[index * d->metrics.count], NULL, 0);
	}
}

static void code_rows(struct dis *l, struct report_dis_body *b)
{
	uint32_t n = (uint32_t)b->code.flow->insns.count;

	for (uint32_t i = 0, k; i < n; i = k) {
		for (k = i; k < n && !b->shown[k]; k++)
			;
		if (k > i) {
			report_dis_gap_row(l, b, i, k);
			continue;
		}
		k = i + 1;
		report_dis_source_row(l, b, i);
		if (b->calc)
			report_calc_bubble(l, b, i);
		report_dis_insn_row(l, b, i);
	}
}

static int procedure_rows(struct dis *l, const struct explain_procedure *procedure, struct error *e)
{
	struct report_dis_body b = {.procedure = procedure};
	int rc = 0;

	b.name = profile_string_at(l->d, procedure->name);
	if (explain_code_load(&b.code, l->d, &l->procedures, procedure, e))
		return -1;
	report_dis_head_row(l, &b);
	if (!b.code.flow) {
		dis_bare_rows(l, &b);
	} else if (move_samples(l, &b) || make_arrows(&b) || choose_shown(l, &b)) {
		rc = error_nomem(e);
	} else {
		rc = l->calc ? report_calc_analyse(l, &b, e) : 0;
		if (rc == 0)
			code_rows(l, &b);
	}
	explain_moves_fini(&b.moves, l->d);
	free(b.shown);
	report_calc_body_free(l, &b);
	flow_margin_fini(&b.arrows);
	explain_code_fini(&b.code);
	return rc;
}

static int all_procedures(struct dis *l, struct error *e)
{
	const struct prof_data *d = l->d;
	struct report_cut cut = report_cut_of(d, (struct prof_quit){.cumulative = USUAL_SHARE});
	size_t count = l->procedures.list.count;

	for (size_t i = 0; i < count; i++) {
		const struct explain_procedure *p = &l->procedures.list.data[i];

		profile_progress(d, (size_t)cut.cumulative, 100, "disassembling");
		if (report_cuts(&cut,
			    report_percent((double)p->value, (double)d->metrics.data[0].samples))) {
			report_left_out(l->t, count - i, "function",
				cut.usual ? "-q N: more; -only" : "-q, -only");
			break;
		}
		if (procedure_rows(l, p, e))
			return -1;
	}
	return 0;
}

static void dis_notes(struct dis *l)
{
	unsigned long long nameless = l->procedures.nameless;
	bool skid = false;

	for (size_t k = 0; k < l->d->metrics.count; k++)
		skid = skid || dis_has_skid(l, k);
	if (skid)
		report_note(l->t, "Samples of interrupts are shown at the instruction that waited: "
				  "the one executed before the address found (-raw shows that)");
	if (l->guessed)
		report_note(l->t,
			"?: estimated: %llu sample%s may belong to several instructions, or to "
			"another function",
			(unsigned long long)l->guessed, plural(l->guessed));
	if (nameless)
		report_note(l->t, "%llu sample%s %s in no function", nameless, plural(nameless),
			plural_is(nameless));
	if (l->unknown)
		report_note(l->t,
			"%zu jump%s to an unknown target: arrows and loops may be missing",
			l->unknown, l->unknown == 1 ? " goes" : "s go");
}

static int dis_fill(struct dis *l, struct error *e)
{
	if (profile_data_name(l->d, false, e) ||
		report_columns_init(&l->columns, l->t, l->d, 0, "executions", e) ||
		(l->calc && report_calc_init(l, e)))
		return -1;
	if (explain_edges_init(&l->edges, l->d) || profile_values_init(&l->values, l->d, false) ||
		dis_add_columns(l) || explain_procedures_init(&l->procedures, l->d))
		return error_nomem(e);
	if (all_procedures(l, e))
		return -1;
	report_columns_total(&l->columns);
	dis_notes(l);
	if (l->calc)
		report_calc_notes(l);
	report_coverage(l->t, l->d);
	return 0;
}

static int dis_make(
	struct prof_data *d, struct report_table *t, struct report_calc *calc, struct error *e)
{
	struct dis l = {.d = d, .t = t, .calc = calc};
	int rc;

	t->layout = REPORT_CODE;
	if (profile_data_metrics(d, e))
		return -1;
	rc = dis_fill(&l, e);
	report_calc_fini(&l);
	for (size_t i = 0; i < l.sources.count; i++)
		report_source_close(&l.sources.data[i].text);
	profile_values_fini(&l.values);
	vec_fini(&l.sources);
	explain_procedures_fini(&l.procedures);
	explain_edges_fini(&l.edges);
	report_beside_fini(&l.columns.beside);
	return report_finish(t, rc, e);
}

int report_dis(struct prof_data *d, struct report_table *t, struct error *e)
{
	t->report = "dis";
	t->title = "Disassembly, most costly functions first";
	return dis_make(d, t, NULL, e);
}

int report_calc(struct prof_data *d, struct report_table *t, struct error *e)
{
	struct report_calc calc = {0};

	t->report = "calc";
	t->title = "Executions and cycles of each instruction";
	return dis_make(d, t, &calc, e);
}
