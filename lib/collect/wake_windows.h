/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * When wakes are recorded. The record of a wake costs as much as a handover between threads, so
 * only WAKES_A_SECOND of them are recorded: all of a program that has fewer; of others, those of
 * windows at random times. In a window all are recorded, so that shares of it are those of the run.
 */
#ifndef COLLECT_WAKE_WINDOWS_H
#define COLLECT_WAKE_WINDOWS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"

struct wake_gap {
	uint64_t from, to; /* without records; to UINT64_MAX: it lasts */
};

struct wake_windows {
	bool off;
	uint64_t began; /* the first turn; 0: none yet */
	uint64_t turn;  /* the last one */
	uint64_t until; /* off: then it ends */
	uint64_t gone;  /* ns, of gaps that have ended */
	uint64_t random;
	double room;               /* wakes that may be recorded; below 0: more were */
	VEC(struct wake_gap) gaps; /* the last ones */
};

/* At this time `wakes` more were recorded, and to turn all events on or off takes `cost` ns.
 * 1 and 0: they are to be turned on, off; -1: nothing is to be done. */
int wake_windows_turn(struct wake_windows *w, uint64_t time, uint64_t wakes, uint64_t cost);
/* They are on or off since (from) that time. -1: memory is out. */
int wake_windows_turned(struct wake_windows *w, uint64_t from, uint64_t to, bool on);
/* Whether the end of an interval, or all of it, is in a gap. */
bool wake_windows_missed(const struct wake_windows *w, uint64_t from, uint64_t to);
/* The part of the time up to this one in which wakes were recorded. */
double wake_windows_share(const struct wake_windows *w, uint64_t time);
void wake_windows_fini(struct wake_windows *w);

#endif
