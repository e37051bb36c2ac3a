/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Pages on the screen of cells. From the top: title, two lines of headings, rows; low screens have
 * fewer of these. Below, the command that prints the same, and keys or a question (draw_bottom.c).
 * Only visible rows are drawn.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "tui/actions.h"
#include "tui/draw.h"
#include "tui/panes.h"

enum { WIDEST_TEXT = 40, HOT = 5 /* percent */ };

/* The layout of a page in its pane. */
struct frame {
	struct tui *t;
	struct tui_page *p;
	struct tui_screen *s; /* the whole one, or the pane's own */
	struct prof_style style;
	bool corner;             /* the upper right one is its */
	bool active;             /* keys are for this page */
	int title, headings;     /* lines */
	int heading, body, rows; /* the first of these; -1: there is none; rows that fit */
	int place;               /* column where texts begin */
	bool *shown;             /* [strip] */
};

static void lay_out(struct frame *f, const struct tui_pane *pane)
{
	f->p = pane->page;
	f->active = pane->page == tui_top(f->t);
	f->title = pane->title;
	f->headings = pane->headings;
	f->rows = tui_pane_body(pane);
	f->heading = pane->headings ? pane->title : -1;
	f->body = pane->title + pane->headings;
}

static size_t draw_longer(size_t a, size_t b)
{
	return a > b ? a : b;
}

/* Columns are as wide as the widest number so far in them. */
static void draw_measure(struct frame *f)
{
	struct tui_page *p = f->p;
	struct strbuf b = {0};

	for (size_t i = 0; i < p->strips.count; i++) {
		struct prof_strip *s = &p->strips.data[i];

		s->width = draw_longer(s->width, draw_longer(strlen(s->first), strlen(s->second)));
		if (s->part == PROF_PART_BAR)
			s->width = prof_bar_width(p->table);
		for (size_t k = 0; k < (size_t)f->rows && s->part != PROF_PART_BAR; k++) {
			long row = tui_page_row(p, p->top + k);

			if (row < 0)
				break;
			b.length = 0;
			prof_strip_figure(p->table, &f->style, s, (size_t)row, p->bar_most, &b);
			s->width = draw_longer(s->width, tui_width(strbuf_text(&b), true));
		}
		if (s->part == PROF_PART_TEXT && s->width > WIDEST_TEXT)
			s->width = WIDEST_TEXT;
	}
	strbuf_fini(&b);
}

/* Strips with a low value are left out first if there is too little room. */
static int worth(const struct tui_page *p, size_t i)
{
	static const int parts[] = {
		[PROF_PART_INTERVAL] = 5,
		[PROF_PART_SAMPLES] = 1,
		[PROF_PART_CUMULATIVE] = 2,
		[PROF_PART_BAR] = 3,
		[PROF_PART_TEXT] = 4,
		[PROF_PART_PERCENT] = 5,
		[PROF_PART_VALUE] = 6,
	};
	enum { KEY = 7, MARGIN, FIRST_VALUE, FIRST_SHARE, LINE, SHARE, SORTED = 20 };
	const struct prof_strip *s = &p->strips.data[i];
	unsigned flags = p->table->columns.data[s->column].flags;
	int value = parts[s->part];

	if (flags & REPORT_BESIDE)
		value = parts[PROF_PART_CUMULATIVE];
	/* The main columns of the report have a higher value than others. */
	if (flags & REPORT_MARGIN)
		value = p->table->times.bins ? LINE : MARGIN;
	if (flags & REPORT_KEY && s->part != PROF_PART_INTERVAL)
		value = KEY;
	/* Of causes, all shares; they have the names of their columns then (draw_named). */
	if (p->table->layout == REPORT_CAUSES && s->part == PROF_PART_PERCENT)
		return p->sort == (long)i ? SHARE + SORTED : SHARE;

	if (s->column == p->strips.data[0].column && s->part == PROF_PART_PERCENT)
		value = FIRST_SHARE;
	else if (s->column == p->strips.data[0].column &&
		 (s->part == PROF_PART_VALUE || s->part == PROF_PART_INTERVAL))
		value = p->table->times.bins ? LINE : FIRST_VALUE;
	return p->sort == (long)i ? value + SORTED : value;
}

/* The strip whose headings are shown: of a share whose figure is not, the figure's. */
static const struct prof_strip *draw_named(const struct frame *f, size_t i)
{
	const struct prof_strip *s = &f->p->strips.data[i];

	if (f->p->table->layout != REPORT_CAUSES || s->part != PROF_PART_PERCENT || !i ||
		f->p->strips.data[i - 1].column != s->column || f->shown[i - 1])
		return s;
	return &f->p->strips.data[i - 1];
}

