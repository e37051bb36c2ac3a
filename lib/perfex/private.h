/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Inside libperfex: the counters for a program that counts itself.
 *
 *   model   client requests, when the program runs under the model; then no other is used, because
 *           the kernel's and the processor's counts would be those of the model itself
 *   self    the kernel's values for every thread, without any privilege: clocks, faults, switches
 *   os      perf's software events
 *   pmu     the processor's counters
 *
 * `self` is called "os" outside: how the kernel's values are read is an internal matter.
 */
#ifndef PERFEX_PRIVATE_H
#define PERFEX_PRIVATE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "events/event.h"
#include "perfex.h"

#include "sources/source.h"

struct counter;

/* What becomes of a session. */
struct counter_ops {
	/* specs are borrowed until close.  Counting is off. */
	void *(*open)(const struct counter *counter, int scope, struct event_spec *specs,
		size_t count, struct error *e);
	int (*enable)(void *session, bool on, struct error *e);
	/* Cumulative while enabled.  counts: as many as specs, all LABEL_NONE. */
	int (*read)(void *session, struct count *counts, struct error *e);
	void (*close)(void *session);
};

struct counter {
	const struct counter_ops *ops;
	const char *source; /* "pmu", "os", "model" */
	/* 0 if it can count this event in this process; may encode spec. */
	int (*accepts)(const struct counter *counter, int scope, struct event_spec *spec,
		struct error *why);
	const struct source_ops *of; /* counter_source.c: what counts */
	/* counter_figures.c: the current values, by event number, and their label. */
	int (*now)(int scope, uint64_t now[EVENT_LIMIT], struct error *e);
	enum label label;
};

extern const struct counter counter_model, counter_self, counter_os, counter_pmu;

/* Whether this program runs under the model. */
bool counter_model_present(void);
/* The modelled clock in Hz; 0 outside the model. */
double counter_model_clock(void);

/* As perfex_add, for an event that was named by number. */
int session_add_number(struct perfex *p, int number, struct error *e);
/* The public calls with our own kind of error. */
struct perfex *session_open(int scope, struct error *e);
int session_start(struct perfex *p, struct error *e);
int session_read(struct perfex *p, struct perfex_value *values, int count, struct error *e);
int session_stop(struct perfex *p, struct error *e);
/* out may be NULL. */
void perfex_export_error(const struct error *e, struct perfex_error *out);

#endif
