/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Adds timed loads (lib/branches, lib/values/latencies.h) to the experiment: addresses of memory
 * become those of images, by the address space at that time.
 */
#ifndef COLLECT_LATENCY_RECORDS_H
#define COLLECT_LATENCY_RECORDS_H

#include "branches/branches.h"
#include "collect/spaces.h"
#include "collect/value_records.h"
#include "experiment/branches.h"
#include "values/latencies.h"

struct latency_records {
	struct experiment *experiment;
	struct spaces *spaces;
	struct latencies latencies;
	bool wanted;
	/* With a user's module: its values, and loads of the burst that it has not seen. */
	struct value_records *values; /* borrowed; NULL: there is none */
	struct value_window window;
	uint32_t burst;
};

/* Measures levels, and requests timed bursts. -1: no latencies are possible. */
int latency_records_begin(
	struct latency_records *r, struct branches_request *request, struct error *e);
/* A record of kind BRANCH_LOAD of process p. -1: memory is out. */
int latency_records_add(
	struct latency_records *r, const struct process *p, const struct branch_record *record);
/* Adds the counts of the tracer. -1: memory is out. */
int latency_records_tally(
	struct latency_records *r, enum experiment_tally_kind kind, uint64_t count);
/* Hands what is left to the module. -1: memory is out. */
int latency_records_flush(struct latency_records *r);
/* Puts all sites into the experiment. -1 when memory is out. */
int latency_records_put(struct latency_records *r);
void latency_records_fini(struct latency_records *r);

#endif
