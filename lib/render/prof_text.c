/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tables of prof for people: SpeedShop's header lines, then numbers on the left, places on the
 * right. A column of the table becomes several on the screen (value, %, cum.%, samples); each is as
 * wide as its widest figure.  Below its name stands its label.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "render/number.h"
#include "render/prof_private.h"

enum part { VALUE, INTERVAL, PERCENT, CUMULATIVE, SAMPLES, BAR, TEXT };

struct strip { /* one column on the screen */
	size_t column;
	enum part part;
	size_t width;
	const char *first, *second; /* its two lines of heading */
};

struct drawing {
	const struct prof_table *table;
	const struct prof_style *style;
	struct strbuf *out;
	VEC(struct strip) strips;
	double most; /* of the bar's column, in percent */
};

enum { BAR_WIDTH = 20, TEXT_WIDTH_MAX = 60 };

static void rule(struct strbuf *out)
{
	strbuf_repeat(out, '-', 73);
	strbuf_putc(out, '\n');
}

static bool has_weak(const struct prof_cell *cell, enum part part)
{
	return cell->weak && (part == VALUE || part == PERCENT);
}

/* Code needs the room. */
static size_t bar_width(const struct prof_table *t)
{
	return t->layout == PROF_CODE ? BAR_WIDTH / 2 : BAR_WIDTH;
}

/* The figure of a strip; "" where there is none. */
static void figure(const struct drawing *g, const struct strip *s, const struct prof_cell *cell,
	struct strbuf *b)
{
	const struct prof_column *c = &g->table->columns.data[s->column];
	const struct quantity *q = &cell->quantity;

	if (s->part == TEXT) {
		strbuf_puts(b, cell->text ? cell->text : "");
		return;
	}
	if (q->label == LABEL_NONE || (g->table->layout == PROF_CODE && q->value == 0))
		return;
	switch (s->part) {
	case VALUE:
		if (cell->weak && !g->style->dim)
			strbuf_putc(b, '~');
		if (q->label == LABEL_ESTIMATED && c->label != q->label)
			strbuf_putc(b, '?');
		if (c->flags & PROF_SECONDS && (q->value >= 0.0005 || q->value == 0))
			strbuf_printf(b, "%.3f", q->value);
		else if (c->flags & PROF_SECONDS && g->table->layout == PROF_CODE)
			strbuf_printf(b, "%.2g", q->value); /* shares of a sample */
		else
			number_figure(b, q->value,
				c->kind == PROF_RATIO     ? NUMBER_RATIO
				: c->flags & PROF_SECONDS ? NUMBER_SECONDS
							  : NUMBER_COUNT);
		break;
	case INTERVAL:
		number_interval(b, q);
		break;
	case PERCENT:
		if (isfinite(cell->percent))
			strbuf_printf(b, "%.1f%%", cell->percent);
		break;
	case CUMULATIVE:
		if (isfinite(cell->cumulative))
			strbuf_printf(b, "%.1f%%", cell->cumulative);
		break;
	case SAMPLES:
		strbuf_printf(b, "%" PRIu64, cell->samples);
		break;
	case BAR:
		if (g->most > 0 && cell->percent > 0)
			strbuf_repeat(b, '*',
				(size_t)ceil((double)bar_width(g->table) * cell->percent / g->most -
					     1e-9));
		break;
	case TEXT:
		break;
	}
}

static bool shows_bar(const struct prof_table *t)
{
	return t->layout == PROF_SOURCE || t->layout == PROF_CODE;
}

static int add_strip(
	struct drawing *g, size_t column, enum part part, const char *first, const char *second)
{
	struct strip *s = vec_push(&g->strips);

	if (!s)
		return -1;
	*s = (struct strip){column, part, 0, first, second};
	return 0;
}

static int numeric_strips(struct drawing *g, size_t i)
{
	const struct prof_column *c = &g->table->columns.data[i];
	const char *name = c->heading ? c->heading : c->name;

	if (add_strip(g, i, VALUE, name, label_name(c->label)) ||
		(g->style->intervals && !(c->flags & PROF_EXACT) &&
			add_strip(g, i, INTERVAL, "95%", "")) ||
		(c->flags & PROF_PERCENT && add_strip(g, i, PERCENT, "%", "")) ||
		(c->flags & PROF_CUMULATIVE && g->table->layout == PROF_LIST &&
			add_strip(g, i, CUMULATIVE, "cum.%", "")) ||
		(c->flags & PROF_SAMPLES && (c->flags & PROF_CUMULATIVE || g->style->intervals) &&
			add_strip(g, i, SAMPLES, "samples", "")) ||
		(c->flags & PROF_BAR && shows_bar(g->table) && add_strip(g, i, BAR, "", "")))
		return -1;
	return 0;
}

