/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Disassembly of the procedures that hold most samples: numbers, jumps, code, source lines.
 * Samples whose address an interrupt took are moved to the instruction that waited
 * (explain/skid.h); where they were found stands in columns of their own, for scripts and with
 * -raw.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/plural.h"
#include "report/prof_calc.h"
#include "report/prof_dis.h"
#include "report/prof_views.h"

enum {
	USUAL_SHARE = 90,  /* percent of samples, without -q */
	WHOLE_LIMIT = 256, /* instructions; of larger procedures only what has samples is shown */
	AROUND = 8,        /* instructions before and behind */
};

static bool has_skid(const struct dis *l, size_t metric)
{
	return l->d->metrics.data[metric].metric->flags & METRIC_SKID;
}

static long text_column(struct dis *l, const char *name, const char *heading, unsigned flags)
{
	struct prof_column c = {
		.kind = PROF_TEXT, .flags = flags, .name = name, .heading = heading, .unit = ""};

	c.experiment = -1;
	return prof_column_add(l->t, &c);
}

static int raw_columns(struct dis *l)
{
	l->raw = calloc(l->d->metrics.count, sizeof(*l->raw));
	for (size_t i = 0; l->raw && i < l->d->metrics.count; i++) {
		const struct prof_metric *m = &l->d->metrics.data[i];
		struct prof_column column = l->t->columns.data[l->columns.own.data[i]];

		l->raw[i] = -1;
		if (!(m->metric->flags & METRIC_SKID))
			continue;
		column.name = prof_text(l->t, "%s.raw", column.name);
		column.heading = column.name;
		column.flags &= ~(unsigned)(PROF_CUMULATIVE | PROF_BAR | PROF_PERCENT);
		column.flags |= l->d->request->raw ? 0 : PROF_SCRIPTS;
		l->raw[i] = column.name ? prof_column_add(l->t, &column) : -1;
		if (l->raw[i] < 0)
			return -1;
	}
	return l->raw ? 0 : -1;
}

static int add_columns(struct dis *l)
{
	struct prof_column taken = {.kind = PROF_COUNT,
		.flags = PROF_EXACT,
		.name = "taken",
		.unit = "branches",
		.experiment = -1,
		.label = l->edges.label};

	if (raw_columns(l))
		return -1;
	l->taken = l->edges.any ? prof_column_add(l->t, &taken) : 0;
	l->loop = text_column(l, "loop", NULL, 0);
	l->margin = text_column(l, "margin", "", PROF_MARGIN);
	l->bytes = text_column(l, "bytes", NULL, PROF_SCRIPTS);
	l->target = text_column(l, "target", NULL, PROF_SCRIPTS);
	return l->taken < 0 || l->loop < 0 || l->margin < 0 || l->bytes < 0 || l->target < 0 ? -1
											     : 0;
}

/* What is shown of a large procedure: what has numbers, and what is around. */
static int choose_shown(struct dis *l, struct dis_body *b)
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

static int make_arrows(struct dis_body *b)
{
	const struct flow *f = b->code.flow;
	VEC(struct flow_arrow) arrows = {0};
	int rc = 0;

	for (size_t i = 0; i < f->edges.count; i++) {
		const struct flow_edge *edge = &f->edges.data[i];
		const struct flow_block *from = &f->blocks.data[edge->from];
		struct flow_arrow *arrow;

		if (edge->kind == FLOW_FALL)
			continue;
		arrow = vec_push(&arrows);
		if (!arrow) {
			rc = -1;
			break;
		}
		arrow->from = from->first + from->count - 1;
		arrow->to = f->blocks.data[edge->to].first;
	}
	if (rc == 0)
		rc = flow_margin_make(
			&b->arrows, arrows.data, arrows.count, (uint32_t)f->insns.count);
	vec_fini(&arrows);
	return rc;
}

