/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Windows: how often is an instruction executed? A breakpoint at it counts during some of the CPU
 * time of a process, at a random moment.
 *
 * Hits divided by time must be an unbiased estimate for the whole run. So the instruction and the
 * length of its window are chosen before the moment, from the records of bursts so far; every
 * window has the same weight, whatever happens in it; and a process that does not map the
 * instruction counts as much as one that does. Candidates are transfers that bursts have met and
 * that seem to be executed every 0.7 us to 2 ms. Half of the windows are at those of 2 to 50 us,
 * whose rates bursts give well and which stops do not slow down too much.
 *
 * The time is that of the process without the time its stops took. This is measured in the window
 * itself: some of its hits are taken twice (tracer.c). The effect of a stop on caches, some 0.15
 * us, is not included; so rates of branches that recur within a microsecond are too low by that.
 */
#include <stdio.h>
#include <string.h>

#include "branches/private.h"

#define RETURN_MIN (0.7 * MICROSECOND)
#define RETURN_MAX (2.0 * MILLISECOND)
#define BEST_MIN   (2.0 * MICROSECOND)
#define BEST_MAX   (50.0 * MICROSECOND)
#define CLOSE                                                                                      \
	(20.0 * MICROSECOND) /* at shorter intervals, too much of the time is that of stops, if    \
				they are expensive: with several threads */
#define HITS_WANTED    80.0
#define STOPS_MAX      3000 /* the rest of the window is assumed to be like the part so far */
#define LENGTH_MIN     (0.3 * MILLISECOND)
#define LENGTH_MAX     (5.0 * MILLISECOND)
#define LOOK           (1.0 * MILLISECOND)
#define WALL_MAX       (100 * (uint64_t)MILLISECOND)
#define CANDIDATES_MAX 20000
#define TRIES          40
#define OWN_PROBES     20 /* with this number of them, a window's own count is used */
#define PROBES_KEPT    1000
#define PROBES_FIRST   1.0 /* weight of the calibration, in measurements */
/* Transfers per nanosecond before anything is known, and the weight of this in hits. */
#define USUAL      0.2
#define USUAL_HITS 20.0

/* It gets a number; a record gives its meaning while the process exists. */
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

void branches_window_met(struct branches *b, struct followed *p, uint64_t address, uint64_t times)
{
	const struct area *area = process_area(p, address);
	struct candidate key = {.pid = 0}, *c;

	b->transfers += times;
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
	c->met += times;
}

/* ns from one execution to the next: by its share of all transfers, whose rate windows give. Its
 * own windows do not decide. */
static double return_time(const struct branches *b, const struct candidate *c)
{
	double all = (b->scale_hits + USUAL_HITS) / (b->scale_ns + USUAL_HITS / USUAL);

	return (double)b->transfers / (double)c->met / all;
}

/* Of candidates that can be counted, the one that was counted least. */
static struct candidate *window_choose(struct branches *b)
{
	bool best_only = branches_chance(b) < 0.5;
	struct candidate *best = NULL;

	for (int i = 0; i < TRIES && b->candidates.count; i++) {
		size_t at = (size_t)(branches_chance(b) * (double)b->candidates.count);
		struct candidate *c = table_at(
			&b->candidates, at < b->candidates.count ? at : b->candidates.count - 1);
		double ns = return_time(b, c);

		if (c->lost || ns < (best_only ? BEST_MIN : RETURN_MIN) ||
			ns > (best_only ? BEST_MAX : RETURN_MAX))
			continue;
		if (!best || c->windows < best->windows)
			best = c;
	}
	return best;
}

/* ns of CPU time: from recent stops in windows, or from calibration. */
static double cost_of_stop(const struct branches *b)
{
	return (b->probes.ns + b->costs.stopped * PROBES_FIRST) /
	       ((double)b->probes.count + PROBES_FIRST);
}

struct window {
	struct candidate *candidate;
	struct followed *process;
	uint64_t address;
	double length;     /* ns of CPU time without stops */
	double used, cost; /* ns: its length; the cost of a stop */
	uint64_t hits, stops;
};

/* Cost of a stop in this window; from its own probes, if there are enough. */
static double cost_here(const struct branches *b, const struct probes *before)
{
	uint64_t own = b->probes.count - before->count;

	return own >= OWN_PROBES ? (b->probes.ns - before->ns) / (double)own : cost_of_stop(b);
}

