/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the views of call paths share. */
#ifndef REPORT_PROF_TREE_H
#define REPORT_PROF_TREE_H

#include "report/prof_columns.h"

/* Functions of a report on call paths, with their sums. */
struct prof_calls {
	struct prof_columns columns;
	struct prof_sums sums;
	uint32_t *entity; /* of each node; UINT32_MAX: the root */
	size_t metric;    /* the first one with call paths: rows are sorted by it */
};

int prof_calls_init(
	struct prof_calls *c, struct prof_data *d, struct prof_table *t, struct error *e);
void prof_calls_fini(struct prof_calls *c);
/* Share of the whole run, in percent, of so many samples of the sorting metric. */
double prof_calls_percent(const struct prof_calls *c, uint64_t samples);
/* Orders functions of equal cost: by thread, name, image, address. */
int prof_calls_order(const struct prof_calls *c, uint32_t a, uint32_t b);
/* Adds a row of a function; own may be NULL: it makes no sense there. */
long prof_calls_row(struct prof_calls *c, uint32_t entity, enum prof_role role, const uint64_t *own,
	const uint64_t *inclusive);

#endif
