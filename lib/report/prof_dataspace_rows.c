/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <math.h>
#include <stdlib.h>

#include "base/sort.h"
#include "events/numbers.h"
#include "report/prof_columns.h"
#include "report/prof_dataspace.h"

/* What only says again what another column says is for scripts. */
static bool is_for_scripts(int event)
{
	return event == EV_INTERVENTION_HITS || event == EV_INVALIDATION_HITS ||
	       event == EV_STORES_TO_SHARED || event == EV_DTLB_MISSES;
}

void dataspace_columns(struct dataspace_view *v)
{
	const struct prof_column texts[] = {
		{.kind = PROF_TEXT, .flags = PROF_SCRIPTS, .name = "kind"},
		{.kind = PROF_TEXT, .flags = PROF_SCRIPTS, .name = "sharing"},
	};

	v->columns = prof_scratch(v->t, v->o.metrics.count, sizeof(*v->columns));
	for (size_t i = 0; v->columns && i < v->o.metrics.count; i++) {
		const struct experiment_metric *m = v->o.metrics.data[i];
		const struct prof_column c = {.kind = PROF_COUNT,
			.flags = PROF_PERCENT | (m->period == 1 ? PROF_EXACT : 0) |
				 (is_for_scripts(m->event) ? PROF_SCRIPTS : 0),
			.name = m->short_name,
			.unit = m->unit,
			.label = m->label};

		v->columns[i] = v->o.totals[i] ? (long)prof_columns_add(v->t, &c, 1) : -1;
	}
	v->kind = prof_columns_add(v->t, texts, 2);
	v->sharing = v->kind + 1;
}

void dataspace_row(struct dataspace_view *v, const struct prof_row *row, enum dataspace_row kind,
	const char *sharing, const uint64_t *counts)
{
	static const char *const names[] = {[DATASPACE_OBJECT] = "object",
		[DATASPACE_MEMBER] = "member",
		[DATASPACE_PLACE] = "place",
		[DATASPACE_LINE] = "line",
		[DATASPACE_END] = "end",
		[DATASPACE_MORE] = "more"};
	size_t index = prof_row_add(v->t, row);
	struct prof_cell *cells = prof_cells(v->t, index);

	if (row->depth)
		v->t->rows.data[index].parent = v->last[row->depth - 1];
	v->last[row->depth] = (long)index;
	for (size_t i = 0; i < v->t->columns.count; i++)
		cells[i].percent = NAN;
	for (size_t i = 0; counts && i < v->o.metrics.count; i++) {
		const struct experiment_metric *m = v->o.metrics.data[i];
		struct prof_cell *cell;

		if (v->columns[i] < 0)
			continue;
		cell = &cells[v->columns[i]];
		cell->quantity = m->period > 1
					 ? prof_sampled(counts[i], (double)m->period, m->label)
					 : quantity_exact((double)counts[i], m->label);
		cell->samples = counts[i];
		cell->percent = prof_percent((double)counts[i], (double)v->o.totals[i]);
	}
	if (row->role == PROF_ROW)
		cells[v->kind].text = names[kind];
	cells[v->sharing].text = sharing;
}

void dataspace_text(struct dataspace_view *v, unsigned depth, enum dataspace_row kind,
	const char *sharing, const uint64_t *counts, const char *text)
{
	const struct prof_row row = {.role = PROF_ROW,
		.parent = -1,
		.depth = depth,
		.procedure = prof_text(v->t, "%s", text)};

	dataspace_row(v, &row, kind, sharing, counts);
}

void dataspace_more(struct dataspace_view *v, size_t n, const char *what, unsigned depth)
{
	if (n)
		dataspace_text(v, depth, DATASPACE_MORE, NULL, NULL,
			prof_text(v->t, "... %zu more %s", n, what));
}

static uint32_t object_of(const struct experiment *x, int which, size_t row)
{
	return which == DATA_PLACES    ? experiment_place_at(x, row)->key.object
	       : which == DATA_TOUCHES ? experiment_touch_at(x, row)->key.object
				       : experiment_line_at(x, row)->key.object;
}

static int by_object(const void *pa, const void *pb)
{
	const struct dataspace_ref *a = pa, *b = pb;

	return sort_rising(a->object, b->object) ?: sort_rising(a->input, b->input)
		       ?: sort_rising(a->row, b->row);
}

void dataspace_refs(struct dataspace_view *v, int which)
{
	struct dataspace_refs *r = &v->refs[which];
	size_t n = v->o.all.count, all = 0, at = 0;

	for (size_t i = 0; i < v->d->request->count; i++)
		all += experiment_data_table(v->d->request->inputs[i].experiment, which)->count;
	r->first = prof_scratch(v->t, n + 1, sizeof(*r->first));
	r->ref = prof_scratch(v->t, all, sizeof(*r->ref));
	if (!r->first || !r->ref)
		return;
	for (uint32_t i = 0; i < v->d->request->count; i++) {
		const struct experiment *x = v->d->request->inputs[i].experiment;

		for (uint32_t k = 0; k < experiment_data_table(x, which)->count; k++)
			r->ref[at++] =
				(struct dataspace_ref){v->o.of[i][object_of(x, which, k)], i, k};
	}
	qsort(r->ref, all, sizeof(*r->ref), by_object);
	at = 0;
	for (size_t i = 0; i <= n; i++) {
		while (at < all && r->ref[at].object < i)
			at++;
		r->first[i] = at;
	}
}
