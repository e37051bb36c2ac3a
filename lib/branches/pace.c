/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Moments of bursts and windows: the CPU time of the program, all its processes together, is cut
 * into strata, and each has one moment, uniform in it. So moments are uniform in time, and a phase
 * that is longer than a stratum gets exactly its share of moments; by a Poisson process it would
 * get about its share. The length of strata follows from the mean cost of bursts (windows) so far,
 * never from the last one: otherwise expensive moments would be followed by fewer.
 */
#include "branches/private.h"

#define SHARE_BURSTS  0.05 /* of the program's time */
#define SHARE_WINDOWS 0.015
#define WINDOW_GAP    (25.0 * MILLISECOND)
#define RETRY         (2 * (uint64_t)MILLISECOND) /* no process ran then */
#define COST_BURST    (1.0 * MILLISECOND)         /* before any was measured */
#define COST_WINDOW   (1.0 * MILLISECOND)
#define SLEEP_MIN     MILLISECOND
#define SLEEP_MAX     (20 * (uint64_t)MILLISECOND)
#define TELL_EVERY    (2 * (uint64_t)SECOND)
#define TRIES         16

#define STAT_STATE 3

/* In the next stratum; in one that begins now if that is over already. */
static void draw_next(struct branches *b, struct pace *p)
{
	double least = p->cost / p->count / p->share, length = p->gap > least ? p->gap : least;

	if (p->end < b->used)
		p->end = b->used;
	p->next = p->end + (uint64_t)(branches_chance(b) * length);
	p->end += (uint64_t)length;
}

/* Updates clocks. Returns a process with a probability in proportion to its new time; NULL:
 * none. */
static struct followed *look_at_clocks(struct branches *b)
{
	struct followed *chosen = NULL;
	uint64_t before, all = b->used;

	for (size_t i = 0; i < b->processes.count; i++) {
		struct followed *p = b->processes.data[i];

		before = b->used;
		process_clock(b, p);
		if (b->used > before &&
			branches_chance(b) * (double)(b->used - all) <= (double)(b->used - before))
			chosen = p;
	}
	return chosen;
}

/* One of its threads that is running; 0: none was found. */
static pid_t find_running(struct branches *b, const struct followed *p)
{
	size_t begin = (size_t)(branches_chance(b) * (double)b->threads.count);
	int tries = 0;

	for (size_t i = 0; i < b->threads.count && tries < TRIES; i++) {
		const struct thread *t = &b->threads.data[(begin + i) % b->threads.count];

		if (t->process != p)
			continue;
		if (process_stat(t->tid, STAT_STATE) == 'R')
			return t->tid;
		tries++;
	}
	return 0;
}

/* The cost to the program and to us. */
static uint64_t spent(const struct branches *b)
{
	return branches_now(CLOCK_THREAD_CPUTIME_ID) + b->counts[TALLY_STOP_NS];
}

static void one_burst(struct branches *b, struct followed *p)
{
	pid_t tid = p ? find_running(b, p) : 0;
	uint64_t before = spent(b);

	if (!tid) {
		b->bursts.next = b->used + RETRY;
		return;
	}
	branches_burst(b, tid);
	b->counts[TALLY_COST_NS] += spent(b) - before;
	b->bursts.cost += (double)(spent(b) - before);
	b->bursts.count++;
	draw_next(b, &b->bursts);
}

static void one_window(struct branches *b, struct followed *p)
{
	uint64_t before = spent(b);

	if (p && b->costs.elapsed > 0) {
		branches_window(b, p);
		b->counts[TALLY_COST_NS] += spent(b) - before;
		b->windows.cost += (double)(spent(b) - before);
		b->windows.count++;
	}
	draw_next(b, &b->windows);
}

static void tell_counts(struct branches *b)
{
	b->counts[TALLY_PROGRAM_NS] += b->used - b->used_told;
	b->used_told = b->used;
	for (size_t i = 0; i < b->processes.count; i++)
		if (b->processes.data[i]->cache)
			cache_tell(b->processes.data[i]->cache);
	for (uint32_t i = 0; i < TALLY_KINDS; i++) {
		if (b->counts[i] || i == TALLY_BURSTS)
			branches_put(b, &(struct branch_record){.kind = BRANCH_TALLY,
						.id = i,
						.time = branches_now(CLOCK_MONOTONIC),
						.hits = b->counts[i]});
		b->counts[i] = 0;
	}
}

/* The time before the next possible moment. */
static uint64_t nap(const struct branches *b, bool idle)
{
	uint64_t next = b->bursts.next < b->windows.next ? b->bursts.next : b->windows.next;
	uint64_t left = next > b->used ? next - b->used : 0, width = b->threads.count;

	if ((int)width > CPU_COUNT(&b->processors))
		width = (uint64_t)CPU_COUNT(&b->processors);
	left /= width ? width : 1;
	if (idle)
		return SLEEP_MAX;
	return left < SLEEP_MIN ? SLEEP_MIN : left > SLEEP_MAX ? SLEEP_MAX : left;
}

void branches_run(struct branches *b)
{
	bool asked = b->request.rate > 0; /* regardless of the cost */

	b->bursts = (struct pace){.gap = SECOND / (asked ? b->request.rate : BRANCHES_RATE),
		.share = asked ? 1 : SHARE_BURSTS,
		.cost = COST_BURST,
		.count = 1};
	b->windows = (struct pace){.gap = asked ? b->bursts.gap : WINDOW_GAP,
		.share = asked ? 1 : SHARE_WINDOWS,
		.cost = COST_WINDOW,
		.count = 1};
	draw_next(b, &b->bursts);
	draw_next(b, &b->windows);
	while (!branches_stopping(b) && tracer_any(b)) {
		struct followed *p = look_at_clocks(b);
		uint64_t now;

		if (p && b->used >= b->bursts.next)
			one_burst(b, p);
		else if (p && b->used >= b->windows.next)
			one_window(b, p);
		now = branches_now(CLOCK_MONOTONIC);
		if (now >= b->next_telling) {
			b->next_telling = now + TELL_EVERY;
			tell_counts(b);
		}
		tracer_wait(b, now + nap(b, !p), 0, NULL);
	}
	for (size_t i = 0; i < b->processes.count; i++)
		if (b->processes.data[i]->cache)
			native_renew(b->processes.data[i]->cache);
	tell_counts(b);
	branches_window_tell(b);
}
