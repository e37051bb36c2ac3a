/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * prof: reads the experiments that ssrun records and says where in a program they point.
 */
#include <stdio.h>
#include <string.h>

#include "prof.h"
#include "say.h"

static int usage(const struct options *o)
{
	fputs("usage: prof [options] [executable] experiment-file ...\n"
	      "Reports what ssrun recorded: by function, source line, call path.  To begin with: "
	      "ssrun -pcsamp command, then prof command.pcsamp.*\n"
	      "prof block measures basic blocks, prof calibrate the processor: see their "
	      "-help.\n\n",
		stdout);
	option_usage(o->table, stdout);
	return 0;
}

static int act(const struct options *o)
{
	if (o->help)
		return usage(o);
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
		return do_block(argc - 1, argv + 1);
	if (argc > 1 && strcmp(argv[1], "calibrate") == 0)
		return do_calibrate(argc - 1, argv + 1);
	if (options_parse(&options, argc, argv, &e)) {
		say_error(&e);
		status = EXIT_OURS;
	} else {
		status = act(&options);
	}
	options_fini(&options);
	return status;
}