static int draw_width(const struct frame *f, size_t i)
{
	const struct prof_strip *named = draw_named(f, i);

	return (int)draw_longer(f->p->strips.data[i].width,
		draw_longer(strlen(named->first), strlen(named->second)));
}

static int numbers_width(const struct frame *f)
{
	int width = 1;

	for (size_t i = 0; i < f->p->strips.count; i++)
		if (f->shown[i])
			width += draw_width(f, i) + 2;
	return width;
}

/* Chooses the strips that fit. */
static void draw_choose(struct frame *f)
{
	struct tui_page *p = f->p;
	bool texts = p->table->layout == REPORT_SOURCE || p->table->layout == REPORT_TREE;
	int tenths = p->table->times.bins ? 3 : texts ? 5 : 4; /* for the text */
	int columns = f->s->columns, room = columns * tenths / 10;

	for (size_t i = 0; i < p->strips.count; i++)
		f->shown[i] = !p->hidden[i];
	while (numbers_width(f) + room > columns) {
		long drop = -1;

		for (size_t i = 0; i < p->strips.count; i++)
			if (f->shown[i] && (drop < 0 || worth(p, i) <= worth(p, (size_t)drop)))
				drop = (long)i;
		if (drop < 0)
			break;
		f->shown[drop] = false;
	}
	f->place = numbers_width(f) + 2;
}

/* Right or left in a column of the screen. */
static void put_field(
	struct frame *f, int row, int at, size_t strip, const char *text, enum tui_style style)
{
	const struct prof_strip *s = &f->p->strips.data[strip];
	int width = draw_width(f, strip), used = (int)tui_width(text, f->s->unicode);
	int begin = prof_strip_left(s) || used >= width ? at : at + width - used;

	tui_put(f->s, row, begin, at + width, 0, text, style);
}

static void draw_headings(struct frame *f)
{
	struct tui_page *p = f->p;
	bool unicode = f->s->unicode;
	int at = 1;

	if (f->heading < 0)
		return;
	for (int line = 0; line < f->headings; line++)
		tui_fill(f->s, f->heading + line, 0, f->s->columns, TUI_HEADING);
	for (size_t i = 0; i < p->strips.count; i++) {
		const struct prof_strip *s = &p->strips.data[i];
		char text[128];

		if (!f->shown[i])
			continue;
		snprintf(text, sizeof(text), "%s%s",
			p->sort != (long)i ? ""
			: p->reverse       ? unicode ? "\xe2\x96\xb2" : "^"
			: unicode          ? "\xe2\x96\xbc"
					   : "v",
			draw_named(f, i)->first);
		put_field(f, f->heading, at + 2, i, text, TUI_HEADING);
		if (p->table->times.bins && s->column == p->table->times.column)
			tui_times_text(p, text, sizeof(text));
		else
			snprintf(text, sizeof(text), "%s", draw_named(f, i)->second);
		if (f->headings > 1)
			put_field(f, f->heading + 1, at + 2, i, text, TUI_HEADING);
		at += draw_width(f, i) + 2;
	}
	tui_put(f->s, f->heading, f->place, f->s->columns, p->skip, prof_places_heading(p->table),
		TUI_HEADING);
}

static const char *bar_text(struct strbuf *b, bool unicode)
{
	size_t n = b->length;

	if (!unicode)
		return strbuf_text(b);
	b->length = 0;
	while (n--)
		strbuf_puts(b, "\xe2\x96\x88");
	return strbuf_text(b);
}

static void draw_numbers(struct frame *f, int line, size_t row)
{
	struct tui_page *p = f->p;
	struct strbuf b = {0}, margin = {0};
	int at = 1;

	for (size_t i = 0; i < p->strips.count; i++) {
		const struct prof_strip *s = &p->strips.data[i];
		const struct report_cell *cell = &report_cells(p->table, row)[s->column];
		enum tui_style style = prof_strip_weak(s, cell)   ? TUI_WEAK
				       : s->part == PROF_PART_BAR ? TUI_BAR
				       : s->part == PROF_PART_PERCENT && cell->percent >= HOT &&
						       p->table->rows.data[row].role != REPORT_TOTAL
					       ? TUI_HOT
					       : TUI_PLAIN;
		const char *text;

		if (!f->shown[i])
			continue;
		b.length = 0;
		margin.length = 0;
		prof_strip_figure(p->table, &f->style, s, row, p->bar_most, &b);
		text = b.length ? strbuf_text(&b) : "";
		if (s->part == PROF_PART_BAR && b.length) {
			text = bar_text(&b, f->s->unicode);
		} else if (p->table->columns.data[s->column].flags & REPORT_MARGIN) {
			prof_margin(text, &f->style, &margin);
			text = margin.length ? strbuf_text(&margin) : "";
		}
		put_field(f, line, at + 2, i, text, style);
		at += draw_width(f, i) + 2;
	}
	strbuf_fini(&b);
	strbuf_fini(&margin);
}

