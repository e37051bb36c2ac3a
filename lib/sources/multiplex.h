/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Simulates a processor with few counters: from the exact counts of a run's slices
 * (sources/profile.h), each group of events gets only the slices in which it has its turn, scaled
 * up as perfex scales real counts (sources/estimate.h). With the exact counts beside them, the
 * estimates and their intervals can be tested without hardware (tests/accuracy/multiplex).
 *
 * One counter counts instructions all the time, as the anchor; the others take the events in
 * groups, one group per slice, in turn. Each process begins with the first group.
 */
#ifndef SOURCES_MULTIPLEX_H
#define SOURCES_MULTIPLEX_H

#include "events/label.h"
#include "sources/profile.h"

struct multiplexed {
	int event;
	size_t group, turns;     /* its group, and how often that had its turn */
	uint64_t seen;           /* counted in its turns */
	double running, enabled; /* cycles of its turns, of the run */
	uint64_t exact;
	struct quantity estimate;
};

typedef VEC(struct multiplexed) multiplexed_events;

/* All events that happened, in order of number; counters: at least 2.  Appends to `to`, which the
 * caller releases. */
int multiplex(const struct profile *p, size_t counters, multiplexed_events *to, struct error *e);

#endif
