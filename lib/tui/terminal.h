/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The interface on the terminal of this process, by ncurses, which is used here only. Signals that
 * end the process restore the terminal first; ^Z stops and continues as for any program.
 */
#ifndef TUI_TERMINAL_H
#define TUI_TERMINAL_H

#include "tui/tui.h"

struct tui_terminal_options {
	bool ascii, mouse, intervals;
	bool color; /* where the terminal has it */
};

/* Is the terminal suitable? ERR_UNSUPPORTED with what is missing. */
int tui_terminal_check(struct error *e);

/* "ncurses 6.4.20221231": the library in use. Static. */
const char *tui_terminal_library(void);

/* Runs until the user leaves.  *signal: what ended it, 0 if the user did.  Call tui_terminal_check
 * first. */
int tui_terminal_run(const struct tui_source *source, size_t report, uint32_t switches,
	const struct tui_terminal_options *options, int *signal, struct error *e);

#endif
