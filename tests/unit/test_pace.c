/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The budget of branch records: of made-up programs, what bursts cost is made up, too, so nothing
 * here depends on the machine.
 */
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "../tap.h"

#ifdef __x86_64__
#include "branches/private.h"

#define MS    1000000.0
#define NEVER UINT32_MAX

struct made {
	double cost, bursts; /* ns of all; number */
	double largest;      /* ns of one */
	double over;         /* the most that was spent beyond a share of the time, at any moment */
};

/* The first bursts cost ten times what the others do; from the one with number `rises` on, each
 * costs a hundred times that. */
static double cost_of(unsigned number, double usual, unsigned rises)
{
	if (number >= rises)
		return usual * 100;
	return number < 4 ? usual * 10 / (number + 1) : usual;
}

/* A program of so much CPU time, looked at every millisecond. */
static struct made follow_made_up(
	double seconds, double usual, unsigned rises, double share, uint64_t seed)
{
	struct branches *b = calloc(1, sizeof(*b));
	struct made m = {0};

	b->chance = seed;
	pace_begin(b, false);
	while ((double)b->used < seconds * 1e9) {
		double cost = cost_of((unsigned)m.bursts, usual, rises);

		b->used += (uint64_t)MS;
		/* what this thread itself takes is left out, as slow as it may be */
		b->clock.spent = (double)branches_now(CLOCK_THREAD_CPUTIME_ID);
		if (!pace_due(b, &b->bursts))
			continue;
		b->elsewhere += (uint64_t)cost;
		pace_note(&b->bursts, cost);
		pace_draw(b, &b->bursts);
		m.bursts++;
		m.cost += cost;
		m.largest = fmax(m.largest, cost);
		m.over = fmax(m.over, m.cost - share * (double)b->used);
	}
	free(b);
	return m;
}

/* Of several runs: what the next bursts will cost follows from what earlier ones have cost, without
 * all else that was spent in these runs. */
static void test_runs(void)
{
	struct branches *b = calloc(1, sizeof(*b));
	struct branches_known known = {.used = 10 * (uint64_t)SECOND,
		.spent = 1000 * (uint64_t)MS,
		.bursts_ns = 120 * MS,
		.bursts = 60};

	b->chance = 5;
	b->request.known = &known;
	pace_begin(b, false);
	is_near(b->bursts.cost / b->bursts.count, 2 * MS, 0.01 * MS,
		"2 ms each, for 120 ms of 1000");
	is_near(b->bursts.spent, 120 * MS - 0.008 * 10e9, 1e3,
		"the rest leaves them nothing: they have their least share");
	free(b);
}

/* The time of a burst is taken off the time that samples stand for, once. */
static void test_exec_within(void)
{
	struct branches *b = calloc(1, sizeof(*b));
	struct followed p = {.pid = getpid(), .clock = CLOCK_PROCESS_CPUTIME_ID};
	const uint64_t used = 5 * (uint64_t)MS;

	b->request.pid = p.pid;
	b->used = used;
	b->sampling.bursts = 2 * (uint64_t)MS;
	b->used += (uint64_t)MS;
	stopped_skip(b, used);
	is_int(b->sampling.bursts, 3 * (long)MS, "a burst of 1 ms");

	b->used = used; /* what was before the first exec is no program's */
	stopped_execed(b, &p);
	ok(b->used > used && b->sampling.bursts == b->used, "an exec within a burst");
	b->used += (uint64_t)MS;
	stopped_skip(b, used);
	ok(b->sampling.bursts <= b->used, "... afterwards no time is below zero: %lld ns",
		(long long)(b->used - b->sampling.bursts));
	free(b);
}

int main(void)
{
	struct made often = follow_made_up(0.3, 0.2 * MS, NEVER, 0.06, 1);
	struct made dear = follow_made_up(0.3, 2 * MS, NEVER, 0.06, 2);
	struct made rising = follow_made_up(0.3, 0.05 * MS, 20, 0.06, 3);
	struct made longer = follow_made_up(20, 1 * MS, NEVER, 0.06, 4);

	ok(often.bursts > 3 && often.over <= often.largest,
		"0.3 s: %.0f bursts for %.2f ms, never more than one burst above 6%%", often.bursts,
		often.cost / MS);
	ok(dear.bursts >= 1 && dear.over <= dear.largest,
		"where they are expensive, fewer: %.0f for %.2f ms", dear.bursts, dear.cost / MS);
	ok(rising.bursts > 20 && rising.over <= rising.largest,
		"where they become expensive, likewise: %.0f for %.2f ms, %.2f ms above it",
		rising.bursts, rising.cost / MS, rising.over / MS);
	ok(longer.bursts > 100 && longer.cost <= 0.035 * 20e9,
		"20 s: %.0f bursts for %.2f%% of the time", longer.bursts,
		longer.cost / 20e9 * 100);
	test_exec_within();
	test_runs();
	return done();
}
#else
int main(void)
{
	skip("branches are not followed on this machine");
	return done();
}
#endif