static int move_samples(struct dis *l, struct dis_body *b)
{
	const struct flow *f = b->code.flow;
	size_t metrics = l->d->metrics.count;
	struct prof_skid s = {.flow = f, .entered = NAN};
	bool first = true;

	if (l->edges.any) {
		const uint64_t *times =
			l->columns.executions >= 0 ? b->code.counts + l->columns.exact : NULL;

		b->edges = prof_edges_of(
			&l->edges, f, b->procedure->image, times, metrics, &s.entered);
		if (!b->edges)
			return -1;
		s.edges = b->edges;
	}
	for (size_t k = 0; k < metrics; k++) {
		if (!has_skid(l, k))
			continue;
		b->moved[k] = calloc(f->insns.count + 1, sizeof(**b->moved));
		if (!b->moved[k] || prof_skid_move(&s, b->code.counts + k, metrics, b->moved[k]))
			return -1;
		for (size_t i = 0; first && i < f->insns.count; i++)
			l->guessed += (uint64_t)llround(
				fmax(b->moved[k][i].value - (double)b->moved[k][i].sure, 0));
		first = false;
	}
	return 0;
}

/* Without code: addresses with their samples. */
static int bare_rows(struct dis *l, const struct dis_body *b)
{
	const struct prof_data *d = l->d;
	uint32_t image = b->procedure->image;

	for (size_t i = prof_place_from(d, &l->procedures, image, b->code.begin);
		i < d->places.count; i++) {
		uint32_t index = l->procedures.places[i];
		const struct prof_place *place = prof_place_at(d, index);
		struct prof_row row = {.role = PROF_ROW,
			.procedure = b->name,
			.image = d->images.data[image].name,
			.address = place->key.address,
			.addressed = true,
			.parent = -1};
		long at;

		if (place->key.image != image || place->key.address - b->code.begin >= b->code.size)
			break;
		at = prof_row_add(l->t, &row);
		if (at < 0)
			return -1;
		prof_columns_fill(&l->columns, (size_t)at,
			&d->counts.data[index * d->metrics.count], NULL, 0);
	}
	return 0;
}

static int code_rows(struct dis *l, struct dis_body *b)
{
	uint32_t n = (uint32_t)b->code.flow->insns.count;

	for (uint32_t i = 0, k; i < n; i = k) {
		k = i + 1;
		if (b->shown[i]) {
			if (dis_source_row(l, b, i) || (b->calc && calc_bubble(l, b, i)) ||
				dis_insn_row(l, b, i))
				return -1;
			continue;
		}
		while (k < n && !b->shown[k])
			k++;
		if (dis_gap_row(l, b, i, k))
			return -1;
	}
	return 0;
}

static int calc_rows(struct dis *l, struct dis_body *b, struct error *e)
{
	return calc_analyse(l, b, e) || calc_summary(l, b) || code_rows(l, b) ? -1 : 0;
}

static int procedure_rows(struct dis *l, const struct prof_procedure *procedure, struct error *e)
{
	struct dis_body b = {.procedure = procedure};
	int rc = -1;

	b.name = prof_string_at(l->d, procedure->name);
	if (prof_code_load(&b.code, l->d, &l->procedures, procedure, e))
		return -1;
	b.moved = calloc(l->d->metrics.count + 1, sizeof(*b.moved));
	if (b.moved && dis_head_row(l, &b) == 0) {
		if (!b.code.flow)
			rc = bare_rows(l, &b);
		else if (move_samples(l, &b) == 0 && make_arrows(&b) == 0 &&
			 choose_shown(l, &b) == 0)
			rc = l->calc ? calc_rows(l, &b, e) : code_rows(l, &b);
	}
	for (size_t k = 0; b.moved && k < l->d->metrics.count; k++)
		free(b.moved[k]);
	free(b.moved);
	free(b.edges);
	free(b.shown);
	calc_body_free(l, &b);
	flow_margin_fini(&b.arrows);
	prof_code_fini(&b.code);
	return rc ? error_nomem(e) : 0;
}

