/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sums of experiments as a report of counts, with costs. */
#ifndef REPORT_COUNTS_EXPERIMENT_H
#define REPORT_COUNTS_EXPERIMENT_H

#include "experiment/experiment.h"
#include "report/counts.h"

struct counts_costs {
	struct counts_report report; /* texts are the experiment's; events are to be freed */
	struct cost_table table;
	char command[256];
	const char *words[3]; /* the program, the rest, NULL */
};

/* Costs are those of the machine that the experiment was modelled on; of this host's where it was
 * recorded here; else those of none in particular ("generic"). */
int counts_of_experiment(struct counts_costs *c, const struct experiment *x, struct error *e);
/* Another experiment of the same program: events that it has besides. */
int counts_add_experiment(struct counts_costs *c, const struct experiment *x, struct error *e);

#endif
