/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Arguments that functions are called with, and what they return: where one value is frequent, a
 * copy of the function for this value may be worth while.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "explain/depends.h"
#include "report/report_values.h"
#include "report/report_views.h"

enum { USUAL_ROWS = 40 };

enum {
	ARGUMENTS_COUNT,
	ARGUMENTS_TIME,
	ARGUMENTS_USES,
	ARGUMENTS_SHARE,
	ARGUMENTS_LIST,
	ARGUMENTS_GAIN,
	ARGUMENTS_WHAT,
	ARGUMENTS_RIVALS,
	ARGUMENTS_COLUMNS
};

struct argument {
	const struct prof_value_site *site;
	double weight, time;
	double uses; /* the part of this time at instructions that compute with it */
};

/* Of the function that was asked for last. */
struct used {
	const struct explain_procedure *procedure;
	struct explain_code code;
	bool *depends;
};

static void arguments_columns(struct report_table *t)
{
	const struct report_column columns[ARGUMENTS_COLUMNS] = {
		[ARGUMENTS_COUNT] = report_count_column(REPORT_KEY, "n", "calls", "calls"),
		[ARGUMENTS_TIME] =
			report_ratio_column(REPORT_KEY, "time", "time %", "%", LABEL_MEASURED),
		[ARGUMENTS_USES] =
			report_ratio_column(REPORT_KEY, "uses", "uses %", "%", LABEL_ESTIMATED),
		[ARGUMENTS_SHARE] =
			report_ratio_column(REPORT_KEY, "top", "top %", "%", LABEL_ESTIMATED),
		[ARGUMENTS_LIST] = {.kind = REPORT_TEXT,
			.name = "values",
			.heading = "most frequent"},
		[ARGUMENTS_GAIN] =
			report_ratio_column(REPORT_KEY, "gain", "at stake %", "%", LABEL_ESTIMATED),
		[ARGUMENTS_WHAT] = {.kind = REPORT_TEXT, .name = "operand", .heading = "of"},
		[ARGUMENTS_RIVALS] =
			report_count_column(REPORT_KEY | REPORT_SCRIPTS, "rivals", NULL, "values"),
	};

	report_columns_add(t, columns, ARGUMENTS_COLUMNS);
}

static void arguments_row(struct report_values *w, const struct argument *a)
{
	const struct prof_value_site *s = a->site;
	const struct report_row row = report_values_row(w, s);
	size_t at = report_row_add(w->t, &row);
	struct report_cell *cells;
	struct value_share share;

	if (w->t->failed)
		return;
	cells = report_cells(w->t, at);
	report_no_shares(w->t, at);
	cells[ARGUMENTS_COUNT].quantity = quantity_exact((double)s->sums.count, LABEL_MEASURED);
	cells[ARGUMENTS_TIME].quantity = quantity_exact(100 * a->time, LABEL_MEASURED);
	if (s->key.kind == VALUE_ARGUMENT)
		cells[ARGUMENTS_USES].quantity = quantity_exact(100 * a->uses, LABEL_ESTIMATED);
	cells[ARGUMENTS_LIST].text = report_values_text(w, s);
	cells[ARGUMENTS_WHAT].text = report_values_what(w->t, w->d, s);
	cells[ARGUMENTS_RIVALS].quantity = report_values_rival_count(s);
	cells[ARGUMENTS_SHARE].weak = s->sums.moments < VALUES_MOMENTS_FEW;
	if (!report_values_frequent(s))
		return;
	share = value_share_of(&s->sums, &s->list.data[0]);
	cells[ARGUMENTS_SHARE].quantity = report_values_percent(share);
	if (s->key.kind == VALUE_ARGUMENT)
		cells[ARGUMENTS_GAIN].quantity = report_values_stake(a->uses, share);
}

