/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Drawing, and positions on the screen for clicks. */
#ifndef TUI_DRAW_H
#define TUI_DRAW_H

#include "tui/tui.h"

/* The line of the page at a place of the screen; -1: there is none. */
long tui_line_at(const struct tui *t, int row, int column);
/* The last lines of the screen (draw_bottom.c). */
void tui_draw_bottom(struct tui *t);

#endif
