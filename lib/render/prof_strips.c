/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "render/prof_strips.h"

#include <inttypes.h>
#include <math.h>

#include "base/file.h"
#include "base/shown.h"
#include "render/number.h"
#include "render/prof_private.h"

enum { BAR_WIDTH = 20 };

/* Code needs the room. */
size_t prof_bar_width(const struct report_table *t)
{
	return t->layout == REPORT_CODE ? BAR_WIDTH / 2 : BAR_WIDTH;
}

double prof_bar_most(const struct report_table *t)
{
	double most = 0;

	for (size_t i = 0; i < t->columns.count; i++)
		for (size_t r = 0; t->columns.data[i].flags & REPORT_BAR && r < t->rows.count; r++)
			if (t->rows.data[r].role == REPORT_ROW)
				most = fmax(most, report_cells(t, r)[i].percent);
	return most;
}

/* A figure in the style of its column. */
static void column_figure(
	const struct report_table *t, const struct report_column *c, double value, struct strbuf *b)
{
	if (c->flags & REPORT_CHANGE && value > 0)
		strbuf_putc(b, '+');
	if (c->flags & REPORT_SHARE)
		strbuf_printf(b, "%.1f%%", 100 * value);
	else if (c->flags & REPORT_FINE)
		strbuf_printf(b, "%.6f", value);
	else if (c->flags & REPORT_SECONDS && (fabs(value) >= 0.0005 || value == 0))
		strbuf_printf(b, "%.3f", value);
	else if (c->flags & REPORT_SECONDS && t->layout == REPORT_CODE)
		strbuf_printf(b, "%.2g", value); /* shares of a sample */
	else
		number_figure(b, value,
			c->kind == REPORT_RATIO     ? NUMBER_RATIO
			: c->flags & REPORT_SECONDS ? NUMBER_SECONDS
						    : NUMBER_COUNT);
}

static void interval(const struct report_table *t, const struct report_column *c,
	const struct quantity *q, struct strbuf *b)
{
	if (!(c->flags & REPORT_CHANGE)) {
		number_interval(b, q);
		return;
	}
	if (q->low == q->high)
		return;
	column_figure(t, c, q->low, b);
	strbuf_puts(b, " to ");
	column_figure(t, c, q->high, b);
}

static void value(const struct report_table *t, const struct prof_style *style,
	const struct report_column *c, const struct report_cell *cell, struct strbuf *b)
{
	const struct quantity *q = &cell->quantity;

	if (cell->unsure) {
		strbuf_putc(b, '?');
		return;
	}
	if (cell->weak && !style->dim)
		strbuf_putc(b, '~');
	if (q->label == LABEL_ESTIMATED && c->label != q->label)
		strbuf_putc(b, '?');
	column_figure(t, c, q->value, b);
}

void prof_strip_figure(const struct report_table *t, const struct prof_style *style,
	const struct prof_strip *s, size_t row, double bar_most, struct strbuf *b)
{
	const struct report_column *c = &t->columns.data[s->column];
	const struct report_cell *cell = &report_cells(t, row)[s->column];
	const struct quantity *q = &cell->quantity;

	if (s->part == PROF_PART_TEXT) {
		shown_puts(b, cell->text ? cell->text : "");
		return;
	}
	if (s->part == PROF_PART_BAR && t->rows.data[row].role != REPORT_ROW)
		return;
	if (q->label == LABEL_NONE || (t->layout == REPORT_CODE && q->value == 0))
		return;
	switch (s->part) {
	case PROF_PART_VALUE:
		value(t, style, c, cell, b);
		break;
	case PROF_PART_INTERVAL:
		interval(t, c, q, b);
		break;
	case PROF_PART_PERCENT:
		if (isfinite(cell->percent))
			strbuf_printf(
				b, c->flags & REPORT_CHANGE ? "%+.1f%%" : "%.1f%%", cell->percent);
		break;
	case PROF_PART_CUMULATIVE:
		if (isfinite(cell->cumulative))
			strbuf_printf(b, "%.1f%%", cell->cumulative);
		break;
	case PROF_PART_SAMPLES:
		strbuf_printf(b, "%" PRIu64, cell->samples);
		break;
	case PROF_PART_BAR:
		if (bar_most > 0 && cell->percent > 0)
			strbuf_repeat(b, '*',
				(size_t)ceil((double)prof_bar_width(t) * cell->percent / bar_most -
					     1e-9));
		break;
	case PROF_PART_TEXT:
		break;
	}
}

static bool shows_bar(const struct report_table *t)
{
	return t->layout == REPORT_SOURCE || t->layout == REPORT_CODE;
}

static int add_strip(prof_strips *strips, size_t column, enum prof_part part, const char *first,
	const char *second)
{
	struct prof_strip *s = vec_push(strips);

	if (!s)
		return -1;
	*s = (struct prof_strip){column, part, 0, first, second};
	return 0;
}

