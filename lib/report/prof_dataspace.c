/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * -dataspace: what misses and coherence requests are about.  Objects, most costly first; below each
 * the lines that threads took from each other, with both ends.
 */
#include "report/prof_dataspace.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/plural.h"
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
		[DATASPACE_MEMBER] = "member",
		[DATASPACE_PLACE] = "place",
		[DATASPACE_LINE] = "line",
		[DATASPACE_END] = "end",
		[DATASPACE_MORE] = "more"};
	long index = prof_row_add(v->t, row);
	struct prof_cell *cells;

	if (index < 0)
		return -1;
	if (row->depth)
		v->t->rows.data[index].parent = v->last[row->depth - 1];
	v->last[row->depth] = index;
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

int dataspace_text(struct dataspace_view *v, unsigned depth, enum dataspace_row kind,
	const char *sharing, const uint64_t *counts, const char *text)
{
	struct prof_row row = {.role = PROF_ROW,
		.parent = -1,
		.depth = depth,
		.procedure = prof_text(v->t, "%s", text)};

	return row.procedure && dataspace_row(v, &row, kind, sharing, counts) >= 0 ? 0 : -1;
}

int dataspace_more(struct dataspace_view *v, size_t n, const char *what, unsigned depth)
{
	const char *text = n ? prof_text(v->t, "... %zu more %s", n, what) : "";

	if (!text)
		return -1;
	return n ? dataspace_text(v, depth, DATASPACE_MORE, NULL, NULL, text) : 0;
}

/* ---- rows of an object ---- */

static uint32_t object_of(const struct experiment *x, int which, size_t row)
{
	return which == DATA_PLACES    ? experiment_place_at(x, row)->key.object
	       : which == DATA_TOUCHES ? experiment_touch_at(x, row)->key.object
				       : experiment_line_at(x, row)->key.object;
}

static int make_refs(struct dataspace_view *v, int which)
{
	struct dataspace_refs *r = &v->refs[which];
	size_t n = v->o.all.count, all = 0, *at;

	for (size_t i = 0; i < v->d->request->count; i++)
		all += experiment_data_table(v->d->request->inputs[i].experiment, which)->count;
	r->first = calloc(n + 2, sizeof(*r->first));
	r->ref = calloc(all + 1, sizeof(*r->ref));
	if (!r->first || !r->ref)
		return -1;
	at = r->first + 1; /* at[i] is where the next row of i goes; first[i + 1] in the end */
	for (int pass = 0; pass < 2; pass++) {
		for (size_t i = 0; i < v->d->request->count; i++) {
			const struct experiment *x = v->d->request->inputs[i].experiment;
			size_t rows = experiment_data_table(x, which)->count;

			for (size_t k = 0; k < rows; k++) {
				uint32_t o = v->o.of[i][object_of(x, which, k)];

				if (pass)
					r->ref[at[o]++] =
						(struct dataspace_ref){(uint32_t)i, (uint32_t)k};
				else
					r->first[o + 2 <= n ? o + 2 : n + 1]++;
			}
		}
		for (size_t i = 2; !pass && i <= n + 1; i++)
			r->first[i] += r->first[i - 1];
	}
	return 0;
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
	return o->bytes ? prof_text(v->t, "%llu byte%s", (unsigned long long)o->bytes,
				  plural(o->bytes))
			: NULL;
}

static int add_object(struct dataspace_view *v, uint32_t object)
{
	const struct prof_object *o = prof_object_at(&v->o, object);
	const char *file = prof_string_at(v->d, o->key.file);
	struct image_line declared = {0};
	struct prof_row row = {.role = PROF_ROW,
		.parent = -1,
		.procedure = prof_string_at(v->d, o->key.name),
		.image = o->key.image ? v->d->images.data[o->key.image].name : NULL,
		.file = *file ? file : NULL,
		.line = o->key.line,
		.address = o->address,
		.addressed = o->address != 0,
		.note = note_of(v, o)};

	if (o->kind == EXPERIMENT_OBJECT_VARIABLE && v->d->names.ops->declared &&
		v->d->names.ops->declared(v->d->names.context, o->place, o->address, &declared) ==
			0) {
		row.file = declared.file;
		row.line = declared.line;
	}
	if (dataspace_row(
		    v, &row, DATASPACE_OBJECT, NULL, v->o.counts + object * v->o.metrics.count) < 0)
		return -1;
	if (v->lines)
		return places_rows(v, object) || sharing_rows(v, object) ? -1 : 0;
	return members_rows(v, object) || sharing_rows(v, object) ? -1 : 0;
}

