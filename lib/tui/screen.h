/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A screen of cells, independent of a terminal: the interface draws on it, tests read it, and
 * terminal.c copies it to a real one. Styles give the meaning of a text; the terminal chooses its
 * appearance.
 */
#ifndef TUI_SCREEN_H
#define TUI_SCREEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/strbuf.h"

enum tui_style {
	TUI_PLAIN,
	TUI_TITLE,
	TUI_HEADING,
	TUI_CURSOR, /* the line that keys mean; it has a mark as well */
	TUI_WEAK,   /* figures that mean little; they have a '~' as well */
	TUI_HOT,    /* large shares */
	TUI_BAR,
	TUI_SOURCE, /* source lines between others; files */
	TUI_MATCH,  /* matches of a search */
	TUI_STATUS,
	TUI_ERROR,
	TUI_KEY, /* names of keys */
	TUI_STYLES
};

struct tui_cell {
	uint32_t character; /* Unicode; 0: the right half of a wide one */
	uint8_t style;
};

struct tui_screen {
	int rows, columns;
	bool unicode;           /* else characters outside ASCII become '?' */
	int at_row, at_column;  /* of the terminal's own cursor; at_row -1: hidden */
	struct tui_cell *cells; /* [row * columns + column] */
};

/* Blank; -1 when memory is out, and the screen is as before. */
int tui_screen_resize(struct tui_screen *s, int rows, int columns);
void tui_screen_clear(struct tui_screen *s);
void tui_screen_fini(struct tui_screen *s);

/* UTF-8 text from a column up to a limit (or the edge); what is no text is escaped
 * (base/shown.h). The first `skip` columns of it are left out. Returns the column after it. */
int tui_put(struct tui_screen *s, int row, int column, int limit, size_t skip, const char *text,
	enum tui_style style);
/* Blanks of a style. */
void tui_fill(struct tui_screen *s, int row, int from, int to, enum tui_style style);
/* Cells keep their texts. */
void tui_restyle(struct tui_screen *s, int row, int from, int to, enum tui_style style);

/* Columns that a text takes. */
size_t tui_width(const char *text, bool unicode);
/* One character of UTF-8, and its number of bytes; an invalid one is U+FFFD of one byte. */
uint32_t tui_decode(const char *text, size_t *bytes);
/* 0: combines with the one before; 1; 2. */
int tui_char_width(uint32_t c);

/* The screen as lines of text; then, if styles are requested, the lines that are not all plain as
 * digits and letters of enum tui_style. */
void tui_screen_text(const struct tui_screen *s, bool styles, struct strbuf *out);

#endif
