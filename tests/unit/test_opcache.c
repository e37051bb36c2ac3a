/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The cache of decoded operations: what it has, by the uses of lines that L1I has. */
#include "../tap.h"
#include "model/opcache.h"

#define LINES   64
#define ENTRIES 100

static uint64_t entries[LINES], used[LINES], now;
static struct opcache_line lines[LINES];
static struct opcache cache;
static struct retire clock_;
static struct model model;
static struct core core;
static struct model_fetch fetch[LINES];
static struct model_block block[LINES];
static struct model_segment segment[LINES];

/* A segment in each line, with groups that begin in these places. */
static void begin(uint16_t groups)
{
	memset(&core, 0, sizeof(core));
	memset(lines, 0, sizeof(lines));
	memset(used, 0, sizeof(used));
	clock_.instructions = 0;
	cache = (struct opcache){.line = lines, .entries = ENTRIES};
	core.l1i.entries = entries;
	core.l1i.used = used;
	core.l1i.mask = LINES / 8 - 1;
	core.l1i.ways = 8;
	core.opcache = &cache;
	core.retire = &clock_;
	core.stamp = 1; /* segments have none */
	for (unsigned i = 0; i < LINES; i++) {
		entries[i] = (0x400000 + 64 * i) | SHARED;
		fetch[i] = (struct model_fetch){.line = 0x400000 + 64 * i, .groups = groups};
		block[i].fetches = &fetch[i];
		segment[i] = (struct model_segment){.block = &block[i],
			.fetch_count = 1,
			.run.entry = {(uint16_t)i},
			.line_groups = {groups}};
		opcache_add(&core, &segment[i], 1);
	}
}

/* It is run, clocked or not; is it decoded? */
static int decoded(unsigned i, int clocked)
{
	used[i] = ++now;
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
		ok(tour(ENTRIES / 2 - 2, clocked) == 0, "what fits is there (%u turns clocked)",
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
	for (unsigned i = LINES - ENTRIES / 8; i < LINES; i++)
		sum += (unsigned)decoded(i, 1);
	ok(sum == 0, "what was used last is there");
	ok(decoded(0, 1), "what was used long ago is not");
	ok(!decoded(0, 1), "but when it was decoded");
	entries[LINES - 1] = 0;
	opcache_drop(&core, LINES - 1);
	opcache_begin(&core);
	ok(decoded(LINES - 1, 1), "a line that L1I has lost is not there");
}

/* More groups of a line become known after the epoch began. */
static void growing(void)
{
	unsigned most = LINES - 4;

	begin(0x0001);
	for (unsigned i = 0; i < LINES; i++)
		decoded(i, 0);
	opcache_begin(&core);
	decoded(0, 1);
	for (unsigned i = 1; i < 9; i++) {
		lines[i].groups = 0x5555;
		decoded(i, 1);
	}
	for (unsigned i = most + 1; i < LINES; i++) {
		opcache_drop(&core, i);
		fetch[i].groups = 0xffff;
		decoded(i, 1);
	}
	ok(!decoded(most, 1), "lines that get more groups displace none");
}

int main(void)
{
	sizes();
	recent();
	growing();
	return done();
}
