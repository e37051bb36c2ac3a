/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Moments of bursts and windows: the CPU time of the program, all its processes together, is cut
 * into strata, and each has one moment, uniform in it. So moments are uniform in time, and a phase
 * that is longer than a stratum gets exactly its share of moments; by a Poisson process it would
 * get about its share. The length of strata follows from the mean cost of bursts (windows) so far,
 * never from the last one: otherwise expensive moments would be followed by fewer.
 *
 * The budget is for everything (budget.c): bursts, turns, anchors that count, samples, and our
 * owner. Bursts and visits have what the rest leaves of it. What is spent once, as at the start, is
 * seen as a part of a second at least.
 *
 * The first bursts are expensive, as there are no copies yet, and every new process needs its own.
 * So a moment that would cost more than SHARE_MOST (of visits and timed loads, VISITS_MOST) of the
 * time used so far waits until it would not. In the end, this only concerns the beginning of long
 * programs, and short ones as a whole. Several runs of a short program share what they may cost, so
 * that only its first run waits, and not even that one: it borrows the time for a burst from the
 * next. What bursts cost, and what the rest leaves them, are of all runs so far.
 *
 * Between bursts, anchors take turns at moments of the same kind.
 */
#include <math.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/proc.h"
#include "branches/private.h"

#define SHARE_ALL     0.034 /* of the program's time, for all that it costs */
#define SHARE_BURSTS  0.022 /* what bursts may have of it, */
#define SHARE_LEAST   0.008 /* and have */
#define SHARE_LOGGED  0.01  /* and this where some log values */
#define SHARE_TIMED   0.02
#define SHARE_WINDOWS 0.015
#define SHARE_VISITS  0.02
#define SHARE_TURNS   0.003 /* of anchors */
#define SHARE_CLOCK   0.03  /* samples by stops */
#define SHARE_MOST    0.06  /* of all that is spent but by our owner, at any moment */
#define VISITS_MOST   1.2   /* of their share, the same with our owner */
#define VISITS_AIM    0.9   /* of that of visits and timed loads: the rest is for the end */
#define VISITS_LEAST  0.25  /* of their share, if the rest leaves less */
#define WINDOW_GAP    (25.0 * MILLISECOND)
#define TURN_GAP      (2.0 * MILLISECOND)
#define RETRY         (2 * (uint64_t)MILLISECOND) /* no process ran then */
#define COST_BURST    (2.0 * MILLISECOND)         /* before any was measured */
#define COST_LOGGED   (3.0 * MILLISECOND)         /* where it logs values */
#define COST_FIRST    (5.0 * MILLISECOND)         /* of the first: code is new to us */
#define COST_LEAST    (2.4 * MILLISECOND)         /* of each of the first, if cut short; */
#define FIRST         2                           /* of these */
#define SOON          (10.0 * MILLISECOND)        /* the first moment is before that */
#define EARLY         (8.0 * MILLISECOND)         /* spent soon, since anchors come of it */
#define CATCH_UP      (150.0 * MILLISECOND)
#define RATE_MOST     3.0 /* of the largest share, that is spent meanwhile */
#define COST_WINDOW   (1.0 * MILLISECOND)
#define COST_VISIT    (1.5 * MILLISECOND) /* of the first: code is new to us */
#define COST_TURN     (0.07 * MILLISECOND)
#define COST_SAMPLE   (0.06 * MILLISECOND)
#define SLEEP_MIN     MILLISECOND
#define SLEEP_MAX     (20 * (uint64_t)MILLISECOND)
#define SLEEP_LONG    (40.0 * MILLISECOND)  /* of the program's time, while it runs, */
#define SLEEP_MOST    (100.0 * MILLISECOND) /* and of any; */
#define VISITS_LONG   (200.0 * MILLISECOND) /* the same within a budget, to visits */
#define VISITS_SLEEP  (400.0 * MILLISECOND)
#define TICK_MOST     (4 * (uint64_t)MILLISECOND) /* of most kernels */
#define STILL_MOST    4                           /* naps */
#define SLOWEST       4.0 /* a program that has waited for processors may have them again */
#define TELL_EVERY    (2 * (uint64_t)SECOND)
#define TRIES         16
#define WAITS         4 /* at most, until the cost of a moment is there */
#define LATEST        8 /* bursts (windows): those before them do not decide what the next cost */

