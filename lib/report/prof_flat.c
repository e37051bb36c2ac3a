/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lists, most costly first: procedures, lines, images. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "explain/unskid.h"
#include "report/prof_columns.h"
#include "report/prof_views.h"

/* -heavy: the function that the line was inlined from is worth saying. */
static const char *inlined_note(
	struct prof_table *t, const struct prof_data *d, const struct prof_entity *n)
{
	const struct prof_place *p = prof_place_at(d, n->place);
	struct image_frame frames[2];

	if (n->key.inlined || !n->key.line ||
		d->names.ops->inlines(d->names.context, p->key.image, p->key.address, frames, 2) <
			2 ||
		!frames[0].name)
		return n->key.inlined ? "inlined" : NULL;
	return prof_text(t, "inlined %s", frames[0].name);
}

static void add_rows(struct prof_columns *c, const struct prof_sums *s,
	const struct prof_rank *ranks, size_t count, enum prof_grain grain)
{
	struct prof_cut cut = {.quit = c->data->request->quit};
	const uint64_t *times = prof_executions(c, s);
	struct prof_table *t = c->table;

	if (!times)
		t->failed = true;
	for (size_t i = 0; times && i < count; i++) {
		size_t at = ranks[i].entity * s->metrics, index;
		struct prof_row row;

		if (prof_cuts(&cut, prof_percent((double)ranks[i].value,
					    (double)c->data->metrics.data[0].samples))) {
			prof_left_out(t, count - i, "row", "-q");
			return;
		}
		cut.cumulative = s->inclusive ? 0 : cut.cumulative;
		row = prof_entity_row(t, c->data, ranks[i].of, grain);
		if (grain == PROF_BY_LINE)
			row.note = inlined_note(t, c->data, ranks[i].of);
		index = prof_row_add(t, &row);
		prof_columns_fill(c, index, s->own + at, s->inclusive ? s->inclusive + at : NULL,
			times[ranks[i].entity]);
		prof_cells(t, index)[c->own[0]].cumulative =
			s->inclusive ? NAN : fmin(cut.cumulative, 100);
	}
}

static void rows(struct prof_columns *c, struct prof_sums *s, enum prof_grain grain)
{
	size_t count;
	const struct prof_rank *ranks = prof_ranks(c->table, c->data, s, 0, true, &count);

	c->table->title = prof_text(c->table, "%s list, in descending order by %s%s",
		prof_grains[grain].title, s->inclusive ? "inclusive " : "exclusive ",
		c->data->metrics.data[0].metric->name);
	c->table->places = grain == PROF_BY_IMAGE ? "dso" : NULL;
	if (ranks)
		add_rows(c, s, ranks, count, grain);
}

int prof_list(struct prof_data *d, struct prof_table *t, enum prof_grain grain,
	const char *executions, prof_list_rows *add, struct error *e)
{
	bool inclusive = d->request->inclusive && grain != PROF_BY_SOURCE, moved = false;
	struct prof_columns c;
	struct prof_sums s = {0};
	int rc;

	if (!d->metrics.count)
		return error_set(e, ERR_NOT_FOUND, "the experiment has no metric");
	if ((grain >= PROF_BY_LINE && prof_unskid(d, &moved, e)) ||
		(inclusive && prof_data_paths(d, e)) ||
		prof_data_name(d, grain >= PROF_BY_LINE, e) ||
		prof_columns_init(&c, t, d, inclusive ? PROF_COLUMNS_INCLUSIVE : 0,
			d->request->compare ? NULL : executions, e))
		return prof_finish(t, -1, e);
	if (prof_sums_init(&s, d, grain) || (inclusive && prof_sums_inclusive(&s, d))) {
		rc = error_nomem(e);
	} else {
		add(&c, &s, grain);
		prof_columns_total(&c);
		prof_coverage(t, d);
		rc = prof_both(t, d, &s, grain, e);
	}
	if (moved)
		prof_note(t, PROF_MOVED);
	prof_sums_fini(&s);
	return prof_finish(t, rc, e);
}

int prof_procedures(struct prof_data *d, struct prof_table *t, struct error *e)
{
	t->report = "procedures";
	t->layout = PROF_LIST;
	return prof_list(d, t, PROF_BY_PROCEDURE, "calls", rows, e);
}

int prof_heavy(struct prof_data *d, struct prof_table *t, struct error *e)
{
	t->report = "heavy";
	t->layout = PROF_LIST;
	return prof_list(d, t, PROF_BY_LINE, "executions", rows, e);
}

int prof_images_view(struct prof_data *d, struct prof_table *t, struct error *e)
{
	t->report = "dso";
	t->layout = PROF_LIST;
	return prof_list(d, t, PROF_BY_IMAGE, NULL, rows, e);
}
