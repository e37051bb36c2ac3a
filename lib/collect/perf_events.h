/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The events of a session in the kernel's form: from metrics to perf_event_attr. */
#ifndef COLLECT_PERF_EVENTS_H
#define COLLECT_PERF_EVENTS_H

#include "collect/collect.h"
#include "collect/sampler.h"

/* Sets up s->rings and s->events for the metrics of r, which are already in s->experiment. */
int perf_events_init(const struct collect_request *r, struct sampler *s, struct error *e);
/* Opens them for a process, thread or (-1) the system; on_exec: they begin at its exec. Flags and
 * notes of the metrics then describe how they were opened. */
int perf_events_open(const struct collect_request *r, struct sampler *s, pid_t pid, bool on_exec,
	struct error *e);
/* No samples are taken while it is on; mappings, threads and processes are recorded all the same.
 */
void perf_events_silence(void *sampler, bool on);

/* Adds a note to a metric: how it was sampled. */
int perf_events_note(struct experiment_metric *m, const char *text, struct error *e);

#endif
