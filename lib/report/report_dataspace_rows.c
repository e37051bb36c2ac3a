/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <math.h>
#include <stdlib.h>

#include "base/plural.h"
#include "base/sort.h"
#include "events/numbers.h"
#include "report/report_columns.h"
#include "report/report_dataspace.h"

#define COST_SPREAD 20 /* an event of one column may cost that many of another */

/* Columns that repeat another column are for scripts. */
static bool is_for_scripts(int event)
{
	return event == EV_INTERVENTION_HITS || event == EV_INVALIDATION_HITS ||
	       event == EV_STORES_TO_SHARED || event == EV_DTLB_MISSES;
}

void report_dataspace_columns(struct report_dataspace_view *v)
{
	const struct report_column texts[] = {
		{.kind = REPORT_TEXT, .flags = REPORT_SCRIPTS, .name = "kind"},
		{.kind = REPORT_TEXT, .flags = REPORT_SCRIPTS, .name = "sharing"},
	};

	v->columns = report_scratch(v->t, v->o.metrics.count, sizeof(*v->columns));
	for (size_t i = 0; v->columns && i < v->o.metrics.count; i++) {
		const struct experiment_metric *m = v->o.metrics.data[i];
		const struct report_column c = {.kind = REPORT_COUNT,
			.flags = REPORT_PERCENT | (m->period == 1 ? REPORT_EXACT : 0) |
				 (is_for_scripts(m->event) ? REPORT_SCRIPTS : 0),
			.name = m->short_name,
			.unit = m->unit,
			.label = m->label};

		v->columns[i] = v->o.totals[i] ? (long)report_columns_add(v->t, &c, 1) : -1;
	}
	v->kind = report_columns_add(v->t, texts, 2);
	v->sharing = v->kind + 1;
}

void report_dataspace_heads(struct report_dataspace_view *v)
{
	for (size_t i = 0; i < v->o.metrics.count; i++) {
		const struct experiment_metric *m = v->o.metrics.data[i];

		if (v->columns[i] >= 0 && !is_for_scripts(m->event))
			report_note(v->t, "%s: %s", m->short_name, m->name);
	}
}

void report_dataspace_row(struct report_dataspace_view *v, const struct report_row *row,
	enum report_dataspace_row kind, const char *sharing, const uint64_t *counts)
{
	static const char *const names[] = {[REPORT_DATASPACE_OBJECT] = "object",
		[REPORT_DATASPACE_MEMBER] = "member",
		[REPORT_DATASPACE_PLACE] = "place",
		[REPORT_DATASPACE_LINE] = "line",
		[REPORT_DATASPACE_END] = "end",
		[REPORT_DATASPACE_MORE] = "more"};
	size_t index = report_row_add(v->t, row);
	struct report_cell *cells = report_cells(v->t, index);

	if (row->depth)
		v->t->rows.data[index].parent = v->last[row->depth - 1];
	v->last[row->depth] = (long)index;
	for (size_t i = 0; i < v->t->columns.count; i++)
		cells[i].percent = NAN;
	for (size_t i = 0; counts && i < v->o.metrics.count; i++) {
		const struct experiment_metric *m = v->o.metrics.data[i];
		struct report_cell *cell;

		if (v->columns[i] < 0)
			continue;
		cell = &cells[v->columns[i]];
		cell->quantity = m->period > 1
					 ? profile_sampled(counts[i], (double)m->period, m->label)
					 : quantity_exact((double)counts[i], m->label);
		cell->samples = counts[i];
		cell->percent = report_percent((double)counts[i], (double)v->o.totals[i]);
	}
	if (row->role == REPORT_ROW)
		cells[v->kind].text = names[kind];
	cells[v->sharing].text = sharing;
}

void report_dataspace_text(struct report_dataspace_view *v, unsigned depth,
	enum report_dataspace_row kind, const char *sharing, const uint64_t *counts,
	const char *text)
{
	const struct report_row row = {.role = REPORT_ROW,
		.parent = -1,
		.depth = depth,
		.procedure = report_text(v->t, "%s", text)};

	report_dataspace_row(v, &row, kind, sharing, counts);
}

void report_dataspace_more(
	struct report_dataspace_view *v, size_t n, const char *what, unsigned depth)
{
	if (n)
		report_dataspace_text(v, depth, REPORT_DATASPACE_MORE, NULL, NULL,
			report_text(v->t, "... %zu more %s%s", n, what, plural(n)));
}

bool report_dataspace_worth(const struct report_dataspace_view *v, const uint64_t *counts)
{
	uint64_t most = 1;

	for (size_t i = 0; i < v->o.metrics.count; i++)
		most = v->o.totals[i] > most ? v->o.totals[i] : most;
	for (size_t i = 0; i < v->o.metrics.count; i++) {
		double weight = fmin(1, COST_SPREAD * (double)v->o.totals[i] / (double)most);

		if (weight * report_percent((double)counts[i], (double)v->o.totals[i]) >=
			REPORT_DATASPACE_WORTH)
			return true;
	}
	return false;
}

static uint32_t object_of(const struct experiment *x, int which, size_t row)
{
	return which == EXPERIMENT_PLACES    ? experiment_place_at(x, row)->key.object
	       : which == EXPERIMENT_TOUCHES ? experiment_touch_at(x, row)->key.object
					     : experiment_line_at(x, row)->key.object;
}

static int by_object(const void *pa, const void *pb)
{
	const struct report_dataspace_ref *a = pa, *b = pb;

	return sort_rising(a->object, b->object) ?: sort_rising(a->input, b->input)
		       ?: sort_rising(a->row, b->row);
}

void report_dataspace_refs(struct report_dataspace_view *v, int which)
{
	struct report_dataspace_refs *r = &v->refs[which];
	size_t n = v->o.all.count, all = 0, at = 0;

	for (size_t i = 0; i < v->d->request->count; i++)
		all += experiment_table(v->d->request->inputs[i].experiment, which)->count;
	r->first = report_scratch(v->t, n + 1, sizeof(*r->first));
	r->ref = report_scratch(v->t, all, sizeof(*r->ref));
	if (!r->first || !r->ref)
		return;
	for (uint32_t i = 0; i < v->d->request->count; i++) {
		const struct experiment *x = v->d->request->inputs[i].experiment;

		for (uint32_t k = 0; k < experiment_table(x, which)->count; k++)
			r->ref[at++] = (struct report_dataspace_ref){
				v->o.of[i][object_of(x, which, k)], i, k};
	}
	qsort(r->ref, all, sizeof(*r->ref), by_object);
	at = 0;
	for (size_t i = 0; i <= n; i++) {
		while (at < all && r->ref[at].object < i)
			at++;
		r->first[i] = at;
	}
}
