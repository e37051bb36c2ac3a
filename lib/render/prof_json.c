/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/json.h"
#include "render/number.h"
#include "render/prof.h"
#include "render/prof_private.h"

static void experiments(struct json *j, const void *row)
{
	const struct report_experiment *x = row;

	json_string(j, "file", x->file);
	json_string(j, "type", x->type);
	json_string(j, "event", x->event);
	json_string(j, "short", x->short_name);
	json_string(j, "unit", x->unit);
	json_string(j, "source", x->source);
	json_string(j, "label", label_name(x->label));
	if (x->note && x->note[0])
		json_string(j, "note", x->note);
	json_integer(j, "period", (long long)x->period);
	json_integer(j, "samples", (long long)x->samples);
	json_integer(j, "lost", (long long)x->lost);
	json_integer(j, "throttled", (long long)x->throttled);
	json_integer(j, "unattributed", (long long)x->unattributed);
	if (x->total)
		json_integer(j, "total", (long long)x->total);
}

static void columns(const struct report_table *t, struct json *j)
{
	json_array(j, "columns");
	for (size_t i = 0; i < t->columns.count; i++)
		if (t->columns.data[i].kind != REPORT_TEXT)
			json_string(j, NULL, t->columns.data[i].name);
	json_end_array(j);
	json_array(j, "units");
	for (size_t i = 0; i < t->columns.count; i++)
		if (t->columns.data[i].kind != REPORT_TEXT)
			json_string(j, NULL, t->columns.data[i].unit);
	json_end_array(j);
}

static void cells(const struct report_table *t, size_t row, struct json *j)
{
	const struct report_cell *cell = report_cells(t, row);
	bool cumulative = false;

	json_array(j, "counts");
	for (size_t i = 0; i < t->columns.count; i++)
		if (t->columns.data[i].kind != REPORT_TEXT)
			number_json(j, NULL, &cell[i].quantity);
	json_end_array(j);
	json_array(j, "percent");
	for (size_t i = 0; i < t->columns.count; i++) {
		if (t->columns.data[i].kind == REPORT_TEXT)
			continue;
		if (t->columns.data[i].flags & REPORT_PERCENT)
			json_number(j, NULL, cell[i].percent);
		else
			json_null(j, NULL);
		cumulative = cumulative || (t->columns.data[i].flags & REPORT_CUMULATIVE);
	}
	json_end_array(j);
	if (cumulative && t->rows.data[row].role == REPORT_ROW)
		for (size_t i = 0; i < t->columns.count; i++)
			if (t->columns.data[i].flags & REPORT_CUMULATIVE)
				json_number(j, "cumulative", cell[i].cumulative);
	for (size_t i = 0; i < t->columns.count; i++)
		if (t->columns.data[i].flags & REPORT_KEY)
			number_json(j, t->columns.data[i].name, &cell[i].quantity);
	for (size_t i = 0; i < t->columns.count; i++)
		if (t->columns.data[i].kind == REPORT_TEXT && cell[i].text &&
			!(t->columns.data[i].flags & REPORT_MARGIN))
			json_string(j, t->columns.data[i].name, cell[i].text);
}

static void culprits(struct json *j, const void *row)
{
	const struct report_culprit *c = row;

	json_string(j, "cause", c->cause);
	number_json(j, "cycles", &c->cycles);
	if (c->blamed)
		json_address(j, "blame", c->blame);
}

static void listed(struct json *j, const void *row)
{
	const struct report_value *v = row;

	json_string(j, "value", v->text);
	if (!v->rank)
		json_address(j, "bits", v->value);
	number_json(j, "share", &v->share);
}

static void row(const struct report_table *t, size_t i, const char *key, struct json *j)
{
	const struct report_row *r = &t->rows.data[i];

	json_object(j, key);
	if (r->role != REPORT_ROW)
		json_string(j, "role", prof_role_names[r->role]);
	json_optional(j, "thread", r->thread);
	json_optional(j, "procedure", r->procedure);
	json_optional(j, "shown", r->shown);
	json_optional(j, "image", r->image);
	json_optional(j, "file", r->file);
	if (r->line)
		json_integer(j, "line", r->line);
	if (r->addressed)
		json_address(j, "address", r->address);
	json_optional(j, "text", r->text);
	json_optional(j, "note", r->note);
	if (t->layout == REPORT_TREE) {
		json_integer(j, "depth", r->depth);
		json_integer(j, "parent", r->parent);
	}
	if (t->layout == REPORT_BUTTERFLY && r->role == REPORT_CALLER)
		json_integer(j, "depth", r->depth);
	if (t->columns.count && r->role != REPORT_GAP)
		cells(t, i, j);
	if (r->culprits)
		json_rows(j, "culprits", &t->culprits.data[r->first_culprit], r->culprits,
			sizeof(*t->culprits.data), culprits);
	if (r->values)
		json_rows(j, "list", &t->values.data[r->first_value], r->values,
			sizeof(*t->values.data), listed);
	json_end_object(j);
}

static void prof_json_lines(
	struct json *j, const char *key, const struct report_line *line, size_t count)
{
	json_array(j, key);
	for (size_t i = 0; i < count; i++) {
		if (!line[i].label) {
			json_string(j, NULL, line[i].value);
			continue;
		}
		json_object(j, NULL);
		json_string(j, "name", line[i].label);
		json_string(j, "value", line[i].value);
		json_end_object(j);
	}
	json_end_array(j);
}

static void prof_json_arcs(struct json *j, const void *row)
{
	const struct report_arc *a = row;

	json_integer(j, "from", (long long)a->from);
	json_integer(j, "to", (long long)a->to);
	json_string(j, "kind", a->kind);
	json_bool(j, "back", a->back);
	number_json(j, "executions", &a->executions);
}

static void agreements(struct json *j, const void *row)
{
	const struct report_agreement *a = row;

	json_integer(j, "first", (long long)a->first);
	json_integer(j, "second", (long long)a->second);
	json_string(j, "by", a->by);
	json_integer(j, "cells", a->cells);
	json_number(j, "statistic", a->statistic);
	json_number(j, "p", a->p);
	json_number(j, "difference", a->difference);
	json_bool(j, "differs", a->differs);
}

int render_prof_json(const struct report_table *t, struct strbuf *out, struct error *e)
{
	struct json_document document;
	struct json *j = &document.json;

	if (json_begin(&document, t->schema ? t->schema : "prof.rows/1", e))
		return -1;
	json_string(j, "report", t->report);
	json_rows(j, "experiments", t->experiments.data, t->experiments.count,
		sizeof(*t->experiments.data), experiments);
	prof_json_lines(j, "run", t->head.data, t->head.count);
	if (t->layout == REPORT_FACTS)
		prof_json_lines(j, "summary", t->summary.data, t->summary.count);
	columns(t, j);
	json_array(j, "rows");
	for (size_t i = 0; i < t->rows.count; i++)
		if (t->rows.data[i].role != REPORT_TOTAL)
			row(t, i, NULL, j);
	json_end_array(j);
	for (size_t i = 0; i < t->rows.count; i++)
		if (t->rows.data[i].role == REPORT_TOTAL)
			row(t, i, "total", j);
	if (t->arcs.count)
		json_rows(j, "edges", t->arcs.data, t->arcs.count, sizeof(*t->arcs.data),
			prof_json_arcs);
	if (t->agreements.count)
		json_rows(j, "both", t->agreements.data, t->agreements.count,
			sizeof(*t->agreements.data), agreements);
	prof_json_lines(j, "notes", t->notes.data, t->notes.count);
	json_bool(j, "incomplete", t->incomplete);
	return json_end(&document, out, e);
}