static int all_procedures(struct dis *l, struct error *e)
{
	const struct prof_data *d = l->d;
	struct prof_quit quit = d->request->quit;
	double all = (double)d->metrics.data[0].samples, before = 0;

	if (!quit.rows && !(quit.percent > 0) && !(quit.cumulative > 0))
		quit.cumulative = USUAL_SHARE;
	for (size_t i = 0; i < l->procedures.list.count; i++) {
		const struct prof_procedure *p = &l->procedures.list.data[i];
		double percent = all > 0 ? 100 * (double)p->value / all : 0;

		prof_progress(d, (size_t)before, 100, "disassembling");
		if (prof_quits(&quit, i, percent, before)) {
			prof_note(l->t, "%zu more function%s %s left out (-q, -only)",
				l->procedures.list.count - i, plural(l->procedures.list.count - i),
				plural_is(l->procedures.list.count - i));
			break;
		}
		before += percent;
		if (procedure_rows(l, p, e))
			return -1;
	}
	return 0;
}

static int notes(struct dis *l)
{
	bool skid = false;

	for (size_t k = 0; k < l->d->metrics.count; k++)
		skid = skid || has_skid(l, k);
	if (skid &&
		prof_note(l->t,
			"Samples taken by interrupts stand at the instruction that waited: the one "
			"executed before the address found (-raw shows that)"))
		return -1;
	if (l->guessed && prof_note(l->t,
				  "?: estimated: %llu sample%s could be of several "
				  "instructions, or of another function",
				  (unsigned long long)l->guessed, plural(l->guessed)))
		return -1;
	if (l->procedures.nameless &&
		prof_note(l->t, "%llu sample%s %s in no function",
			(unsigned long long)l->procedures.nameless, plural(l->procedures.nameless),
			plural_is(l->procedures.nameless)))
		return -1;
	return l->unknown && prof_note(l->t,
				     "%zu jump%s where is not known: arrows and loops may be "
				     "missing",
				     l->unknown, l->unknown == 1 ? " goes" : "s go")
		       ? -1
		       : 0;
}

static int make(struct prof_data *d, struct prof_table *t, struct prof_calc *calc, struct error *e)
{
	struct dis l = {.d = d, .t = t, .calc = calc};
	int rc = -1;

	t->layout = PROF_CODE;
	if (!d->metrics.count)
		return error_set(e, ERR_NOT_FOUND, "the experiment holds no metric");
	if (prof_data_name(d, false, e) || prof_columns_init(&l.columns, t, d, 0, "executions", e))
		return -1;
	if (calc && calc_init(&l, e)) {
		prof_columns_fini(&l.columns);
		return -1;
	}
	if (prof_edges_init(&l.edges, d) || add_columns(&l) ||
		prof_procedures_init(&l.procedures, d))
		error_nomem(e);
	else if (all_procedures(&l, e) == 0)
		rc = prof_columns_total(&l.columns) || notes(&l) || (calc && calc_notes(&l))
			     ? error_nomem(e)
			     : prof_coverage(t, d, e);
	calc_fini(&l);
	for (size_t i = 0; i < l.sources.count; i++)
		prof_source_close(&l.sources.data[i].text);
	vec_fini(&l.sources);
	free(l.raw);
	prof_procedures_fini(&l.procedures);
	prof_edges_fini(&l.edges);
	prof_columns_fini(&l.columns);
	return rc;
}

int prof_dis(struct prof_data *d, struct prof_table *t, struct error *e)
{
	t->report = "dis";
	t->title = "Disassembly, most costly functions first";
	return make(d, t, NULL, e);
}

int prof_calc(struct prof_data *d, struct prof_table *t, struct error *e)
{
	struct prof_calc calc = {0};

	t->report = "calc";
	t->title = "Executions and cycles of each instruction";
	return make(d, t, &calc, e);
}
