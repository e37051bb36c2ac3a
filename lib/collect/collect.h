/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Collecting an experiment: runs a command (or attaches to a process, or watches the system) and
 * fills a struct experiment. Two methods: the kernel's clocks and the processor's counters sample
 * a native run (collect_perf); the model runs the command under Valgrind (collect_model).
 */
#ifndef COLLECT_COLLECT_H
#define COLLECT_COLLECT_H

#include <sys/types.h>

#include "base/progress.h"
#include "branches/branches.h"
#include "collect/experiments.h"
#include "collect/output.h"
#include "experiment/experiment.h"
#include "machine/machine.h"

enum collect_stack {
	STACK_AUTO, /* by each image: by call frame rules, or by frame pointers if there are none */
	STACK_FP,
	STACK_DWARF
};

struct collect_request {
	char *const *argv; /* the command; NULL with pid; with all, it may be NULL */
	int input;         /* the command's standard input; 0: ours */
	bool silent;       /* its standard output and error go to /dev/null */
	pid_t pid;         /* attach to this process; 0: none */
	uint64_t began;    /* when that began, by proc_began; 0: any */
	bool all;          /* the whole system, while a command runs if there is one */
	double seconds;    /* with pid and all: no longer than this; 0: until they end, or ^C */
	const struct collect_metrics *metrics; /* with sources (collect_choose) */
	const struct machine *machine;         /* the model's; else this host's */
	bool kernel;                           /* samples in the kernel must be included */
	bool cpus;                             /* the CPU of each sample is kept */
	enum collect_stack stack;
	uint32_t stack_bytes;          /* copied of each stack */
	const char *archive;           /* directory for copies of images; NULL: none */
	double caliper_seconds;        /* ns from one phase to the next; 0: none */
	int caliper_signal;            /* a signal that begins a phase; 0: none */
	struct collect_output *output; /* to be claimed once the command's pid is known */
	uint64_t expect; /* instructions of the command, for the progress line; 0: unknown */
	unsigned turn;   /* model: superblocks that a thread runs before the next; 0: its default */
	double bursts;   /* with METRIC_BRANCHES: bursts per second of CPU time */
	struct branches_known
		*known; /* of runs of the command before; NULL: this is the only one */
	struct {
		double rate;     /* windows per second of CPU time, whatever they cost; 0: what the
				    budget     allows */
		double budget;   /* share of the program's time; 0: the default */
		unsigned length; /* instructions of a window; 0: the default */
		bool shape;      /* values themselves are not kept */
		bool latency;    /* loads are timed, in place of windows */
		bool watch;      /* debug registers follow some of their accesses */
		const char *module; /* PATH or PATH:TEXT of a user's functions; NULL: none */
	} values;                   /* with METRIC_VALUES */
	struct progress *progress;  /* of slow runs; may be NULL */
	/* A message to the user during the run, one line; level 0: always, 1: -v. */
	void (*say)(void *context, int level, const char *line);
	void *context;
};

struct collect_result {
	int exit_status;  /* the command's, as a shell gives it; 0 without a command */
	bool killed;      /* by a signal */
	bool interrupted; /* we received ^C or a termination signal: */
	int signal;
	double elapsed; /* seconds */
};

/*
 * Chooses the source of each metric: as requested or, for COLLECT_AUTO, os for time and events of
 * the kernel, pmu if it works and counts the event, else the model. *reason: why the pmu was not
 * used though wanted (code ERR_NONE: it was used or not wanted). Then scales the periods by the
 * clock of host or model. -1: something cannot be sampled, or not together.
 */
int collect_choose(struct collect_metrics *m, enum collect_source wanted,
	const struct machine *machine, bool attach, struct error *reason, struct error *e);

/* x is fresh (experiment_init).  A command that cannot be run: ERR_CANNOT_RUN. */
int collect(const struct collect_request *r, struct experiment *x, struct collect_result *result,
	struct error *e);

/* The two methods; all metrics use one of them. */
int collect_perf(const struct collect_request *r, struct experiment *x,
	struct collect_result *result, struct error *e);
int collect_model(const struct collect_request *r, struct experiment *x,
	struct collect_result *result, struct error *e);

extern const char *const collect_source_names[]; /* by enum collect_source */

/* Passes a line to the user of r. */
void collect_say(const struct collect_request *r, int level, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Facts of every experiment: command, host, cpu, kernel, version, clock ...; the type; and the
 * metrics, as far as known beforehand (total counts come later). Metric i of the request is metric
 * i of x. source: the source of all metrics; NULL: each has its own. */
int collect_describe(
	const struct collect_request *r, struct experiment *x, const char *source, struct error *e);

#endif
