/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reports.  Each takes samples that are added up and fills an empty table; views.c names them.
 * Order of rows: the first column falling, then procedure, image, file, line, address.
 */
#ifndef REPORT_PROF_VIEWS_H
#define REPORT_PROF_VIEWS_H

#include "profile/places.h"
#include "report/prof_rows.h"

typedef int prof_view(struct prof_data *d, struct prof_table *t, struct error *e);

prof_view prof_dis, prof_calc, prof_archinfo;
prof_view prof_stalls, prof_why, prof_topblocks, prof_cfg;
prof_view prof_procedures, prof_heavy, prof_images_view;
prof_view prof_butterfly, prof_calltree;
prof_view prof_lines;
prof_view prof_dataspace, prof_datalines;
prof_view prof_summary_view, prof_usage;
/* What changed between two sides of inputs: by procedure, line, image. */
prof_view prof_diff, prof_diff_lines, prof_diff_images;

#endif
