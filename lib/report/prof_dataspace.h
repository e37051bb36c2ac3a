/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Between prof_dataspace.c (objects) and prof_sharing.c (lines that threads share). */
#ifndef REPORT_PROF_DATASPACE_H
#define REPORT_PROF_DATASPACE_H

#include "report/prof_objects.h"

enum dataspace_row { DATASPACE_OBJECT, DATASPACE_LINE, DATASPACE_END, DATASPACE_MEMBER };

struct dataspace_view {
	struct prof_data *d;
	struct prof_table *t;
	struct prof_objects o;
	VEC(long) columns;  /* of metrics; -1: all are 0 */
	long kind, sharing; /* columns of text */
	uint64_t requests;  /* of all lines that were taken */
	bool lines;         /* -datalines */
};

/* counts: by metric, or NULL where a row has none.  The row's index; -1 when memory is out. */
long dataspace_row(struct dataspace_view *v, const struct prof_row *row, enum dataspace_row kind,
	const char *sharing, const uint64_t *counts);
/* "n more WHAT": nothing where n is 0. */
int dataspace_more(struct dataspace_view *v, size_t n, const char *what, unsigned depth);

/* Sums up v->requests. */
void sharing_sum(struct dataspace_view *v);
/* Rows below an object. */
int sharing_rows(struct dataspace_view *v, uint32_t object);

#endif
