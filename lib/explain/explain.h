/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whole programs explained: for each procedure that has samples, its executions (procedure.h) and
 * the causes of its instructions' waits (analysis/culprits.h).
 */
#ifndef EXPLAIN_EXPLAIN_H
#define EXPLAIN_EXPLAIN_H

#include "analysis/culprits.h"
#include "analysis/culprits_learn.h"
#include "analysis/culprits_lines.h"
#include "events/numbers.h"
#include "explain/procedure.h"
#include "profile/profile_values.h"

enum { EXPLAIN_EVENTS = 15 };

struct explain {
	struct prof_data *d;
	struct explain_analysis analysis;
	struct explain_procedures procedures;
	struct explain_edges edges;
	struct culprits_machine machine;
	char machine_name[32], cost_table[32];
	struct culprit_lines *lines;
	double factor[CULPRITS + 1]; /* factors of causes in this program */
	bool settled, learnt;        /* lines, and factors */
	struct culprits_learn *learn;
	struct culprit_cost single[EVENT_LIMIT];           /* of events, in cycles */
	struct culprit_cost event_cost[EXPLAIN_EVENTS];    /* of those that belong to causes */
	double returns, wrong_returns, calls, wrong_calls; /* where mispredictions were counted */
	struct table kept;                                 /* results for procedures done so far */
	size_t kept_insns;
	struct prof_values values; /* of loads, if any were recorded */
	double total;              /* all samples of the metric */
	double differs; /* of these, where executions of two runs differ (analysis.compared) */
};

/* d is named. All procedures are examined once, to find where code is. */
int explain_init(struct explain *x, struct prof_data *d, struct error *e);
void explain_fini(struct explain *x);

/* One procedure. */
struct explain_result {
	const struct explain_procedure *procedure;
	const char *name;
	struct explain_code code;
	struct explain_moves moves;
	struct explain_analysed analysed;
	struct culprits_input input;
	struct culprits culprits;
	double *memory;               /* of all arrays of input */
	struct culprit_seen *seen;    /* likewise; NULL: nothing was seen of its loads */
	bool borrowed, borrowed_code; /* analysed, and code, are the report's */
	bool told;                    /* there is code, and culprits hold */
};

/* -1 with *e set when memory is out; explain_result_fini is needed nevertheless. */
int explain_result_make(struct explain_result *p, struct explain *x,
	const struct explain_procedure *procedure, struct error *e);
void explain_result_fini(struct explain_result *p, const struct explain *x);
/* Makes each procedure in turn and passes it to take, which returns 0, or -1 with *e set to stop.
 * Reports progress. */
typedef int explain_take(void *to, struct explain_result *p, struct error *e);
int explain_each(struct explain *x, explain_take *take, void *to, struct error *e);

/* The processor's data for culprits (explain_machine.c). */
int explain_machine(struct explain *x, struct error *e);
/* Fills event_cost[which], per occurrence. Requires explain_machine. */
void explain_event_cost(struct explain *x, size_t which, int event);

#endif
