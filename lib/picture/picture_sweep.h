/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Events over a parameter that runs differ in, after figures 4 to 7 of Zagha et al.: of procedures,
 * by experiments, or of the whole, by results of perfex.
 */
#ifndef PICTURE_PICTURE_SWEEP_H
#define PICTURE_PICTURE_SWEEP_H

#include "picture/picture.h"
#include "profile/places.h"
#include "report/counts_read.h"

struct picture_sweep_request {
	/* The source of x: "argN", word N after the program that is not an option; "-n", the word
	 * after that option; "threads"; "ranks"; "file", a number in the file's name; else a fact
	 * of the run. NULL: the first argument that is a number in all runs and not the same in
	 * all, else "file". */
	const char *x;
	/* "dsc", "dsc/gi", "cy/x^3", with commas between several; "costs" or "costs/x^N": what
	 * events cost, on top of each other.  NULL: all events. */
	const char *y;
	unsigned long rows; /* procedures, at most; 0: some */
	bool filtered;      /* only the selected procedures: no curve of the whole */
};

/* Each input of d is a run (d->request->compare is set).  Runs with the same x are averaged. */
int picture_sweep(struct picture *p, const struct picture_sweep_request *r, struct prof_data *d,
	struct error *e);
int picture_sweep_counts(struct picture *p, const struct picture_sweep_request *r,
	const struct counts_file *files, const char *const *names, size_t count, struct error *e);

#endif
