/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * All of an experiment's contents as text: one line per row, in the order of the file. ssexp(5)
 * describes it.
 */
#ifndef EXPERIMENT_DUMP_H
#define EXPERIMENT_DUMP_H

#include <stdio.h>

#include "experiment/experiment.h"

enum experiment_dump_flag {
	/* Leaves out what differs between runs that do the same: process and thread numbers,
	 * times, lost samples, and the machine. Threads and processes keep the numbers of their
	 * rows. */
	DUMP_QUIET = 1 << 0,
};

/* x is settled, or was read. The caller checks for errors of writing (ferror). */
void experiment_dump(const struct experiment *x, unsigned flags, FILE *out);

#endif
