/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Pictures of what events cost, after figures 2, 8 and 9 of Zagha et al. */
#ifndef REPORT_PICTURE_COSTS_H
#define REPORT_PICTURE_COSTS_H

#include "report/counts.h"
#include "report/picture.h"

/* One report, or several beside each other, which names tell apart (files; NULL with one).  First
 * the events that cost most at typical costs, with lines from least to most; then, where all have
 * it, the breakdown of the time.  The reports must outlive the picture. */
int picture_costs(struct picture *p, const struct counts_report *const *reports,
	const char *const *names, size_t count, struct error *e);

#endif
