/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sums over the windows of a sampled simulation (model/fast.h), and the estimates for a whole run.
 */
#ifndef SOURCES_WINDOWS_H
#define SOURCES_WINDOWS_H

#include <stdbool.h>

#include "events/label.h"
#include "model/fast.h"

/* to += from, or to -= from. */
void windows_add(struct model_windows *to, const struct model_windows *from);
void windows_subtract(struct model_windows *to, const struct model_windows *from);

/* The event's count over a run, `counted` of it outside the sampled part: LABEL_MODEL and exact if
 * nothing was left out, else LABEL_SCALED with its interval, or LABEL_NONE if no window ended.
 * *few: too few windows for a reliable interval. */
struct quantity windows_estimate(
	const struct model_windows *w, unsigned event, double counted, bool *few);

#endif