static void mark_match(struct frame *f, int line, int column, const char *text)
{
	const char *wanted = f->t->search.text, *hit;
	bool unicode = f->s->unicode;
	char *before;

	if (!wanted || !*wanted)
		return;
	hit = strcasestr(text, wanted);
	before = hit ? strndup(text, (size_t)(hit - text)) : NULL;
	if (before) {
		int from = column + (int)tui_width(before, unicode) - (int)f->p->skip;

		if (from + (int)tui_width(wanted, unicode) > column)
			tui_restyle(f->s, line, from < column ? column : from,
				from + (int)tui_width(wanted, unicode), TUI_MATCH);
	}
	free(before);
}

/* A mark shows whether the rows below a branch are visible. */
static void draw_fold(struct frame *f, int line, size_t row)
{
	const struct report_table *t = f->p->table;
	bool unicode = f->s->unicode;
	bool any = tui_row_has_children(t, row);
	bool folded = f->p->rows.collapsed && f->p->rows.collapsed[row];
	long at = f->place + 2 * (long)t->rows.data[row].depth - (long)f->p->skip;

	if (any && at >= f->place && at < f->s->columns)
		tui_put(f->s, line, (int)at, f->s->columns, 0,
			folded    ? unicode ? "\xe2\x96\xb8" : "+"
			: unicode ? "\xe2\x96\xbe"
				  : "-",
			TUI_KEY);
}

/* Tabs of a source line, which ends the text: stops are where the line has them, not the screen. */
static void spread_tabs(struct strbuf *text, const char *source)
{
	const char *whole = strbuf_text(text), *at = source ? strstr(whole, source) : NULL;
	struct strbuf out = {0};
	size_t column = 0;

	if (!at || !strchr(at, '\t'))
		return;
	strbuf_add(&out, whole, (size_t)(at - whole));
	for (; *at; at++) {
		size_t spaces = *at == '\t' ? 8 - column % 8 : 0;

		if (spaces)
			strbuf_printf(&out, "%*s", (int)spaces, "");
		else
			strbuf_putc(&out, *at);
		column += spaces ? spaces : ((unsigned char)*at & 0xc0) != 0x80;
	}
	strbuf_fini(text);
	*text = out;
}

static void draw_row_draw(struct frame *f, int line, size_t row)
{
	const struct report_table *t = f->p->table;
	const struct report_row *r = &t->rows.data[row];
	bool heading = prof_row_is_heading(t, row);
	enum tui_style style = heading || r->role == REPORT_SOURCE_LINE || r->role == REPORT_GAP
				       ? TUI_SOURCE
				       : TUI_PLAIN;
	int columns = f->s->columns, at = heading ? 2 : f->place;
	struct strbuf text = {0};

	if (!heading && (r->role != REPORT_GAP || t->layout == REPORT_CODE))
		draw_numbers(f, line, row);
	if (t->layout == REPORT_TREE && r->role != REPORT_TOTAL)
		at += 2;
	prof_row_text(t, row, &f->style, &text);
	spread_tabs(&text, r->text);
	tui_put(f->s, line, at, columns, f->p->skip, strbuf_text(&text), style);
	if (t->layout == REPORT_TREE)
		draw_fold(f, line, row);
	mark_match(f, line, at, strbuf_text(&text));
	strbuf_fini(&text);
}

static void draw_line(struct frame *f, int line, size_t at)
{
	struct tui_page *p = f->p;
	struct tui_screen *s = f->s;
	long row = tui_page_row(p, at);

	if (row >= 0) {
		draw_row_draw(f, line, (size_t)row);
	} else if (at < tui_page_count(p)) {
		const char *text = p->lines.data[at - p->rows.count];

		tui_put(s, line, 2, s->columns, p->skip, text, p->failed ? TUI_ERROR : TUI_PLAIN);
		mark_match(f, line, 2, text);
	}
	if (at == p->cursor && at < tui_page_count(p)) {
		if (f->active)
			tui_restyle(s, line, 0, s->columns, TUI_CURSOR);
		tui_put(s, line, 0, 1, 0, ">", f->active ? TUI_CURSOR : TUI_KEY);
	}
}

