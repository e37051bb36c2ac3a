/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Listings of code on a narrow screen, and the signs of figures. The columns of a listing leave
 * code no room there. Rows of two lines would tear code apart; instead, the columns that say least
 * are left out, and what is still too long is cut.
 */
#include <stdlib.h>
#include <string.h>

#include "base/shown.h"
#include "render/prof_private.h"

#define DIMMED (sizeof(SHOWN_DIM) - 1)

/* What says least is first. */
static const struct {
	enum prof_part part;
	const char *column; /* by its name; NULL: any */
	const char *name;   /* where it has no heading */
} lesser[] = {
	{PROF_PART_BAR, NULL, "bar"},
	{PROF_PART_SAMPLES, NULL, NULL},
	{PROF_PART_TEXT, "culprit", NULL},
	{PROF_PART_VALUE, "mi", NULL},
	{PROF_PART_TEXT, "confidence", "confidence"},
	{PROF_PART_TEXT, "loop", NULL},
	{PROF_PART_TEXT, "waits", NULL},
	{PROF_PART_TEXT, "values", NULL},
	{PROF_PART_TEXT, "static", NULL},
};

static size_t listing_columns(const prof_strips *strips)
{
	size_t used = 2;

	for (size_t i = 0; i < strips->count; i++)
		used += 2 + strips->data[i].width;
	return used;
}

static bool is_lesser(const struct report_table *t, const struct prof_strip *s, size_t rank)
{
	const char *name = t->columns.data[s->column].name;

	return s->part == lesser[rank].part &&
	       (!lesser[rank].column || (name && strcmp(name, lesser[rank].column) == 0));
}

void prof_listing_fit(
	const struct report_table *t, size_t width, prof_strips *strips, struct strbuf *left)
{
	size_t room = 2 * width / 5;

	for (size_t rank = 0; rank < sizeof(lesser) / sizeof(lesser[0]); rank++)
		for (size_t i = 0; i < strips->count; i++) {
			struct prof_strip *s = &strips->data[i];

			if (listing_columns(strips) + room <= width || !is_lesser(t, s, rank))
				continue;
			strbuf_printf(left, "%s%s",
				left->length ? ", " : "Left out for the width: ",
				lesser[rank].name ?: s->first);
			memmove(s, s + 1, (strips->count - i - 1) * sizeof(*s));
			strips->count--;
			i--;
		}
	if (left->length)
		strbuf_puts(left, " (-names full: all columns)");
}

/* "    dw 5.5 cycles  (d = D-cache miss)  (w = ...)": explanations of letters, once each. */
static void move_legend(struct strbuf *text, struct strbuf *legend)
{
	static const char begins[] = "  (";
	const char *at = strncmp(strbuf_text(text), "    ", 4) == 0
				 ? strstr(strbuf_text(text) + 4, begins)
				 : NULL;
	size_t end = at ? (size_t)(at - text->data) : text->length;

	while (at) {
		const char *next = strstr(at + 1, begins);
		size_t length = next ? (size_t)(next - at) : strlen(at);
		char *piece = strndup(at + strlen(begins), length - strlen(begins) - 1);

		legend->failed |= !piece;
		if (piece && !strstr(strbuf_text(legend), piece))
			strbuf_printf(legend, "%s%s", legend->length ? "; " : "", piece);
		free(piece);
		at = next;
	}
	text->length = end;
	if (text->data)
		text->data[end] = '\0';
}

/* Two spaces are enough between code and what is noted beside it. */
static void listing_squeeze(struct strbuf *text)
{
	size_t length = 0, spaces = 0;
	bool begun = false;

	for (size_t i = 0; i < text->length; i++) {
		char c = text->data[i];

		spaces = c == ' ' ? spaces + 1 : 0;
		begun |= c != ' ';
		if (!begun || spaces <= 2)
			text->data[length++] = c;
	}
	text->length = length;
	if (text->data)
		text->data[length] = '\0';
}

bool prof_listing_cut(
	struct strbuf *out, size_t from, size_t width, size_t used, struct strbuf *legend)
{
	enum { ROOM_LEAST = 12 };
	size_t room = width > used + ROOM_LEAST ? width - used : ROOM_LEAST, bytes;
	bool dim = out->length >= from + 2 * DIMMED && out->data[from] == SHOWN_DIM[0], cut;
	struct strbuf text = {0};

	for (size_t i = from; i < out->length; i++) /* a tab would end somewhere */
		if (out->data[i] == '\t')
			strbuf_puts(&text, "  ");
		else
			strbuf_putc(&text, out->data[i]);
	if (dim && text.length)
		text.length -= DIMMED;
	if (prof_characters(strbuf_text(&text), &bytes, SIZE_MAX) > room) {
		move_legend(&text, legend);
		listing_squeeze(&text);
	}
	cut = prof_cut(&text, dim ? DIMMED : 0, room);
	out->length = from;
	if (text.length)
		strbuf_add(out, text.data, text.length);
	if (dim)
		strbuf_puts(out, SHOWN_DIM_END);
	out->failed |= text.failed;
	strbuf_fini(&text);
	return cut;
}

void prof_signs(const struct report_table *t, bool dim, struct strbuf *out)
{
	bool changes = t->report && strcmp(t->report, "diff") == 0;
	bool values = t->schema && strcmp(t->schema, "prof.values/1") == 0;
	bool weak = false, estimated = false;

	for (size_t r = 0; r < t->rows.count; r++)
		for (size_t i = 0; i < t->columns.count; i++) {
			const struct report_cell *cell = &report_cells(t, r)[i];
			enum label label = cell->quantity.label;

			if (t->rows.data[r].joined || label == LABEL_NONE)
				continue;
			weak = weak || (cell->weak && !cell->unsure);
			estimated = estimated || (!cell->unsure && label == LABEL_ESTIMATED &&
							 t->columns.data[i].label != label);
		}
	if (weak)
		strbuf_printf(out, "%s: of %s\n", dim ? "Dimmed figures" : "~ before a figure",
			values    ? "few values seen"
			: changes ? "fewer than ten samples, or a change that may be chance"
				  : "fewer than ten samples");
	if (estimated)
		strbuf_puts(out, "? before a figure: estimated from others\n");
}
