/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The options of the command line. */
#ifndef PERFEX_OPTIONS_H
#define PERFEX_OPTIONS_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/error.h"
#include "base/option.h"
#include "base/vec.h"
#include "events/event.h"
#include "sources/profile.h"

enum { OPTIONS_RANK_NAMES = 3 };

struct options {
	bool all, per_thread, by_signal, exceptions, kernel, costs, print_costs, passes;
	bool defaulted; /* events are the default ones */
	bool json, csv, openmetrics, list, calibrate, doctor, completion, overview, help, version,
		quiet;
	bool blocks;            /* -blocks */
	bool stacks;            /* -stacks */
	bool fast;              /* -fast */
	bool native;            /* -native */
	unsigned long turn;     /* -turn, superblocks; 0: not given */
	unsigned long counters; /* -counters; 0: not given */
	unsigned long slices;   /* -slices, cycles; 0: likewise */
	const char *profile;    /* -profile */
	const char *cost_file, *output, *source, *machine, *explain, *plot, *pid_text, *clock;
	char *rank_name[OPTIONS_RANK_NAMES]; /* of output, profile and plot; NULL: no rank */
	double period;
	unsigned long runs, expect;
	pid_t pid;
	VEC(struct event_spec) events;
	VEC(struct profile_sampler) samplers; /* -sample */
	char **command; /* NULL-terminated rest of argv; NULL if there is none */
};

extern const struct option_row option_table[];

/* Parses and checks combinations; -1 with *e set. */
int options_parse(struct options *o, int argc, char **argv, struct error *e);
void options_fini(struct options *o);

#endif
