/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Entities as rows, and in the order of rows. */
#ifndef REPORT_REPORT_ENTITY_H
#define REPORT_REPORT_ENTITY_H

#include "profile/entities.h"
#include "report/report_rows.h"

/* Samples of each group, of a metric: [group], as report_scratch; NULL when memory is out. */
uint64_t *report_group_sums(struct report_table *t, const struct prof_data *d,
	const struct prof_sums *s, size_t metric);

/* What rows call a group: "thread 12 of 10 name". */
const char *report_group_text(struct report_table *t, const struct prof_data *d, uint32_t index);

/* A place in a list. */
struct report_rank {
	uint64_t group, value; /* of the sorting metric: sum of the group, the entity's */
	uint64_t others;       /* all metrics together */
	uint32_t entity;
	const struct prof_data *d;
	const struct prof_entity *of;
};

/* The entities that the request selects, most costly thread and in it most costly entity first
 * (inclusive, if known); *count is their number. any: also those that have samples of other metrics
 * only. As report_scratch; NULL when memory is out. */
struct report_rank *report_ranks(struct report_table *t, const struct prof_data *d,
	const struct prof_sums *s, size_t metric, bool any, size_t *count);

/* Names, image, thread, file and line of an entity as a row of t; of a function, where it begins.
 * Numbers are left empty. */
struct report_row report_entity_row(struct report_table *t, const struct prof_data *d,
	const struct prof_entity *n, enum prof_grain grain);

#endif
