/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A session of the pmu source; private to pmu*.c: pmu.c opens and starts, pmu_slots.c keeps the
 * events to count, pmu_choose.c makes the groups, pmu_read.c turns observations into counts.
 */
#ifndef SOURCES_PMU_SESSION_H
#define SOURCES_PMU_SESSION_H

#include "sources/bank.h"
#include "sources/estimate.h"
#include "sources/grouping.h"
#include "sources/source.h"
#include "sources/thread_rows.h"

#define RESIDENTS_MAX 2

/* One event to count; several specs may share it. */
struct slot {
	struct perf_event_attr attr;
	bool resident;        /* in every group */
	size_t group;         /* GROUP_NONE: it never fits */
	size_t index;         /* in the bank; of a resident: within each group */
	struct spread spread; /* of a resident: of its counts in all groups together */
};

struct pmu_session {
	struct source_options options;
	struct event_spec *specs; /* borrowed */
	size_t count;
	size_t *slot_of; /* each spec's */
	struct slot *slots;
	size_t slot_count;
	size_t residents[RESIDENTS_MAX], resident_count; /* slots; the first is the anchor */
	size_t groups;
	size_t *first; /* each group's first event in the bank: its residents, then its members */
	struct bank bank;
	struct bank_value *values, *last;
	double rotation;  /* seconds of a turn */
	struct rows rows; /* with per_thread */
};

/* The attr of an event, and of a generic hardware event at the session's levels. */
struct perf_event_attr pmu_attr(const struct source_options *o, const struct event_spec *spec);
struct perf_event_attr pmu_generic_attr(const struct source_options *o, uint64_t config);
/* The slot that counts attr; a new one if there is none (there is room). */
size_t pmu_slot(struct pmu_session *s, const struct perf_event_attr *attr);

int pmu_choose_groups(struct pmu_session *s, struct error *e);

/* Reads the counters and adds the difference since the last time to the spreads. */
int pmu_observe(struct pmu_session *s, struct error *e);
int pmu_report(struct pmu_session *s, struct reading *r, struct error *e);

#endif