/* The first column that has anything. */
static size_t sort_metric(const struct dataspace_view *v)
{
	size_t i = 0;

	while (i + 1 < v->o.metrics.count && !v->o.totals[i])
		i++;
	return i;
}

/* -only, -exclude. */
static bool is_selected(const struct dataspace_view *v, uint32_t object)
{
	const struct prof_object *o = prof_object_at(&v->o, object);

	return prof_wanted(v->d, o->key.image, o->key.name);
}

static struct rank *rank_all(const struct dataspace_view *v, size_t by, size_t *count)
{
	size_t n = v->o.all.count, metrics = v->o.metrics.count;
	struct rank *ranks = calloc(n + 1, sizeof(*ranks));

	for (uint32_t i = 0; ranks && i < n; i++) {
		const uint64_t *counts = v->o.counts + i * metrics;

		ranks[i] = (struct rank){.object = i,
			.name = prof_string_at(v->d, prof_object_at(&v->o, i)->key.name),
			.first = is_selected(v, i) ? counts[by] : 0};
		for (size_t k = 0; k < metrics && is_selected(v, i); k++)
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
	size_t by = v->by, n, shown = 0;
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

	v->by = sort_metric(v);
	for (int which = DATA_PLACES; which <= DATA_LINES; which++)
		if (make_refs(v, which))
			return -1;
	for (size_t i = 0; i < v->d->request->count; i++) {
		const struct experiment *x = v->d->request->inputs[i].experiment;

		for (size_t k = 0; k < x->data.lines.count; k++)
			v->requests += experiment_line_at(x, k)->requests;
	}
	if (add_columns(v) || add_objects(v) ||
		dataspace_row(v, &total, DATASPACE_OBJECT, NULL, v->o.totals) < 0 ||
		sharing_notes(v))
		return -1;
	if (v->d->request->calipers &&
		prof_note(v->t, "Data space is of the whole run: -calipers does not divide it"))
		return -1;
	for (size_t i = 0; i < v->d->request->count; i++) {
		uint64_t lost = v->d->request->inputs[i].experiment->data.lost;

		if (lost && prof_note(v->t, "A table was full %llu time%s: some of it is missing",
				    (unsigned long long)lost, plural(lost)))
			return -1;
	}
	return 0;
}

static int view(struct prof_data *d, struct prof_table *t, bool lines, struct error *e)
{
	struct dataspace_view v = {.d = d, .t = t, .lines = lines};
	int rc;

	t->layout = PROF_TREE;
	t->places = "object (dso: file, line that declares or allocates it)";
	if (prof_objects_init(&v.o, d, e))
		return -1;
	rc = prof_describe(t, d, e);
	if (rc == 0 && make(&v))
		rc = error_nomem(e);
	vec_fini(&v.columns);
	for (int which = 0; which < DATA_TABLES; which++) {
		free(v.refs[which].first);
		free(v.refs[which].ref);
	}
	prof_objects_fini(&v.o);
	return rc;
}

int prof_dataspace(struct prof_data *d, struct prof_table *t, struct error *e)
{
	t->report = "dataspace";
	t->title = "Objects that data misses and coherence requests are about";
	return view(d, t, false, e);
}

int prof_datalines(struct prof_data *d, struct prof_table *t, struct error *e)
{
	t->report = "datalines";
	t->title = "Cache lines of objects that data misses and coherence requests are about";
	return view(d, t, true, e);
}
