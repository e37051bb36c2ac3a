/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Pictures of the costs of events, after figures 2, 8 and 9 of Zagha et al. */
#ifndef PICTURE_PICTURE_COSTS_H
#define PICTURE_PICTURE_COSTS_H

#include "picture/picture.h"
#include "report/counts.h"

/* One report, or several beside each other, distinguished by names (files; NULL with one). First
 * the events with the highest typical costs, with lines from least to most; then, if all have it,
 * the breakdown of the time. The reports must outlive the picture. */
int picture_costs(struct picture *p, const struct counts_report *const *reports,
	const char *const *names, size_t count, struct error *e);

#endif
