/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What following a program costs, for the budget of pace.c: CPU time of the tracer, of the program
 * while it is stopped, of interrupts, and of the owner. Visits and timed loads have a share for all
 * of it that the kernel's clock alone would not cost, so that the cost that is reported is what a
 * user measures. Of bursts, the owner is counted where their share is fitted to the rest.
 */
#include <stdatomic.h>
#include <unistd.h>

#include "branches/private.h"

bool budget_is_whole(const struct branches *b)
{
	return b->request.visit || b->request.latency;
}

/* What a thread does in a burst natively, it would have done without us. */
static uint64_t stopped_of(const uint64_t counts[TALLY_KINDS])
{
	uint64_t stopped = counts[TALLY_STOP_NS], own = counts[TALLY_TIMED_NS];

	return stopped > own ? stopped - own : 0;
}

uint64_t budget_now(const struct branches *b)
{
	return branches_now(CLOCK_THREAD_CPUTIME_ID) + stopped_of(b->counts);
}

/* A sample is an interrupt, too. */
static uint64_t spent_on_samples(const struct branches *b)
{
	const struct branches_request *r = &b->request;

	return r->sampled ? (uint64_t)((double)b->used / (double)r->sampled * b->costs.interrupted)
			  : 0;
}

/* All threads of our process: the tracer, if it is one of them. */
static uint64_t spent_by_owner(const struct branches *b)
{
	clockid_t clock = CLOCK_PROCESS_CPUTIME_ID;

	return b->apart && clock_getcpuclockid(b->owner, &clock) ? 0 : branches_now(clock);
}

uint64_t budget_told(const struct branches *b)
{
	uint64_t all =
		stopped_of(b->counts) + stopped_of(b->told) + b->elsewhere + spent_on_samples(b);

	if (!budget_is_whole(b) || b->apart)
		all += branches_now(CLOCK_THREAD_CPUTIME_ID);
	return all;
}

uint64_t budget_whole(const struct branches *b)
{
	uint64_t owner = spent_by_owner(b), before = b->request.before + atomic_load(&b->beside);

	return budget_told(b) + (owner > before ? owner - before : 0) + atomic_load(&b->reserved);
}

double budget_spent(const struct branches *b)
{
	return (double)(budget_is_whole(b) ? budget_whole(b) : budget_told(b)) - b->clock.spent;
}

/* Of short programs that run several times, the owner would leave nothing. */
double budget_fitted(const struct branches *b)
{
	uint64_t owner =
		budget_is_whole(b) || !b->apart || b->request.known ? 0 : spent_by_owner(b);

	return budget_spent(b) + (double)owner;
}

double budget_take_charges(struct branches *b)
{
	uint64_t own = atomic_exchange(&b->charged, 0),
		 others = atomic_exchange(&b->charged_others, 0);

	b->elsewhere += budget_is_whole(b) ? others : own + others;
	return (double)(own + others);
}
