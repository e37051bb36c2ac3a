/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Pages on the screen of cells. From the top: title, two lines of headings, rows, the command that
 * prints the same, and keys or a question; low screens have fewer of these. Only visible rows are
 * drawn.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "tui/actions.h"
#include "tui/draw.h"

enum { WIDEST_TEXT = 40, HOT = 5 /* percent */ };

/* The layout of a page at this size. */
struct frame {
	struct tui *t;
	struct tui_page *p;
	struct prof_style style;
	int heading, body, rows, status, last; /* lines; -1: there is none */
	int place;                             /* column where texts begin */
	bool *shown;                           /* [strip] */
};

static void lay_out(struct frame *f)
{
	int rows = f->t->screen.rows;
	bool headings = f->p->rows.table != NULL;

	f->rows = tui_body_rows(f->t);
	f->last = rows > 1 ? rows - 1 : -1;
	f->status = rows >= 7 ? rows - 2 : -1;
	f->heading = rows >= 5 && headings ? 1 : -1;
	f->body = rows < 3 ? 0 : 1 + (f->heading > 0) + (f->heading > 0 && rows >= 7);
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
	enum { KEY = 7, MARGIN, FIRST_VALUE, FIRST_SHARE, LINE, SORTED = 20 };
	const struct prof_strip *s = &p->strips.data[i];
	unsigned flags = p->table->columns.data[s->column].flags;
	int value = parts[s->part];

	/* The main columns of the report have a higher value than others. */
	if (flags & REPORT_MARGIN)
		value = p->table->times.bins ? LINE : MARGIN;
	if (flags & REPORT_KEY && s->part != PROF_PART_INTERVAL)
		value = KEY;

	if (s->column == p->strips.data[0].column && s->part == PROF_PART_PERCENT)
		value = FIRST_SHARE;
	else if (s->column == p->strips.data[0].column &&
		 (s->part == PROF_PART_VALUE || s->part == PROF_PART_INTERVAL))
		value = p->table->times.bins ? LINE : FIRST_VALUE;
	return p->sort == (long)i ? value + SORTED : value;
}

static int numbers_width(const struct frame *f)
{
	int width = 1;

	for (size_t i = 0; i < f->p->strips.count; i++)
		if (f->shown[i])
			width += (int)f->p->strips.data[i].width + 2;
	return width;
}

/* Chooses the strips that fit. */
static void draw_choose(struct frame *f)
{
	struct tui_page *p = f->p;
	bool texts = p->table->layout == REPORT_SOURCE || p->table->layout == REPORT_TREE;
	int tenths = p->table->times.bins ? 3 : texts ? 5 : 4; /* for the text */
	int columns = f->t->screen.columns, room = columns * tenths / 10;

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
static void put_field(struct frame *f, int row, int at, const struct prof_strip *s,
	const char *text, enum tui_style style)
{
	int width = (int)s->width, used = (int)tui_width(text, f->t->screen.unicode);
	int begin = prof_strip_left(s) || used >= width ? at : at + width - used;

	tui_put(&f->t->screen, row, begin, at + width, 0, text, style);
}

static void draw_headings(struct frame *f)
{
	struct tui_page *p = f->p;
	bool unicode = f->t->screen.unicode;
	int at = 1;

	if (f->heading < 0)
		return;
	for (int line = 0; line < (f->status >= 0 ? 2 : 1); line++)
		tui_fill(&f->t->screen, f->heading + line, 0, f->t->screen.columns, TUI_HEADING);
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
			s->first);
		put_field(f, f->heading, at + 2, s, text, TUI_HEADING);
		if (p->table->times.bins && s->column == p->table->times.column)
			tui_times_text(p, text, sizeof(text));
		else
			snprintf(text, sizeof(text), "%s", s->second);
		if (f->status >= 0)
			put_field(f, f->heading + 1, at + 2, s, text, TUI_HEADING);
		at += (int)s->width + 2;
	}
	tui_put(&f->t->screen, f->heading, f->place, f->t->screen.columns, p->skip,
		prof_places_heading(p->table), TUI_HEADING);
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
			text = bar_text(&b, f->t->screen.unicode);
		} else if (p->table->columns.data[s->column].flags & REPORT_MARGIN) {
			prof_margin(text, &f->style, &margin);
			text = margin.length ? strbuf_text(&margin) : "";
		}
		put_field(f, line, at + 2, s, text, style);
		at += (int)s->width + 2;
	}
	strbuf_fini(&b);
	strbuf_fini(&margin);
}

static void mark_match(struct frame *f, int line, int column, const char *text)
{
	const char *wanted = f->t->search.text, *hit;
	bool unicode = f->t->screen.unicode;
	char *before;

	if (!wanted || !*wanted)
		return;
	hit = strcasestr(text, wanted);
	before = hit ? strndup(text, (size_t)(hit - text)) : NULL;
	if (before) {
		int from = column + (int)tui_width(before, unicode) - (int)f->p->skip;

		if (from + (int)tui_width(wanted, unicode) > column)
			tui_restyle(&f->t->screen, line, from < column ? column : from,
				from + (int)tui_width(wanted, unicode), TUI_MATCH);
	}
	free(before);
}

