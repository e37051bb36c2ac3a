/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a Monitor says of itself: a file of lines "NAME VALUE" in its store, which is replaced every
 * few seconds. One table describes the fields for all forms of it.
 */
#ifndef MONITOR_MONITOR_STATUS_H
#define MONITOR_MONITOR_STATUS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/strbuf.h"
#include "store/store.h"

struct monitor_status {
	uint64_t pid, began, updated;  /* seconds since 1970 */
	char clock[16], scope[16];     /* "tick", "system" */
	char lacks[256], error[256];   /* why it is not more; the last failure to write; "" */
	uint64_t period;               /* ns between samples of a processor */
	double cost;                   /* s of a sample, measured */
	double budget, overhead, peak; /* parts of the machine: allowed, so far, of an interval */
	double cpu, elapsed;           /* s: its own, and since it began */
	uint64_t records, user, system, kernel, idle,
		early; /* samples, as in struct watch_counts */
	uint64_t generated, gone, unmapped, between, lost, stored, dropped;
	uint64_t unattached; /* threads of the user's that it cannot watch */
	uint64_t processes, images, addresses, resident;       /* now; resident in bytes */
	uint64_t sessions, session_failures, bursts, branches; /* of monitor_follow.h */
	uint64_t known;                                        /* images with enough branches */
	double session_cpu;                  /* s that sessions took, of the programs as well */
	char followed[256], unfollowed[256]; /* an image; why the last one was not; "" */
	uint64_t writes, failures, slowed,
		stored_bytes; /* slowed: times that samples became fewer */
};

/* How a field is given: as the text of a file, and as a metric. */
enum monitor_field_kind { FIELD_COUNTER, FIELD_GAUGE, FIELD_NUMBER, FIELD_TEXT };
struct monitor_field {
	const char *name, *help;
	enum monitor_field_kind kind; /* COUNTER, GAUGE: uint64_t; NUMBER: double */
	size_t offset, size;          /* size: of a text, in bytes */
	const char *unit;             /* "seconds", "bytes", "ratio"; NULL: none */
};
extern const struct monitor_field monitor_fields[]; /* a name of NULL ends it */

/* Replaces the store's file; it is not synced. */
int monitor_status_write(
	const struct store *s, const struct monitor_status *status, struct error *e);
/* -1 with *e set: no Monitor ever wrote to it. Lines of other versions are ignored. */
int monitor_status_read(const struct store *s, struct monitor_status *status, struct error *e);
/* Of the text of such a file. */
void monitor_status_parse(char *text, struct monitor_status *status);
/* The part of user samples whose address is in a known mapping and file; 1: there are none. */
double monitor_status_mapped(const struct monitor_status *status);

/* As OpenMetrics (base/openmetrics.h). */
void monitor_status_metrics(const struct monitor_status *status, bool running, struct strbuf *out);

/* The lock of a store, to be closed; -1 with *e set: ERR_BUSY: a Monitor has it. */
int monitor_lock(const struct store *s, struct error *e);
/* Does a Monitor have it? */
bool monitor_locked(const struct store *s);

#endif
