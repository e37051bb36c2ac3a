/* SPDX-License-Identifier: GPL-2.0-or-later */
/* prof -tui: the interface, over reports that another thread makes. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/say.h"
#include "browse/browse.h"
#include "report.h"
#include "tui/terminal.h"
#include "tui_command.h"

static int run(const struct options *o, struct browse *browse, int *signal, struct error *e)
{
	const char *no_color = getenv("NO_COLOR");
	const struct tui_terminal_options options = {.ascii = o->ascii,
		.mouse = o->mouse,
		.intervals = o->intervals,
		.color = !no_color || !*no_color};
	struct tui_source source;
	uint32_t switches;
	size_t report;

	browse_source(browse, &source, &report, &switches);
	return tui_terminal_run(&source, report, switches, &options, signal, e);
}

static const char *first_report(const struct options *o)
{
	for (size_t i = 0; report_views[i].name; i++)
		if (o->view[i])
			return report_views[i].name;
	return NULL;
}

int do_tui(const struct options *o)
{
	const struct load_request files = reporting_files(o);
	const struct prof_request request = reporting_request(o);
	struct arguments arguments = {0};
	struct prof_images_search search;
	const struct browse_request asked = {.files = &files,
		.arguments = &arguments,
		.search = &search,
		.request = &request,
		.first = first_report(o),
		.changes = o->diff,
		.command = tui_command,
		.context = o};
	struct browse *browse = NULL;
	struct error e = {0}, unread = {0};
	bool incomplete = false, busy;
	int signal = 0, rc = -1, status;

	if (tui_terminal_check(&e) == 0 && reporting_arguments(o, &arguments, &e) == 0) {
		search = reporting_search(o, &arguments);
		browse = browse_new(&asked, &e);
	}
	if (browse)
		rc = run(o, browse, &signal, &e);
	if (rc)
		say_error(&e);
	status = rc ? EXIT_OURS : signal ? 128 + signal : 0;
	busy = browse && !browse_free(browse, &unread, &incomplete);
	if (unread.code && rc == 0 && !signal)
		status = say_failure(&unread);
	if (!status && incomplete)
		status = EXIT_INCOMPLETE;
	if (busy)
		_exit(status);
	arguments_fini(&arguments);
	return status;
}
