/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The options of the command line. */
#ifndef SSRUN_OPTIONS_H
#define SSRUN_OPTIONS_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/error.h"
#include "base/option.h"
#include "base/vec.h"
#include "collect/collect.h"

#define EXPERIMENTS_MAX 512

struct options {
	bool experiments[EXPERIMENTS_MAX]; /* requested, numbered as in collect_experiment_at */
	bool prof_hwc, all, both, cpus, kernel, verbose, quiet, list, json, csv, completion,
		overview, help, version, values, shape, latency, watch; /* of -values=HOW */
	const char *source_name, *machine, *clock, *output, *archive, *stack_text, *pid_text,
		*module, /* -values=MODULE */ *versus;
	double caliper_seconds, seconds, bursts, rate, budget; /* budget: [0,1] */
	unsigned long expect, turn, length, runs;
	int caliper_signal;
	pid_t pid;
	uint64_t began;
	enum collect_source source;
	enum collect_stack stack;
	uint32_t stack_bytes;
	VEC(const char *) events; /* -e, as given */
	struct collect_metrics metrics;
	char **command; /* NULL-terminated rest of argv; NULL if there is none */
};

/* Options besides the experiments. */
extern const struct option_row option_table[];
/* The options, and every experiment as an option of its own; to be freed by the caller, NULL when
 * memory is out. */
struct whole_table {
	struct option_row rows[EXPERIMENTS_MAX + 64];
	struct collect_experiment names[EXPERIMENTS_MAX];
};
struct whole_table *whole_table(void);

/* What options take, NULL-terminated. */
extern const char *const source_names[], *const stack_names[];

/* -budget's percentage as a part of 1; -1 with *e set. */
int parse_budget(const char *argument, double *budget, struct error *e);
/* Parses and checks combinations; -1 with *e set. */
int options_parse(struct options *o, int argc, char **argv, struct error *e);
void options_fini(struct options *o);

#endif
