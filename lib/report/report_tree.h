/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by the views of call paths. */
#ifndef REPORT_REPORT_TREE_H
#define REPORT_REPORT_TREE_H

#include "report/report_columns.h"

/* Functions of a report on call paths, with their sums. */
struct report_calls {
	struct report_columns columns;
	struct prof_sums sums;
	uint32_t *entity; /* of each node; UINT32_MAX: the root */
	size_t metric;    /* the first one with call paths: rows are sorted by it */
	size_t metrics;
};

/* Makes a report: rows gets all of this and adds rows; title with the name of the metric. */
int report_calls_report(struct prof_data *d, struct report_table *t, const char *title,
	void (*rows)(struct report_calls *c), struct error *e);
/* `samples` of the sorting metric as a share of the whole run, in percent. */
double report_calls_percent(const struct report_calls *c, uint64_t samples);
/* Adds a row of a function; own may be NULL: it makes no sense there. */
size_t report_calls_row(struct report_calls *c, uint32_t entity, enum report_role role,
	const uint64_t *own, const uint64_t *inclusive);

#endif
