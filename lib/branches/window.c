/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Windows: how often is an instruction executed?  A breakpoint at it counts, for some milliseconds
 * of the CPU time of a process, at a moment of chance.
 *
 * So that hits over time are an unbiased estimate for the whole run, the instruction and the length
 * of its window are chosen before the moment, from what was known then; and a process that does not
 * map it counts as much as one that does.  Candidates are transfers that bursts have met.  One is
 * counted only if it seems to be seldom enough (RETURN ns from one execution to the next): first by
 * its share among all transfers, later by what its windows say.  One that proves to be executed
 * more often, if only now and then, is not told of at all: its windows at such moments say nothing,
 * and without them the others would say too little.
 */
#include <stdio.h>
#include <string.h>

#include "branches/private.h"

#define RETURN         (20.0 * MICROSECOND)
#define HITS_WANTED    15.0
#define HITS_MAX       200 /* then it is too often executed to be counted */
#define LENGTH_MIN     (1.0 * MILLISECOND)
#define LENGTH_MAX     (5.0 * MILLISECOND)
#define LOOK           (1.0 * MILLISECOND)
#define WALL_MAX       (100 * (uint64_t)MILLISECOND)
#define CANDIDATES_MAX 20000
#define TRIES          8
#define PROBES_KEPT    1000
#define PROBES_FIRST   1.0 /* how many the calibration is worth */
/* Transfers a nanosecond where nothing is known yet, and how many ns that knowledge is worth. */
#define USUAL        0.1
#define ONCE         4.0
#define USUAL_WEIGHT (0.5 * MILLISECOND)

/* It gets a number, and a record says what that means, while the process is there. */
static void introduce(struct branches *b, struct candidate *c)
{
	c->since = b->used;
	c->id = ++b->ids;
	branches_put(b, &(struct branch_record){.kind = BRANCH_SITE,
				.pid = c->pid,
				.time = branches_now(CLOCK_MONOTONIC),
				.begin = c->address,
				.id = c->id});
}

void branches_window_met(struct branches *b, struct followed *p, uint64_t address)
{
	const struct area *area = process_area(p, address);
	struct candidate key = {.pid = 0}, *c;

	b->transfers++;
	if (!area || !area->inode)
		return;
	key.key.device = area->device;
	key.key.inode = area->inode;
	key.key.offset = address - area->begin + area->offset;
	c = b->candidates.count < CANDIDATES_MAX ? table_add(&b->candidates, &key.key)
						 : table_find(&b->candidates, &key.key);
	if (!c)
		return;
	if (!c->pid) {
		c->pid = p->pid;
		c->address = address;
		introduce(b, c);
	}
	c->met++;
}

/* Executions a ns.  What was met once may be much rarer than that. */
static double frequency(const struct branches *b, const struct candidate *c)
{
	double share = (double)c->met / (double)b->transfers / (c->met == 1 ? ONCE : 1);

	return ((double)c->hits + share * USUAL * USUAL_WEIGHT) / ((double)c->ns + USUAL_WEIGHT);
}

/* Of some that can be counted, the one that was counted least. */
static struct candidate *choose(struct branches *b)
{
	struct candidate *best = NULL;

	for (int i = 0; i < TRIES * 4 && b->candidates.count; i++) {
		size_t at = (size_t)(branches_chance(b) * (double)b->candidates.count);
		struct candidate *c = table_at(
			&b->candidates, at < b->candidates.count ? at : b->candidates.count - 1);

		if (c->hot || frequency(b, c) * RETURN > 1)
			continue;
		if (!best || c->windows < best->windows)
			best = c;
		if (i >= TRIES && best)
			break;
	}
	return best;
}

/* ns of CPU time: as stops in windows took lately, or when we began. */
static double cost_of_stop(struct branches *b)
{
	if (b->probes.count > PROBES_KEPT) {
		b->probes.ns /= 2;
		b->probes.count /= 2;
	}
	return (b->probes.ns + b->costs.stopped * PROBES_FIRST) /
	       ((double)b->probes.count + PROBES_FIRST);
}

/* Lets the process run for so much CPU time, stops not counted, or until there are too many hits.
 * ns of CPU time that it took, stops and all. */
static uint64_t watch(struct branches *b, struct followed *p, uint64_t address, double length)
{
	uint64_t began = branches_now(p->clock), used = 0;
	uint64_t wall = branches_now(CLOCK_MONOTONIC) + WALL_MAX;
	double left = length;
	pid_t pid = p->pid;

	for (;;) {
		uint64_t now = branches_now(CLOCK_MONOTONIC);
		const struct site *s = table_find(&b->sites, &address);

		if (!s || left <= 0 || s->hits >= HITS_MAX || now >= wall || branches_stopping(b))
			return used;
		/* With a look now and then at how many hits there are. */
		tracer_wait(b, now + (uint64_t)(left < LOOK ? left : LOOK), 0, NULL);
		if (process_find(b, pid) != p)
			return 0;
		used = branches_now(p->clock) - began;
		s = table_find(&b->sites, &address);
		left = length - (double)used + (s ? (double)s->stops * cost_of_stop(b) : 0);
	}
}

static void count(struct branches *b, struct candidate *c, uint64_t hits, uint64_t stopped,
	double used, double length)
{
	double stops = (double)stopped * cost_of_stop(b), ns = used - stops;

	b->counts[TALLY_WINDOWS]++;
	b->counts[TALLY_WINDOW_NS] += (uint64_t)used;
	b->counts[TALLY_STOP_NS] += (uint64_t)stops;
	if (ns < used / 10)
		ns = used / 10;
	/* Where stops took more than the program, what is left of the time is a guess. */
	if (hits >= HITS_MAX && ns < length)
		c->hot = true;
	c->hits += hits;
	c->ns += (uint64_t)ns;
	c->windows++;
}

/* The breakpoint, for `length` ns of CPU time. */
static void open_window(struct branches *b, struct candidate *c, struct followed *p,
	uint64_t address, double length)
{
	const struct block *block = branches_block(b, p, address);
	struct site *s;
	uint64_t used, hits;

	if (!block || block->end != address || sites_put(b, p, address, &block->transfer)) {
		c->hot = true; /* it is not what it was */
		return;
	}
	used = watch(b, p, address, length);
	s = table_find(&b->sites, &address);
	hits = s ? s->hits : 0;
	if (s && used)
		count(b, c, hits, s->stops, (double)used, length);
	sites_clear(b);
}

void branches_window(struct branches *b, struct followed *p)
{
	struct candidate *c = choose(b);
	double length, wanted;
	uint64_t address;

	if (!c || process_look(b, p))
		return;
	wanted = HITS_WANTED / frequency(b, c);
	length = wanted < LENGTH_MIN ? LENGTH_MIN : wanted > LENGTH_MAX ? LENGTH_MAX : wanted;
	address = process_address(p, c->key.device, c->key.inode, c->key.offset);
	if (!address) {
		count(b, c, 0, 0, length, length);
		return;
	}
	if (p->threads == 1)
		branches_pin_to(b, p->pid);
	open_window(b, c, p, address, length);
	branches_pin_free(b);
}

void branches_window_tell(struct branches *b)
{
	for (size_t i = 0; i < b->candidates.count; i++) {
		const struct candidate *c = table_at(&b->candidates, i);

		if (c->windows && !c->hot)
			branches_put(b, &(struct branch_record){.kind = BRANCH_RATE,
						.time = branches_now(CLOCK_MONOTONIC),
						.id = c->id,
						.windows = (uint32_t)c->windows,
						.hits = c->hits,
						.ns = c->ns,
						.span = b->used - c->since});
	}
}