static void draw_waiting(struct frame *f)
{
	char what[160] = "", title[160];

	f->t->source.ops->progress(f->t->source.context, what, sizeof(what));
	tui_title(f->t, f->p, title, sizeof(title));
	tui_put(f->s, f->body + f->rows / 2, 2, f->s->columns, 0, what[0] ? what : title,
		TUI_STATUS);
	if (what[0] && f->rows > 2)
		tui_put(f->s, f->body + f->rows / 2 + 1, 2, f->s->columns, 0, "q: back",
			TUI_STATUS);
}

/* The label belongs to each number; where it has no line of its own it is in the title. */
static void draw_title(struct frame *f)
{
	struct tui_screen *s = f->s;
	char title[256], whole[420];
	const char *label = "";
	int at, width;

	if (!f->title)
		return;
	tui_fill(s, 0, 0, s->columns, TUI_TITLE);
	tui_title(f->t, f->p, title, sizeof(title));
	if (f->headings < 2 && f->p->strips.count)
		label = f->p->strips.data[0].second;
	snprintf(whole, sizeof(whole), "%s%s%s%s%s", title,
		f->p->preliminary ? " (first samples)" : "", label[0] ? " [" : "", label,
		label[0] ? "]" : "");
	at = tui_put(s, 0, 1, s->columns, 0, whole, TUI_TITLE);
	width = (int)tui_width(f->t->source.title, s->unicode);
	if (f->corner && at + 3 + width <= s->columns)
		tui_put(s, 0, s->columns - width - 1, s->columns, 0, f->t->source.title, TUI_TITLE);
}

/* One pane, on a screen of its own where there are two. */
static void draw_pane(struct tui *t, const struct tui_pane *pane, struct tui_screen *s)
{
	struct frame f = {.t = t, .s = s, .style = {.utf8 = t->screen.unicode}};
	struct tui_page *p = pane->page;
	size_t count = tui_page_count(p);

	lay_out(&f, pane);
	f.corner = !pane->row && pane->column + pane->columns == t->screen.columns;
	f.place = 2;
	f.shown = calloc(p->strips.count + 1, sizeof(*f.shown));
	if (!f.shown)
		return;
	draw_title(&f);
	if (p->rows.table) {
		draw_measure(&f);
		draw_choose(&f);
		draw_headings(&f);
	}
	for (int i = 0; i < f.rows && p->top + (size_t)i < count; i++)
		draw_line(&f, f.body + i, p->top + (size_t)i);
	if (p->waiting && !p->table)
		draw_waiting(&f);
	free(f.shown);
}

/* A pane of a part of the screen; beside another one there is a line between. */
static void draw_part(struct tui *t, const struct tui_pane *pane)
{
	struct tui_screen s = {.unicode = t->screen.unicode};

	if (tui_screen_resize(&s, pane->rows, pane->columns))
		return;
	draw_pane(t, pane, &s);
	for (int row = 0; row < pane->rows; row++)
		memcpy(&t->screen.cells[(pane->row + row) * t->screen.columns + pane->column],
			&s.cells[row * pane->columns], (size_t)pane->columns * sizeof(*s.cells));
	for (int row = 0; pane->column && row < pane->rows; row++)
		tui_put(&t->screen, pane->row + row, pane->column - 1, pane->column, 0,
			s.unicode ? "\xe2\x94\x82" : "|", row ? TUI_PLAIN : TUI_TITLE);
	tui_screen_fini(&s);
}

void tui_draw(struct tui *t)
{
	struct tui_pane panes[TUI_PANES];
	int count;

	tui_settle(t);
	tui_screen_clear(&t->screen);
	count = tui_panes(t, panes);
	if (count == 1)
		draw_pane(t, &panes[0], &t->screen);
	for (int i = 0; count > 1 && i < count; i++)
		draw_part(t, &panes[i]);
	tui_draw_bottom(t);
}

long tui_line_at(const struct tui *t, int row, int column)
{
	struct tui_pane pane = tui_pane_of(t, tui_top(t));
	int first = pane.row + pane.title + pane.headings;
	size_t line;

	if (row < first || row >= first + tui_pane_body(&pane) || column < pane.column ||
		column >= pane.column + pane.columns)
		return -1;
	line = pane.page->top + (size_t)(row - first);
	return line < tui_page_count(pane.page) ? (long)line : -1;
}

void tui_click(struct tui *t, int row, int column, bool twice)
{
	long line = tui_line_at(t, row, column);

	if (line < 0 || t->prompt.label)
		return;
	tui_top(t)->cursor = (size_t)line;
	if (twice)
		tui_key(t, TUI_KEY_RIGHT);
}
