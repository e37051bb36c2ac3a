/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Cycles by cause, as the model's clock knows them (model/cause.h). */
#ifndef SOURCES_CLOCK_SUMS_H
#define SOURCES_CLOCK_SUMS_H

#include <stdbool.h>

#include "events/label.h"
#include "model/cause.h"

/* to += from, or to -= from. */
void clock_sums_add(struct model_clock_sums *to, const struct model_clock_sums *from);
void clock_sums_subtract(struct model_clock_sums *to, const struct model_clock_sums *from);

/* Stores the cycles of each cause in to[MODEL_CAUSES], with the interval that the scatter of
 * windows gives; exact if every cycle was clocked. False: nothing was clocked. */
bool clock_sums_quantities(const struct model_clock_sums *s, struct quantity *to);

/* Stores the event's count over the run in *to if it is one of cycles that windows estimate
 * (cycles, stalls of the front end and of the back end): LABEL_MODEL with the interval. False: it
 * is not. */
bool clock_sums_event(const struct model_clock_sums *s, unsigned event, struct quantity *to);

/* The same for a thread: *to has its count while the program ran, `counted` those of all threads.
 * Estimates of threads add up to that of the run; their intervals are those of as many windows as
 * they have cycles. Other events stay as they are. */
void clock_sums_thread(
	const struct model_clock_sums *s, unsigned event, double counted, struct quantity *to);

#endif
