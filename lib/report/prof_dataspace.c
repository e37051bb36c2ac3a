/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * -dataspace: what misses and coherence requests are about.  Objects, most costly first; below each
 * the lines that threads took from each other, with both ends.
 */
#include "report/prof_dataspace.h"

#include <stdlib.h>
#include <string.h>

#include "base/plural.h"
#include "base/sort.h"
#include "report/prof_columns.h"
#include "report/prof_views.h"

struct rank {
	uint64_t first, all;
	uint32_t object;
	const char *name;
};

static int by_rank(const void *pa, const void *pb)
{
	const struct rank *a = pa, *b = pb;

	return sort_falling(a->first, b->first) ?: sort_falling(a->all, b->all)
		       ?: strcmp(a->name, b->name) ?: sort_rising(a->object, b->object);
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

static void add_object(struct dataspace_view *v, uint32_t object)
{
	const struct prof_object *o = prof_object_at(&v->o, object);
	const char *allocated = prof_string_at(v->d, o->key.file);
	struct image *file = o->kind == EXPERIMENT_OBJECT_VARIABLE
				     ? prof_names_file(&v->d->names, o->place)
				     : NULL;
	struct image_line declared = {0};
	struct prof_row row = {.role = PROF_ROW,
		.parent = -1,
		.procedure = prof_string_at(v->d, o->key.name),
		.image = o->key.image ? v->d->images.data[o->key.image].name : NULL,
		.file = *allocated ? allocated : NULL,
		.line = o->key.line,
		.address = o->address,
		.addressed = o->address != 0,
		.note = note_of(v, o)};

	if (file && image_variable_line(file, o->address, &declared) == 0) {
		row.file = declared.file;
		row.line = declared.line;
	}
	dataspace_row(v, &row, DATASPACE_OBJECT, NULL, v->o.counts + object * v->o.metrics.count);
	if (v->lines)
		places_rows(v, object);
	else
		members_rows(v, object);
	sharing_rows(v, object);
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
	size_t metrics = v->o.metrics.count;
	struct rank *ranks = prof_scratch(v->t, v->o.all.count, sizeof(*ranks));

	*count = 0;
	for (uint32_t i = 0; ranks && i < v->o.all.count; i++) {
		const uint64_t *counts = v->o.counts + i * metrics;
		struct rank r = {.object = i,
			.name = prof_string_at(v->d, prof_object_at(&v->o, i)->key.name),
			.first = counts[by]};

		for (size_t k = 0; k < metrics; k++)
			r.all += counts[k];
		if (r.all && is_selected(v, i))
			ranks[(*count)++] = r;
	}
	if (ranks)
		qsort(ranks, *count, sizeof(*ranks), by_rank);
	return ranks;
}

static void add_objects(struct dataspace_view *v)
{
	struct prof_cut cut = {.quit = v->d->request->quit};
	size_t n;
	const struct rank *ranks = rank_all(v, v->by, &n);

	for (size_t i = 0; i < n; i++) {
		if (prof_cuts(&cut,
			    prof_percent((double)ranks[i].first, (double)v->o.totals[v->by]))) {
			prof_left_out(v->t, n - i, "row", "-q");
			break;
		}
		add_object(v, ranks[i].object);
	}
}

static int make(struct dataspace_view *v, struct error *e)
{
	const struct prof_row total = {.role = PROF_TOTAL, .parent = -1};

	prof_describe(v->t, v->d);
	v->by = sort_metric(v);
	for (int which = DATA_PLACES; which <= DATA_LINES; which++)
		dataspace_refs(v, which);
	for (size_t i = 0; i < v->d->request->count; i++) {
		const struct experiment *x = v->d->request->inputs[i].experiment;

		for (size_t k = 0; k < x->data.lines.count; k++)
			v->requests += experiment_line_at(x, k)->requests;
	}
	dataspace_columns(v);
	if (v->t->failed)
		return error_nomem(e);
	add_objects(v);
	dataspace_row(v, &total, DATASPACE_OBJECT, NULL, v->o.totals);
	sharing_notes(v);
	if (v->d->request->calipers)
		prof_note(v->t, "Data space is of the whole run: -calipers does not divide it");
	for (size_t i = 0; i < v->d->request->count; i++) {
		uint64_t lost = v->d->request->inputs[i].experiment->data.lost;

		if (lost)
			prof_note(v->t, "A table was full %llu time%s: some of it is missing",
				(unsigned long long)lost, plural(lost));
	}
	return 0;
}

static int view(struct prof_data *d, struct prof_table *t, bool lines, struct error *e)
{
	struct dataspace_view v = {.d = d, .t = t, .lines = lines};
	int rc = prof_objects_init(&v.o, t, d, e);

	t->layout = PROF_TREE;
	t->places = "object (dso: file, line that declares or allocates it)";
	if (rc == 0)
		rc = make(&v, e);
	prof_objects_fini(&v.o);
	return prof_finish(t, rc, e);
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
