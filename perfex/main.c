/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perfex: counts every event of a run, and computes the time that each costs.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/say.h"
#include "perfex.h"

static const char usage[] =
	"usage: perfex [options] command [argument ...]\n"
	"       perfex [options] -pid PID\n"
	"       perfex -list | -explain EVENT | -t | -calibrate\n"
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

static int act(struct options *o, int argc, char **argv)
{
	struct cost_table own = {0};
	struct error e = {0};

	if (options_parse(o, argc, argv, &e))
		return say_failure(&e);
	if (o->help)
		return option_usage(usage, option_table, stdout);
	if (o->version)
		return printf("perfex %s\n", PERFEX_VERSION) < 0;
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
	if (o->calibrate)
		return do_calibrate(o);
	if (o->command || o->pid)
		return do_count(o);
	if (o->print_costs)
		return do_print_costs(o);
	say("no command to run");
	fputs("perfex:   usage: perfex [options] command [argument ...]; perfex -help lists the "
	      "options\n",
		stderr);
	return EXIT_OURS;
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
