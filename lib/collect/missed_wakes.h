/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Pauses that ended while wakes were not recorded (wait_windows.h): they are divided as those of
 * the same place and obstacle that ended in windows, into what was waited for, by waking thread,
 * and the wait for a processor after it.
 */
#ifndef COLLECT_MISSED_WAKES_H
#define COLLECT_MISSED_WAKES_H

#include "base/vec.h"
#include "experiment/pauses.h"

struct missed_part { /* of a row */
	uint64_t time, count;
};

struct missed_wakes {
	VEC(struct missed_part) rows; /* by numbers of pauses in the experiment */
	struct table groups;          /* at the end: by obstacle, thread, phase and node */
};

/* The pause was added to this row, as one whose wake was not seen. -1: memory is out. */
int missed_add(struct missed_wakes *m, size_t row, const struct experiment_pause *p);
/* Divides them, where there are enough others to do it by. processor: the obstacle of waits for a
 * processor. -1: memory is out. */
int missed_divide(struct missed_wakes *m, struct experiment *x, uint32_t processor);
void missed_fini(struct missed_wakes *m);

#endif
