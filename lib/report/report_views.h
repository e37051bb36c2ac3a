/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reports.  Each takes samples that are added up and fills an empty table; views.c names them.
 * Order of rows: the first column falling, then procedure, image, file, line, address.
 */
#ifndef REPORT_REPORT_VIEWS_H
#define REPORT_REPORT_VIEWS_H

#include "profile/places.h"
#include "report/report_rows.h"

typedef int report_view(struct prof_data *d, struct report_table *t, struct error *e);

report_view report_dis, report_calc, report_archinfo;
report_view report_stalls, report_why, report_topblocks, report_cfg;
report_view report_procedures, report_heavy, report_images_view;
report_view report_butterfly, report_calltree, report_timeline;
report_view report_lines;
report_view report_values_view, report_arguments, report_operations;
report_view report_access, report_conflicts, report_redundant, report_latency, report_watch;
report_view report_dataspace, report_datalines;
report_view report_summary_view, report_usage, report_waits;
/* What changed between two sides of inputs: by procedure, line, image. */
report_view report_diff, report_diff_lines, report_diff_images;

/* -butterfly of counted calls: is it that, and the report. */
bool report_call_counts_wanted(const struct prof_data *d);
int report_call_counts(struct prof_data *d, struct report_table *t, struct error *e);

#endif