static int numeric_strips(
	const struct report_table *t, bool intervals, size_t i, prof_strips *strips)
{
	const struct report_column *c = &t->columns.data[i];
	const char *name = c->heading ? c->heading : c->name;

	if (add_strip(strips, i, PROF_PART_VALUE, name, label_name(c->label)) ||
		((intervals || c->flags & REPORT_CHANGE) && !(c->flags & REPORT_EXACT) &&
			add_strip(strips, i, PROF_PART_INTERVAL, "95%", "")) ||
		(c->flags & REPORT_PERCENT && add_strip(strips, i, PROF_PART_PERCENT, "%", "")) ||
		(c->flags & REPORT_CUMULATIVE && t->layout == REPORT_LIST &&
			add_strip(strips, i, PROF_PART_CUMULATIVE, "cum.%", "")) ||
		(c->flags & REPORT_SAMPLES && (c->flags & REPORT_CUMULATIVE || intervals) &&
			add_strip(strips, i, PROF_PART_SAMPLES, "samples", "")) ||
		(c->flags & REPORT_BAR && shows_bar(t) &&
			add_strip(strips, i, PROF_PART_BAR, "", "")))
		return -1;
	return 0;
}

static int text_strip(const struct report_table *t, size_t i, prof_strips *strips)
{
	const struct report_column *c = &t->columns.data[i];

	return add_strip(strips, i, PROF_PART_TEXT, c->heading ? c->heading : c->name, "");
}

/* Numbers, with the texts that are about one of them, then other texts. */
int prof_strips_make(const struct report_table *t, bool intervals, prof_strips *strips)
{
	for (int texts = 0; texts < 2; texts++)
		for (size_t i = 0; i < t->columns.count; i++) {
			const struct report_column *c = &t->columns.data[i];
			bool is_text = c->kind == REPORT_TEXT;

			if (c->flags & REPORT_SCRIPTS ||
				(is_text && !(c->flags & REPORT_BESIDE)) != texts)
				continue;
			if (is_text ? text_strip(t, i, strips)
				    : numeric_strips(t, intervals, i, strips))
				return -1;
		}
	return 0;
}

const char *prof_places_heading(const struct report_table *t)
{
	static const char *const places[] = {
		[REPORT_LIST] = "function (dso: file, line)",
		[REPORT_SOURCE] = " line  source",
		[REPORT_TREE] = "function (dso: file, line)",
		[REPORT_BUTTERFLY] = "function (dso: file, line)",
		[REPORT_CAUSES] = "cause",
	};

	return t->places ?: places[t->layout] ?: "";
}

/* "function (dso: file, line)", or the parts that are known. */
static void prof_strips_place(const struct report_row *r, struct strbuf *out)
{
	if (!r->procedure) {
		shown_puts(out, r->image ? r->image : "");
		if (r->note)
			shown_printf(out, " [%s]", r->note);
		return;
	}
	shown_puts(out, r->shown ? r->shown : r->procedure);
	if (r->note)
		shown_printf(out, " [%s]", r->note);
	if (!r->image && !r->file)
		return;
	shown_printf(out, " (%s", r->image ? r->image : "");
	if (r->file)
		shown_printf(out, ": %s, %u", file_base_name(r->file), r->line);
	strbuf_putc(out, ')');
}

static void heading_row(const struct report_row *r, struct strbuf *out)
{
	const char *name = r->shown ? r->shown : r->procedure;

	shown_printf(out, "%s%s%s", r->file ? r->file : name, r->note ? ": " : "",
		r->note ? r->note : "");
}

static void tree_indent(
	const struct report_row *r, const struct prof_style *style, struct strbuf *out)
{
	size_t indent = (style->indent_each ?: 2) * r->depth;

	if (style->indent_most && indent > style->indent_most) {
		strbuf_repeat(out, ' ', style->indent_most);
		strbuf_printf(out, "[%u] ", r->depth);
	} else {
		strbuf_repeat(out, ' ', indent);
	}
}

void prof_row_text(const struct report_table *t, size_t row, const struct prof_style *style,
	struct strbuf *out)
{
	const struct report_row *r = &t->rows.data[row];

	if (r->role == REPORT_TOTAL) {
		strbuf_puts(out, "TOTAL");
		return;
	}
	if (prof_row_is_heading(t, row)) {
		heading_row(r, out);
		return;
	}
	if (r->role == REPORT_GAP && t->layout != REPORT_CODE) {
		strbuf_puts(out, "...");
		return;
	}
	if (t->layout == REPORT_TREE)
		tree_indent(r, style, out);
	if (t->layout == REPORT_BUTTERFLY && r->role != REPORT_HEAD)
		strbuf_repeat(out, ' ', (r->role == REPORT_CALLER ? 4 : 6) + 2 * (size_t)r->depth);
	if (t->layout == REPORT_CAUSES) {
		strbuf_repeat(out, ' ', 2 * (size_t)r->depth);
		shown_puts(out, r->text ? r->text : "");
	} else if (t->layout == REPORT_CODE)
		prof_draw_code(r, style, out);
	else if (t->layout == REPORT_SOURCE && r->line)
		shown_printf(out, "%5u  %s", r->line, r->text ? r->text : "");
	else
		prof_strips_place(r, out);
}