static int make_strips(struct drawing *g)
{
	const struct prof_table *t = g->table;

	for (size_t i = 0; i < t->columns.count; i++)
		if (t->columns.data[i].kind != PROF_TEXT &&
			!(t->columns.data[i].flags & PROF_SCRIPTS) && numeric_strips(g, i))
			return -1;
	for (size_t i = 0; i < t->columns.count; i++) {
		const struct prof_column *c = &t->columns.data[i];

		if (c->kind == PROF_TEXT && !(c->flags & PROF_SCRIPTS) &&
			add_strip(g, i, TEXT, c->heading ? c->heading : c->name, ""))
			return -1;
	}
	return 0;
}

static size_t longer(size_t a, size_t b)
{
	return a > b ? a : b;
}

static void measure(struct drawing *g)
{
	const struct prof_table *t = g->table;
	struct strbuf b = {0};

	for (size_t r = 0; r < t->rows.count; r++)
		for (size_t i = 0; i < t->columns.count; i++)
			if (t->columns.data[i].flags & PROF_BAR && t->rows.data[r].role == PROF_ROW)
				g->most = fmax(g->most, prof_cells(t, r)[i].percent);
	for (size_t i = 0; i < g->strips.count; i++) {
		struct strip *s = &g->strips.data[i];

		s->width = longer(strlen(s->first), strlen(s->second));
		if (s->part == BAR)
			s->width = bar_width(t);
		for (size_t r = 0; r < t->rows.count && s->part != BAR; r++) {
			b.length = 0;
			figure(g, s, &prof_cells(t, r)[s->column], &b);
			s->width = longer(s->width, b.length);
		}
		if (s->part == TEXT && s->width > TEXT_WIDTH_MAX)
			s->width = TEXT_WIDTH_MAX;
	}
	strbuf_fini(&b);
}

static void trim(struct strbuf *out)
{
	while (out->length && out->data && out->data[out->length - 1] == ' ')
		out->data[--out->length] = '\0';
}

static void headings(const struct drawing *g)
{
	static const char *const places[] = {
		[PROF_LIST] = "function (dso: file, line)",
		[PROF_SOURCE] = " line  source",
		[PROF_TREE] = "function (dso: file, line)",
		[PROF_BUTTERFLY] = "function (dso: file, line)",
		[PROF_FACTS] = "",
		[PROF_CODE] = "",
	};

	for (int line = 0; line < 2; line++) {
		for (size_t i = 0; i < g->strips.count; i++) {
			const struct strip *s = &g->strips.data[i];
			bool left = s->part == TEXT || s->part == BAR;

			strbuf_printf(g->out, left ? "  %-*s" : "  %*s", (int)s->width,
				line ? s->second : s->first);
		}
		if (!line)
			strbuf_printf(g->out, "  %s",
				g->table->places ? g->table->places : places[g->table->layout]);
		trim(g->out);
		strbuf_putc(g->out, '\n');
	}
	strbuf_putc(g->out, '\n');
}

