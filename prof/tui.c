/* SPDX-License-Identifier: GPL-2.0-or-later */
/* prof -tui: the interface over reports that are made beside it. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/say.h"
#include "report.h"
#include "tui/terminal.h"
#include "tui_source.h"

static int run(const struct options *o, struct tui_maker *maker, int *signal, struct error *e)
{
	const char *no_color = getenv("NO_COLOR");
	const struct tui_terminal_options options = {.ascii = o->ascii,
		.mouse = o->mouse,
		.intervals = o->intervals,
		.color = !no_color || !*no_color};
	struct tui_source source;
	uint32_t switches;
	size_t report;

	tui_maker_source(maker, &source, &report, &switches);
	return tui_terminal_run(&source, report, switches, &options, signal, e);
}

int do_tui(const struct options *o)
{
	struct arguments arguments = {0};
	struct tui_maker *maker = NULL;
	struct error e = {0}, unread = {0};
	bool incomplete = false;
	int signal = 0, rc = -1, status;

	if (tui_terminal_check(&e) == 0 && reporting_arguments(o, &arguments, &e) == 0)
		maker = tui_maker_new(o, &arguments, &e);
	if (maker)
		rc = run(o, maker, &signal, &e);
	if (rc)
		say_error(&e);
	status = rc ? EXIT_OURS : signal ? 128 + signal : 0;
	if (maker && !tui_maker_free(maker, &unread, &incomplete))
		_exit(status);
	if (unread.code && rc == 0 && !signal) {
		say_error(&unread);
		status = EXIT_OURS;
	}
	arguments_fini(&arguments);
	return status ? status : incomplete ? EXIT_INCOMPLETE : 0;
}