/* Lets the process run until the window is over. -1: it has ended. */
static int watch(struct branches *b, struct window *w)
{
	const struct probes before = b->probes;
	uint64_t began = branches_now(w->process->clock);
	uint64_t wall = branches_now(CLOCK_MONOTONIC) + WALL_MAX;
	pid_t pid = w->process->pid;
	double left = w->length;

	for (;;) {
		uint64_t now = branches_now(CLOCK_MONOTONIC);
		const struct site *s;

		if (left <= 0 || w->stops >= STOPS_MAX || now >= wall || branches_stopping(b))
			return 0;
		tracer_wait(b, now + (uint64_t)(left < LOOK ? left : LOOK), 0, NULL);
		s = table_find(&b->sites, &w->address);
		if (process_find(b, pid) != w->process || !s)
			return -1;
		w->used = (double)(branches_now(w->process->clock) - began);
		w->hits = s->hits;
		w->stops = s->stops;
		w->cost = cost_here(b, &before);
		left = w->length - w->used + (double)w->stops * w->cost;
	}
}

static void window_count(struct branches *b, const struct window *w)
{
	struct candidate *c = w->candidate;
	double stopped = (double)w->stops * w->cost, ns = w->used - stopped, hits = (double)w->hits;

	if (b->probes.count > PROBES_KEPT) {
		b->probes.ns /= 2;
		b->probes.count /= 2;
	}
	b->counts[TALLY_WINDOWS]++;
	b->counts[TALLY_WINDOW_NS] += (uint64_t)w->used;
	b->counts[TALLY_STOP_NS] += (uint64_t)stopped;
	/* A window cut short for its stops has the same weight as others. */
	if (w->stops >= STOPS_MAX && ns > 0 && ns < w->length) {
		hits *= w->length / ns;
		ns = w->length;
	}
	if (ns <= 0)
		return;
	c->hits += (uint64_t)(hits + 0.5);
	c->ns += (uint64_t)ns;
	c->windows++;
	b->scale_hits += hits;
	b->scale_ns += ns * (double)c->met / (double)b->transfers;
}

/* A single thread with frequent stops runs faster on our processor, see hold.c. */
static void begin_close(struct branches *b, struct held *f)
{
	f->until = branches_now(CLOCK_MONOTONIC) + WAIT_STOP;
	hold_quiet(b, true);
	tracer_tick(b, TICK);
	if (hold_stop(f) == 0) {
		branches_pin_to(f->tid);
		hold_pin(f);
		b->calling = f;
	}
	if (f->held)
		tracer_go(b, f->tid, 0);
}

static void end_close(struct branches *b, struct held *f)
{
	tracer_tick(b, 0);
	hold_quiet(b, false);
	hold_unpin(f);
	b->calling = NULL;
	branches_pin_free(b);
}

/* Stopping a thread takes events, and it may have become another program by one of them. */
static bool window_stands(struct branches *b, const struct window *w, pid_t pid)
{
	const struct candidate *c = w->candidate;

	return process_find(b, pid) == w->process &&
	       process_address(w->process, c->key.device, c->key.inode, c->key.offset) ==
		       w->address;
}

static void open_window(struct branches *b, struct window *w, double returns)
{
	struct held f = {.b = b, .tid = w->process->pid, .process = w->process};
	bool close = w->process->threads == 1;
	pid_t pid = w->process->pid;
	const struct block *block;

	b->probe_every = returns < CLOSE ? 2 : 4;
	if (close)
		begin_close(b, &f);
	if (window_stands(b, w, pid)) {
		block = branches_block(b, w->process, w->address);
		if (!block || block->end != w->address)
			w->candidate->lost = true; /* the code has changed */
		else if (sites_put(b, w->process, w->address, &block->transfer) == 0 &&
			 watch(b, w) == 0)
			window_count(b, w);
	}
	sites_clear(b);
	if (close)
		end_close(b, &f);
}

void branches_window(struct branches *b, struct followed *p)
{
	struct window w = {.candidate = window_choose(b), .process = p};
	double returns, wanted;

	if (!w.candidate || (p->cache && native_counts(p->cache)) || process_look(b, p))
		return;
	returns = return_time(b, w.candidate);
	if (p->threads > 1 && returns < CLOSE)
		return;
	wanted = HITS_WANTED * returns;
	w.length = wanted < LENGTH_MIN ? LENGTH_MIN : wanted > LENGTH_MAX ? LENGTH_MAX : wanted;
	w.address = process_address(
		p, w.candidate->key.device, w.candidate->key.inode, w.candidate->key.offset);
	if (w.address) {
		open_window(b, &w, returns);
	} else {
		w.used = w.length;
		window_count(b, &w);
	}
}

void branches_window_tell(struct branches *b)
{
	for (size_t i = 0; i < b->candidates.count; i++) {
		const struct candidate *c = table_at(&b->candidates, i);

		if (c->windows)
			branches_put(b, &(struct branch_record){.kind = BRANCH_RATE,
						.time = branches_now(CLOCK_MONOTONIC),
						.id = c->id,
						.windows = (uint32_t)c->windows,
						.hits = c->hits,
						.ns = c->ns,
						.span = b->used - c->since});
	}
}
