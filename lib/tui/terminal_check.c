/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether the interface can be shown at all; a separate file, since term.h has names like
 * "columns". */
#include "tui/terminal.h"

#include <curses.h>
#include <stdlib.h>
#include <unistd.h>

#include <term.h>

static int no_terminal(struct error *e, const char *which)
{
	error_set(e, ERR_UNSUPPORTED, "-tui needs a terminal: %s is not one", which);
	return error_hint(e, "without -tui, prof prints the same reports");
}

static int wrong_terminal(struct error *e, const char *name, const char *why)
{
	error_set(e, ERR_UNSUPPORTED, "the terminal '%.60s' (TERM) %s", name, why);
	return error_hint(
		e, "set TERM=xterm or similar; without -tui, prof prints the same reports");
}

int tui_terminal_check(struct error *e)
{
	const char *name = getenv("TERM");
	int status = 0;
	bool moves;

	if (!isatty(STDIN_FILENO))
		return no_terminal(e, "standard input");
	if (!isatty(STDOUT_FILENO))
		return no_terminal(e, "standard output");
	if (!name || !*name)
		return wrong_terminal(e, "", "is not set");
	if (setupterm(name, STDOUT_FILENO, &status) != OK)
		return wrong_terminal(e, name, "is unknown");
	moves = cursor_address && clear_screen;
	del_curterm(cur_term);
	return moves ? 0 : wrong_terminal(e, name, "cannot move its cursor");
}

const char *tui_terminal_library(void)
{
	return curses_version();
}
