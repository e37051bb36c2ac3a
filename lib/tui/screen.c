/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tui/screen.h"

#include <stdlib.h>
#include <string.h>

#include "base/shown.h"

static struct tui_cell *cell_at(const struct tui_screen *s, int row, int column)
{
	return &s->cells[(size_t)row * (size_t)s->columns + (size_t)column];
}

int tui_screen_resize(struct tui_screen *s, int rows, int columns)
{
	enum { LARGEST = 4096 };
	struct tui_cell *cells;

	rows = rows < 1 ? 1 : rows > LARGEST ? LARGEST : rows;
	columns = columns < 1 ? 1 : columns > LARGEST ? LARGEST : columns;
	cells = calloc((size_t)rows * (size_t)columns, sizeof(*cells));
	if (!cells)
		return -1;
	free(s->cells);
	s->cells = cells;
	s->rows = rows;
	s->columns = columns;
	tui_screen_clear(s);
	return 0;
}

void tui_screen_clear(struct tui_screen *s)
{
	for (int row = 0; row < s->rows; row++)
		tui_fill(s, row, 0, s->columns, TUI_PLAIN);
	s->at_row = -1;
	s->at_column = 0;
}

void tui_screen_fini(struct tui_screen *s)
{
	free(s->cells);
	memset(s, 0, sizeof(*s));
}

uint32_t tui_decode(const char *text, size_t *bytes)
{
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	const unsigned char *u = (const unsigned char *)text;
	size_t length = *u < 0x80 ? 1 : *u >= 0xf0 && *u < 0xf8 ? 4 : *u >= 0xe0 ? 3 : 2;
	uint32_t c = length == 1 ? *u : *u & (0x7fu >> length);

	*bytes = 1;
	if (*u < 0x80)
		return c;
	if (*u < 0xc2 || *u > 0xf4)
		return 0xfffd;
	for (size_t i = 1; i < length; i++) {
		if ((u[i] & 0xc0) != 0x80)
			return 0xfffd;
		c = c << 6 | (u[i] & 0x3f);
	}
	if (c < least[length] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
		return 0xfffd;
	*bytes = length;
	return c;
}

/* Ranges of characters that are not one column wide; sufficient for sources and names, and the same
 * on every host. */
int tui_char_width(uint32_t c)
{
	static const struct {
		uint32_t first, last;
		int width;
	} ranges[] = {
		{0x300, 0x36f, 0},
		{0x483, 0x489, 0},
		{0x591, 0x5bd, 0},
		{0x610, 0x61a, 0},
		{0x64b, 0x65f, 0},
		{0x1100, 0x115f, 2},
		{0x1ab0, 0x1aff, 0},
		{0x200b, 0x200f, 0},
		{0x202a, 0x202e, 0},
		{0x2060, 0x2064, 0},
		{0x20d0, 0x20ff, 0},
		{0x2e80, 0x303e, 2},
		{0x3041, 0xa4cf, 2},
		{0xac00, 0xd7a3, 2},
		{0xf900, 0xfaff, 2},
		{0xfe00, 0xfe0f, 0},
		{0xfe20, 0xfe2f, 0},
		{0xfe30, 0xfe6f, 2},
		{0xff00, 0xff60, 2},
		{0xffe0, 0xffe6, 2},
		{0x1f300, 0x1f64f, 2},
		{0x1f680, 0x1f6ff, 2},
		{0x1f900, 0x1f9ff, 2},
		{0x20000, 0x3fffd, 2},
		{0xe0000, 0xe0fff, 0},
	};

	for (size_t i = 0; c >= 0x300 && i < sizeof(ranges) / sizeof(*ranges); i++)
		if (c >= ranges[i].first && c <= ranges[i].last)
			return ranges[i].width;
	return 1;
}

/* The displayed form of a character of shown text. */
static uint32_t tame(uint32_t c, bool unicode)
{
	return c < 0x80 || unicode ? c : '?';
}

size_t tui_width(const char *text, bool unicode)
{
	struct strbuf room = {0};
	size_t width = 0, bytes;

	for (text = shown_text(text, &room); *text; text += bytes) {
		uint32_t c = tame(tui_decode(text, &bytes), unicode);

		width += (size_t)tui_char_width(c);
	}
	strbuf_fini(&room);
	return width;
}

int tui_put(struct tui_screen *s, int row, int column, int limit, size_t skip, const char *text,
	enum tui_style style)
{
	struct strbuf room = {0};
	size_t bytes;

	limit = limit < s->columns ? limit : s->columns;
	if (row < 0 || row >= s->rows || column < 0)
		return column;
	for (text = shown_text(text, &room); *text && column < limit; text += bytes) {
		uint32_t c = *text == '\t' ? ' ' : tame(tui_decode(text, &bytes), s->unicode);
		int width = tui_char_width(c);

		if (*text == '\t')
			bytes = 1;
		if (width == 0)
			continue;
		if (skip) {
			skip -= skip < (size_t)width ? skip : (size_t)width;
			continue;
		}
		if (column + width > limit)
			break;
		*cell_at(s, row, column) = (struct tui_cell){c, (uint8_t)style};
		if (width == 2)
			*cell_at(s, row, column + 1) = (struct tui_cell){0, (uint8_t)style};
		column += width;
	}
	strbuf_fini(&room);
	return column;
}

void tui_fill(struct tui_screen *s, int row, int from, int to, enum tui_style style)
{
	for (int i = from < 0 ? 0 : from; row >= 0 && row < s->rows && i < to && i < s->columns;
		i++)
		*cell_at(s, row, i) = (struct tui_cell){' ', (uint8_t)style};
}

void tui_restyle(struct tui_screen *s, int row, int from, int to, enum tui_style style)
{
	for (int i = from < 0 ? 0 : from; row >= 0 && row < s->rows && i < to && i < s->columns;
		i++)
		cell_at(s, row, i)->style = (uint8_t)style;
}

static void encode(uint32_t c, struct strbuf *out)
{
	if (c < 0x80) {
		strbuf_putc(out, (char)c);
		return;
	}
	if (c < 0x800) {
		strbuf_putc(out, (char)(0xc0 | c >> 6));
	} else {
		if (c < 0x10000) {
			strbuf_putc(out, (char)(0xe0 | c >> 12));
		} else {
			strbuf_putc(out, (char)(0xf0 | c >> 18));
			strbuf_putc(out, (char)(0x80 | (c >> 12 & 0x3f)));
		}
		strbuf_putc(out, (char)(0x80 | (c >> 6 & 0x3f)));
	}
	strbuf_putc(out, (char)(0x80 | (c & 0x3f)));
}

static void style_line(const struct tui_screen *s, int row, struct strbuf *out)
{
	static const char names[] = ".TH>~*=sm_!k";
	bool any = false;

	for (int i = 0; i < s->columns; i++)
		any = any || cell_at(s, row, i)->style != TUI_PLAIN;
	if (!any)
		return;
	strbuf_printf(out, "%3d ", row);
	for (int i = 0; i < s->columns; i++)
		strbuf_putc(out, names[cell_at(s, row, i)->style]);
	strbuf_putc(out, '\n');
}

void tui_screen_text(const struct tui_screen *s, bool styles, struct strbuf *out)
{
	for (int row = 0; row < s->rows; row++) {
		for (int i = 0; i < s->columns; i++)
			if (cell_at(s, row, i)->character)
				encode(cell_at(s, row, i)->character, out);
		while (out->length && out->data[out->length - 1] == ' ')
			out->data[--out->length] = '\0';
		strbuf_putc(out, '\n');
	}
	for (int row = 0; styles && row < s->rows; row++)
		style_line(s, row, out);
}
