/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * When waits are recorded, and wakes. The records of a handover between threads take several times
 * as long as the handover, so only some hundred in a second are made: all of a program that has
 * fewer; of others, those of windows at random times. In a window all are made, so that shares of
 * it are those of the run. What waits and wakes cost is in units: RECORDED_WAIT, RECORDED_WAKE.
 */
#ifndef COLLECT_WAIT_WINDOWS_H
#define COLLECT_WAIT_WINDOWS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"

#define RECORDED_WAIT 2
#define RECORDED_WAKE 1

struct wait_gap {
	uint64_t from, to; /* without records; to UINT64_MAX: it lasts */
};

struct wait_windows {
	bool off;
	uint64_t began; /* the first turn; 0: none yet */
	uint64_t turn;  /* the last one */
	uint64_t until; /* off: then it ends */
	uint64_t gone;  /* ns, of gaps that have ended */
	uint64_t random;
	double room;               /* units that may be recorded; below 0: more were */
	VEC(struct wait_gap) gaps; /* the last ones */
};

/* At this time `units` more were recorded, and to turn all events on or off takes `cost` ns.
 * 1 and 0: they are to be turned on, off; -1: nothing is to be done. */
int wait_windows_turn(struct wait_windows *w, uint64_t time, uint64_t units, uint64_t cost);
/* They are on or off since (from) that time. -1: memory is out. */
int wait_windows_turned(struct wait_windows *w, uint64_t from, uint64_t to, bool on);
/* Whether the end of an interval, or all of it, is in a gap. */
bool wait_windows_missed(const struct wait_windows *w, uint64_t from, uint64_t to);
/* ns of an interval that are in gaps. */
uint64_t wait_windows_gone(const struct wait_windows *w, uint64_t from, uint64_t to);
/* The part of the time up to this one in windows. */
double wait_windows_share(const struct wait_windows *w, uint64_t time);
void wait_windows_fini(struct wait_windows *w);

#endif
