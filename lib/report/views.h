/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The reports that prof can make: one option each. */
#ifndef REPORT_VIEWS_H
#define REPORT_VIEWS_H

#include "report/report_views.h"

enum view_flags {
	VIEW_ALONE = 1,   /* is about one procedure, always, which its option names */
	VIEW_THREADS = 2, /* needs the processes of several files kept apart */
	VIEW_ABOUT = 4,   /* words that are not files are its functions */
	VIEW_CYCLES = 8,  /* explains cycles: needs the clock */
	/* Options that it takes. */
	VIEW_BY = 16,
	VIEW_INCLUSIVE = 32,
	VIEW_INLINES = 64,
	VIEW_RAW = 128,
	VIEW_INTEL = 256,
	VIEW_WHOLE = 512,
	/* What -only and -exclude mean there. */
	VIEW_RUN = 1024,     /* nothing, of functions: it is about the run and its processes */
	VIEW_OBJECTS = 2048, /* variables and allocations, not functions */

	VIEW_RAW_INLINES = 4096, /* takes -raw if -inlines is given */
};

struct view {
	const char *name; /* of its option, without dash; of the report in JSON */
	const char *help; /* one line, for usage */
	report_view *make;
	unsigned flags; /* enum view_flags */
};

/* What fills the table of a view, or of its changes (-diff); NULL: it has none to show. */
report_view *report_view_make(const struct view *view, bool changes);

/* If the table has no row and something was selected: a note that names the options, and the table
 * is incomplete. */
void report_note_bare(
	struct report_table *t, const struct prof_request *r, const struct view *view);

extern const struct view report_views[]; /* the first is the default one; ends with name NULL */

#endif
