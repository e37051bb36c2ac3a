/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The columns on the screen that a table's columns become (value, interval, %, cum.%, samples,
 * bar), and the texts of one row: for the tables of the report and of the interface.
 */
#ifndef RENDER_PROF_STRIPS_H
#define RENDER_PROF_STRIPS_H

#include "render/prof.h"

enum prof_part {
	PROF_PART_VALUE,
	PROF_PART_INTERVAL,
	PROF_PART_PERCENT,
	PROF_PART_CUMULATIVE,
	PROF_PART_SAMPLES,
	PROF_PART_BAR,
	PROF_PART_TEXT
};

struct prof_strip {
	size_t column; /* of the table */
	enum prof_part part;
	size_t width;               /* for the code that draws */
	const char *first, *second; /* its two lines of heading */
};

typedef VEC(struct prof_strip) prof_strips;

/* In order from left to right; -1 when memory is out. */
int prof_strips_make(const struct report_table *t, bool intervals, prof_strips *strips);

/* Texts and bars are left-aligned in their column, numbers right-aligned. */
static inline bool prof_strip_left(const struct prof_strip *s)
{
	return s->part == PROF_PART_TEXT || s->part == PROF_PART_BAR;
}

/* Does the cell mean too little to be shown like others? */
static inline bool prof_strip_weak(const struct prof_strip *s, const struct report_cell *cell)
{
	return cell->weak && (s->part == PROF_PART_VALUE || s->part == PROF_PART_PERCENT);
}

/* Characters that a bar may take. */
size_t prof_bar_width(const struct report_table *t);
/* The percentage of the longest bar. */
double prof_bar_most(const struct report_table *t);

/* The figure of a row; nothing where there is none.  A margin is not drawn yet (prof_margin). */
void prof_strip_figure(const struct report_table *t, const struct prof_style *style,
	const struct prof_strip *s, size_t row, double bar_most, struct strbuf *out);
/* A margin's cells (flow/arrows.h) as lines. */
void prof_margin(const char *cells, const struct prof_style *style, struct strbuf *out);

/* The text after the numbers: the place, indented if the layout is a tree, or code, or the line of
 * source. */
void prof_row_text(const struct report_table *t, size_t row, const struct prof_style *style,
	struct strbuf *out);
/* A heading of its own, without numbers: a file of REPORT_SOURCE, for example. */
static inline bool prof_row_is_heading(const struct report_table *t, size_t row)
{
	return t->rows.data[row].role == REPORT_HEAD && t->layout != REPORT_BUTTERFLY;
}
/* The heading over it. */
const char *prof_places_heading(const struct report_table *t);

#endif
