/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a processor with few counters would have made of a run: the exact counts of its slices
 * (sources/profile.h), of which each group of events sees only those in which it has its turn,
 * scaled up as perfex scales up what a real one counts (sources/estimate.h).  Beside them the exact
 * counts: so the estimates, and their intervals, can be judged without hardware
 * (tests/accuracy/multiplex).
 *
 * One counter counts instructions all the time, as the anchor; the others take the events in
 * groups, one group a slice, in turn.  Each process begins with the first group.
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
