/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/wait_windows.h"

#include <string.h>

#include "base/random.h"

/* 500 waits and their wakes take about 5 ms in a virtual machine of 2026. */
#define UNITS_A_SECOND 1500.0
#define UNITS_AT_ONCE  750.0 /* in the beginning and after quiet times */
#define WINDOW         256.0 /* units that there is room for when a window begins */
#define COST_PART      200   /* turning events on and off takes at most this part of the time */
/* From the wake to the end of a pause, at most. */
#define LATE_NS 500000
/* Gaps that are remembered: those of the last ten seconds at least, and records are read sooner. */
#define GAPS_MOST 128

static double wait_random_part(struct wait_windows *w)
{
	if (!w->random)
		w->random = 0x9e3779b97f4a7c15u;
	return (double)(random_next(&w->random) >> 11) * 0x1p-53;
}

/* Windows begin at random times, so that none is in step with the program. */
static void close_window(struct wait_windows *w, uint64_t time, uint64_t cost)
{
	double seconds = (WINDOW - w->room) / UNITS_A_SECOND * (0.5 + wait_random_part(w));
	uint64_t ns = (uint64_t)(seconds * 1e9);

	w->until = time + (ns > cost * COST_PART ? ns : cost * COST_PART);
}

int wait_windows_turn(struct wait_windows *w, uint64_t time, uint64_t units, uint64_t cost)
{
	if (!w->began) {
		w->began = w->turn = time;
		w->room = UNITS_AT_ONCE;
	}
	w->room += (double)(time - w->turn) * 1e-9 * UNITS_A_SECOND - (double)units;
	if (w->room > UNITS_AT_ONCE)
		w->room = UNITS_AT_ONCE;
	w->turn = time;
	if (w->off)
		return time >= w->until ? 1 : -1;
	if (w->room >= 0)
		return -1;
	close_window(w, time, cost);
	return 0;
}

int wait_windows_turned(struct wait_windows *w, uint64_t from, uint64_t to, bool on)
{
	struct wait_gap *gap;

	w->off = !on;
	if (on) {
		if (!w->gaps.count)
			return 0;
		gap = &w->gaps.data[w->gaps.count - 1];
		gap->to = to;
		w->gone += to - gap->from;
		return 0;
	}
	if (w->gaps.count == GAPS_MOST) {
		w->gaps.count /= 2;
		memmove(w->gaps.data, w->gaps.data + w->gaps.count,
			w->gaps.count * sizeof(*w->gaps.data));
	}
	gap = vec_push(&w->gaps);
	if (!gap)
		return -1;
	*gap = (struct wait_gap){from, UINT64_MAX};
	return 0;
}

bool wait_windows_missed(const struct wait_windows *w, uint64_t from, uint64_t to)
{
	if (to > from + LATE_NS)
		from = to - LATE_NS;
	for (size_t i = w->gaps.count; i-- > 0 && w->gaps.data[i].to > from;)
		if (w->gaps.data[i].from < to)
			return true;
	return false;
}

uint64_t wait_windows_gone(const struct wait_windows *w, uint64_t from, uint64_t to)
{
	uint64_t gone = 0;

	for (size_t i = w->gaps.count; i-- > 0 && w->gaps.data[i].to > from;) {
		const struct wait_gap *gap = &w->gaps.data[i];
		uint64_t begin = gap->from > from ? gap->from : from,
			 end = gap->to < to ? gap->to : to;

		gone += end > begin ? end - begin : 0;
	}
	return gone;
}

double wait_windows_share(const struct wait_windows *w, uint64_t time)
{
	const struct wait_gap *last = w->gaps.count ? &w->gaps.data[w->gaps.count - 1] : NULL;
	uint64_t gone = w->gone + (w->off && last && time > last->from ? time - last->from : 0);

	return time > w->began && w->began ? 1 - (double)gone / (double)(time - w->began) : 1;
}

void wait_windows_fini(struct wait_windows *w)
{
	vec_fini(&w->gaps);
}
