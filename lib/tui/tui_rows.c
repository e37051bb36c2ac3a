/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tui/rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/clock.h"

enum { SLICE = 512 }; /* rows between two looks at the clock */

/* First rows are chosen, then sorted from the bottom up: runs of `width` rows in from[] are merged
 * into to[], from `left` on; a and b are the next ones of both runs, at is their target. */
struct tui_rows_job {
	char *filter;
	struct prof_strip by;
	bool by_column, by_place, reverse;
	size_t row;            /* next to be looked at */
	unsigned hidden_below; /* depth of the collapsed row whose rows are skipped; UINT_MAX */
	uint32_t *from, *to;
	double *keys; /* of rows of the table */
	size_t count;
	size_t width, left, a, b, at;
};

static void free_job(struct tui_rows *r)
{
	if (!r->job)
		return;
	free(r->job->filter);
	free(r->job->from);
	free(r->job->to);
	free(r->job->keys);
	free(r->job);
	r->job = NULL;
}

void tui_rows_set(struct tui_rows *r, const struct report_table *table)
{
	tui_rows_fini(r);
	r->table = table;
	r->count = table ? table->rows.count : 0;
}

uint8_t *tui_rows_collapsed(struct tui_rows *r)
{
	if (!r->collapsed)
		r->collapsed = calloc(r->table->rows.count + 1, 1);
	return r->collapsed;
}

void tui_rows_fini(struct tui_rows *r)
{
	free_job(r);
	free(r->index);
	free(r->collapsed);
	memset(r, 0, sizeof(*r));
}

/* Rows without an inherent order, which can be sorted. Of a butterfly those are its functions; of
 * all others, rows with numbers that are not sums. */
static bool sortable(const struct report_table *t, size_t row)
{
	return t->rows.data[row].role == (t->layout == REPORT_BUTTERFLY ? REPORT_HEAD : REPORT_ROW);
}

static double key_of(const struct report_cell *cell, enum prof_part part)
{
	const struct quantity *q = &cell->quantity;
	double key = q->value;

	if (q->label == LABEL_NONE)
		return -INFINITY;
	switch (part) {
	case PROF_PART_PERCENT:
	case PROF_PART_BAR:
		key = cell->percent;
		break;
	case PROF_PART_CUMULATIVE:
		key = -cell->cumulative;
		break;
	case PROF_PART_SAMPLES:
		key = (double)cell->samples;
		break;
	case PROF_PART_INTERVAL:
		key = q->value != 0 ? (q->high - q->low) / fabs(q->value) : -INFINITY;
		break;
	case PROF_PART_VALUE:
	case PROF_PART_TEXT:
		break;
	}
	return isnan(key) ? -INFINITY : key;
}

int tui_rows_start(struct tui_rows *r, const struct tui_order *order)
{
	struct tui_rows_job *j;
	bool sorts = order->by || order->by_place;
	size_t n = r->table ? r->table->rows.count : 0;

	free_job(r);
	if (!r->table)
		return 0;
	j = calloc(1, sizeof(*j));
	if (!j)
		return -1;
	r->job = j;
	j->filter = order->filter && *order->filter ? strdup(order->filter) : NULL;
	j->by_place = order->by_place;
	j->by_column = order->by != NULL;
	if (order->by)
		j->by = *order->by;
	j->reverse = order->reverse;
	j->hidden_below = UINT32_MAX;
	j->width = 1;
	j->from = malloc((n + 1) * sizeof(*j->from));
	j->to = sorts ? malloc((n + 1) * sizeof(*j->to)) : NULL;
	j->keys = order->by && order->by->part != PROF_PART_TEXT
			  ? malloc((n + 1) * sizeof(*j->keys))
			  : NULL;
	if (!j->from || (sorts && !j->to) ||
		(order->by && order->by->part != PROF_PART_TEXT && !j->keys) ||
		(order->filter && *order->filter && !j->filter)) {
		free_job(r);
		return -1;
	}
	return 0;
}

bool tui_row_matches(const struct report_table *t, size_t row, const char *text)
{
	static const struct prof_style style = {.dim = false};
	const struct report_row *r = &t->rows.data[row];
	struct strbuf b = {0};
	bool found;

	/* Most names need no text to be made. */
	if ((r->procedure && strcasestr(r->procedure, text)) ||
		(r->text && strcasestr(r->text, text)))
		return true;
	prof_row_text(t, row, &style, &b);
	found = strcasestr(strbuf_text(&b), text) != NULL;
	strbuf_fini(&b);
	return found;
}

