/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The cache of decoded operations: what it has, by the uses of lines that L1I has. */
#include "../tap.h"
#include "model/opcache.h"

#define LINES 64
#define SETS  8
#define WAYS_ 13 /* entries of a set */

static uint64_t entries[LINES], used[LINES], now;
static struct opcache_line lines[LINES];
static struct opcache cache;
static struct retire clock_;
static struct model model;
static struct core core;
static struct model_fetch fetch[LINES];
static struct model_block block[LINES];
static struct model_segment segment[LINES];

/* Where L1I has a line: consecutive ones are in consecutive sets. */
static uint16_t place(unsigned i)
{
	return (uint16_t)(i % SETS * (LINES / SETS) + i / SETS);
}

/* A segment in each line, with groups that begin in these places. */
static void begin(uint16_t groups)
{
	memset(&core, 0, sizeof(core));
	memset(lines, 0, sizeof(lines));
	memset(used, 0, sizeof(used));
	memset(&clock_, 0, sizeof(clock_));
	cache = (struct opcache){.line = lines, .ways = WAYS_};
	core.l1i.entries = entries;
	core.l1i.used = used;
	core.l1i.mask = SETS - 1;
	core.l1i.ways = LINES / SETS;
	core.opcache = &cache;
	core.retire = &clock_;
	core.stamp = 1; /* segments have none */
	for (unsigned i = 0; i < LINES; i++) {
		entries[place(i)] = (0x400000 + 64 * i) | SHARED;
		fetch[i] = (struct model_fetch){.line = 0x400000 + 64 * i, .groups = groups};
		block[i].fetches = &fetch[i];
		segment[i] = (struct model_segment){.block = &block[i],
			.fetch_count = 1,
			.run.entry = {place(i)},
			.line_groups = {groups}};
		opcache_add(&core, &segment[i], 1);
	}
}

/* It is run, clocked or not; is it decoded? */
static int decoded(unsigned i, int clocked)
{
	used[place(i)] = ++now;
	if (!clocked)
		return 0;
	opcache_look(&model, &core, &segment[i]);
	clock_.instructions += OPCACHE_EPOCH / 20;
	return clock_.decodes != 0;
}

/* Lines 0..count - 1 in turn, some turns of which are clocked; the share that is decoded in the
 * last. */
static double tour(unsigned count, unsigned clocked)
{
	unsigned sum = 0, turns = 20;

	for (unsigned turn = 0; turn < turns; turn++) {
		if (turn == turns - clocked)
			opcache_begin(&core);
		for (unsigned i = 0; i < count; i++)
			sum += (unsigned)decoded(i, turn >= turns - clocked) & (turn == turns - 1);
	}
	return (double)sum / count;
}

static void sizes(void)
{
	for (unsigned clocked = 1; clocked <= 16; clocked *= 4) {
		begin(0x0101);
		ok(tour(WAYS_ / 2 * SETS, clocked) == 0, "what fits is there (%u turns clocked)",
			clocked);
		begin(0x0101);
		ok(tour(LINES, clocked) > 0.9, "of what does not fit, nothing (%u)", clocked);
		begin(0x0100);
		ok(tour(LINES, clocked) == 0, "lines with fewer groups fit (%u)", clocked);
	}
}

static void recent(void)
{
	unsigned sum = 0;

	begin(0x1111);
	for (unsigned i = 0; i < LINES; i++)
		decoded(i, 0);
	opcache_begin(&core);
	for (unsigned i = LINES - WAYS_ / 4 * SETS; i < LINES; i++)
		sum += (unsigned)decoded(i, 1);
	ok(sum == 0, "what was used last is there");
	ok(decoded(0, 1), "what was used long ago is not");
	ok(!decoded(0, 1), "but when it was decoded");
	entries[place(LINES - 1)] = 0;
	opcache_drop(&core, place(LINES - 1));
	opcache_begin(&core);
	ok(decoded(LINES - 1, 1), "a line that L1I has lost is not there");
}

/* Within an epoch. */
static void sets(void)
{
	begin(0x1111);
	for (unsigned i = 0; i < 3 * SETS; i++)
		decoded(i, 0);
	opcache_begin(&core);
	ok(!decoded(0, 1) && !decoded(1, 1), "three lines of a set are there");
	ok(decoded(3 * SETS, 1), "a fourth is not");
	ok(!decoded(1, 1) && !decoded(1 + SETS, 1), "it displaces none of another set");
	ok(!decoded(0, 1) && !decoded(2 * SETS, 1), "those of its own that were used last stay");
	ok(decoded(SETS, 1), "the other left");
}

/* A line is jumped to in other places than before. */
static void places(void)
{
	begin(0x0001);
	decoded(0, 0);
	opcache_begin(&core);
	ok(!decoded(0, 1), "it is there");
	fetch[0].groups = 0x0100;
	segment[0].op_epoch = 0;
	ok(decoded(0, 1), "from another place on it is not");
	fetch[0].groups = 0x0101;
	segment[0].op_epoch = 0;
	ok(!decoded(0, 1), "then both are");
	fetch[0].groups = 0x3fff;
	segment[0].op_epoch = 0;
	ok(decoded(0, 1), "more entries than a set has are not kept");
	segment[0].op_epoch = 0;
	ok(decoded(0, 1), "not then either");
}

/* What follows a group that is not there. */
static void until_branch(void)
{
	begin(0x0001);
	for (unsigned i = 0; i < 3; i++)
		decoded(i, 0);
	entries[place(0)] = 0;
	opcache_begin(&core);
	ok(decoded(0, 1) && !decoded(1, 1), "what is there is taken from there at once");
	cache.until_branch = 1;
	ok(decoded(0, 1) && decoded(1, 1), "or decoded until a branch is taken");
	segment[1].statics[MODEL_STATIC_TAKEN] = 1;
	ok(decoded(1, 1) && !decoded(2, 1), "as then");
}

int main(void)
{
	sizes();
	recent();
	sets();
	places();
	until_branch();
	return done();
}
