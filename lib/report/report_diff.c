/* SPDX-License-Identifier: GPL-2.0-or-later */
/* prof -diff: what changed between runs before and after, and by how much. */
#include "report/report_diff.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"

#include "explain/unskid.h"
#include "report/report_columns.h"
#include "report/report_views.h"

static size_t add_column(
	struct report_diff *f, const struct report_pair *pair, const char *what, unsigned flags)
{
	const struct experiment_metric *m = pair->metric;
	bool clock = m->flags & METRIC_CLOCK && !f->data->request->shares;
	struct report_column c = {
		.kind = f->data->request->shares || flags & REPORT_SCRIPTS ? REPORT_RATIO
									   : REPORT_COUNT,
		.flags = flags | (clock && !(flags & REPORT_SCRIPTS) ? REPORT_SECONDS : 0) |
			 (m->flags & METRIC_EXACT ? REPORT_EXACT : 0),
		.unit = flags & REPORT_SCRIPTS     ? "probability"
			: f->data->request->shares ? "%"
			: clock                    ? "seconds"
						   : m->unit,
		.experiment = (long)pair->runs.data[0],
		.label = m->label,
	};

	c.name = report_text(f->table, "%s.%s", pair->name, what);
	c.heading = f->pairs.count > 1 ? report_text(f->table, "%s %s", pair->name, what) : what;
	if (flags & (REPORT_CHANGE | REPORT_SCRIPTS) && !(m->flags & METRIC_EXACT) &&
		m->label != LABEL_MODEL)
		c.label = LABEL_ESTIMATED;
	return report_column_add(f->table, &c);
}

/* "dsc"; of two of that name, the second is "dsc.2". */
static const char *pair_name(struct report_diff *f, size_t pair)
{
	const char *name = f->pairs.data[pair].metric->short_name;
	int n = 1;

	name = name[0] ? name : "count";
	for (size_t i = 0; i < pair; i++)
		n += strcmp(f->pairs.data[i].metric->short_name,
			     f->pairs.data[pair].metric->short_name) == 0;
	return n > 1 ? report_text(f->table, "%s.%d", name, n) : name;
}

static void diff_add_columns(struct report_diff *f)
{
	for (size_t i = 0; i < f->pairs.count; i++) {
		struct report_pair *pair = &f->pairs.data[i];

		pair->name = pair_name(f, i);
		pair->before = add_column(f, pair, "before", REPORT_SAMPLES);
		pair->after = add_column(f, pair, "after", REPORT_SAMPLES);
		pair->change = add_column(f, pair, "change", REPORT_CHANGE | REPORT_PERCENT);
		pair->p = add_column(f, pair, "p", REPORT_SCRIPTS);
	}
}

static uint64_t side_count(const struct report_pair *pair, size_t row, unsigned side)
{
	const uint64_t *n = pair->table.counts + row * pair->runs.count;
	uint64_t sum = 0;

	for (size_t i = 0; i < pair->runs.count; i++)
		sum += (i >= pair->sides[0]) == side ? n[i] : 0;
	return sum;
}

static void fill_cells(struct report_diff *f, const struct report_pair *pair, size_t row,
	struct report_cell *cells)
{
	const struct compare_change *c = &pair->table.changes[row];
	const struct report_column *columns = f->table->columns.data;
	bool exact = pair->table.design.exact;

	for (unsigned side = 0; side < 2; side++) {
		struct report_cell *cell = &cells[side ? pair->after : pair->before];

		cell->samples = side_count(pair, row, side);
		cell->weak = !exact && cell->samples && cell->samples < PROF_WEAK;
		cell->quantity =
			(struct quantity){pair->unit * c->rates[side], pair->unit * c->lows[side],
				pair->unit * c->highs[side], pair->metric->label};
		cell->percent = NAN;
	}
	cells[pair->change] = (struct report_cell){
		.quantity = {pair->unit * (c->rates[1] - c->rates[0]), pair->unit * c->low,
			pair->unit * c->high, columns[pair->change].label},
		.percent = c->rates[0] > 0 ? 100 * (c->rates[1] / c->rates[0] - 1) : NAN,
		.weak = row < f->sums.entities.count && !c->differs};
	cells[pair->p] = (struct report_cell){
		.quantity = quantity_exact(c->p, columns[pair->p].label), .percent = NAN};
}

/* Of a row in which no run of one side has anything. */
static const char *one_sided(const struct report_diff *f, size_t row)
{
	uint64_t n[2] = {0};

	for (size_t i = 0; i < f->pairs.count; i++)
		for (unsigned side = 0; side < 2; side++)
			n[side] += side_count(&f->pairs.data[i], row, side);
	return !n[0] ? "appeared" : !n[1] ? "vanished" : NULL;
}

struct order {       /* of a row that changed */
	double size; /* of its change in the first metric in which it did */
	size_t pair, row;
};

static int by_change(const void *pa, const void *pb)
{
	const struct order *a = pa, *b = pb;

	return sort_rising(a->pair, b->pair) ?: sort_falling_number(a->size, b->size)
		       ?: sort_rising(a->row, b->row);
}

/* The rows that changed, most first; *count of them. */
static struct order *changed_rows(const struct report_diff *f, size_t *count)
{
	struct order *order = report_scratch(f->table, f->sums.entities.count, sizeof(*order));