static bool tui_rows_wanted(struct tui_rows *r, size_t row)
{
	struct tui_rows_job *j = r->job;
	const struct report_row *p = &r->table->rows.data[row];
	bool sorts = j->by_column || j->by_place;

	if (p->role == REPORT_TOTAL)
		return true;
	if (sorts && !sortable(r->table, row))
		return false;
	if (j->filter)
		return tui_row_matches(r->table, row, j->filter);
	if (sorts || !r->collapsed)
		return true;
	if (p->depth > j->hidden_below)
		return false;
	j->hidden_below = r->collapsed[row] ? p->depth : UINT32_MAX;
	return true;
}

static const char *tui_rows_name_of(const struct report_table *t, uint32_t row)
{
	const struct report_row *r = &t->rows.data[row];
	const char *name = r->procedure ? r->procedure : r->file ? r->file : r->image;

	return name ? name : "";
}

/* Does the second of two rows come before the first? Equal ones keep their order; the total is
 * last. */
static bool exchange(const struct tui_rows *r, uint32_t a, uint32_t b)
{
	const struct tui_rows_job *j = r->job;
	const struct report_row *rows = r->table->rows.data;
	int order = 0;

	if (rows[a].role == REPORT_TOTAL || rows[b].role == REPORT_TOTAL)
		return rows[b].role != REPORT_TOTAL;
	if (j->keys) {
		order = j->keys[b] > j->keys[a] ? 1 : j->keys[b] < j->keys[a] ? -1 : 0;
	} else if (j->by_place) {
		order = strcmp(tui_rows_name_of(r->table, a), tui_rows_name_of(r->table, b));
		if (!order)
			order = rows[a].line > rows[b].line   ? 1
				: rows[a].line < rows[b].line ? -1
							      : 0;
	} else {
		const char *x = report_cells(r->table, a)[j->by.column].text;
		const char *y = report_cells(r->table, b)[j->by.column].text;

		order = strcmp(x ? x : "", y ? y : "");
	}
	return j->reverse ? order < 0 : order > 0;
}

/* One step of each kind; true: there are more. */
static bool choose_row(struct tui_rows *r)
{
	struct tui_rows_job *j = r->job;

	if (j->row >= r->table->rows.count)
		return false;
	if (tui_rows_wanted(r, j->row)) {
		j->from[j->count++] = (uint32_t)j->row;
		if (j->keys)
			j->keys[j->row] =
				key_of(&report_cells(r->table, j->row)[j->by.column], j->by.part);
	}
	j->row++;
	return true;
}

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

static bool merge_row(struct tui_rows *r)
{
	struct tui_rows_job *j = r->job;
	size_t middle, right;

	if (!j->to || j->width >= j->count)
		return false;
	if (j->at == 0) {
		j->left = j->a = 0;
		j->b = j->width;
	}
	middle = least(j->left + j->width, j->count);
	right = least(j->left + 2 * j->width, j->count);
	if (j->a < middle && (j->b >= right || !exchange(r, j->from[j->a], j->from[j->b])))
		j->to[j->at++] = j->from[j->a++];
	else
		j->to[j->at++] = j->from[j->b++];
	if (j->at == right) {
		j->left = j->a = right;
		j->b = right + j->width;
	}
	if (j->at == j->count) {
		uint32_t *swap = j->from;

		j->from = j->to;
		j->to = swap;
		j->width *= 2;
		j->at = 0;
	}
	return true;
}

int tui_rows_work(struct tui_rows *r, uint64_t budget)
{
	struct tui_rows_job *j = r->job;
	uint64_t begin = budget == UINT64_MAX ? 0 : clock_ns();
	bool more = true;

	if (!j)
		return 0;
	while (more) {
		for (size_t i = 0; i < SLICE && more; i++)
			more = choose_row(r) || merge_row(r);
		if (more && budget != UINT64_MAX && clock_ns() - begin >= budget)
			return 1;
	}
	free(r->index);
	r->index = j->from;
	r->count = j->count;
	j->from = NULL;
	free_job(r);
	return 0;
}
