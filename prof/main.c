/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * prof: reads the experiments that ssrun records and reports the places in the program that they
 * name.
 */
#include <stdio.h>
#include <string.h>

#include "base/say.h"
#include "export/export.h"
#include "prof.h"
#include "schedule/core.h"

static const char usage[] =
	"usage: prof [options] [executable] experiment-file ...\n"
	"Reports what ssrun recorded: by function, source line, call path.  Try: ssrun "
	"-pcsamp command, then prof command.pcsamp.*\n"
	"prof block measures basic blocks, prof calibrate the processor: see their "
	"-help.\n\n";

static void print_core(const char *name, void *out)
{
	option_print_word(out, "CORE", name, "");
}

/* What completions of shells read. */
static int do_completion(const struct options *o)
{
	struct strbuf text = {0};
	struct error e = {0};
	int rc;

	if (option_completion_alone(*o->files, &e))
		return say_failure(&e);
	option_print(o->table, &text);
	for (const struct export_format *f = export_formats; f->name; f++)
		option_print_word(&text, "FORMAT", f->name, f->help);
	rc = core_walk(print_core, &text, &e);
	strbuf_puts(&text, "command\tblock\n");
	option_print(block_options, &text);
	strbuf_puts(&text, "command\tcalibrate\n");
	option_print(calibrate_options, &text);
	if (rc || write_out(o, &text, &e)) {
		say_error(&e);
		rc = -1;
	}
	strbuf_fini(&text);
	return rc ? EXIT_OURS : 0;
}

static int act(const struct options *o)
{
	if (o->help)
		return option_usage(usage, o->table, stdout);
	if (o->version)
		return printf("prof %s\n", PERFEX_VERSION) < 0;
	if (o->completion)
		return do_completion(o);
	if (o->dump)
		return do_dump(o);
	if (o->merge)
		return do_merge(o);
	if (o->tui)
		return do_tui(o);
	return do_report(o);
}

int main(int argc, char **argv)
{
	struct options options;
	struct error e = {0};
	int status;

	if (argc > 1 && strcmp(argv[1], "block") == 0)
		return say_end(do_block(argc - 1, argv + 1));
	if (argc > 1 && strcmp(argv[1], "calibrate") == 0)
		return say_end(do_calibrate(argc - 1, argv + 1));
	status = options_parse(&options, argc, argv, &e) ? say_failure(&e) : act(&options);
	options_fini(&options);
	return say_end(status);
}
