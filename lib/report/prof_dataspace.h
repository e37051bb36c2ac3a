/* SPDX-License-Identifier: GPL-2.0-or-later */
/* For prof_dataspace.c (objects), which asks prof_sharing.c (lines that threads share) and
 * prof_members.c (parts of objects); all add rows by prof_dataspace_rows.c. */
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
 * ref[first[i]] .. ref[first[i + 1]], in order of inputs and rows. */
struct dataspace_refs {
	size_t *first;
	struct dataspace_ref {
		uint32_t object, input, row;
	} * ref;
};

struct dataspace_view {
	struct prof_data *d;
	struct prof_table *t;
	struct prof_objects o;
	struct dataspace_refs refs[DATA_TABLES]; /* places, touches, lines */
	long *columns;                           /* of metrics; -1: all are 0 */
	size_t kind, sharing;                    /* columns of text */
	size_t by;                               /* metric that rows are sorted by */
	uint64_t requests;                       /* of all lines that were taken */
	bool lines;                              /* -datalines */
	long last[3];                            /* row of each depth that was added last */
};

/* prof_dataspace_rows.c: columns, and rows of the tables by object. */
void dataspace_columns(struct dataspace_view *v);
void dataspace_refs(struct dataspace_view *v, int which);
static inline const struct experiment *dataspace_input(
	const struct dataspace_view *v, const struct dataspace_ref *ref)
{
	return v->d->request->inputs[ref->input].experiment;
}
/* counts: by metric, or NULL where a row has none. */
void dataspace_row(struct dataspace_view *v, const struct prof_row *row, enum dataspace_row kind,
	const char *sharing, const uint64_t *counts);
/* A row that is a text. */
void dataspace_text(struct dataspace_view *v, unsigned depth, enum dataspace_row kind,
	const char *sharing, const uint64_t *counts, const char *text);
/* "n more WHAT": nothing where n is 0. */
void dataspace_more(struct dataspace_view *v, size_t n, const char *what, unsigned depth);

/* Rows below an object. */
void sharing_rows(struct dataspace_view *v, uint32_t object);
void members_rows(struct dataspace_view *v, uint32_t object);
void places_rows(struct dataspace_view *v, uint32_t object);
/* Below all rows: what is falsely shared. */
void sharing_notes(struct dataspace_view *v);

#endif
