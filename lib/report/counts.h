/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The report of perfex, as data: built once, then written by lib/render as text, JSON, CSV or a
 * picture, so that these always agree.
 */
#ifndef REPORT_COUNTS_H
#define REPORT_COUNTS_H

#include "costs/breakdown.h"
#include "costs/costs.h"
#include "machine/machine.h"
#include "sources/native_run.h"
#include "sources/source.h"

struct event_row {
	int number;              /* -1 for raw codes and libpfm4 strings */
	const char *short_name;  /* "" for those */
	const char *name, *unit; /* borrowed from the specs and the event table */
	struct count count;
	bool costed;                          /* seconds are valid */
	double typical, minimum, maximum;     /* seconds, estimated from count and cost table */
	const char *cost_from;                /* "measured", "elsewhere", "published", "guess" */
	char cost_sources[COST_SOURCES_TEXT]; /* of each figure, by the table's tags */
	const char *note; /* the processor's deviation from the event; NULL: none */
	double spread; /* with several runs: relative half-width of the 95% interval of their mean;
			  else 0 */
};

/* An event of -a that nothing here can count. */
struct uncounted_row {
	int number;
	const char *short_name, *name;
	char why[160];
};

struct thread_row {
	pid_t pid, tid;
	char command[16];
	struct count *counts; /* one per event row */
};

struct counts_report {
	const char *const *command; /* NULL-terminated; borrowed; NULL when attached */
	pid_t pid;                  /* attached to; 0 else */
	int exit_status;
	char source[32];  /* "model", "pmu+os" ... */
	char machine[32]; /* the modelled one, or this host's */
	char machine_description[128];
	double clock_hz;
	const char *clock_from;     /* "measured", "stated", "assumed", "unknown" or "" */
	struct quantity elapsed;    /* wall-clock seconds of the run (mean of them with several) */
	struct quantity seconds;    /* CPU time of the counted run; LABEL_NONE if unknown */
	bool modelled;              /* it is a modelled processor's */
	bool host;                  /* which is like this host's */
	struct native_times native; /* of runs without the model; runs is 0 if there were none */
	double ratio; /* modelled by measured seconds; 0 if they do not compare, or one is unknown
		       */
	struct quantity divided; /* what the breakdown divides: as measured in those runs if they
				    compare, else seconds */
	unsigned long runs, passes;
	size_t groups; /* sets of events that took turns on the counters */

	size_t event_count;
	struct event_row *events; /* in the order of the request */
	size_t uncounted_count;
	struct uncounted_row *uncounted;
	size_t thread_count;
	struct thread_row *threads;

	bool costs; /* -y: the rest is valid */
	char cost_table[512];
	char cost_provenance[512];
	size_t cost_source_count; /* what tags in cost_sources of rows stand for */
	struct cost_source cost_source[COST_SOURCES_MAX];
	size_t statistic_count;
	struct statistic statistics[STATISTICS_MAX];
	bool clocked; /* causes are what the model's clock saw, else those of costs */
	size_t cause_count, cost_cause_count;
	struct cause causes[CAUSES_MAX];
	struct cause cost_causes[CAUSES_MAX]; /* of costs, where causes are the clock's */
};

/* Beyond this, or its inverse, the report says that modelled and measured time differ. */
#define COUNTS_RATIO_FAR 1.5
/* But not of shorter times, in seconds: beginning a process takes as long. */
#define COUNTS_COMPARED 0.005

/* The data for a report. All borrowed; specs must outlive the report. */
struct counts_input {
	const char *const *command;
	pid_t pid;
	const struct event_spec *specs;
	size_t count;
	const struct reading *readings; /* one per run, passes already joined */
	const double *elapsed;          /* seconds, one per run */
	unsigned long runs, passes;
	size_t groups;
	int exit_status;
	const char *source;
	const struct machine *machine;
	const struct cost_table *costs;    /* NULL without -y */
	bool kernel;                       /* kernel level was counted, where a source can */
	bool host;                         /* the machine, if modelled, is like this host */
	const struct native_times *native; /* NULL: the command was not run without the model */
};

/* Notes a requested event that could not be counted. */
int counts_report_add_uncounted(
	struct counts_report *r, const struct event_spec *spec, const char *why, struct error *e);
struct counts_report *counts_report_new(const struct counts_input *in, struct error *e);
void counts_report_free(struct counts_report *r);

/* Indices of the event rows, most costly (typical) first, those without cost after them by number.
 * To be freed by the caller. */
size_t *counts_report_by_cost(const struct counts_report *r);

#endif