static void numbers(const struct drawing *g, size_t row)
{
	struct strbuf b = {0};

	for (size_t i = 0; i < g->strips.count; i++) {
		const struct strip *s = &g->strips.data[i];
		const struct prof_cell *cell = &prof_cells(g->table, row)[s->column];
		bool left = s->part == TEXT || s->part == BAR;
		bool dim = g->style->dim && has_weak(cell, s->part);

		b.length = 0;
		if (s->part != BAR || g->table->rows.data[row].role == PROF_ROW)
			figure(g, s, cell, &b);
		strbuf_puts(g->out, "  ");
		if (!left && b.length < s->width)
			strbuf_repeat(g->out, ' ', s->width - b.length);
		if (dim)
			strbuf_puts(g->out, "\033[2m");
		if (g->table->columns.data[s->column].flags & PROF_MARGIN)
			prof_draw_margin(strbuf_text(&b), g->style, g->out);
		else if (b.length)
			strbuf_add(g->out, b.data, b.length);
		if (dim)
			strbuf_puts(g->out, "\033[0m");
		if (left && b.length < s->width)
			strbuf_repeat(g->out, ' ', s->width - b.length);
	}
	strbuf_fini(&b);
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

/* "function (dso: file, line)", or what there is of it. */
static void place(const struct prof_row *r, struct strbuf *out)
{
	if (!r->procedure) {
		strbuf_puts(out, r->image ? r->image : "");
		return;
	}
	strbuf_puts(out, r->procedure);
	if (r->note)
		strbuf_printf(out, " [%s]", r->note);
	strbuf_printf(out, " (%s", r->image ? r->image : "");
	if (r->file)
		strbuf_printf(out, ": %s, %u", base_name(r->file), r->line);
	strbuf_putc(out, ')');
}

static void draw_row(const struct drawing *g, size_t i)
{
	const struct prof_row *r = &g->table->rows.data[i];
	struct strbuf *out = g->out;

	if (r->role == PROF_GAP && g->table->layout != PROF_CODE) {
		strbuf_puts(out, "  ...\n");
		return;
	}
	if (r->role == PROF_HEAD && g->table->layout != PROF_BUTTERFLY) {
		strbuf_printf(out, "\n%s%s%s\n", r->file ? r->file : r->procedure,
			r->note ? ": " : "", r->note ? r->note : "");
		return;
	}
	numbers(g, i);
	strbuf_puts(out, "  ");
	if (r->role == PROF_TOTAL) {
		strbuf_puts(out, "TOTAL\n");
		return;
	}
	if (g->table->layout == PROF_SOURCE && r->line)
		strbuf_printf(out, "%5u  %s", r->line, r->text ? r->text : "");
	else if (g->table->layout == PROF_SOURCE)
		place(r, out);
	if (g->table->layout == PROF_TREE)
		strbuf_repeat(out, ' ', 2 * (size_t)r->depth);
	if (g->table->layout == PROF_BUTTERFLY && r->role != PROF_HEAD)
		strbuf_puts(out, r->role == PROF_CALLER ? "    " : "      ");
	if (g->table->layout != PROF_SOURCE && g->table->layout != PROF_CODE)
		place(r, out);
	if (g->table->layout == PROF_CODE)
		prof_draw_code(r, g->style, out);
	trim(out);
	strbuf_putc(out, '\n');
}

static void rows(const struct drawing *g)
{
	const struct prof_table *t = g->table;
	const char *thread = NULL;

	for (size_t i = 0; i < t->rows.count; i++) {
		const struct prof_row *r = &t->rows.data[i];

		if (r->thread && (!thread || strcmp(thread, r->thread) != 0)) {
			strbuf_printf(g->out, "%s%s:\n", thread ? "\n" : "", r->thread);
			thread = r->thread;
		}
		if (r->role == PROF_TOTAL)
			strbuf_putc(g->out, '\n');
		draw_row(g, i);
		if (t->layout == PROF_BUTTERFLY && r->role != PROF_CALLER &&
			r->role != PROF_TOTAL &&
			(i + 1 == t->rows.count || t->rows.data[i + 1].role == PROF_CALLER ||
				(t->rows.data[i + 1].role == PROF_HEAD)))
			rule(g->out);
	}
}

static void head(const struct prof_table *t, struct strbuf *out)
{
	rule(out);
	strbuf_puts(out, "SpeedShop profile listing\n");
	for (size_t i = 0; i < t->head.count; i++) {
		const struct prof_line *l = &t->head.data[i];

		if (l->label)
			strbuf_printf(out, "%36s: %s\n", l->value, l->label);
		else
			strbuf_printf(out, "   %s\n", l->value);
	}
	rule(out);
	if (t->summary.count)
		strbuf_puts(out, "Summary of statistics\n");
	for (size_t i = 0; i < t->summary.count; i++)
		strbuf_printf(
			out, "%36s: %s\n", t->summary.data[i].value, t->summary.data[i].label);
	if (t->summary.count)
		rule(out);
}

/* Names and source lines come from files: what a terminal would obey becomes '?', all but the
 * changes of brightness and colour that we make ourselves. */
static void clean(struct strbuf *out, size_t from)
{
	for (size_t i = from; i < out->length; i++) {
		unsigned char c = (unsigned char)out->data[i];

		if (c == '\033' && out->data[i + 1] == '[') {
			size_t length = strspn(out->data + i + 2, "0123456789;");

			if (out->data[i + 2 + length] == 'm') {
				i += 2 + length;
				continue;
			}
		}
		if ((c < ' ' && c != '\n' && c != '\t') || c == 0x7f)
			out->data[i] = '?';
	}
}

void render_prof_text(
	const struct prof_table *t, const struct prof_style *style, struct strbuf *out)
{
	struct drawing g = {.table = t, .style = style, .out = out};
	size_t from = out->length;

	head(t, out);
	if (t->layout != PROF_FACTS) {
		if (make_strips(&g)) {
			out->failed = true;
			return;
		}
		if (t->title)
			strbuf_printf(out, "%s\n", t->title);
		rule(out);
		measure(&g);
		headings(&g);
		rows(&g);
	}
	if (t->notes.count)
		strbuf_putc(out, '\n');
	for (size_t i = 0; i < t->notes.count; i++)
		strbuf_printf(out, "%s\n", t->notes.data[i].value);
	vec_fini(&g.strips);
	clean(out, from);
}
