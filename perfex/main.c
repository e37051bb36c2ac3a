/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perfex: counts every event of a run, and computes the time that each costs.
 */
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/habits.h"
#include "base/say.h"
#include "events/libpfm.h"
#include "perfex.h"
#include "process/executable.h"
#include "sources/model_install.h"

/* -h: one screen of 80 columns. */
static const char overview[] =
	"usage: perfex [options] command [argument ...]\n"
	"       perfex [options] -pid PID\n"
	"\n"
	"Events   -a          all events              -e EVENT     chosen events\n"
	"         -list       which there are         -explain EVENT  about one\n"
	"Report   -y          what they cost in time  -mp          a row for each thread\n"
	"         -r RUNS     means of several runs   -p SECONDS   at intervals, too\n"
	"         -json, -csv for scripts             -o FILE      into a file\n"
	"         -plot FILE  a picture of the costs  -q           only the report\n"
	"Source   -source S   auto, pmu, os, model    -machine M   which to model\n"
	"         -native     time without the model  -clock C     how cycles are found\n"
	"         -fast       model parts of the run  -passes      no taking of turns\n"
	"         -k, -x      kernel level, too       -s           between two signals\n"
	"Costs    -t          the cost table          -c FILE      another one\n"
	"         -calibrate  measure this machine's  -doctor      what works here\n"
	"Profile  -profile FILE  each instruction     -blocks      executions only\n"
	"\n"
	"Examples\n"
	"  perfex -a -y ./program           every event, and where the time goes\n"
	"  perfex -e dsc -e gi ./program    second-level misses, and instructions\n"
	"  perfex -r 5 -json -o out.json -a ./program   five runs, for a script\n"
	"\n"
	"perfex -help describes every option, man perfex the events and costs.\n";

static const char usage[] =
	"usage: perfex [options] command [argument ...]\n"
	"       perfex [options] -pid PID\n"
	"       perfex -list | -explain EVENT | -t | -calibrate | -doctor\n"
	"Counts the events of a run and reports what they cost in time.  Try: perfex -a -y "
	"command\n\n";

int find_costs(const struct options *o, const struct machine *m, bool modelled,
	struct cost_table *t, struct error *e)
{
	bool host = !modelled && (!o->machine || strcmp(o->machine, "host") == 0);

	if (costs_find(m->costs, host, o->cost_file, t, e))
		return -1;
	if (t->clock_hz <= 0)
		t->clock_hz = (double)m->model.clock_hz;
	return 0;
}

static int print_version(void)
{
	char libraries[256], features[128], valgrind[64];

	snprintf(libraries, sizeof(libraries), "%s", libpfm_library());
	model_install_version(valgrind, sizeof(valgrind));
	snprintf(features, sizeof(features), "%s%s",
		valgrind[0] ? "model on Valgrind " : "no model (Valgrind was not there)", valgrind);
	return say_version(libraries, features);
}

/* Where the command is one of perf's. stat is a program, too, which has few options. */
static int check_habits(char **command, bool quiet, struct error *e)
{
	char path[PATH_MAX];

	if (!habit_instead(NULL, *command))
		return 0;
	if (executable_find(*command, path, sizeof(path), NULL))
		return habit_command(*command, e);
	if (strcmp(*command, "stat") != 0)
		return 0;
	if (command[1] && (strspn(command[1], "-") == 2
					  ? habit_instead("perfex", command[1]) != NULL
					  : command[1][0] == '-' && !strchr("Lftc", command[1][1])))
		return habit_command(*command, e);
	if (!quiet)
		say("the program stat is counted: for perf stat COMMAND, use perfex COMMAND");
	return 0;
}

static int act(struct options *o, int argc, char **argv)
{
	struct cost_table own = {0};
	struct error e = {0};

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
			       : do_completion(o);
	/* Also where no costs are printed: a wrong name is noticed. */
	if (o->cost_file && costs_load(o->cost_file, &own, &e))
		return say_failure(&e);
	if (o->list)
		return do_list(o);
	if (o->explain)
		return strcmp(o->explain, "machine") == 0 ? do_explain_machine(o) : do_explain(o);
	if (o->doctor)
		return do_doctor(o);
	if (o->calibrate)
		return do_calibrate(o);
	if (o->command && check_habits(o->command, o->quiet, &e))
		return say_failure(&e);
	if (o->command || o->pid)
		return do_count(o);
	if (o->print_costs)
		return do_print_costs(o);
	say("no command to run");
	fputs("perfex:   usage: perfex [options] command [argument ...] or perfex -pid PID; "
	      "perfex -help lists the options\n",
		stderr);
	return EXIT_OURS;
}

int main(int argc, char **argv)
{
	struct options options;
	int status;

	file_hold_standard();
	file_limit_is_error();
	status = act(&options, argc, argv);
	options_fini(&options);
	return say_end(status);
}
