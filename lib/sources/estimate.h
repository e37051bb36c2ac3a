/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The estimate of a count, and its interval, when an event was counted part of the time. Pure
 * arithmetic on the counts of each interval; memory does not grow with the length of the run.
 */
#ifndef SOURCES_ESTIMATE_H
#define SOURCES_ESTIMATE_H

#include <stdbool.h>
#include <stddef.h>

#include "events/label.h"

/* Fewer visits than this and the interval is hardly worth the name. */
#define SPREAD_VISITS_MIN 30

/* One event during one interval between two readings. */
struct observation {
	double value;
	double anchor; /* the anchor event (instructions), counted in the same group at the same
			  time */
	double running, enabled; /* seconds */
};

/* Sums of products of values and anchors, from which those of value - ratio * anchor follow for any
 * ratio. */
struct moments {
	double second[3]; /* vv, va, aa */
	double fourth[5]; /* vvvv, vvva, vvaa, vaaa, aaaa */
};

/* The observations of one event so far. Empty if zero-initialised. */
struct spread {
	struct observation total;
	size_t visits; /* times that its group was on the counters, as far as they can be separated
			*/
	struct observation visit, last; /* the current one (running > 0) and the one before it */
	struct moments visits_sum;      /* of the visits (fourth is not used) */
	struct moments steps_sum;       /* of the differences between successive visits */
	bool scattered; /* visits are at random places of their cycles, not a systematic sample */
};

/* cycle: seconds in which each group gets its turn once; a visit that seems to last longer is
 * several. */
void estimate_spread_add(struct spread *s, const struct observation *o, double cycle);

/*
 * The whole run's count with its 95% interval, LABEL_SCALED; LABEL_MEASURED and exact if the event
 * was on all the time, LABEL_NONE if never. anchor_total: of the anchor event over the whole run,
 * on the scale of observation.anchor. Without an anchor event, time can be used: anchor = running,
 * anchor_total = all enabled time.
 */
struct quantity estimate_spread(const struct spread *s, double anchor_total);

/*
 * The same for a part of the run, one thread, of which only the totals are known: scaled by its own
 * anchor, with the relative error of the whole, larger as the part is smaller (share of the time,
 * in (0,1]).
 */
struct quantity estimate_spread_part(const struct quantity *whole, const struct observation *part,
	double anchor_total, double share);

/* Whether there were too few visits for the interval to mean much. */
bool estimate_spread_is_short(const struct spread *s);

#endif
