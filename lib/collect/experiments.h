/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * SpeedShop's experiments, as one table: event, period, and call stacks of each.
 *
 *   pcsamp fpcsamp usertime     CPU time;  totaltime: elapsed time, blocked or not
 *   branches, explain           CPU time and branch records; then a second run on the model
 *   ideal, bbcounts             exact executions of instructions and edges
 *   X_hwc  fX_hwc  X_hwctime    every event X of the event table, by its short name
 *   prof_hwc, -e EVENT:PERIOD   any event, any period
 *
 * Classic periods are those of the R10000 at 195 MHz (Zagha et al., section 3: two preset primes
 * for each counter); on a faster processor events are more frequent, so periods are scaled by its
 * clock, to the next prime. Periods of time are not scaled.
 */
#ifndef COLLECT_EXPERIMENTS_H
#define COLLECT_EXPERIMENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/vec.h"
#include "events/event.h"

enum collect_source {
	COLLECT_AUTO, /* only in requests: the kind that works */
	COLLECT_OS,
	COLLECT_PMU,
	COLLECT_MODEL
};

/* One row of the table. */
struct collect_experiment {
	char name[32];             /* "dsc_hwc" */
	char help[96];             /* one line */
	const struct event *event; /* the event; of clocks the task clock */
	unsigned flags;            /* enum experiment_metric_flag: STACKS, EXACT, CLOCK, WALL */
	uint64_t classic;          /* period: ns, or events at 195 MHz; exact ones: 1 */
	uint64_t classic_fine;     /* of -both: about five times finer */
	bool scaled;               /* classic periods are of 195 MHz */
	bool again;                /* a second run on the model (collect_explain.h) */
};

/* Row i, 0 and on; -1 after the last. */
int collect_experiment_at(size_t i, struct collect_experiment *x);
/* By its name, without a dash. *e names the nearest. */
int collect_experiment_find(const char *name, struct collect_experiment *x, struct error *e);

/* The samples of one run: at least one metric, in the order requested. */
struct collect_metric {
	char experiment[32];        /* name of the request */
	struct event_spec spec;     /* the event; encoded if it is a libpfm4 string or raw */
	unsigned flags;             /* as above, and METRIC_BOTH */
	uint64_t period;            /* units per sample: ns, or events; 1: exact */
	uint64_t classic;           /* period before scaling, 0: it was not scaled */
	enum collect_source source; /* AUTO until collect_choose */
	bool again;                 /* a second run on the model is wanted */
};

struct collect_metrics {
	VEC(struct collect_metric) list;
	bool data_again; /* the second run counts data space, too */
};

/* Of explain, what only a model knows is counted by its second run. */
void collect_metrics_divide(struct collect_metrics *m);
/* Adds an experiment's metrics (both: at both periods); periods are not yet scaled. */
int collect_metrics_add(
	struct collect_metrics *m, const struct collect_experiment *x, bool both, struct error *e);
/* Adds EVENT:PERIOD[:stacks], or EVENT:exact[:stacks]. */
int collect_metrics_parse(struct collect_metrics *m, const char *text, bool both, struct error *e);
/* Appends the names of the experiments, as in the type of an experiment: "dc_hwc,dsc_hwc". */
struct strbuf;
void collect_metrics_type(const struct collect_metrics *m, struct strbuf *out);
void collect_metrics_fini(struct collect_metrics *m);

/* The least prime that is not below n; 2 for less. */
uint64_t collect_prime(uint64_t n);
/* A classic period on a processor of this clock. */
uint64_t collect_scale(uint64_t classic, double clock_hz);

#endif
