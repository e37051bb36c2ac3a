/* SPDX-License-Identifier: GPL-2.0-or-later */
/* For report_dataspace.c (objects), which uses report_sharing.c (lines that threads share) and
 * report_members.c (parts of objects); all add rows by report_dataspace_rows.c. */
#ifndef REPORT_REPORT_DATASPACE_H
#define REPORT_REPORT_DATASPACE_H

#include "report/report_objects.h"

#define REPORT_DATASPACE_WORTH 0.5 /* percent of any column that matters: worth a row */

enum report_dataspace_row {
	REPORT_DATASPACE_OBJECT,
	REPORT_DATASPACE_MEMBER,
	REPORT_DATASPACE_PLACE,
	REPORT_DATASPACE_LINE,
	REPORT_DATASPACE_END,
	REPORT_DATASPACE_MORE
};

/* Rows of a table of all inputs, by the object that they are about: those of object i are
 * ref[first[i]] .. ref[first[i + 1]], in order of inputs and rows. */
struct report_dataspace_refs {
	size_t *first;
	struct report_dataspace_ref {
		uint32_t object, input, row;
	} * ref;
};

struct report_dataspace_view {
	struct prof_data *d;
	struct report_table *t;
	struct report_objects o;
	struct report_dataspace_refs refs[EXPERIMENT_TABLES]; /* of places, touches, lines */
	long *columns;                                        /* of metrics; -1: all are 0 */
	size_t kind, sharing;                                 /* columns of text */
	size_t by;                                            /* metric that rows are sorted by */
	uint64_t requests;                                    /* of all lines that were taken */
	bool lines;                                           /* -datalines */
	long last[3]; /* row of each depth that was added last */
};

/* report_dataspace_rows.c: columns, and rows of the tables by object. */
void report_dataspace_columns(struct report_dataspace_view *v);
/* A note for each column shown: what it counts. */
void report_dataspace_heads(struct report_dataspace_view *v);
void report_dataspace_refs(struct report_dataspace_view *v, int which);
static inline const struct experiment *report_dataspace_input(
	const struct report_dataspace_view *v, const struct report_dataspace_ref *ref)
{
	return v->d->request->inputs[ref->input].experiment;
}
/* counts: by metric, or NULL where a row has none. */
void report_dataspace_row(struct report_dataspace_view *v, const struct report_row *row,
	enum report_dataspace_row kind, const char *sharing, const uint64_t *counts);
/* A row with a text. */
void report_dataspace_text(struct report_dataspace_view *v, unsigned depth,
	enum report_dataspace_row kind, const char *sharing, const uint64_t *counts,
	const char *text);
/* "n more WHAT", in the plural if n is more than 1: nothing where n is 0. */
void report_dataspace_more(
	struct report_dataspace_view *v, size_t n, const char *what, unsigned depth);

/* Have these counts (by metric) a share of any column that is worth a row? A column of few events
 * counts for less, even if each costs much. */
bool report_dataspace_worth(const struct report_dataspace_view *v, const uint64_t *counts);

/* Rows below an object. */
void report_sharing_rows(struct report_dataspace_view *v, uint32_t object);
void report_members_rows(struct report_dataspace_view *v, uint32_t object);
void report_places_rows(struct report_dataspace_view *v, uint32_t object);
/* Below all rows: the falsely shared lines. */
void report_sharing_notes(struct report_dataspace_view *v);

#endif