/* What bursts may have of the time: what the rest leaves. */
static double share_of_bursts(const struct branches *b)
{
	const struct branches_known *known = b->request.known;
	double rest, share = b->bursts.share, all = SHARE_ALL, least = SHARE_LEAST;
	double used = (double)b->used;

	if (!b->fitted)
		return share;
	if (budget_is_whole(b)) {
		all = share;
		least = share * VISITS_LEAST;
	}
	rest = budget_fitted(b) - (b->bursts.spent - b->spent_before);
	if (known) {
		rest += (double)known->spent - known->bursts_ns;
		used += (double)known->used;
	}
	return fmin(fmax(all - rest / fmax(used, SECOND), least), share);
}

void pace_draw(struct branches *b, struct pace *p)
{
	double rate = p == &b->bursts ? share_of_bursts(b) : p->share, length;
	double behind = rate * (double)b->used - p->spent;

	if (p == &b->bursts && !b->request.known)
		behind += EARLY;
	if (!budget_is_whole(b))
		rate = fmin(rate + fmax(behind, 0) / CATCH_UP, RATE_MOST * p->share);
	length = fmax(p->gap, p->cost / p->count / rate);

	if (p->end < b->used)
		p->end = b->used;
	p->next = p->end + (uint64_t)(branches_chance(b) * length);
	p->end += (uint64_t)length;
}