static int used_load(struct used *u, struct report_values *w, const struct explain_procedure *p)
{
	struct error e;

	if (u->procedure == p)
		return 0;
	explain_code_fini(&u->code);
	free(u->depends);
	memset(u, 0, sizeof(*u));
	if (explain_code_load(&u->code, w->d, &w->procedures, p, &e))
		return -1;
	u->procedure = p;
	u->depends = calloc(u->code.flow ? u->code.flow->insns.count + 1 : 1, sizeof(*u->depends));
	return u->depends ? 0 : -1;
}

/* The part of the time that the argument may change; all of it if that is not known. */
static double arguments_uses(
	struct report_values *w, const struct prof_value_site *s, double time, struct used *u)
{
	const struct explain_procedure *p = report_values_procedure(w, s);
	unsigned reg = explain_argument_register(s->key.operand);
	double uses = 0;

	if (s->key.kind != VALUE_ARGUMENT)
		return 0;
	if (!p || time <= 0 || reg == REG_NONE)
		return time;
	if (used_load(u, w, p)) {
		w->t->failed = true;
		return time;
	}
	if (!u->code.flow || u->code.machine != ISA_X86_64)
		return time;
	if (explain_depends(u->code.flow, reg, u->depends))
		w->t->failed = true;
	for (size_t i = 0; i < u->code.flow->insns.count; i++)
		if (u->depends[i])
			uses += (double)u->code.counts[i * w->d->metrics.count];
	return uses / w->all;
}

/* Negative: it is not shown. */
static double arguments_weight(const struct report_values *w, const struct prof_value_site *s)
{
	bool wanted;

	report_values_function(w, s, &wanted);
	if (!wanted || (s->key.kind != VALUE_ARGUMENT && s->key.kind != VALUE_RETURN))
		return -1;
	if (report_values_named(w))
		return 0;
	if (s->sums.count < REPORT_VALUES_LEAST || s->sums.moments < VALUES_MOMENTS_FEW ||
		!report_values_frequent(s))
		return -1;
	return value_share_of(&s->sums, &s->list.data[0]).low;
}

static int arguments_by_weight(const void *pa, const void *pb)
{
	const struct argument *a = pa, *b = pb;

	return sort_falling_number(a->weight * a->uses, b->weight * b->uses)
		       ?: sort_falling_number(a->weight * a->time, b->weight * b->time)
		       ?: sort_rising(a->site->key.image, b->site->key.image)
		       ?: sort_rising(a->site->key.address, b->site->key.address)
		       ?: sort_rising(a->site->key.operand, b->site->key.operand)
		       ?: sort_rising(a->site->key.form, b->site->key.form);
}

static void arguments_make(struct report_values *w)
{
	struct argument *list = report_scratch(w->t, w->v.sites.count + 1, sizeof(*list));
	struct report_cut cut = report_cut_of(w->d, (struct prof_quit){.rows = USUAL_ROWS});
	struct used used = {0};
	size_t count = 0, i;

	for (i = 0; list && i < w->v.sites.count; i++) {
		const struct prof_value_site *s = profile_value_site(&w->v, i);
		double time = report_values_time(w, s), weight = arguments_weight(w, s);

		if (weight >= 0)
			list[count++] = (struct argument){
				s, weight, time, arguments_uses(w, s, time, &used)};
	}
	explain_code_fini(&used.code);
	free(used.depends);
	if (list)
		qsort(list, count, sizeof(*list), arguments_by_weight);
	arguments_columns(w->t);
	for (i = 0; i < count && !w->t->failed && !report_cuts(&cut, 100); i++)
		arguments_row(w, &list[i]);
	report_left_out(w->t, count - i, "argument", report_cut_why(&cut));
	if (!count)
		report_values_none(w, "No argument has frequent values", VALUES_MOMENTS_FEW);
}

int report_arguments(struct prof_data *d, struct report_table *t, struct error *e)
{
	t->report = "arguments";
	t->title = "Arguments and results of functions";
	return report_values_report(d, t, arguments_make, NULL, e);
}
