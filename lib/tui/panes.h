/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where pages are on the screen: one on all of it, or two. The second one is a menu below the
 * report that it is about, or the source or instructions of the row under the cursor, below the
 * report or beside it.
 */
#ifndef TUI_PANES_H
#define TUI_PANES_H

#include "tui/tui.h"

enum { TUI_PANES = 2, TUI_SPLIT_ROWS = 14 /* of a screen that is divided, at least */ };

struct tui_pane {
	struct tui_page *page;
	int row, column, rows, columns;
	int headings; /* lines */
	bool title;
};

/* The number of panes. The page of keys is the last one open (tui_top). */
int tui_panes(const struct tui *t, struct tui_pane panes[TUI_PANES]);
/* The pane of a page. */
struct tui_pane tui_pane_of(const struct tui *t, const struct tui_page *p);
/* Columns for texts in it. */
size_t tui_text_width(const struct tui *t, const struct tui_page *p);

static inline int tui_pane_body(const struct tui_pane *p)
{
	int rows = p->rows - p->title - p->headings;

	return rows > 1 ? rows : 1;
}

/* Lines at the bottom of the whole screen: the command, and keys. */
static inline bool tui_has_status(const struct tui *t)
{
	return t->screen.rows >= 7;
}

static inline bool tui_has_last(const struct tui *t)
{
	return t->screen.rows > 1;
}

#endif
