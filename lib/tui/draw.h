/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Positions on the screen, for clicks. */
#ifndef TUI_DRAW_H
#define TUI_DRAW_H

#include "tui/tui.h"

/* The line of the page at a row of the screen; -1: there is none. */
long tui_line_at(const struct tui *t, int row);

#endif
