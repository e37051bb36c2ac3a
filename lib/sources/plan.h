/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which source counts which event, in which run of the command.
 *
 *   auto   pmu if it works; else the model for the events it has, and os for the rest
 *   pmu, os, model   that source alone, even if its self-test fails
 *
 * Events of native sources (pmu, os) share one run. The model needs a run of its own, in which the
 * kernel's counts would be mostly those of the model itself. So with the model, os events are
 * counted only with `passes`, which gives every source, and every group of counters that must take
 * turns, a run of its own.
 */
#ifndef SOURCES_PLAN_H
#define SOURCES_PLAN_H

#include "sources/source.h"

struct plan_entry {
	const struct source_ops *source; /* NULL: not counted */
	unsigned pass;                   /* 0 .. passes - 1 */
	struct error why;                /* when not counted */
};

struct plan {
	size_t count;
	struct plan_entry *entries; /* in the order of the specs */
	unsigned passes;            /* runs of the command */
	bool fell_back;             /* auto prefers the pmu, which is not available */
	struct error reason;        /* why not, and the remedy; when fell_back */
};

struct plan_request {
	const char *source; /* "auto", "pmu", "os", "model" */
	bool passes;        /* -passes */
	bool attach;        /* -pid: there is no command to run */
	bool all;           /* -a: leave out what cannot be counted, instead of failing */
};

/* specs may get encoded on the way.  -1 with *e if an event cannot be counted (unless
 * request->all), or none can. */
int plan_make(struct plan *p, const struct plan_request *request,
	const struct source_options *options, struct event_spec *specs, size_t count,
	struct error *e);
/* Moves what this pass counted into the reading of a run of all passes; part may be empty then. */
void plan_join(const struct plan *p, unsigned pass, struct reading *run, struct reading *part);
void plan_fini(struct plan *p);

#endif
