/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Between prof_dataspace.c (objects), prof_sharing.c (lines that threads share) and prof_members.c
 * (parts of objects). */
#ifndef REPORT_PROF_DATASPACE_H
#define REPORT_PROF_DATASPACE_H

#include "report/prof_objects.h"

enum dataspace_row {
	DATASPACE_OBJECT,
	DATASPACE_MEMBER,
	DATASPACE_PLACE,
	DATASPACE_LINE,
	DATASPACE_END,
	DATASPACE_MORE
};

/* Rows of a table of all inputs, by the object that they are about: those of object i are
 * ref[first[i]] .. ref[first[i + 1]]. */
struct dataspace_refs {
	size_t *first;
	struct dataspace_ref {
		uint32_t input, row;
	} * ref;
};

struct dataspace_view {
	struct prof_data *d;
	struct prof_table *t;
	struct prof_objects o;
	struct dataspace_refs refs[DATA_TABLES]; /* places, touches, lines */
	VEC(long) columns;                       /* of metrics; -1: all are 0 */
	long kind, sharing;                      /* columns of text */
	size_t by;                               /* metric that rows are sorted by */
	uint64_t requests;                       /* of all lines that were taken */
	bool lines;                              /* -datalines */
	long last[3];                            /* row of each depth that was added last */
};

/* counts: by metric, or NULL where a row has none.  The row's index; -1 when memory is out. */
long dataspace_row(struct dataspace_view *v, const struct prof_row *row, enum dataspace_row kind,
	const char *sharing, const uint64_t *counts);
/* A row that is a text. */
int dataspace_text(struct dataspace_view *v, unsigned depth, enum dataspace_row kind,
	const char *sharing, const uint64_t *counts, const char *text);
/* "n more WHAT": nothing where n is 0. */
int dataspace_more(struct dataspace_view *v, size_t n, const char *what, unsigned depth);

/* Rows below an object. */
int sharing_rows(struct dataspace_view *v, uint32_t object);
int members_rows(struct dataspace_view *v, uint32_t object);
int places_rows(struct dataspace_view *v, uint32_t object);
/* Below all rows: what is falsely shared. */
int sharing_notes(struct dataspace_view *v);

#endif