/* A mark shows whether the rows below a branch are visible. */
static void draw_fold(struct frame *f, int line, size_t row)
{
	const struct report_table *t = f->p->table;
	bool unicode = f->t->screen.unicode;
	bool any = row + 1 < t->rows.count && t->rows.data[row + 1].role == REPORT_ROW &&
		   t->rows.data[row + 1].depth > t->rows.data[row].depth;
	bool folded = f->p->rows.collapsed && f->p->rows.collapsed[row];
	long at = f->place + 2 * (long)t->rows.data[row].depth - (long)f->p->skip;

	if (any && at >= f->place && at < f->t->screen.columns)
		tui_put(&f->t->screen, line, (int)at, f->t->screen.columns, 0,
			folded    ? unicode ? "\xe2\x96\xb8" : "+"
			: unicode ? "\xe2\x96\xbe"
				  : "-",
			TUI_KEY);
}

static void draw_row_draw(struct frame *f, int line, size_t row)
{
	const struct report_table *t = f->p->table;
	const struct report_row *r = &t->rows.data[row];
	bool heading = prof_row_is_heading(t, row);
	enum tui_style style = heading || r->role == REPORT_SOURCE_LINE || r->role == REPORT_GAP
				       ? TUI_SOURCE
				       : TUI_PLAIN;
	int columns = f->t->screen.columns, at = heading ? 2 : f->place;
	struct strbuf text = {0};

	if (!heading && (r->role != REPORT_GAP || t->layout == REPORT_CODE))
		draw_numbers(f, line, row);
	if (t->layout == REPORT_TREE && r->role != REPORT_TOTAL)
		at += 2;
	prof_row_text(t, row, &f->style, &text);
	tui_put(&f->t->screen, line, at, columns, f->p->skip, strbuf_text(&text), style);
	if (t->layout == REPORT_TREE)
		draw_fold(f, line, row);
	mark_match(f, line, at, strbuf_text(&text));
	strbuf_fini(&text);
}

static void draw_line(struct frame *f, int line, size_t at)
{
	struct tui_page *p = f->p;
	struct tui_screen *s = &f->t->screen;
	long row = tui_page_row(p, at);

	if (row >= 0) {
		draw_row_draw(f, line, (size_t)row);
	} else if (at < tui_page_count(p)) {
		const char *text = p->lines.data[at - p->rows.count];

		tui_put(s, line, 2, s->columns, p->skip, text, p->failed ? TUI_ERROR : TUI_PLAIN);
		mark_match(f, line, 2, text);
	}
	if (at == p->cursor && at < tui_page_count(p)) {
		tui_restyle(s, line, 0, s->columns, TUI_CURSOR);
		tui_put(s, line, 0, 1, 0, ">", TUI_CURSOR);
	}
}

static void draw_waiting(struct frame *f)
{
	char what[160] = "", title[160];

	f->t->source.ops->progress(f->t->source.context, what, sizeof(what));
	tui_title(f->t, f->p, title, sizeof(title));
	tui_put(&f->t->screen, f->body + f->rows / 2, 2, f->t->screen.columns, 0,
		what[0] ? what : title, TUI_STATUS);
	if (what[0] && f->rows > 2)
		tui_put(&f->t->screen, f->body + f->rows / 2 + 1, 2, f->t->screen.columns, 0,
			"q: back", TUI_STATUS);
}

/* The label belongs to each number; where it has no line of its own it is in the title. */
static void draw_title(struct frame *f)
{
	struct tui_screen *s = &f->t->screen;
	char title[256], whole[420];
	const char *label = "";
	int at, width;

	if (f->body == 0)
		return;
	tui_fill(s, 0, 0, s->columns, TUI_TITLE);
	tui_title(f->t, f->p, title, sizeof(title));
	if (f->status < 0 && f->p->strips.count)
		label = f->p->strips.data[0].second;
	snprintf(whole, sizeof(whole), "%s%s%s%s%s", title,
		f->p->preliminary ? " (first samples)" : "", label[0] ? " [" : "", label,
		label[0] ? "]" : "");
	at = tui_put(s, 0, 1, s->columns, 0, whole, TUI_TITLE);
	width = (int)tui_width(f->t->source.title, s->unicode);
	if (at + 3 + width <= s->columns)
		tui_put(s, 0, s->columns - width - 1, s->columns, 0, f->t->source.title, TUI_TITLE);
}

