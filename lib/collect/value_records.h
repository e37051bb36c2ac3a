/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Adds windows of values (lib/values) to the experiment: addresses of memory become those of
 * images, by the address space at that time. Windows are made by the thread that traces, at visits
 * of lib/branches, and taken from it in order of time.
 */
#ifndef COLLECT_VALUE_RECORDS_H
#define COLLECT_VALUE_RECORDS_H

#include <pthread.h>

#include "branches/branches.h"
#include "collect/spaces.h"
#include "collect/value_places.h"
#include "collect/watches.h"
#include "experiment/branches.h"
#include "values/sites.h"
#include "values/value_module.h"
#include "values/values.h"

typedef VEC(struct value_window) value_windows;

struct value_records {
	struct experiment *experiment;
	struct spaces *spaces;
	struct values *values;      /* owned; NULL: there are no windows */
	bool lists;                 /* there are values without windows of ours */
	struct value_module module; /* path is NULL: there is none */
	struct value_sites sites;
	struct value_places places;
	struct watches watches; /* of the thread that traces */
	/* shared */
	pthread_mutex_t lock;
	value_windows queue, spare;      /* spare: their room is used again */
	uint64_t tallies[VALUE_TALLIES]; /* not yet in the experiment */
	struct branches_charge spent;    /* by this side and its module, not yet charged */
	/* taken, from next on not yet in the experiment */
	value_windows pending;
	size_t next;
};

/* Loads a user's module, before the rest, and while there is one thread only. */
int value_records_load(struct value_records *r, const char *which,
	const struct values_config *config, double rate, struct error *e);
/* -1: no values are possible. */
int value_records_begin(
	struct value_records *r, const struct values_config *config, struct error *e);
/* There will be values in lists, not of windows that we make. -1: memory is out. */
int value_records_begin_lists(struct value_records *r, struct error *e);
/* A window, or a burst with timed loads: asks the module, and adds its values to the lists. -1:
 * memory is out. */
int value_records_window(struct value_records *r, struct value_window *w);
/* Bursts of branch records log values, in place of windows. -1: memory is out. */
int value_records_begin_log(struct value_records *r, struct error *e);
/* What one has logged. -1: memory is out. */
int value_records_log(
	struct value_records *r, const struct process *p, const struct branch_values *values);
/* Some accesses are to be watched, too. -1: that is not possible here. */
int value_records_watch(struct value_records *r, struct error *e);
/* Of struct branches_request; the context is the struct value_records. */
struct branches_charge value_records_visit(void *context, const struct branches_visit *visit);
void value_records_renewed(void *context, pid_t pid);
/* Takes new windows; -1 when memory is out. */
int value_records_take(struct value_records *r);
/* Whether there is anything before this time that is not among the sites. */
bool value_records_due(const struct value_records *r, uint64_t time);
/* Adds everything before this time to the sites. -1 when memory is out. */
int value_records_advance(struct value_records *r, uint64_t time);
/* Adds the counts of the tracer. */
int value_records_tally(struct value_records *r, enum experiment_tally_kind kind, uint64_t count);
/* Puts all sites into the experiment. -1 when memory is out. */
int value_records_put(struct value_records *r);
void value_records_fini(struct value_records *r);

#endif
