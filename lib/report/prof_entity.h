/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Entities as rows. */
#ifndef REPORT_PROF_ENTITY_H
#define REPORT_PROF_ENTITY_H

#include "profile/entities.h"
#include "report/prof_rows.h"

/* Names, image, thread, file and line of an entity as a row of t; of a function, where it begins.
 * Numbers are left empty. */
int prof_entity_row(struct prof_table *t, const struct prof_data *d, const struct prof_entity *n,
	enum prof_grain grain, struct prof_row *row);

#endif