	*count = 0;
	for (size_t i = 0; order && i < f->sums.entities.count; i++)
		for (size_t k = 0; k < f->pairs.count; k++) {
			const struct compare_change *c = &f->pairs.data[k].table.changes[i];

			if (!c->differs)
				continue;
			order[(*count)++] = (struct order){fabs(c->rates[1] - c->rates[0]), k, i};
			break;
		}
	if (order)
		qsort(order, *count, sizeof(*order), by_change);
	return order;
}

/* The place's own name: the entity's key is the part that both builds have in common. */
static void true_names(
	const struct report_diff *f, const struct prof_entity *n, struct report_row *row)
{
	const struct prof_name *name = &f->data->name[n->place];
	const struct profile_place *place = profile_place_at(f->data, n->place);
	struct image_frame function = {0};
	struct image_line line;

	row->image = f->data->images.data[place->key.image].name;
	row->note = NULL; /* of the place below, not of the key */
	if (report_diff_written(f->data, n->place, &function) > 1 &&
		(f->grain == PROF_BY_LINE || name->inlined)) {
		row->procedure = report_text(f->table, "%s", function.name);
		row->note = "inlined";
		row->file = function.line.file;
		row->line = function.declared;
	}
	if (f->grain == PROF_BY_PROCEDURE && !name->inlined && name->begin &&
		profile_function_line(f->data, place->key.image, name->begin, &line) == 0) {
		row->file = line.file;
		row->line = line.line;
	}
	if (f->grain != PROF_BY_LINE)
		return;
	row->file = name->file ? profile_string_at(f->data, name->file) : NULL;
	row->line = name->line;
}

static void diff_add_row(struct report_diff *f, size_t row)
{
	const struct prof_entity *n = profile_entity_at(&f->sums, row);
	const char *note = one_sided(f, row);
	struct report_row r = report_entity_row(f->table, f->data, n, f->grain);
	size_t at;

	true_names(f, n, &r);
	r.addressed = false;
	if (note)
		r.note = r.note ? report_text(f->table, "%s, %s", r.note, note) : note;
	at = report_row_add(f->table, &r);
	for (size_t i = 0; i < f->pairs.count; i++)
		fill_cells(f, &f->pairs.data[i], row, report_cells(f->table, at));
}

static void add_total(struct report_diff *f)
{
	const struct report_row r = {.role = REPORT_TOTAL, .parent = -1};
	struct report_cell *cells = report_cells(f->table, report_row_add(f->table, &r));

	for (size_t i = 0; i < f->pairs.count; i++) {
		const struct report_pair *pair = &f->pairs.data[i];

		fill_cells(f, pair, f->sums.entities.count, cells);
		if (f->data->request->shares)
			cells[pair->change].quantity.label = cells[pair->p].quantity.label =
				LABEL_NONE;
	}
}

static void diff_add_rows(struct report_diff *f)
{
	struct report_cut cut = {.quit = f->data->request->quit};
	size_t count;
	const struct order *order = changed_rows(f, &count);

	cut.quit.cumulative = 0;
	add_total(f);
	for (size_t i = 0; i < count; i++) {
		const struct report_pair *pair = &f->pairs.data[order[i].pair];
		const struct compare_change *all = &pair->table.changes[f->sums.entities.count];

		if (report_cuts(&cut, 100 * order[i].size / fmax(all->rates[0], all->rates[1]))) {
			report_note(f->table, "%zu more row%s changed and left out (-q)", count - i,
				count - i == 1 ? " is" : "s are");
			break;
		}
		diff_add_row(f, order[i].row);
	}
	report_diff_notes(f, count);
}

static int diff_make(struct report_diff *f, struct error *e)
{
	struct prof_data *d = f->data;
	bool moved = false;
	bool lines =
		f->grain == PROF_BY_LINE || (f->grain == PROF_BY_PROCEDURE && d->request->inlines);

	if ((lines && explain_unskid(d, &moved, e)) ||
		(d->request->inclusive && profile_data_paths(d, e)) ||
		profile_data_name(d, f->grain == PROF_BY_LINE, e) || report_diff_pairs(f, e))
		return -1;
	if (report_diff_sums(&f->sums, d, f->grain) ||
		(d->request->inclusive && profile_sums_inclusive(&f->sums, d)))
		return error_nomem(e);
	if (report_diff_compare(f, e))
		return -1;
	diff_add_columns(f);
	if (f->table->failed)
		return error_nomem(e);
	report_diff_head(f);
	diff_add_rows(f);
	if (lines)
		report_unskid_note(f->table, d, moved);
	return 0;
}

static int diff(struct prof_data *d, struct report_table *t, enum prof_grain grain, struct error *e)
{
	struct report_diff f = {.data = d, .table = t, .grain = grain};
	int rc;

	t->report = "diff";
	t->layout = REPORT_LIST;
	t->places = grain == PROF_BY_IMAGE ? "dso" : NULL;
	rc = diff_make(&f, e);
	report_diff_pairs_fini(&f);
	profile_sums_fini(&f.sums);
	return report_finish(t, rc, e);
}

int report_diff(struct prof_data *d, struct report_table *t, struct error *e)
{
	return diff(d, t, PROF_BY_PROCEDURE, e);
}

int report_diff_lines(struct prof_data *d, struct report_table *t, struct error *e)
{
	return diff(d, t, PROF_BY_LINE, e);
}

int report_diff_images(struct prof_data *d, struct report_table *t, struct error *e)
{
	return diff(d, t, PROF_BY_IMAGE, e);
}
