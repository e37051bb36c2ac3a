/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tables of prof as text: what it is about, then numbers on the left, places on the right.
 * A column of the table becomes several on the screen (value, %, cum.%, samples); each is as wide
 * as its widest number. Its label is below its name.
 */
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/shown.h"
#include "base/utf8.h"
#include "render/prof_private.h"
#include "render/prof_strips.h"

struct drawing {
	const struct report_table *table;
	struct prof_style *style;
	struct strbuf *out;
	prof_strips strips;
	size_t split; /* of a second line: its first strip, or all for the place; SIZE_MAX: none */
	size_t third; /* likewise */
	double most;  /* of the bar's column, in percent */
	bool *cut;    /* is set if a text was too long for the terminal */
	struct strbuf *left, *legend; /* of a listing: what was left out, and moved below */
	size_t *common;               /* [row]: see prof_common; NULL: rows are not cut */
};

enum { TEXT_WIDTH_MAX = 60 };
enum { TEXT_LEAST = 20, PLACE_LEAST = 28, CUT_LEAST = 12 }; /* less says nothing */
enum { SECOND_INDENT = 4, NOTE_INDENT = 2 }; /* of lines after the first: of a row, of a note */

static size_t prof_text_longer(size_t a, size_t b)
{
	return a > b ? a : b;
}

