/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * -dataspace: what misses and coherence requests are about.  Objects, most costly first; below each
 * the lines that threads took from each other, with both ends.
 */
#include "report/prof_dataspace.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "events/numbers.h"
#include "report/prof_columns.h"
#include "report/prof_views.h"

/* ---- columns and rows ---- */

/* What only says again what another column says is for scripts. */
static bool is_for_scripts(int event)
{
	return event == EV_INTERVENTION_HITS || event == EV_INVALIDATION_HITS ||
	       event == EV_STORES_TO_SHARED || event == EV_DTLB_MISSES;
}

static int add_columns(struct dataspace_view *v)
{
	struct prof_column text = {.kind = PROF_TEXT,
		.flags = PROF_SCRIPTS,
		.name = "kind",
		.unit = "",
		.experiment = -1};

	for (size_t i = 0; i < v->o.metrics.count; i++) {
		const struct experiment_metric *m = v->o.metrics.data[i];
		struct prof_column c = {.kind = PROF_COUNT,
			.flags = PROF_PERCENT | (m->period == 1 ? PROF_EXACT : 0) |
				 (is_for_scripts(m->event) ? PROF_SCRIPTS : 0),
			.name = m->short_name,
			.unit = m->unit,
			.experiment = -1,
			.label = m->label};
		long *slot = vec_push(&v->columns);

		if (!slot)
			return -1;
		*slot = v->o.totals[i] ? prof_column_add(v->t, &c) : -1;
		if (v->o.totals[i] && *slot < 0)
			return -1;
	}
	v->kind = prof_column_add(v->t, &text);
	text.name = "sharing";
	v->sharing = prof_column_add(v->t, &text);
	return v->kind < 0 || v->sharing < 0 ? -1 : 0;
}

long dataspace_row(struct dataspace_view *v, const struct prof_row *row, enum dataspace_row kind,
	const char *sharing, const uint64_t *counts)
{
	static const char *const names[] = {[DATASPACE_OBJECT] = "object",
		[DATASPACE_LINE] = "line",
		[DATASPACE_END] = "end",
		[DATASPACE_MEMBER] = "member"};
	long index = prof_row_add(v->t, row);
	struct prof_cell *cells;

	if (index < 0)
		return -1;
	cells = prof_cells(v->t, (size_t)index);
	for (size_t i = 0; i < v->t->columns.count; i++)
		cells[i].percent = NAN;
	for (size_t i = 0; counts && i < v->o.metrics.count; i++) {
		const struct experiment_metric *m = v->o.metrics.data[i];
		struct prof_cell *cell;

		if (v->columns.data[i] < 0)
			continue;
		cell = &cells[v->columns.data[i]];
		cell->quantity = m->period > 1
					 ? prof_sampled(counts[i], (double)m->period, m->label)
					 : quantity_exact((double)counts[i], m->label);
		cell->samples = counts[i];
		cell->percent = 100 * (double)counts[i] / (double)v->o.totals[i];
	}
	if (row->role == PROF_ROW)
		cells[v->kind].text = names[kind];
	cells[v->sharing].text = sharing;
	return index;
}

int dataspace_more(struct dataspace_view *v, size_t n, const char *what, unsigned depth)
{
	struct prof_row row = {.role = PROF_ROW, .parent = -1, .depth = depth};

	if (!n)
		return 0;
	row.procedure = prof_text(v->t, "... %zu more %s", n, what);
	return row.procedure && dataspace_row(v, &row, DATASPACE_OBJECT, NULL, NULL) >= 0 ? 0 : -1;
}

/* ---- objects ---- */

struct rank {
	uint64_t first, all;
	uint32_t object;
	const char *name;
};

static int by_rank(const void *pa, const void *pb)
{
	const struct rank *a = pa, *b = pb;
	int order;

	if (a->first != b->first)
		return a->first > b->first ? -1 : 1;
	if (a->all != b->all)
		return a->all > b->all ? -1 : 1;
	order = strcmp(a->name, b->name);
	return order ? order : a->object < b->object ? -1 : a->object > b->object;
}

