/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "valgrind/slices.h"

#include "valgrind/profile.h"
#include "valgrind/tool.h"

#define SLICES_MAX 4096u

struct slice {
	uint64_t counts[EV_COUNT];
};

Bool slices_on;
static ULong length; /* cycles of a slice */
static struct slice *slices;
static UInt count, room;
static struct slice before; /* counts at the end of the last slice */

void slices_begin(ULong cycles)
{
	length = cycles;
	slices_on = cycles != 0;
}

void slices_reset(void)
{
	count = 0;
	VG_(memset)(&before, 0, sizeof(before));
}

static void join_neighbours(void)
{
	for (UInt i = 0; i + 1 < count; i += 2)
		for (UInt e = 0; e < EV_COUNT; e++)
			slices[i / 2].counts[e] = slices[i].counts[e] + slices[i + 1].counts[e];
	count /= 2;
	length *= 2;
}

static void slices_add(const struct slice *now)
{
	if (count == SLICES_MAX)
		join_neighbours();
	if (count == room) {
		room = room ? 2 * room : 64;
		slices = VG_(realloc)("slices", slices, room * sizeof(*slices));
	}
	for (UInt e = 0; e < EV_COUNT; e++)
		slices[count].counts[e] = now->counts[e] - before.counts[e];
	count++;
	before = *now;
}

void slices_look(void)
{
	struct slice now;

	if (!length)
		return;
	counts_sum(now.counts, EV_COUNT);
	if (now.counts[EV_CYCLES] - before.counts[EV_CYCLES] >= length)
		slices_add(&now);
}

void slices_write(struct bytes *to)
{
	struct slice now;

	if (!length)
		return;
	bytes_v(to, length);
	for (UInt i = 0; i < count; i++)
		bytes_counts(to, slices[i].counts);
	counts_sum(now.counts, EV_COUNT);
	for (UInt e = 0; e < EV_COUNT; e++)
		now.counts[e] -= before.counts[e];
	if (now.counts[EV_INSTRUCTIONS])
		bytes_counts(to, now.counts); /* the rest */
}
