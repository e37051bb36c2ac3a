/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which events can be on the counters together.
 *
 * Counters differ (fixed ones, ones for some events only, ones in use by others), and only the
 * kernel has that information. So a set fits if the kernel accepts it; this code does not calculate
 * with numbers of counters.
 */
#ifndef SOURCES_GROUPING_H
#define SOURCES_GROUPING_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

#define GROUP_NONE SIZE_MAX

/* Whether these events fit the counters together. */
typedef bool grouping_fits(void *context, const size_t *members, size_t count);

/*
 * Puts events 0 .. count-1 into groups, first fit: group_of[i] becomes the number of its group,
 * GROUP_NONE where an event does not fit even alone.  Returns the number of groups; GROUP_NONE with
 * *e when memory is out. Tries each event with each group: count * groups calls.
 */
size_t grouping_make(
	size_t count, grouping_fits *fits, void *context, size_t *group_of, struct error *e);

/* Opens the events as one group on this thread and tests whether it gets onto the counters. If not,
 * errno has the reason: perf_event_open's, or EBUSY if it opened but never counted. */
bool grouping_try(struct perf_event_attr *const *attrs, size_t count);

#endif
