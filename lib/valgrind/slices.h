/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What was counted in successive slices of the run, some cycles long each.  There are at most some
 * thousands: then neighbours are joined, and slices twice as long. */
#ifndef VALGRIND_SLICES_H
#define VALGRIND_SLICES_H

#include "valgrind/bytes.h"

/* 0 cycles: nobody wants to know. */
void slices_begin(ULong cycles);
/* Now and then, with the counts of all threads up to date. */
void slices_look(void);
/* Appends what becomes the section SLICES, up to now. */
void slices_write(struct bytes *to);
/* In the child of a fork. */
void slices_reset(void);

#endif