/* "sorted by time, with 'main'  3/17" */
static void position(const struct frame *f, struct strbuf *out)
{
	const struct tui_page *p = f->p;
	int percent;

	if (p->preliminary)
		strbuf_puts(out, "first samples only  ");
	if (p->waiting || tui_rows_busy(&p->rows)) {
		char what[160] = "";

		if (p->waiting)
			f->t->source.ops->progress(f->t->source.context, what, sizeof(what));
		strbuf_printf(out, "%s...  ", what[0] ? what : "sorting");
	}
	if (p->rows.table && p->sort == (long)p->strips.count)
		strbuf_puts(out, p->reverse ? "by name, reverse  " : "by name  ");
	if (p->filter)
		strbuf_printf(out, "with '%s'  ", p->filter);
	percent = tui_page_count(p) ? (int)(100 * (p->cursor + 1) / tui_page_count(p)) : 100;
	strbuf_printf(out, "%zu/%zu %d%%", tui_page_count(p) ? p->cursor + 1 : 0, tui_page_count(p),
		percent);
}

static void draw_status(struct frame *f)
{
	struct tui_screen *s = &f->t->screen;
	struct strbuf right = {0};
	int width, at;
	char *command;

	if (f->status < 0)
		return;
	tui_fill(s, f->status, 0, s->columns, TUI_STATUS);
	position(f, &right);
	width = (int)tui_width(strbuf_text(&right), s->unicode);
	at = s->columns - width - 1;
	tui_put(s, f->status, at > 0 ? at : 0, s->columns, 0, strbuf_text(&right), TUI_STATUS);
	strbuf_fini(&right);
	if (f->p->kind != TUI_PAGE_REPORT)
		return;
	command = f->t->source.ops->command(f->t->source.context, &f->p->ask);
	if (command && at > 4) {
		int behind = tui_put(s, f->status, 1, at - 2, 0, "= ", TUI_STATUS);

		behind = tui_put(s, f->status, behind, at - 2, 0, command, TUI_STATUS);
		if (f->t->intervals)
			tui_put(s, f->status, behind, at - 2, 0, " -ci", TUI_STATUS);
	}
	free(command);
}

/* The keys by which the others are found come first. */
static void draw_keys(struct frame *f, bool first, int *at)
{
	struct tui_screen *s = &f->t->screen;

	for (const struct tui_action *a = tui_actions; a->name; a++) {
		const char *key, *text = a->bar;
		char room[8];

		if (!text || (*text == '!') != first || (a->fits && !a->fits(f->t)))
			continue;
		text += first;
		key = a->keys[0] == TUI_KEY_ESCAPE && f->t->pages.count == 1
			      ? "q"
			      : tui_key_name(a->keys[0], room);
		if (*at + (int)(strlen(key) + 1 + strlen(text)) > s->columns)
			continue;
		*at = tui_put(s, f->last, *at, s->columns, 0, key, TUI_KEY);
		*at = tui_put(s, f->last, *at + 1, s->columns, 0, text, TUI_STATUS) + 2;
	}
}

static void draw_prompt(struct frame *f)
{
	struct tui_screen *s = &f->t->screen;
	const struct tui_prompt *q = &f->t->prompt;
	int at = tui_put(s, f->last, 1, s->columns - 8, 0, q->label, TUI_KEY);
	size_t width = tui_width(q->text, s->unicode), room;

	room = s->columns - 1 > at ? (size_t)(s->columns - 1 - at) : 0;
	at = tui_put(s, f->last, at, s->columns - 1, width > room ? width - room : 0, q->text,
		TUI_PLAIN);
	s->at_row = f->last;
	s->at_column = at < s->columns ? at : s->columns - 1;
}

static void draw_last(struct frame *f)
{
	struct tui *t = f->t;
	int at = 1;

	if (f->last < 0)
		return;
	if (t->prompt.label) {
		draw_prompt(f);
	} else if (t->message[0]) {
		tui_put(&t->screen, f->last, 1, t->screen.columns, 0, t->message,
			t->wrong ? TUI_ERROR : TUI_STATUS);
	} else {
		draw_keys(f, true, &at);
		draw_keys(f, false, &at);
	}
}

void tui_draw(struct tui *t)
{
	struct tui_page *p = tui_top(t);
	struct frame f = {.t = t, .p = p, .style = {.utf8 = t->screen.unicode}};
	size_t count = tui_page_count(p);

	tui_settle(t);
	tui_screen_clear(&t->screen);
	lay_out(&f);
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
	draw_status(&f);
	draw_last(&f);
	free(f.shown);
}

long tui_line_at(const struct tui *t, int row)
{
	struct frame f = {.t = (struct tui *)t, .p = tui_top(t)};
	size_t line;

	lay_out(&f);
	if (row < f.body || row >= f.body + f.rows)
		return -1;
	line = f.p->top + (size_t)(row - f.body);
	return line < tui_page_count(f.p) ? (long)line : -1;
}

void tui_click(struct tui *t, int row, int column, bool twice)
{
	long line = tui_line_at(t, row);

	(void)column;
	if (line < 0 || t->prompt.label)
		return;
	tui_top(t)->cursor = (size_t)line;
	if (twice)
		tui_key(t, TUI_KEY_ENTER);
}
