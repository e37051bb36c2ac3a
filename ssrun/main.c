/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ssrun: runs a command under an experiment, and leaves a file for prof.
 */
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "say.h"
#include "ssrun.h"

static int usage(FILE *out)
{
	fputs("usage: ssrun -EXPERIMENT [options] command [argument ...]\n"
	      "       ssrun -EXPERIMENT [options] -pid PID | -a\n"
	      "       ssrun -list\n"
	      "Samples a run into COMMAND.EXPERIMENT.PID, for prof.  To begin with: ssrun -pcsamp "
	      "command\n\n"
	      "Experiments: pcsamp fpcsamp usertime totaltime ideal bbcounts, and X_hwc fX_hwc\n"
	      "X_hwctime for every event X of perfex -list (dsc_hwc: secondary data cache\n"
	      "misses); -list shows them with their periods.\n\n",
		out);
	option_usage(option_table, out);
	return 0;
}

static int act(struct options *o)
{
	if (o->help)
		return usage(stdout);
	if (o->version)
		return printf("ssrun %s\n", PERFEX_VERSION) < 0;
	if (o->list)
		return do_list(o);
	if (!o->metrics.list.count) {
		say("which experiment? to begin with: ssrun -pcsamp command; -list shows all");
		return EXIT_OURS;
	}
	if (!o->command && !o->pid && !o->all) {
		say("there is no command to run");
		fputs("ssrun:   usage: ssrun -EXPERIMENT [options] command [argument ...]; ssrun "
		      "-help lists the options\n",
			stderr);
		return EXIT_OURS;
	}
	return do_run(o);
}

/* What we open must not become the standard error of a caller that closed its own.  The command
 * finds them closed, as they were. */
static void hold_standard_descriptors(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDWR | O_CLOEXEC) != fd)
			return;
}

int main(int argc, char **argv)
{
	struct options options;
	struct error e = {0};
	int status;

	hold_standard_descriptors();
	if (options_parse(&options, argc, argv, &e)) {
		say_error(&e);
		status = EXIT_OURS;
	} else {
		status = act(&options);
	}
	options_fini(&options);
	return status;
}
