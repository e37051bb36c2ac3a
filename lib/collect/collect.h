/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Collecting an experiment: runs a command (or attaches to a process, or watches the system) and
 * fills a struct experiment.  Two ways: the kernel's clocks and the processor's counters sample a
 * run as it is (collect_perf); the model runs the command by itself under Valgrind (collect_model).
 */
#ifndef COLLECT_COLLECT_H
#define COLLECT_COLLECT_H

#include <sys/types.h>

#include "base/progress.h"
#include "collect/experiments.h"
#include "collect/output.h"
#include "experiment/experiment.h"
#include "machine/machine.h"

enum collect_stack {
	STACK_AUTO, /* as images are: by call frame rules, by frame pointers where there are none */
	STACK_FP,
	STACK_DWARF
};

struct collect_request {
	char *const *argv; /* the command; NULL with pid and all */
	pid_t pid;         /* attach to this process; 0: none */
	bool all;          /* the whole system */
	double seconds;    /* with pid and all: no longer than this; 0: until they end, or ^C */
	const struct collect_metrics *metrics; /* with sources (collect_choose) */
	const struct machine *machine;         /* the model's; else this host's */
	bool kernel;                           /* samples in the kernel must be among them */
	enum collect_stack stack;
	uint32_t stack_bytes;          /* copied of each stack */
	const char *archive;           /* directory for copies of images; NULL: none */
	double caliper_seconds;        /* a phase begins every so many; 0: none */
	int caliper_signal;            /* a phase begins when this comes to us; 0: none */
	struct collect_output *output; /* to be claimed once the command's pid is known */
	uint64_t expect; /* instructions of the command, for the progress line; 0: unknown */
	unsigned
		turn; /* model: superblocks that a thread runs before the next; 0: its own choice */
	double bursts;             /* with METRIC_BRANCHES: so many a second of CPU time */
	struct progress *progress; /* of slow runs; may be NULL */
	/* What the user should know while it goes on, one line; level 0: always, 1: -v. */
	void (*say)(void *context, int level, const char *line);
	void *context;
};

struct collect_result {
	int exit_status;  /* the command's, as a shell gives it; 0 without a command */
	bool killed;      /* by a signal */
	bool interrupted; /* ^C or a termination signal came to us */
	double elapsed;   /* seconds */
};

/*
 * Which source each metric has: what the user wants, or, for COLLECT_AUTO, os for time and what the
 * kernel counts, pmu where it works and counts the event, else the model.  *reason says why not the
 * pmu, where one was wanted in vain (code ERR_NONE: it was not).  Then scales the periods by the
 * clock of host or model.  -1: something cannot be sampled, or not together.
 */
int collect_choose(struct collect_metrics *m, enum collect_source wanted,
	const struct machine *machine, bool attach, struct error *reason, struct error *e);

/* x is fresh (experiment_init).  A command that cannot be run: ERR_CANNOT_RUN. */
int collect(const struct collect_request *r, struct experiment *x, struct collect_result *result,
	struct error *e);

/* The two ways; all metrics are of one. */
int collect_perf(const struct collect_request *r, struct experiment *x,
	struct collect_result *result, struct error *e);
int collect_model(const struct collect_request *r, struct experiment *x,
	struct collect_result *result, struct error *e);

extern const char *const collect_source_names[]; /* by enum collect_source */

/* Says a line to the user of r. */
void collect_say(const struct collect_request *r, int level, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Facts that every experiment has: command, host, cpu, kernel, version, clock ...; the type; and
 * the metrics, as far as they are known beforehand (counts of the table come later).  Metric i of
 * the request is metric i of x.  source: what metrics say they come from; NULL: by their own. */
int collect_describe(
	const struct collect_request *r, struct experiment *x, const char *source, struct error *e);
/* The rank in MPI that the environment tells; -1: none. */
int collect_rank(void);

#endif
