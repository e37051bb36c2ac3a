/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The origin of a number. Every number that was counted or estimated is passed as a struct
 * quantity, from its source to the screen, and lib/render prints no other numbers: an unlabelled
 * one (LABEL_NONE) is printed as "not counted", never as a figure.
 */
#ifndef EVENTS_LABEL_H
#define EVENTS_LABEL_H

#include <stdbool.h>

enum label {
	LABEL_NONE = 0, /* there is no number */
	LABEL_MEASURED, /* counted by hardware or kernel over the whole run */
	LABEL_SCALED,   /* counted part of the time (multiplexed) and scaled up, with an interval */
	LABEL_MODEL,    /* counted exactly on a modelled processor */
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

/* The label of a value computed from quantities with these two labels: equal labels stay,
 * LABEL_NONE gives LABEL_NONE, LABEL_MODEL gives LABEL_MODEL (a value derived from a model is not
 * a measurement). Otherwise scaled replaces measured, and estimated replaces both. */
enum label label_join(enum label a, enum label b);

#endif