static const char *note_of(struct dataspace_view *v, const struct prof_object *o)
{
	if (o->blocks > 1)
		return prof_text(v->t, "%llu blocks, %llu bytes", (unsigned long long)o->blocks,
			(unsigned long long)o->bytes);
	return o->bytes ? prof_text(v->t, "%llu bytes", (unsigned long long)o->bytes) : NULL;
}

static int add_object(struct dataspace_view *v, uint32_t object)
{
	const struct prof_object *o = prof_object_at(&v->o, object);
	const char *file = prof_string_at(v->d, o->key.file);
	struct prof_row row = {.role = PROF_ROW,
		.parent = -1,
		.procedure = prof_string_at(v->d, o->key.name),
		.image = o->key.image ? v->d->images.data[o->key.image].name : NULL,
		.file = *file ? file : NULL,
		.line = o->key.line,
		.address = o->address,
		.addressed = o->address != 0,
		.note = note_of(v, o)};

	if (dataspace_row(
		    v, &row, DATASPACE_OBJECT, NULL, v->o.counts + object * v->o.metrics.count) < 0)
		return -1;
	return sharing_rows(v, object);
}

/* The first column that has anything. */
static size_t sort_metric(const struct dataspace_view *v)
{
	size_t i = 0;

	while (i + 1 < v->o.metrics.count && !v->o.totals[i])
		i++;
	return i;
}

static struct rank *rank_all(const struct dataspace_view *v, size_t by, size_t *count)
{
	size_t n = v->o.all.count, metrics = v->o.metrics.count;
	struct rank *ranks = calloc(n + 1, sizeof(*ranks));

	for (uint32_t i = 0; ranks && i < n; i++) {
		const uint64_t *counts = v->o.counts + i * metrics;

		ranks[i] = (struct rank){.object = i,
			.name = prof_string_at(v->d, prof_object_at(&v->o, i)->key.name),
			.first = counts[by]};
		for (size_t k = 0; k < metrics; k++)
			ranks[i].all += counts[k];
	}
	if (ranks)
		qsort(ranks, n, sizeof(*ranks), by_rank);
	while (ranks && n && !ranks[n - 1].all)
		n--;
	*count = n;
	return ranks;
}

static int add_objects(struct dataspace_view *v)
{
	size_t by = sort_metric(v), n, shown = 0;
	struct rank *ranks = rank_all(v, by, &n);
	double cumulative = 0;
	int rc = ranks ? 0 : -1;

	for (; rc == 0 && shown < n; shown++) {
		double percent =
			v->o.totals[by] ? 100 * (double)ranks[shown].first / (double)v->o.totals[by]
					: 0;

		if (prof_quits(&v->d->request->quit, shown, percent, cumulative))
			break;
		rc = add_object(v, ranks[shown].object);
		cumulative += percent;
	}
	free(ranks);
	if (rc == 0 && shown < n)
		rc = prof_note(v->t, "%zu more row%s left out (-q)", n - shown,
			n - shown == 1 ? " is" : "s are");
	return rc;
}

static int make(struct dataspace_view *v)
{
	struct prof_row total = {.role = PROF_TOTAL, .parent = -1};

	sharing_sum(v);
	if (add_columns(v) || add_objects(v) ||
		dataspace_row(v, &total, DATASPACE_OBJECT, NULL, v->o.totals) < 0)
		return -1;
	for (size_t i = 0; i < v->d->request->count; i++) {
		uint64_t lost = v->d->request->inputs[i].experiment->data.lost;

		if (lost && prof_note(v->t, "A table was full %llu times: some of it is missing",
				    (unsigned long long)lost))
			return -1;
	}
	return 0;
}

static int view(struct prof_data *d, struct prof_table *t, bool lines, struct error *e)
{
	struct dataspace_view v = {.d = d, .t = t, .lines = lines};
	int rc;

	t->layout = PROF_TREE;
	t->places = "object (dso: file, line of its allocation)";
	if (prof_objects_init(&v.o, d, e))
		return -1;
	rc = prof_describe(t, d, e);
	if (rc == 0 && make(&v))
		rc = error_nomem(e);
	vec_fini(&v.columns);
	prof_objects_fini(&v.o);
	return rc;
}

int prof_dataspace(struct prof_data *d, struct prof_table *t, struct error *e)
{
	t->report = "dataspace";
	t->title = "Objects that data misses and coherence requests are about";
	return view(d, t, false, e);
}
