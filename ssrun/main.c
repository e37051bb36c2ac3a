/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ssrun: runs a command under an experiment, and leaves a file for prof.
 */
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/habits.h"
#include "base/say.h"
#include "events/libpfm.h"
#include "image/image.h"
#include "isa/isa.h"
#include "monitor/monitor_http.h"
#include "process/executable.h"
#include "sources/model_install.h"
#include "ssrun.h"

#ifdef __x86_64__
#define BRANCHES ", branch records in software"
#else
#define BRANCHES ""
#endif

/* For -h and -help. */
#define EXPERIMENTS                                                                                \
	"Time     -pcsamp      CPU time, 10 ms        -fpcsamp     CPU time, 1 ms\n"               \
	"         -usertime    with callers, 30 ms    -fusertime   with callers, 1 ms\n"           \
	"         -totaltime   waits, too, callers\n"                                              \
	"Why      -branches    branch records, too    -explain     adds a run on a model\n"        \
	"Values   -values      what instructions work on\n"                                        \
	"Events   -X_hwc       event X, such as dsc   -fX_hwc      more samples\n"                 \
	"         -X_hwctime   with callers           -e X:PERIOD  any event and period\n"         \
	"         -dataspace   misses of data         -both        two periods, a check\n"         \
	"Exact    -ideal       every instruction      -bbcounts    every block\n"

/* -h: one screen of 80 columns. */
static const char overview[] =
	"usage: ssrun -EXPERIMENT [options] command [argument ...]\n"
	"       ssrun -EXPERIMENT [options] -pid PID | -a [command]\n"
	"\n" EXPERIMENTS
	"Process  -pid PID     a running process      -a           the whole system\n"
	"         -for SECONDS                        -cal SECONDS phases\n"
	"Always   monitor      the whole system, into a store; see ssrun monitor -help\n"
	"Output   -o FILE      into this file         -archive DIR with the programs\n"
	"         -v, -q       say more, or less      -list        all experiments\n"
	"Compare  -versus NEW  two builds, two files  -runs N      add N runs up\n"
	"Model    -machine M   which processor        -source S    auto, os, pmu, model\n"
	"\n"
	"Examples\n"
	"  ssrun -fpcsamp ./program         then: prof program.fpcsamp.*\n"
	"  ssrun -fusertime ./program       then: prof -butterfly program.fusertime.*\n"
	"  ssrun -dsc_hwc ./program         then: prof -heavy program.dsc_hwc.*\n"
	"\n"
	"ssrun -help describes every option, man ssrun the experiments.\n";

static const char usage[] =
	"usage: ssrun -EXPERIMENT [options] command [argument ...]\n"
	"       ssrun -EXPERIMENT [options] -pid PID | -a [command]\n"
	"       ssrun -list\n"
	"Samples a run into COMMAND.EXPERIMENT.PID, for prof.  Try: ssrun -pcsamp "
	"command\n\n" EXPERIMENTS "\n"
	"X is any event of perfex -list (dsc: misses of the secondary data cache).\n"
	"ssrun -list shows periods and sources of all experiments.\n\n";

static int print_version(void)
{
	char libraries[256], features[192], valgrind[64];
	const char *http = monitor_http_library();

	snprintf(libraries, sizeof(libraries), "%s, %s, %s", image_library(), isa_library(),
		libpfm_library());
	model_install_version(valgrind, sizeof(valgrind));
	snprintf(features, sizeof(features), "%s%s" BRANCHES "%s%s",
		valgrind[0] ? "model on Valgrind " : "no model (Valgrind was not there)", valgrind,
		*http ? ", monitor over HTTP by " : "", http);
	return say_version(libraries, features);
}

static int act(struct options *o, int argc, char **argv)
{
	struct error e = {0};
	char path[PATH_MAX];

	if (options_parse(o, argc, argv, &e))
		return say_failure(&e);
	if (o->overview)
		return option_usage(overview, NULL, stdout);
	if (o->help)
		return option_usage(usage, option_table, stdout);
	if (o->version)
		return print_version();
	if (o->completion)
		return option_completion_alone(o->command ? *o->command : NULL, &e)
			       ? say_failure(&e)
			       : do_completion();
	if (o->list)
		return do_list(o);
	if (o->command && habit_instead(NULL, *o->command) &&
		(!o->metrics.list.count ||
			executable_find(*o->command, path, sizeof(path), NULL))) {
		habit_command(*o->command, &e);
		return say_failure(&e);
	}
	if (!o->metrics.list.count) {
		say("no experiment was given: try ssrun -fpcsamp %s; -list shows all",
			o->pid   ? "-pid PID"
			: o->all ? "-a sleep 10"
				 : "command");
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
	file_limit_is_error();
	if (argc > 1 && strcmp(argv[1], "monitor") == 0)
		return say_end(do_monitor(argc - 1, argv + 1));
	status = act(&options, argc, argv);
	options_fini(&options);
	return say_end(status);
}
