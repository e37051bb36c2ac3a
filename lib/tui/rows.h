/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which rows of a table are shown, and in which order: all, or those that match a filter, sorted,
 * without rows below collapsed ones. Work that takes long with millions of rows is done in slices:
 * tui_rows_work runs for a given time, and the old rows are valid until all is done.
 *
 * Cost: a text for each row to filter; a merge sort of numbers to sort, n log n in all, 12 bytes of
 * memory per row while it runs, 4 after that.
 */
#ifndef TUI_ROWS_H
#define TUI_ROWS_H

#include "render/prof_strips.h"

struct tui_order {
	const char *filter;          /* borrowed while it works; NULL or "": all */
	const struct prof_strip *by; /* copied; NULL: as the table has them */
	bool by_place;               /* by names; then `by` is NULL */
	bool reverse;
};

struct tui_rows {
	const struct report_table *table;
	uint32_t *index; /* rows of the table; NULL: all, in order */
	size_t count;
	uint8_t *collapsed; /* [row] of a tree; NULL: none is */
	struct tui_rows_job *job;
};

/* All rows. */
void tui_rows_set(struct tui_rows *r, const struct report_table *table);
void tui_rows_fini(struct tui_rows *r);

static inline size_t tui_rows_at(const struct tui_rows *r, size_t i)
{
	return r->index ? r->index[i] : i;
}

/* Which rows are collapsed, [row], to be changed before tui_rows_start; NULL when memory is out. */
uint8_t *tui_rows_collapsed(struct tui_rows *r);
/* Begins; work in progress is dropped. -1 when memory is out, and the rows stay. */
int tui_rows_start(struct tui_rows *r, const struct tui_order *order);
/* Works for a number of ns (UINT64_MAX: to the end). 1: there is more to do; 0: done; -1: memory.
 */
int tui_rows_work(struct tui_rows *r, uint64_t budget);
static inline bool tui_rows_busy(const struct tui_rows *r)
{
	return r->job != NULL;
}

/* Is anything below this row of a tree? */
static inline bool tui_row_has_children(const struct report_table *t, size_t row)
{
	return row + 1 < t->rows.count && t->rows.data[row + 1].role == REPORT_ROW &&
	       t->rows.data[row + 1].depth > t->rows.data[row].depth;
}

/* Does this row of the table hold the text, in whatever case? */
bool tui_row_matches(const struct report_table *t, size_t row, const char *text);

#endif
