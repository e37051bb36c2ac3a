/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "picture/picture_lines.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/strbuf.h"

enum { ROWS = 36, COMMAND = 70, TAB = 4 };
#define LEAST 0.5 /* percent: pieces in which no line has it are left out */

struct piece { /* rows of the table between gaps and headings */
	size_t first, count, head;
	double most; /* percent of a line */
	bool shown;
};

typedef VEC(struct piece) pieces;

static double row_percent(const struct report_table *t, size_t row)
{
	double most = 0;

	for (size_t i = 0; i < t->columns.count; i++)
		if (t->columns.data[i].flags & REPORT_PERCENT)
			most = fmax(most, report_cells(t, row)[i].percent);
	return most;
}

static pieces find_pieces(struct picture *p, const struct report_table *t)
{
	pieces list = {0};
	size_t head = 0;
	bool open = false;

	for (size_t i = 0; i < t->rows.count && !p->failed; i++) {
		enum report_role role = t->rows.data[i].role;
		const struct piece fresh = {.first = i, .head = head};
		struct piece *piece;

		if (role == REPORT_HEAD)
			head = i;
		if (role == REPORT_ROW && !open)
			p->failed |= vec_add(&list, fresh) != 0;
		open = role == REPORT_ROW;
		if (!open || p->failed)
			continue;
		piece = &list.data[list.count - 1];
		piece->count++;
		piece->most = fmax(piece->most, row_percent(t, i));
	}
	return list;
}

/* The best that fit, with a line each for what separates them. */
static void picture_lines_choose(pieces *list)
{
	size_t room = ROWS;

	for (;;) {
		struct piece *best = NULL;

		for (size_t i = 0; i < list->count; i++) {
			struct piece *piece = &list->data[i];

			if (!piece->shown && piece->most >= LEAST &&
				(!best || piece->most > best->most))
				best = piece;
		}
		if (!best || (best->count + 1 > room && room < ROWS))
			return;
		best->shown = true;
		room -= best->count + 1 < room ? best->count + 1 : room;
	}
}

/* Replaces tabs by blanks, and removes the common indentation of all lines. */
static void expand(struct strbuf *out, const char *text)
{
	size_t column = 0;

	for (; *text; text++) {
		size_t n = *text == '\t' ? TAB - column % TAB : 1;

		if (*text == '\t')
			strbuf_repeat(out, ' ', n);
		else
			strbuf_putc(out, *text);
		column += n;
	}
}

static size_t indentation(const struct report_table *t, const pieces *list)
{
	size_t least = SIZE_MAX;

	for (size_t i = 0; i < list->count; i++)
		for (size_t k = 0; list->data[i].shown && k < list->data[i].count; k++) {
			const char *text = t->rows.data[list->data[i].first + k].text;
			struct strbuf b = {0};
			size_t n;

			expand(&b, text ? text : "");
			n = strspn(strbuf_text(&b), " ");
			if (n < b.length && n < least)
				least = n;
			strbuf_fini(&b);
		}
	return least == SIZE_MAX ? 0 : least;
}

static const char *row_text(struct picture *p, const struct report_row *r, size_t indentation)
{
	struct strbuf b = {0};
	const char *text;

	if (!r->line)
		return picture_text(p, "%s", r->procedure ? r->procedure : "?");
	expand(&b, r->text ? r->text : "");
	text = strbuf_text(&b);
	text = picture_text(p, "%5u  %s", r->line,
		strspn(text, " ") >= indentation ? text + indentation : text);
	strbuf_fini(&b);
	return text;
}

static void add_points(struct picture *p, struct picture_panel *panel, const struct report_table *t,
	size_t row, size_t category)
{
	size_t series = 0;

	for (size_t i = 0; i < t->columns.count && !p->failed; i++) {
		const struct report_cell *cell = &report_cells(t, row)[i];
		double scale = cell->quantity.value > 0 ? cell->percent / cell->quantity.value : 0;

		if (!(t->columns.data[i].flags & REPORT_PERCENT))
			continue;
		series++;
		if (cell->quantity.label != LABEL_NONE)
			picture_point_add(p, &panel->series.data[series - 1], (double)category,
				cell->percent, cell->quantity.low * scale,
				fmin(100, cell->quantity.high * scale));
	}
}

static void add_piece(struct picture *p, struct picture_panel *panel, const struct report_table *t,
	const struct piece *piece, const struct piece *before, size_t indentation)
{
	const struct report_row *head = &t->rows.data[piece->head];
	const char *name = head->file ? file_base_name(head->file) : head->procedure;

	if (before && before->head == piece->head)
		name = "  ...";
	picture_category_add(p, panel, name ? name : "?");
	for (size_t i = piece->first; i < piece->first + piece->count; i++)
		add_points(p, panel, t, i,
			picture_category_add(p, panel, row_text(p, &t->rows.data[i], indentation)));
}

const char *picture_origin(struct picture *p, const struct experiment *x)
{
	const char *command = experiment_fact_find(x, "command"),
		   *host = experiment_fact_find(x, "host"),
		   *model = experiment_fact_find(x, "model");
	size_t word = command ? strcspn(command, " ") : 0;
	const char *words[3] = {command ? picture_text(p, "%.*s", (int)word, command) : "?"};

	if (command && command[word])
		words[1] = command + word + 1;
	return picture_text(p, "%s, on %s", picture_command(p, words, COMMAND),
		model  ? model
		: host ? host
		       : "an unknown host");
}

static void picture_lines_fill(struct picture *p, struct picture_panel *panel,
	const struct prof_data *d, const struct report_table *t)
{
	const struct experiment_metric *m = d->metrics.data[0].metric;
	const struct piece *before = NULL;
	pieces list = find_pieces(p, t);
	size_t indent;

	for (size_t i = 0; i < t->columns.count; i++) {
		const struct report_column *c = &t->columns.data[i];

		if (c->flags & REPORT_PERCENT)
			picture_series_add(p, panel,
				picture_text(p, "%s (%s)", c->name, label_name(c->label)));
	}
	picture_lines_choose(&list);
	indent = indentation(t, &list);
	for (size_t i = 0; i < list.count; i++)
		if (list.data[i].shown) {
			add_piece(p, panel, t, &list.data[i], before, indent);
			before = &list.data[i];
		}
	vec_fini(&list);
	if (panel->series.count == 1) {
		p->title = picture_text(p, "%s by source line", m->name);
		panel->x_label = picture_text(p, "%% of all %s (%s%s)", m->name,
			label_name(m->label), m->flags & METRIC_EXACT ? "" : ", samples");
	} else {
		p->title = "Events by source line";
		panel->x_label = "% of all";
	}
	p->subtitle = picture_origin(p, d->request->inputs[0].experiment);
}

int picture_lines(
	struct picture *p, const struct prof_data *d, const struct report_table *t, struct error *e)
{
	struct picture_panel *panel = picture_panel_add(p, PICTURE_LISTING);

	picture_lines_fill(p, panel, d, t);
	if (p->failed || panel->categories.count)
		return picture_finish(p, e);
	error_set(e, ERR_NOT_FOUND, "no line has %g%% of the samples or more", LEAST);
	return error_hint(
		e, "prof -procedures shows which functions have them, and code without lines");
}
