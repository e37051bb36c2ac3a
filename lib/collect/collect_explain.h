/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The second run of ssrun -explain: the command once more, on the model, whose counts by
 * instruction are added to the experiment of the first, native run.
 *
 * Rows of both runs are added by image (its build-id) and address in it, so address space
 * randomisation does not matter. Code that a process generated has addresses of memory only, and is
 * not compared. Counts of the model are of the whole run: of no thread and no phase.
 */
#ifndef COLLECT_COLLECT_EXPLAIN_H
#define COLLECT_COLLECT_EXPLAIN_H

#include "collect/collect.h"

/* Is a second run wanted? */
bool collect_explain_wanted(const struct collect_metrics *m);

/* The clock of the model in this run: one that charges each cycle to a cause. */
extern const char *const collect_explain_clock;

/* Bytes of a pipe that are kept for the second run. */
#define COLLECT_EXPLAIN_INPUT ((uint64_t)1 << 30)

struct collect_explain {
	const struct collect_request *native; /* as it was for the first run */
	const struct machine *machine;        /* to model */
	int input;                            /* the command's standard input; 0: ours */
	/* The result: both runs' own. */
	int exit_status;
	bool interrupted;
};

/* Runs the command and adds to x, which is settled, as after experiment_write. -1 with *e set: x is
 * as it was. */
int collect_explain(struct collect_explain *c, struct experiment *x, struct error *e);

#endif
