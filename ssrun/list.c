/* SPDX-License-Identifier: GPL-2.0-or-later */
/* -list: the experiments, with their periods and what samples them on this machine. */
#include <stdio.h>
#include <string.h>

#include "experiment/experiment.h"
#include "say.h"
#include "ssrun.h"

/* The period as it would be in a run; "-" where nothing samples it here. */
static void list_one(
	const struct options *o, const struct machine *machine, const struct collect_experiment *x)
{
	struct collect_metrics m = {0};
	struct error reason = {0}, e = {0};
	char period[32] = "-";
	const char *source = "-";

	if (collect_metrics_add(&m, x, false, &e) == 0 &&
		collect_choose(&m, o->source, machine, o->pid || o->all, &reason, &e) == 0) {
		source = source_names[m.list.data[0].source];
		if (x->flags & METRIC_EXACT)
			snprintf(period, sizeof(period), "exact");
		else
			snprintf(period, sizeof(period), "%llu",
				(unsigned long long)m.list.data[0].period);
	}
	printf("%-18s %14s %-12s %-6s %s\n", x->name, period,
		x->flags & METRIC_CLOCK ? "ns" : x->event->unit, source, x->help);
	collect_metrics_fini(&m);
}

int do_list(const struct options *o)
{
	struct collect_experiment x;
	struct machine machine;
	struct error e = {0};

	if (find_machine(o, &machine, &e)) {
		say_error(&e);
		return EXIT_OURS;
	}
	printf("%-18s %14s %-12s %-6s %s\n", "experiment", "period", "of", "source", "samples");
	for (size_t i = 0; collect_experiment_at(i, &x) == 0; i++)
		list_one(o, &machine, &x);
	printf("%-18s %14s %-12s %-6s %s\n", "prof_hwc", "any", "events", "",
		"-e EVENT:PERIOD, or what the environment says");
	return 0;
}
