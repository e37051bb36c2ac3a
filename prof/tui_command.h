/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef PROF_TUI_COMMAND_H
#define PROF_TUI_COMMAND_H

#include "tui/source.h"

/* The command that prints the same as a report, from a struct options; to be freed by the
 * caller. */
char *tui_command(const void *options, const struct tui_report *report, const struct tui_ask *ask,
	const struct tui_switch *table);

#endif
