/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * All that an experiment holds, as text: a line a row, in the order of the file.  ssexp(5)
 * describes it.
 */
#ifndef EXPERIMENT_DUMP_H
#define EXPERIMENT_DUMP_H

#include <stdio.h>

#include "experiment/experiment.h"

enum experiment_dump_flag {
	/* Leaves out what differs between runs that do the same: process and thread numbers, times,
	 * lost samples, and on which machine it was.  Threads and processes keep the numbers of
	 * their rows. */
	DUMP_QUIET = 1 << 0,
};

/* x is settled, or was read.  Whether it could be written is for the caller to see (ferror). */
void experiment_dump(const struct experiment *x, unsigned flags, FILE *out);

#endif