/* The first bursts are in code that is new to us, and cost many times what the others do. */
void pace_note(struct pace *p, double ns)
{
	p->spent += ns;
	p->cost += ns;
	p->count++;
	if (p->count <= LATEST)
		return;
	p->cost *= LATEST / p->count;
	p->count = LATEST;
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

/* processor: its, if it runs; NULL: not wanted. */
static bool runs(const struct branches *b, struct thread *t, long *processor)
{
	static const int fields[] = {PROC_STAT_STATE, PROC_STAT_PROCESSOR};
	long values[2];

	if (!processor)
		return process_runs(b, t);
	if (proc_stats(t->tid, fields, 2, values) || values[0] != 'R')
		return false;
	*processor = values[1];
	return true;
}

static size_t any_thread(struct branches *b)
{
	return (size_t)(branches_chance(b) * (double)b->threads.count) % b->threads.count;
}

/* One of its threads (NULL: of all) that is running, each with the same chance; 0: none was found.
 * Of many that sleep, the next one after them is taken. */
static pid_t find_running(struct branches *b, const struct followed *p, long *processor)
{
	size_t next = 0;
	int tries = 0;

	for (int i = 0; i < TRIES && b->threads.count; i++) {
		struct thread *t = &b->threads.data[any_thread(b)];

		if ((!p || t->process == p) && runs(b, t, processor))
			return t->tid;
	}
	if (b->threads.count)
		next = any_thread(b);
	for (size_t i = 0; i < b->threads.count && tries < TRIES; i++) {
		struct thread *t = &b->threads.data[(next + i) % b->threads.count];

		if (p && t->process != p)
			continue;
		if (runs(b, t, processor))
			return t->tid;
		tries++;
	}
	return 0;
}

static double share_most(const struct branches *b)
{
	return budget_is_whole(b) ? VISITS_MOST * b->bursts.share : SHARE_MOST;
}

/* What may be spent now. */
static double allowed(const struct branches *b)
{
	const struct branches_known *known = b->request.known;
	double most = share_most(b), ns = most * (double)b->used - budget_spent(b);

	if (known)
		ns += most * (double)known->used - (double)known->spent + COST_FIRST;
	return ns;
}

bool pace_due(const struct branches *b, struct pace *p)
{
	double cost = p->cost / p->count, lacks;

	if (b->used < p->next)
		return false;
	if (p->share >= 1)
		return true;
	if (b->bursts.count < FIRST && !b->request.visit)
		cost = b->request.known ? fmax(cost, COST_FIRST) : COST_LEAST;
	lacks = cost - allowed(b);
	if (lacks <= 0)
		return true;
	/* Each look costs time, too: none before a part of the moment's cost may be saved. */
	lacks = fmax(lacks, cost / WAITS);
	p->next = b->used + (uint64_t)(lacks / share_most(b));
	return false;
}

/* Where costs are not known yet, short programs do without: to measure them takes more time than
 * they may be given. Loads are timed without them. */
static void calibrate_once(struct branches *b)
{
	if (b->calibrated || b->request.latency)
		return;
	b->calibrated = true;
	if (branches_calibrate(b))
		branches_say(b, "the cost of stops could not be measured: there are no execution "
				"rates");
	else if (b->request.costs)
		*b->request.costs = b->costs;
}

static void pace_costs(struct branches *b)
{
	b->calibrated = b->request.costs && b->request.costs->elapsed > 0;
	if (b->calibrated)
		b->costs = *b->request.costs;
}

/* Where anchors may count much, the next turn is early, and all but the cheapest are not in place
 * from then to the moment of the next one. */
static void hurry_turn(struct branches *b, const struct followed *p)
{
	double most =
		p && p->cache && native_takes_turns(p->cache) ? native_lasts(p->cache) : INFINITY;

	b->hurried = (double)b->turns.next > (double)b->used + most;
	if (!b->hurried)
		return;
	b->next_turn = b->turns.next;
	b->turns.next = b->used + (uint64_t)most;
}

static void go_to_turn(struct branches *b)
{
	if (b->hurried && b->next_turn > b->used)
		b->turns.next = b->next_turn;
	else
		pace_draw(b, &b->turns);
	b->hurried = false;
}

static void one_burst(struct branches *b, struct followed *p)
{
	uint64_t before = budget_now(b);
	long processor = -1;
	pid_t pid, tid = p ? find_running(b, p, b->request.visit ? &processor : NULL) : 0;

	if (!tid) {
		b->bursts.next = b->used + RETRY;
		return;
	}
	pid = p->pid;
	if (b->request.visit) {
		branches_visit(b, tid, processor);
	} else {
		uint64_t used = b->used;

		calibrate_once(b);
		b->most = b->bursts.share >= 1 || b->request.known ? INFINITY
								   : fmax(allowed(b), COST_LEAST);
		branches_burst(b, tid);
		look_at_clocks(b);
		stopped_skip(b, used);
	}
	pace_note(&b->bursts, (double)(budget_now(b) - before) + budget_take_charges(b));
	pace_draw(b, &b->bursts);
	if (b->hurried)
		b->turns.next = b->next_turn;
	if (!b->request.visit)
		hurry_turn(b, process_find(b, pid));
}

static void one_window(struct branches *b, struct followed *p)
{
	uint64_t before = budget_now(b);

	calibrate_once(b);
	if (b->costs.elapsed > 0) {
		branches_window(b, p);
		pace_note(&b->windows, (double)(budget_now(b) - before));
	}
	pace_draw(b, &b->windows);
}

/* Where there are copies, bursts have times: these say more than windows, and cost less. */
static bool window_due(struct branches *b, const struct followed *p)
{
	if (b->used >= b->windows.next && p->cache && cache_serves(p->cache))
		pace_draw(b, &b->windows);
	return pace_due(b, &b->windows);
}

/* Anchors that are in place now and then change in the middle of stretches, too. */
static void one_turn(struct branches *b, const struct followed *p)
{
	uint64_t before = budget_now(b);
	pid_t pid = p->pid;
	pid_t tid = p->cache && (native_takes_turns(p->cache) || native_overruns(p->cache))
			    ? find_running(b, p, NULL)
			    : 0;

	if (tid) {
		branches_turn(b, tid, b->hurried);
		pace_note(&b->turns, (double)(budget_now(b) - before));
	}
	go_to_turn(b);
	hurry_turn(b, process_find(b, pid));
}

/* tid: a thread that ran at the moment; 0: none did, and one is sought again soon. */
static void one_sample(struct branches *b, pid_t tid, long processor)
{
	uint64_t before = budget_now(b);

	if (!tid || !tracer_find(b, tid)) {
		b->clock.next = b->used + b->request.period / 4;
		return;
	}
	stopped_sample(b, tid, processor);
	pace_note(&b->clock, (double)(budget_now(b) - before));
	pace_draw(b, &b->clock);
}

static void tell_caches(const struct followed *p)
{
	if (p->cache)
		cache_tell(p->cache);
	if (p->logging)
		cache_tell(p->logging);
}

static void tell_counts(struct branches *b)
{
	b->counts[TALLY_PROGRAM_NS] += b->used - b->used_told;
	b->used_told = b->used;
	b->counts[TALLY_COST_NS] = budget_told(b) - b->told[TALLY_COST_NS];
	for (size_t i = 0; i < b->processes.count; i++)
		tell_caches(b->processes.data[i]);
	for (uint32_t i = 0; i < TALLY_KINDS; i++) {
		if (b->counts[i] || i == TALLY_BURSTS)
			branches_put(b, &(struct branch_record){.kind = BRANCH_TALLY,
						.id = i,
						.time = branches_now(CLOCK_MONOTONIC),
						.hits = b->counts[i]});
		b->told[i] += b->counts[i];
		b->counts[i] = 0;
	}
}

/* Where there are no copies, there are windows. */
static bool windows_wanted(const struct branches *b)
{
	for (size_t i = 0; i < b->processes.count; i++)
		if (!b->processes.data[i]->cache || !cache_serves(b->processes.data[i]->cache))
			return true;
	return false;
}

/* CPU time of the program in a second of its last naps. Beside other work, less of it passes in a
 * nap than its threads could use. */
static double rate_of_program(struct branches *b, uint64_t now)
{
	double most = fmin((double)b->threads.count, CPU_COUNT(&b->processors));
	double passed = (double)(now - b->napped), rate = most;

	if (b->napped && passed > 0)
		rate = (double)(b->used - b->used_napped) / passed;
	b->napped = now;
	b->used_napped = b->used;
	b->rate = b->rate > 0 ? (b->rate + rate) / 2 : rate;
	most = fmax(most, 1);
	return b->bursts.share >= 1 ? most : fmin(fmax(b->rate, most / SLOWEST), most);
}

/* The time before the next possible moment. The kernel may update the clock of a process that runs
 * at its ticks only, so one that does not go on is idle after some naps, each longer than the last;
 * within a budget after one that is as long as a tick. Visits and samples do with fewer
 * moments. */
static uint64_t nap(struct branches *b, bool still, uint64_t now)
{
	uint64_t next = b->bursts.next, left;
	double rate = rate_of_program(b, now);
	bool asked = b->bursts.share >= 1, visits = b->request.visit && !asked;
	double longest = fmin((visits ? VISITS_LONG : SLEEP_LONG) / fmin(rate, 1),
		visits ? VISITS_SLEEP : SLEEP_MOST);

	if (b->windows.next < next && windows_wanted(b))
		next = b->windows.next;
	next = next < b->turns.next ? next : b->turns.next;
	next = next < b->clock.next ? next : b->clock.next;
	left = next > b->used ? next - b->used : 0;
	left = (uint64_t)((double)left / rate);
	b->still = still ? b->still + 1 : 0;
	if (b->still > (asked ? STILL_MOST : b->request.visit || b->request.only_samples ? 0 : 1))
		return SLEEP_MAX;
	if (still)
		return asked ? SLEEP_MIN << (b->still - 1) : TICK_MOST;
	/* Within a budget, not before the tick that the moment is seen at: waking up takes a third
	 * of a turn. The first bursts, and those of short runs, are worth it. */
	if (!asked && !b->request.visit && !b->request.only_samples && !b->hurried)
		left += b->request.known || b->bursts.count < FIRST ? TICK_MOST / 2 : TICK_MOST;
	return (uint64_t)fmin(fmax((double)left, SLEEP_MIN), longest);
}

static void pace_clock(struct branches *b)
{
	b->clock = (struct pace){.next = UINT64_MAX};
	if (!b->request.period)
		return;
	b->clock = (struct pace){.gap = (double)b->request.period,
		.share = SHARE_CLOCK,
		.cost = COST_SAMPLE,
		.count = 1};
	stopped_begin(b);
	pace_draw(b, &b->clock);
}

static void pace_visits(struct branches *b, bool asked)
{
	double share = b->request.share > 0 ? b->request.share : SHARE_VISITS;

	b->bursts = (struct pace){.gap = SECOND / (asked ? b->request.rate : BRANCHES_RATE),
		.share = asked ? 1 : VISITS_AIM * share,
		.cost = COST_VISIT,
		.count = 1};
	b->fitted = !asked && !b->request.known;
	b->windows = b->turns = (struct pace){.next = UINT64_MAX};
	pace_draw(b, &b->bursts);
}

static void pace_bursts(struct branches *b, bool asked)
{
	double share = b->request.share > 0 ? b->request.share : SHARE_TIMED;

	b->fitted = !asked && (b->request.latency ? !b->request.known : !(b->request.share > 0));
	b->bursts = (struct pace){.gap = SECOND / (asked ? b->request.rate : BRANCHES_RATE),
		.share = asked                  ? 1
			 : b->request.latency   ? VISITS_AIM * share
			 : b->request.share > 0 ? b->request.share
			 : b->request.values    ? SHARE_BURSTS + SHARE_LOGGED
						: SHARE_BURSTS,
		.cost = COST_BURST,
		.count = 1};
	if (b->request.values)
		b->logging = (struct logging){.next = branches_chance(b),
			.logged = {.cost = COST_LOGGED, .count = 1},
			.others = {.cost = COST_BURST, .count = 1}};
	if (b->request.known) {
		const struct branches_known *known = b->request.known;
		double spent = b->fitted ? known->bursts_ns : (double)known->spent;

		b->bursts.cost += spent;
		b->bursts.count += known->bursts;
		b->bursts.spent = b->spent_before =
			spent - share_of_bursts(b) * (double)known->used;
	}
	b->windows = (struct pace){.gap = asked ? b->bursts.gap : WINDOW_GAP,
		.share = asked ? 1 : SHARE_WINDOWS,
		.cost = COST_WINDOW,
		.count = 1};
	/* Moments of several runs are uniform in all of them. */
	if (asked || b->request.known)
		pace_draw(b, &b->bursts);
	else
		b->bursts.next = b->used + (uint64_t)(branches_chance(b) * SOON);
	b->turns =
		(struct pace){.gap = TURN_GAP, .share = SHARE_TURNS, .cost = COST_TURN, .count = 1};
	pace_draw(b, &b->windows);
	pace_draw(b, &b->turns);
	if (b->request.latency)
		b->windows.next = b->turns.next = UINT64_MAX;
}

void pace_begin(struct branches *b, bool asked)
{
	pace_clock(b);
	if (b->request.only_samples)
		b->bursts = b->windows = b->turns = (struct pace){.next = UINT64_MAX};
	else if (b->request.visit)
		pace_visits(b, asked);
	else
		pace_bursts(b, asked);
}

/* As the kernel has it (sched_setattr(2)), in its first version. */
struct scheduling {
	uint32_t size, policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t slice, deadline, period;
};

/* Timers with slack end together with those of the program, when it wakes up. With a short slice,
 * we interrupt what runs on our processor (Linux 6.12 and later; before, what has slept does). */
static void pace_hurry(void)
{
	const struct scheduling s = {.size = sizeof(s),
		.nice = getpriority(PRIO_PROCESS, 0),
		.slice = 100 * (uint64_t)MICROSECOND};

	prctl(PR_SET_TIMERSLACK, 1);
	syscall(SYS_sched_setattr, 0, &s, 0);
}

/* For the next run. */
static void learn(const struct branches *b, struct branches_known *known)
{
	known->used += b->told[TALLY_PROGRAM_NS];
	known->spent += budget_is_whole(b) ? budget_whole(b) : b->told[TALLY_COST_NS];
	known->bursts_ns += b->bursts.spent - b->spent_before;
	known->bursts += (double)(b->told[TALLY_BURSTS] + b->told[TALLY_BURSTS_EMPTY]);
}

void branches_run(struct branches *b)
{
	bool asked = b->request.rate > 0; /* regardless of the cost */

	pace_hurry();
	if (!b->request.visit)
		pace_costs(b);
	pace_begin(b, asked);
	if (asked && !b->request.visit)
		calibrate_once(b);
	while (!branches_stopping(b) && tracer_any(b)) {
		long processor = -1;
		/* At once: what sleeps at the moment may be awake a little later. */
		pid_t running = b->request.period ? find_running(b, NULL, &processor) : 0;
		struct followed *p = look_at_clocks(b);
		uint64_t now;

		if (p && pace_due(b, &b->bursts))
			one_burst(b, p);
		else if (p && window_due(b, p))
			one_window(b, p);
		else if (p && b->used >= b->turns.next)
			one_turn(b, p);
		else if (p && b->used >= b->clock.next)
			one_sample(b, running, processor);
		now = branches_now(CLOCK_MONOTONIC);
		if (now >= b->next_telling) {
			b->next_telling = now + TELL_EVERY;
			tell_counts(b);
		}
		tracer_wait(b, now + nap(b, !p, now), 0, NULL);
	}
	for (size_t i = 0; i < b->processes.count; i++)
		if (b->processes.data[i]->cache)
			native_end(b->processes.data[i]->cache);
	tell_counts(b);
	if (b->request.known)
		learn(b, b->request.known);
	else if (!b->request.visit && !b->request.only_samples && !asked &&
		 !b->told[TALLY_BURSTS] && !b->told[TALLY_BURSTS_EMPTY])
		branches_say(b,
			"the program was too short for %s (%.2g s of CPU time): run it for "
			"longer, or give a rate with -%s",
			b->request.latency ? "timed loads" : "branch records",
			(double)b->used * 1e-9, b->request.latency ? "rate" : "bursts");
	branches_window_tell(b);
}
