/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lists, most costly first: procedures, lines, images. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "explain/unskid.h"
#include "report/report_columns.h"
#include "report/report_views.h"

/* -heavy: the function that the line was inlined from is worth saying. */
static const char *inlined_note(
	struct report_table *t, const struct prof_data *d, const struct prof_entity *n)
{
	const struct profile_place *p = profile_place_at(d, n->place);
	struct image_frame frames[2];

	if (n->key.inlined || !n->key.line ||
		d->names.ops->inlines(d->names.context, p->key.image, p->key.address, frames, 2) <
			2 ||
		!frames[0].name)
		return n->key.inlined ? "inlined" : NULL;
	return report_text(t, "inlined %s", frames[0].name);
}

/* -q counts rows of each process, or whatever the list is divided by. */
static void flat_add_rows(struct report_columns *c, const struct prof_sums *s,
	const struct report_rank *ranks, size_t count, enum prof_grain grain)
{
	struct report_cut cut = {.quit = c->data->request->quit};
	struct report_fold fold = report_fold_samples(c->data);
	const uint64_t *times = report_executions(c, s);
	struct report_table *t = c->table;
	size_t left = 0;

	if (!times)
		t->failed = true;
	for (size_t i = 0; times && i < count; i++) {
		bool begins = !i || ranks[i].of->key.group != ranks[i - 1].of->key.group;
		size_t at = ranks[i].entity * s->metrics, index;
		struct report_row row;

		cut.shown = begins ? 0 : cut.shown;
		if (report_folds(&fold, (s->inclusive ? s->inclusive : s->own) + at, s->metrics))
			continue;
		if (report_cuts(&cut, report_percent((double)ranks[i].value,
					      (double)c->data->metrics.data[0].samples))) {
			left++;
			continue;
		}
		cut.cumulative = s->inclusive ? 0 : cut.cumulative;
		row = report_entity_row(t, c->data, ranks[i].of, grain);
		if (row.thread && begins)
			row.group = report_text(t, "%.1f%%",
				report_percent((double)ranks[i].group,
					(double)c->data->metrics.data[0].samples));
		if (grain == PROF_BY_LINE)
			row.note = inlined_note(t, c->data, ranks[i].of);
		index = report_row_add(t, &row);
		report_columns_fill(c, index, s->own + at, s->inclusive ? s->inclusive + at : NULL,
			times[ranks[i].entity]);
		if (c->beside.of)
			report_beside_fill(&c->beside, t, index, &c->beside.of[ranks[i].entity]);
		report_cells(t, index)[c->own[0]].cumulative =
			s->inclusive ? NAN : fmin(cut.cumulative, 100);
	}
	report_left_out(t, left, "row", "-q");
	report_folded(t, &fold, "row", s->inclusive ? 0 : c->data->metrics.data[0].samples);
}

static void flat_rows(struct report_columns *c, struct prof_sums *s, enum prof_grain grain)
{
	size_t count;
	struct report_rank *ranks = report_ranks(c->table, c->data, s, 0, true, &count);

	c->table->title = report_text(c->table, "%s list, in descending order by %s%s",
		profile_grains[grain].title, s->inclusive ? "inclusive " : "exclusive ",
		report_metric_name(c->data->metrics.data[0].metric));
	c->table->places = grain == PROF_BY_IMAGE ? "dso" : NULL;
	if (ranks)
		count = report_beside_drop(c->table, &c->beside, c->data, s, ranks, count);
	if (ranks)
		flat_add_rows(c, s, ranks, count, grain);
}

int report_list(struct prof_data *d, struct report_table *t, enum prof_grain grain,
	const char *executions, report_list_rows *add, struct error *e)
{
	bool inclusive = d->request->inclusive && grain != PROF_BY_SOURCE, moved = false;
	/* What was inlined may be before or after the address found. */
	bool lines = grain >= PROF_BY_LINE || (d->request->inlines && grain == PROF_BY_PROCEDURE);
	struct report_columns c;
	struct prof_sums s = {0};
	int rc;

	if (profile_data_metrics(d, e))
		return -1;
	if ((lines && explain_unskid(d, &moved, e)) || (inclusive && profile_data_paths(d, e)) ||
		profile_data_name(d, grain >= PROF_BY_LINE, e) ||
		report_columns_init(&c, t, d, inclusive ? REPORT_COLUMNS_INCLUSIVE : 0,
			d->request->compare ? NULL : executions, e))
		return report_finish(t, -1, e);
	report_beside_init(&c.beside, t, d);
	if (profile_sums_init(&s, d, grain) || (inclusive && profile_sums_inclusive(&s, d))) {
		rc = error_nomem(e);
	} else {
		if (c.beside.any)
			c.beside.of = profile_waited_of(&c.beside.modelled, d, &s);
		t->failed |= c.beside.any && !c.beside.of;
		add(&c, &s, grain);
		report_columns_total(&c);
		report_coverage(t, d);
		rc = report_both(t, d, &s, grain, e);
	}
	if (lines)
		report_unskid_note(t, d, moved);
	report_beside_fini(&c.beside);
	profile_sums_fini(&s);
	return report_finish(t, rc, e);
}

int report_procedures(struct prof_data *d, struct report_table *t, struct error *e)
{
	t->report = "procedures";
	t->layout = REPORT_LIST;
	return report_list(d, t, PROF_BY_PROCEDURE, "calls", flat_rows, e);
}

int report_heavy(struct prof_data *d, struct report_table *t, struct error *e)
{
	t->report = "heavy";
	t->layout = REPORT_LIST;
	return report_list(d, t, PROF_BY_LINE, "executions", flat_rows, e);
}

int report_images_view(struct prof_data *d, struct report_table *t, struct error *e)
{
	t->report = "dso";
	t->layout = REPORT_LIST;
	return report_list(d, t, PROF_BY_IMAGE, NULL, flat_rows, e);
}
