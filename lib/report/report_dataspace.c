/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * -dataspace: the data of misses and coherence requests. Objects, most costly first; below each the
 * lines that threads took from each other, with both ends.
 */
#include "report/report_dataspace.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/plural.h"
#include "base/sort.h"
#include "report/report_columns.h"
#include "report/report_views.h"

struct rank {
	uint64_t first, all;
	uint32_t object;
	const char *name;
};

static int dataspace_by_rank(const void *pa, const void *pb)
{
	const struct rank *a = pa, *b = pb;

	return sort_falling(a->first, b->first) ?: sort_falling(a->all, b->all)
		       ?: strcmp(a->name, b->name) ?: sort_rising(a->object, b->object);
}

static const char *note_of(struct report_dataspace_view *v, const struct report_object *o)
{
	if (o->blocks > 1)
		return report_text(v->t, "%llu blocks, %llu bytes", (unsigned long long)o->blocks,
			(unsigned long long)o->bytes);
	return o->bytes ? report_text(v->t, "%llu byte%s", (unsigned long long)o->bytes,
				  plural(o->bytes))
			: NULL;
}

static void dataspace_add_object(struct report_dataspace_view *v, uint32_t object)
{
	const struct report_object *o = report_object_at(&v->o, object);
	const char *allocated = profile_string_at(v->d, o->key.file);
	struct image *file = o->kind == EXPERIMENT_OBJECT_VARIABLE
				     ? profile_names_file(&v->d->names, o->place)
				     : NULL;
	struct image_line declared = {0};
	struct report_row row = {.role = REPORT_ROW,
		.parent = -1,
		.procedure = profile_string_at(v->d, o->key.name),
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
	report_dataspace_row(
		v, &row, REPORT_DATASPACE_OBJECT, NULL, v->o.counts + object * v->o.metrics.count);
	if (v->lines)
		report_places_rows(v, object);
	else
		report_members_rows(v, object);
	report_sharing_rows(v, object);
}

/* The first column that has anything. */
static size_t sort_metric(const struct report_dataspace_view *v)
{
	size_t i = 0;

	while (i + 1 < v->o.metrics.count && !v->o.totals[i])
		i++;
	return i;
}

/* -only, -exclude. */
static bool is_selected(const struct report_dataspace_view *v, uint32_t object)
{
	const struct report_object *o = report_object_at(&v->o, object);

	return profile_wanted(v->d, o->key.image, o->key.name);
}

static struct rank *rank_all(const struct report_dataspace_view *v, size_t by, size_t *count)
{
	size_t metrics = v->o.metrics.count;
	struct rank *ranks = report_scratch(v->t, v->o.all.count, sizeof(*ranks));

	*count = 0;
	for (uint32_t i = 0; ranks && i < v->o.all.count; i++) {
		const uint64_t *counts = v->o.counts + i * metrics;
		struct rank r = {.object = i,
			.name = profile_string_at(v->d, report_object_at(&v->o, i)->key.name),
			.first = counts[by]};

		for (size_t k = 0; k < metrics; k++)
			r.all += counts[k];
		if (r.all && is_selected(v, i))
			ranks[(*count)++] = r;
	}
	if (ranks)
		qsort(ranks, *count, sizeof(*ranks), dataspace_by_rank);
	return ranks;
}

static bool is_worth_showing(const struct report_dataspace_view *v, uint32_t object)
{
	return report_dataspace_worth(v, v->o.counts + object * v->o.metrics.count);
}

/* Small objects, together. */
static void add_small_objects(struct report_dataspace_view *v, const struct rank *ranks, size_t n)
{
	size_t metrics = v->o.metrics.count, objects = 0;
	uint64_t *sums = report_scratch(v->t, metrics, sizeof(*sums));
	struct report_row row = {.role = REPORT_ROW, .parent = -1};

	for (size_t i = 0; sums && i < n; i++) {
		const uint64_t *counts = v->o.counts + ranks[i].object * metrics;

		if (is_worth_showing(v, ranks[i].object))
			continue;
		objects++;
		for (size_t k = 0; k < metrics; k++)
			sums[k] += counts[k];
	}
	if (!objects)
		return;
	row.procedure = report_text(v->t, "%zu other%s, below %g%% each (-whole)", objects,
		plural(objects), REPORT_DATASPACE_WORTH);
	report_dataspace_row(v, &row, REPORT_DATASPACE_OBJECT, NULL, sums);
}

static void add_objects(struct report_dataspace_view *v)
{
	const struct prof_quit *q = &v->d->request->quit;
	struct report_cut cut = {.quit = *q};
	bool whole = q->rows || q->percent > 0 || q->cumulative > 0 || v->d->request->whole;
	size_t n;
	const struct rank *ranks = rank_all(v, v->by, &n);

	for (size_t i = 0; i < n; i++) {
		if (!whole && !is_worth_showing(v, ranks[i].object))
			continue;
		if (report_cuts(&cut,
			    report_percent((double)ranks[i].first, (double)v->o.totals[v->by]))) {
			report_left_out(v->t, n - i, "row", "-q");
			break;
		}
		dataspace_add_object(v, ranks[i].object);
	}
	if (!whole)
		add_small_objects(v, ranks, n);
}

static int dataspace_make(struct report_dataspace_view *v, struct error *e)
{
	const struct report_row total = {.role = REPORT_TOTAL, .parent = -1};

	report_describe(v->t, v->d);
	v->by = sort_metric(v);
	for (int which = EXPERIMENT_PLACES; which <= EXPERIMENT_LINES; which++)
		report_dataspace_refs(v, which);
	for (size_t i = 0; i < v->d->request->count; i++) {
		const struct experiment *x = v->d->request->inputs[i].experiment;

		for (size_t k = 0; k < x->lines.count; k++)
			v->requests += experiment_line_at(x, k)->requests;
	}
	report_dataspace_columns(v);
	if (v->t->failed)
		return error_nomem(e);
	add_objects(v);
	report_dataspace_row(v, &total, REPORT_DATASPACE_OBJECT, NULL, v->o.totals);
	report_dataspace_heads(v);
	report_sharing_notes(v);
	if (profile_divides(v->d->request))
		report_note(v->t, "Data space is of the whole run: -calipers, -from and -to do not "
				  "divide it");
	for (size_t i = 0; i < v->d->request->count; i++) {
		uint64_t lost = v->d->request->inputs[i].experiment->data.lost;

		if (lost)
			report_note(v->t, "A table was full %llu time%s: some of it is missing",
				(unsigned long long)lost, plural(lost));
	}
	report_coverage(v->t, v->d);
	return 0;
}

static int view(struct prof_data *d, struct report_table *t, bool lines, struct error *e)
{
	struct report_dataspace_view v = {.d = d, .t = t, .lines = lines};
	int rc = report_objects_init(&v.o, t, d, e);

	t->layout = REPORT_TREE;
	t->places = "object (dso: file, line that declares or allocates it)";
	if (rc == 0)
		rc = dataspace_make(&v, e);
	report_objects_fini(&v.o);
	return report_finish(t, rc, e);
}

int report_dataspace(struct prof_data *d, struct report_table *t, struct error *e)
{
	t->report = "dataspace";
	t->title = "Objects that data misses and coherence requests are about";
	return view(d, t, false, e);
}

int report_datalines(struct prof_data *d, struct report_table *t, struct error *e)
{
	t->report = "datalines";
	t->title = "Cache lines of objects that data misses and coherence requests are about";
	return view(d, t, true, e);
}
