/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lists, most costly first: procedures, lines, images. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "explain/unskid.h"
#include "report/prof_columns.h"
#include "report/prof_views.h"

struct rank {
	uint64_t group, value; /* of the sorting metric: sum of the group, the entity's own */
	uint64_t others;       /* all metrics together, where the first has none */
	uint32_t entity;
	const struct prof_data *d;
	const struct prof_entity *of;
};

static int text_order(const struct prof_data *d, uint32_t a, uint32_t b)
{
	return a == b ? 0 : strcmp(prof_string_at(d, a), prof_string_at(d, b));
}

static int by_rank(const void *a, const void *b)
{
	const struct rank *x = a, *y = b;
	const struct prof_entity *p = x->of, *q = y->of;
	int order;

	if (x->group != y->group)
		return x->group > y->group ? -1 : 1;
	if (p->key.group != q->key.group)
		return p->key.group < q->key.group ? -1 : 1;
	if (x->value != y->value)
		return x->value > y->value ? -1 : 1;
	if (x->others != y->others)
		return x->others > y->others ? -1 : 1;
	order = text_order(x->d, p->key.procedure, q->key.procedure);
	if (order)
		return order;
	order = strcmp(x->d->images.data[p->key.image].image->path,
		x->d->images.data[q->key.image].image->path);
	if (order)
		return order;
	order = text_order(x->d, p->key.file, q->key.file);
	if (order)
		return order;
	if (p->key.line != q->key.line)
		return p->key.line < q->key.line ? -1 : 1;
	if (p->key.begin != q->key.begin)
		return p->key.begin < q->key.begin ? -1 : 1;
	return p->key.image < q->key.image ? -1 : p->key.image > q->key.image;
}

/* Entities in the order in which they are shown; *count of them. */
static struct rank *rank_all(const struct prof_data *d, const struct prof_sums *s, size_t *count)
{
	struct rank *ranks = calloc(s->entities.count + 1, sizeof(*ranks));
	uint64_t *groups = calloc(d->groups.count + 1, sizeof(*groups));
	const uint64_t *values = s->inclusive ? s->inclusive : s->own;

	*count = 0;
	for (size_t i = 0; ranks && groups && s->metrics && i < s->entities.count; i++)
		groups[prof_entity_at(s, i)->key.group] += s->own[i * s->metrics];
	for (size_t i = 0; ranks && groups && i < s->entities.count; i++) {
		const struct prof_entity *n = prof_entity_at(s, i);
		struct rank *r = &ranks[*count];

		*r = (struct rank){
			.group = groups[n->key.group], .entity = (uint32_t)i, .d = d, .of = n};
		for (size_t k = 0; k < s->metrics; k++)
			r->others += values[i * s->metrics + k];
		r->value = s->metrics ? values[i * s->metrics] : 0;
		*count += n->selected && r->others > 0;
	}
	if (!groups) {
		free(ranks);
		ranks = NULL;
	}
	free(groups);
	if (ranks)
		qsort(ranks, *count, sizeof(*ranks), by_rank);
	return ranks;
}

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

static int add_rows(struct prof_columns *c, const struct prof_sums *s, const struct rank *ranks,
	size_t count, enum prof_grain grain)
{
	struct prof_table *t = c->table;
	uint64_t *times = prof_executions(c, s);
	double cumulative = 0;
	size_t left = 0;

	for (size_t i = 0; times && i < count; i++) {
		const struct prof_entity *n = ranks[i].of;
		size_t at = ranks[i].entity * s->metrics;
		struct prof_row row;
		struct prof_cell *cell;
		double percent;
		long index;

		percent = c->data->metrics.data[0].samples
				  ? 100 * (double)ranks[i].value /
					    (double)c->data->metrics.data[0].samples
				  : 0;
		if (prof_quits(&c->data->request->quit, i, percent, cumulative)) {
			left = count - i;
			break;
		}
		if (prof_entity_row(t, c->data, n, grain, &row))
			goto memory;
		if (grain == PROF_BY_LINE)
			row.note = inlined_note(t, c->data, n);
		index = prof_row_add(t, &row);
		if (index < 0)
			goto memory;
		prof_columns_fill(c, (size_t)index, s->own + at,
			s->inclusive ? s->inclusive + at : NULL, times[ranks[i].entity]);
		cell = &prof_cells(t, (size_t)index)[c->own.data[0]];
		cumulative += s->inclusive ? 0 : cell->percent;
		cell->cumulative = s->inclusive ? NAN : fmin(cumulative, 100);
	}
	if (!times)
		return -1;
	free(times);
	if (!left)
		return 0;
	return prof_note(t, "%zu more row%s left out (-q)", left, left == 1 ? " is" : "s are");
memory:
	free(times);
	return -1;
}

static const char *title(struct prof_table *t, const struct prof_data *d, enum prof_grain grain)
{
	static const char *const lists[] = {
		[PROF_BY_IMAGE] = "Image list",
		[PROF_BY_PROCEDURE] = "Function list",
		[PROF_BY_LINE] = "Line list",
	};
	const struct experiment_metric *m = d->metrics.data[0].metric;

	return prof_text(t, "%s, in descending order by %s%s", lists[grain],
		d->request->inclusive ? "inclusive " : "exclusive ", m->name);
}

static int flat(struct prof_data *d, struct prof_table *t, enum prof_grain grain,
	const char *executions, struct error *e)
{
	bool inclusive = d->request->inclusive, moved = false;
	struct prof_columns c = {0};
	struct prof_sums s = {0};
	struct rank *ranks = NULL;
	size_t count;
	int rc = -1;

	t->layout = PROF_LIST;
	if (!d->metrics.count)
		return error_set(e, ERR_NOT_FOUND, "the experiment holds no metric");
	if ((grain == PROF_BY_LINE && prof_unskid(d, &moved, e)) ||
		(inclusive && prof_data_paths(d, e)) || prof_data_name(d, grain == PROF_BY_LINE, e))
		return -1;
	if (prof_columns_init(&c, t, d, inclusive ? PROF_COLUMNS_INCLUSIVE : 0,
		    d->request->compare ? NULL : executions, e))
		return -1;
	t->title = title(t, d, grain);
	t->places = grain == PROF_BY_IMAGE ? "dso" : NULL;
	if (t->title && prof_sums_init(&s, d, grain) == 0 &&
		(!inclusive || !prof_sums_inclusive(&s, d)))
		ranks = rank_all(d, &s, &count);
	if (ranks && add_rows(&c, &s, ranks, count, grain) == 0 && prof_columns_total(&c) == 0)
		rc = prof_coverage(t, d, e) || prof_both(t, d, &s, grain, e) ? -1 : 0;
	else
		error_nomem(e);
	if (rc == 0 && moved && prof_note(t, PROF_MOVED))
		rc = error_nomem(e);
	free(ranks);
	prof_sums_fini(&s);
	prof_columns_fini(&c);
	return rc;
}

int prof_procedures(struct prof_data *d, struct prof_table *t, struct error *e)
{
	t->report = "procedures";
	return flat(d, t, PROF_BY_PROCEDURE, "calls", e);
}

int prof_heavy(struct prof_data *d, struct prof_table *t, struct error *e)
{
	t->report = "heavy";
	return flat(d, t, PROF_BY_LINE, "executions", e);
}

int prof_images_view(struct prof_data *d, struct prof_table *t, struct error *e)
{
	t->report = "dso";
	return flat(d, t, PROF_BY_IMAGE, NULL, e);
}