static size_t prof_text_shorter(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* The line since `from`, so. */
static void prof_text_again(const struct prof_style *style, size_t from, struct strbuf *out)
{
	char *text = strdup(strbuf_text(out) + from);

	out->length = from;
	out->failed |= !text;
	prof_head_sentence(style, text ? text : "", NOTE_INDENT, out);
	free(text);
}

static void prof_text_measure(struct drawing *g)
{
	const struct report_table *t = g->table;
	struct strbuf b = {0};

	g->most = prof_bar_most(t);
	for (size_t i = 0; i < g->strips.count; i++) {
		struct prof_strip *s = &g->strips.data[i];

		s->width = prof_text_longer(strlen(s->first), strlen(s->second));
		if (s->part == PROF_PART_BAR)
			s->width = prof_bar_width(t);
		for (size_t r = 0; r < t->rows.count && s->part != PROF_PART_BAR; r++) {
			b.length = 0;
			prof_strip_figure(t, g->style, s, r, g->most, &b);
			s->width = prof_text_longer(s->width, b.length);
		}
		if (s->part == PROF_PART_TEXT && s->width > TEXT_WIDTH_MAX)
			s->width = TEXT_WIDTH_MAX;
	}
	strbuf_fini(&b);
}

/* ---- what fits ---- */

static bool is_fitted(const struct drawing *g)
{
	enum report_layout layout = g->table->layout;

	return g->style->width &&
	       (layout == REPORT_LIST || layout == REPORT_TREE || layout == REPORT_BUTTERFLY);
}

static bool is_fitted_listing(const struct drawing *g)
{
	return g->style->width &&
	       (g->table->layout == REPORT_CODE || g->table->layout == REPORT_SOURCE);
}

/* The first strip of the line that the place is on. */
static size_t place_strips(const struct drawing *g)
{
	return g->split == SIZE_MAX ? 0 : g->third == SIZE_MAX ? g->split : g->third;
}

/* Columns of these strips and the indentation of their line. */
static size_t columns_of(const struct drawing *g, size_t from, size_t to)
{
	size_t used = g->split == SIZE_MAX || from < g->split ? 0 : SECOND_INDENT;

	for (size_t i = from; i < to; i++)
		used += 2 + g->strips.data[i].width;
	return used;
}

/* Columns before the place. */
static size_t columns_used(const struct drawing *g)
{
	return columns_of(g, place_strips(g), g->strips.count) + 2;
}

/* Texts among these strips of one line are narrower, the widest first, until there is some room.
 * False: there is none. */
static bool narrow_texts(struct drawing *g, size_t from, size_t to, size_t room)
{
	while (columns_of(g, from, to) + room > g->style->width) {
		struct prof_strip *widest = NULL;

		for (size_t i = from; i < to; i++) {
			struct prof_strip *s = &g->strips.data[i];

			if (s->part == PROF_PART_TEXT && s->width > TEXT_LEAST &&
				!(g->table->columns.data[s->column].flags & REPORT_MARGIN) &&
				(!widest || s->width > widest->width))
				widest = s;
		}
		if (!widest)
			return false;
		widest->width--;
	}
	return true;
}

static size_t widest_place(const struct drawing *g)
{
	struct strbuf b = {0};
	size_t most = strlen(prof_places_heading(g->table)), bytes;

	for (size_t i = 0; i < g->table->rows.count; i++) {
		if (prof_row_is_heading(g->table, i))
			continue;
		b.length = 0;
		prof_row_text(g->table, i, g->style, &b);
		if (b.length)
			most = prof_text_longer(most, prof_characters(b.data, &bytes, SIZE_MAX));
	}
	strbuf_fini(&b);
	return most;
}

/* The first text of a line's strips that is not within the width, or the place. */
static size_t split_at(const struct drawing *g, size_t from)
{
	for (size_t i = from; i < g->strips.count; i++)
		if (g->strips.data[i].part == PROF_PART_TEXT &&
			columns_of(g, from, i + 1) > g->style->width)
			return i;
	return g->strips.count;
}

static size_t deepest_row(const struct report_table *t)
{
	size_t most = 0;

	for (size_t i = 0; i < t->rows.count; i++)
		most = prof_text_longer(most, t->rows.data[i].depth);
	return most;
}

/* "time.inclusive" of a single metric is "inclusive". */
static void fit_inclusive(struct drawing *g)
{
	static const char of_metric[] = ".inclusive";
	struct prof_strip *found = NULL;

	for (size_t i = 0; i < g->strips.count; i++) {
		struct prof_strip *s = &g->strips.data[i];
		const char *dot = s->first ? strrchr(s->first, '.') : NULL;

		if (!dot || strcmp(dot, of_metric) != 0)
			continue;
		if (found)
			return;
		found = s;
	}
	if (found)
		found->first = strrchr(found->first, '.') + 1;
}

/* Where deep calls would leave names no room, a call is indented by one column, and the deepest
 * ones by no more than there is. */
static void fit_indents(struct drawing *g)
{
	size_t used = columns_used(g), deepest = deepest_row(g->table);
	size_t room = g->style->width > used ? g->style->width - used : 0;

	if (g->table->layout != REPORT_TREE || 2 * deepest + PLACE_LEAST <= room)
		return;
	g->style->indent_each = 1;
	if (deepest + PLACE_LEAST > room)
		g->style->indent_most = room > PLACE_LEAST ? room - PLACE_LEAST : 1;
}

/* Rows that are wider than the terminal have a second line, with texts of their usual width, and a
 * third if the place has no room there. */
static void fit_lines(struct drawing *g)
{
	size_t count = g->strips.count, place;

	if (narrow_texts(g, 0, count, PLACE_LEAST + 2))
		return;
	place = prof_text_shorter(widest_place(g), PLACE_LEAST);
	if (columns_used(g) + widest_place(g) <= g->style->width)
		return;
	prof_text_measure(g);
	g->split = split_at(g, 0);
	if (narrow_texts(g, g->split, count, place + 2) ||
		columns_used(g) + CUT_LEAST <= g->style->width)
		return;
	g->third = split_at(g, g->split);
	prof_text_measure(g);
	narrow_texts(g, g->split, g->third, 0);
	narrow_texts(g, g->third, count, place + 2);
}

static void fit_rows(struct drawing *g)
{
	if (is_fitted(g) && g->table->layout != REPORT_LIST)
		fit_inclusive(g);
	prof_text_measure(g);
	if (is_fitted_listing(g))
		prof_listing_fit(g->table, g->style->width, &g->strips, g->left);
	if (!is_fitted(g))
		return;
	fit_lines(g);
	fit_indents(g);
}

static void trim(struct strbuf *out)
{
	while (out->length && out->data && out->data[out->length - 1] == ' ')
		out->data[--out->length] = '\0';
}

static void second_line(const struct drawing *g)
{
	trim(g->out);
	strbuf_putc(g->out, '\n');
	strbuf_repeat(g->out, ' ', SECOND_INDENT);
}

static void put_heading(const struct drawing *g, size_t from, size_t to, bool second)
{
	for (size_t i = from; i < to; i++) {
		const struct prof_strip *s = &g->strips.data[i];

		shown_printf(g->out, prof_strip_left(s) ? "  %-*s" : "  %*s", (int)s->width,
			second ? s->second : s->first);
	}
}

/* How much of the place's heading is beside the names of columns: the words that fit; on a second
 * line, which has none below for the rest, no part of what is in brackets. */
static size_t place_heading(const struct drawing *g, const char *text)
{
	size_t length = strlen(text), used = columns_used(g), fits, open = strcspn(text, "(");

	if (!is_fitted(g) || used + length <= g->style->width)
		return length;
	for (fits = g->style->width > used ? g->style->width - used : 0; fits && text[fits] != ' ';)
		fits--;
	if (g->split != SIZE_MAX && open > 1 && fits > open - 1)
		fits = open - 1;
	return fits ? fits : length;
}

/* Names of columns, then their labels; those of a second line, which have none, below. */
static void headings(const struct drawing *g)
{
	const char *place = prof_places_heading(g->table);
	size_t length = place_heading(g, place);
	size_t count = g->strips.count, first = prof_text_shorter(g->split, count);
	bool two = g->split != SIZE_MAX;

	put_heading(g, 0, first, false);
	if (!two)
		shown_printf(g->out, "  %.*s", (int)length, place);
	trim(g->out);
	strbuf_putc(g->out, '\n');
	put_heading(g, 0, first, true);
	if (!two && place[length])
		shown_printf(g->out, "  %s", place + length + 1);
	if (two) {
		second_line(g);
		put_heading(g, first, prof_text_shorter(g->third, count), false);
		if (g->third != SIZE_MAX) {
			second_line(g);
			put_heading(g, g->third, count, false);
		}
		shown_printf(g->out, "  %.*s", (int)length, place);
	}
	trim(g->out);
	strbuf_puts(g->out, "\n\n");
}

static void numbers(const struct drawing *g, size_t row)
{
	struct strbuf b = {0};

	for (size_t i = 0; i < g->strips.count; i++) {
		const struct prof_strip *s = &g->strips.data[i];
		const struct report_cell *cell = &report_cells(g->table, row)[s->column];
		bool left = prof_strip_left(s), dim = g->style->dim && prof_strip_weak(s, cell);

		b.length = 0;
		if (!g->table->rows.data[row].joined)
			prof_strip_figure(g->table, g->style, s, row, g->most, &b);
		if (s->part == PROF_PART_TEXT && is_fitted(g))
			*g->cut |= prof_cut(&b, 0, s->width);
		if (i == g->split || i == g->third)
			second_line(g);
		strbuf_puts(g->out, "  ");
		if (!left && b.length < s->width)
			strbuf_repeat(g->out, ' ', s->width - b.length);
		if (dim)
			strbuf_puts(g->out, SHOWN_DIM);
		if (g->table->columns.data[s->column].flags & REPORT_MARGIN)
			prof_margin(strbuf_text(&b), g->style, g->out);
		else if (b.length)
			strbuf_add(g->out, b.data, b.length);
		if (dim)
			strbuf_puts(g->out, SHOWN_DIM_END);
		if (left && b.length < s->width)
			strbuf_repeat(g->out, ' ', s->width - b.length);
	}
	if (place_strips(g) == g->strips.count)
		second_line(g);
	strbuf_fini(&b);
}

/* Do names distinguish rows? In other reports several rows are of one function. */
static bool rows_are_functions(const struct report_table *t)
{
	static const char *const reports[] = {"procedures", "timeline", "butterfly", "calltree"};

	for (size_t i = 0; t->report && i < sizeof(reports) / sizeof(reports[0]); i++)
		if (strcmp(t->report, reports[i]) == 0)
			return true;
	return false;
}

static void prof_text_draw_row(const struct drawing *g, size_t i)
{
	const struct report_row *r = &g->table->rows.data[i];
	size_t used = prof_row_is_heading(g->table, i) ? 0 : columns_used(g), from;

	if (prof_row_is_heading(g->table, i))
		strbuf_putc(g->out, '\n');
	else if (r->role == REPORT_GAP && g->table->layout != REPORT_CODE)
		strbuf_puts(g->out, "  ");
	else {
		numbers(g, i);
		strbuf_puts(g->out, "  ");
	}
	from = g->out->length;
	prof_row_text(g->table, i, g->style, g->out);
	if (is_fitted_listing(g) && !used) {
		prof_text_again(g->style, from, g->out);
		return;
	}
	if (is_fitted_listing(g))
		*g->cut |= prof_listing_cut(g->out, from, g->style->width, used, g->legend);
	if (is_fitted(g) &&
		used + (g->split == SIZE_MAX ? PLACE_LEAST : CUT_LEAST) <= g->style->width)
		*g->cut |= prof_cut_place(g->out, from, g->style->width - used,
			g->common ? g->common[i] : 0, rows_are_functions(g->table));
	trim(g->out);
	strbuf_putc(g->out, '\n');
}

static void rows(const struct drawing *g)
{
	const struct report_table *t = g->table;
	const char *thread = NULL;

	for (size_t i = 0; i < t->rows.count; i++) {
		const struct report_row *r = &t->rows.data[i];

		if (r->thread && (!thread || strcmp(thread, r->thread) != 0)) {
			strbuf_puts(g->out, thread ? "\n" : "");
			shown_printf(g->out, "%s%s%s:", r->thread, r->group ? ", " : "",
				r->group ? r->group : "");
			strbuf_putc(g->out, '\n');
			thread = r->thread;
		}
		if (r->role == REPORT_TOTAL && i)
			strbuf_putc(g->out, '\n');
		prof_text_draw_row(g, i);
		if (r->role == REPORT_TOTAL && i + 1 < t->rows.count)
			strbuf_putc(g->out, '\n');
		if (t->layout == REPORT_BUTTERFLY && r->role != REPORT_CALLER &&
			r->role != REPORT_TOTAL &&
			(i + 1 == t->rows.count || t->rows.data[i + 1].role == REPORT_CALLER ||
				(t->rows.data[i + 1].role == REPORT_HEAD)))
			prof_head_rule(g->style, g->out);
	}
}

/* The longest " (file, line)" beside names. */
static size_t longest_tail(const struct report_table *t)
{
	size_t most = 0;

	for (size_t i = 0; i < t->rows.count; i++) {
		const struct report_row *r = &t->rows.data[i];

		if (r->procedure && r->file)
			most = prof_text_longer(
				most, strlen(file_base_name(r->file)) + strlen(" (, )") +
					      (size_t)snprintf(NULL, 0, "%u", r->line));
	}
	return most;
}

size_t render_prof_name_room(const struct report_table *t, const struct prof_style *style)
{
	enum { OF_CALLEES = 6, DEPTH = 5 };
	struct prof_style fitted = *style;
	struct drawing g = {.table = t, .style = &fitted, .split = SIZE_MAX, .third = SIZE_MAX};
	size_t room = SIZE_MAX, used, deep;

	if (is_fitted(&g) && prof_strips_make(t, style->intervals, &g.strips) == 0) {
		fit_rows(&g);
		used = columns_used(&g);
		deep = (fitted.indent_each ?: 2) * deepest_row(t);
		if (t->layout == REPORT_BUTTERFLY)
			used += OF_CALLEES;
		else if (fitted.indent_most && deep > fitted.indent_most)
			used += fitted.indent_most + DEPTH;
		else if (t->layout == REPORT_TREE)
			used += deep;
		room = fitted.width > used + CUT_LEAST ? fitted.width - used : CUT_LEAST;
		if (!rows_are_functions(t)) /* file and line have up to half */
			room -= prof_text_shorter(longest_tail(t), room / 2);
	}
	vec_fini(&g.strips);
	return room;
}

/* Below the rows. */
static void prof_text_notes(const struct drawing *g, struct strbuf *signs)
{
	const struct report_table *t = g->table;
	struct strbuf *out = g->out;

	if (t->layout != REPORT_FACTS && t->layout != REPORT_CAUSES)
		prof_signs(t, g->style->dim, signs);
	if (g->style->indent_most)
		strbuf_puts(signs, "[N] before a name: it is called by N others\n");
	if (*g->cut)
		strbuf_puts(signs, "Rows are cut to the width (-names full)\n");
	if (t->notes.count || signs->length || g->left->length || g->legend->length)
		strbuf_putc(out, '\n');
	if (signs->length)
		strbuf_add(out, signs->data, signs->length);
	if (g->left->length)
		prof_head_sentence(g->style, g->left->data, NOTE_INDENT, out);
	if (g->legend->length)
		prof_head_sentence(g->style, g->legend->data, NOTE_INDENT, out);
	for (size_t i = 0; i < t->notes.count; i++)
		prof_head_sentence(g->style, t->notes.data[i].value, NOTE_INDENT, out);
}

void render_prof_text(
	const struct report_table *t, const struct prof_style *style, struct strbuf *out)
{
	bool cut = false;
	struct strbuf signs = {0}, left = {0}, legend = {0};
	struct prof_style fitted = *style;
	struct drawing g = {.table = t,
		.style = &fitted,
		.out = out,
		.split = SIZE_MAX,
		.third = SIZE_MAX,
		.cut = &cut,
		.left = &left,
		.legend = &legend};

	prof_head(t, style, out);
	if (t->layout != REPORT_FACTS) {
		if (prof_strips_make(t, style->intervals, &g.strips)) {
			out->failed = true;
			vec_fini(&g.strips);
			return;
		}
		if (t->title)
			prof_head_sentence(style, t->title, NOTE_INDENT, out);
		prof_head_rule(style, out);
		if (t->layout == REPORT_CAUSES) {
			prof_draw_causes(t, out);
		} else {
			fit_rows(&g);
			if (is_fitted(&g))
				g.common = prof_common(t, g.style);
			if (t->rows.count)
				headings(&g);
			rows(&g);
		}
	}
	prof_text_notes(&g, &signs);
	out->failed |= signs.failed || left.failed || legend.failed;
	strbuf_fini(&signs);
	strbuf_fini(&left);
	strbuf_fini(&legend);
	free(g.common);
	vec_fini(&g.strips);
}
