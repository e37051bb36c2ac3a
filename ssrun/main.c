/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ssrun: runs a command under an experiment, and leaves a file for prof.
 */
#include <stdio.h>
#include <unistd.h>

#include "base/file.h"
#include "base/say.h"
#include "ssrun.h"

static const char usage[] =
	"usage: ssrun -EXPERIMENT [options] command [argument ...]\n"
	"       ssrun -EXPERIMENT [options] -pid PID | -a\n"
	"       ssrun -list\n"
	"Samples a run into COMMAND.EXPERIMENT.PID, for prof.  Try: ssrun -pcsamp "
	"command\n\n"
	"Experiments: pcsamp fpcsamp usertime totaltime ideal bbcounts, and X_hwc fX_hwc\n"
	"X_hwctime for every event X of perfex -list (dsc_hwc: secondary data cache\n"
	"misses); -list shows them with their periods.\n\n";

static int act(struct options *o, int argc, char **argv)
{
	struct error e = {0};

	if (options_parse(o, argc, argv, &e))
		return say_failure(&e);
	if (o->help)
		return option_usage(usage, option_table, stdout);
	if (o->version)
		return printf("ssrun %s\n", PERFEX_VERSION) < 0;
	if (o->completion)
		return option_completion_alone(o->command ? *o->command : NULL, &e)
			       ? say_failure(&e)
			       : do_completion();
	if (o->list)
		return do_list(o);
	if (!o->metrics.list.count) {
		say("no experiment was given: try ssrun -pcsamp command; -list shows all");
		return EXIT_OURS;
	}
	if (!o->command && !o->pid && !o->all) {
		say("no command to run");
		fputs("ssrun:   usage: ssrun -EXPERIMENT [options] command [argument ...]; ssrun "
		      "-help lists the options\n",
			stderr);
		return EXIT_OURS;
	}
	return do_run(o);
}

int main(int argc, char **argv)
{
	struct options options;
	int status;

	file_hold_standard();
	status = act(&options, argc, argv);
	options_fini(&options);
	return say_end(status);
}
