/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Source lines with their samples beside them, after figure 3 of Zagha et al. */
#ifndef PICTURE_PICTURE_LINES_H
#define PICTURE_PICTURE_LINES_H

#include "picture/picture.h"
#include "profile/places.h"
#include "report/report_rows.h"

/* t is report_lines' table of d; both must outlive the picture. As many pieces of source as there
 * is room for, those with the costliest lines first, in their order. */
int picture_lines(struct picture *p, const struct prof_data *d, const struct report_table *t,
	struct error *e);

/* "COMMAND, on HOST" of an experiment, for titles. */
const char *picture_origin(struct picture *p, const struct experiment *x);

#endif
