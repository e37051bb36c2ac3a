/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions (or threads) over time, on top of each other. */
#ifndef PICTURE_PICTURE_TIMELINE_H
#define PICTURE_PICTURE_TIMELINE_H

#include "picture/picture.h"
#include "profile/places.h"
#include "report/report_rows.h"

/* Columns of time that the table may have. */
#define PICTURE_TIMELINE_MOST 128

/* t is report_timeline's table of d; both must outlive the picture.  A panel for each metric that
 * has times; what is in no row of the table is one area. */
int picture_timeline(struct picture *p, const struct prof_data *d, const struct report_table *t,
	struct error *e);

#endif
