/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Counts of successive slices of the run, some cycles long each. There are at most some thousands:
 * then neighbours are joined, and slices become twice as long. */
#ifndef VALGRIND_SLICES_H
#define VALGRIND_SLICES_H

#include "valgrind/bytes.h"

/* Are slices on? */
extern Bool slices_on;
/* 0 cycles: no slices. */
void slices_begin(ULong cycles);
/* Often, with the counts of all threads up to date: a slice ends here if it is long enough. */
void slices_look(void);
/* Appends what becomes the section SLICES, up to now. */
void slices_write(struct bytes *to);
/* In the child of a fork. */
void slices_reset(void);

#endif
