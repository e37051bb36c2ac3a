/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The reports that prof can make: an option each. */
#ifndef PROF_VIEWS_H
#define PROF_VIEWS_H

#include "report/prof_views.h"

struct view {
	const char *name; /* of its option, without dash; of the report in JSON */
	const char *help; /* one line, for usage */
	prof_view *make;
	bool threads; /* wants the processes of several files kept apart */
	bool about;   /* words that are no files are functions that it is about */
	bool cycles;  /* explains cycles: wants to know the clock */
};

/* What -diff makes of a view; NULL: it has no differences to show. */
prof_view *view_of_changes(prof_view *make);

extern const struct view views[]; /* the first is the default one; ends with name NULL */

#endif
