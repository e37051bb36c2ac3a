/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether the interface can be shown at all; apart, since term.h has names like "columns". */
#include "tui/terminal.h"

#include <curses.h>
#include <stdlib.h>
#include <unistd.h>

#include <term.h>

static int no_terminal(struct error *e, const char *which)
{
	error_set(e, ERR_UNSUPPORTED, "-tui needs a terminal, and %s is none", which);
	return error_hint(e, "without -tui, prof prints the same reports");
}

int tui_terminal_check(struct error *e)
{
	const char *name = getenv("TERM");
	int status = 0;

	if (!isatty(STDIN_FILENO))
		return no_terminal(e, "standard input");
	if (!isatty(STDOUT_FILENO))
		return no_terminal(e, "standard output");
	name = name && *name ? name : "";
	if (!*name)
		error_set(e, ERR_UNSUPPORTED, "-tui has to know the terminal, and TERM is not set");
	else if (setupterm(name, STDOUT_FILENO, &status) != OK)
		error_set(e, ERR_UNSUPPORTED,
			status == 0 ? "the terminal '%.60s' (TERM) is not known here"
				    : "there is no description of the terminal '%.60s' (TERM)",
			name);
	else if (!cursor_address || !clear_screen)
		error_set(e, ERR_UNSUPPORTED, "the terminal '%.60s' (TERM) cannot move its cursor",
			name);
	else
		return 0;
	return error_hint(e,
		"TERM=xterm, or what yours is like; without -tui, prof prints the same "
		"reports");
}
