/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where a number comes from.  Every number that was counted or estimated travels as a struct
 * quantity, from its source to the screen, and lib/render prints numbers of no other kind: an
 * unlabelled one (LABEL_NONE) is printed as what it is, "not counted", and never as a figure.
 */
#ifndef EVENTS_LABEL_H
#define EVENTS_LABEL_H

#include <stdbool.h>

enum label {
	LABEL_NONE = 0, /* there is no number */
	LABEL_MEASURED, /* counted by hardware or kernel over the whole run */
	LABEL_SCALED, /* counted part of the time (multiplexed) and scaled up; the interval says how
			 well */
	LABEL_MODEL,  /* counted exactly on a modelled processor */
	LABEL_ESTIMATED, /* computed from others and from typical costs */
	LABEL_COUNT
};

/* "measured", "scaled", ...; "" for LABEL_NONE.  Static. */
const char *label_name(enum label label);

struct quantity {
	double value, low, high; /* low..high: 95% interval; both equal value when exact */
	enum label label;
};

static inline struct quantity quantity_exact(double value, enum label label)
{
	return (struct quantity){value, value, value, label};
}

/* The label of something computed from quantities with these two labels: equal ones stay,
 * LABEL_NONE makes LABEL_NONE, the model makes LABEL_MODEL (nothing derived from a model is a
 * measurement), else scaled beats measured; estimated beats all but none. */
enum label label_join(enum label a, enum label b);

#endif
