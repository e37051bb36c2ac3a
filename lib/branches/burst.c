/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A burst: a thread is followed in copies (cached.c) or, where that is not possible, from one
 * transfer of control to the next. Breakpoints stay until the end of the burst, so a loop costs
 * one stop per iteration.
 */
#include <math.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

#include "branches/cache.h"

#define LENGTH_MIN  300 /* transfers; random, so that no loop is in step with bursts */
#define LENGTH_MAX  900
#define WAIT_STEP   (5 * (uint64_t)MILLISECOND) /* to get to its transfer */
#define CACHED_LAST (12 * (uint64_t)MILLISECOND)
#define LAST        (60 * (uint64_t)MILLISECOND) /* no burst is longer */

/* Time in copies: on average, this part of what bursts have cost, within limits. A burst costs much
 * before it has executed anything, most in programs whose code is never the same for long: there,
 * short bursts would show next to nothing for it. */
#define CACHED_PART  0.5
#define CACHED_LEAST (350.0 * MICROSECOND)
#define CACHED_MOST  (3.0 * MILLISECOND)
#define CACHED_APART 0.43 /* of it, by which it is random */

/* What bursts that log may have of what all of them cost, and how long they are: a part of others,
 * since each nanosecond in copies costs three more for what is logged in it. */
#define LOGGED_SHARE 0.35
#define LOGGED_PART  0.5
#define LOGGED_MOST  (1.0 * MILLISECOND)

/* Share of counting in the time in copies, by its density (increments per nanosecond). */
#define COUNTING  0.42
#define DENSE     0.15
#define TIGHT     0.05 /* of all executions, in one run: it is of a tight loop, */
#define TIGHT_NS  0.03 /* where an increment takes this */
#define TIMED_MIN (10.0 * MICROSECOND)

/* Of the time that a burst took without stops: what a stop may add, and more where there are many;
 * the share of this from which on the time is not trusted; what is assumed of code before any was
 * timed. */
#define STOP_UNSURE  (5.0 * MICROSECOND)
#define STOPS_UNSURE (1.0 * MICROSECOND)
#define UNSURE_LEAST 0.3
#define BYTE_NS      0.15
#define USUAL_BYTES  1e5
#define LEARN_BYTES  5e3

/* Deviation of the logarithm of the native time of bursts, alike for all in the same code: as a
 * part of what stops took of it, and of what counting did; and if all transfers were indirect, or
 * half of that at this density of their counting (as DENSE). */
#define DOUBT_STOPS    0.5
#define DOUBT_COUNTING 0.7
#define DOUBT_INDIRECT 0.3
#define HALF_INDIRECT  0.5

/* What an increment of a tight loop may take, and an indirect transfer in the unit of its counting:
 * where a second thread uses the core, or taken jumps take long, copies slow down more than the
 * original. */
#define TIGHT_UNSURE    0.15 /* ns */
#define TIGHT_TRANSFERS 0.8
#define TIGHT_MOST      0.5 /* of the time */

_Static_assert(LENGTH_MAX < GONE_MAX, "all breakpoints of a burst are remembered");

/* Lets the thread run to the transfer at the end of the block. */
static int burst_run(struct held *f, const struct block *block)
{
	uint64_t end = block->end, until = branches_now(CLOCK_MONOTONIC) + WAIT_STEP;
	bool enters = block->enters || f->stale;
	struct site *s;
	int status;

	if (enters)
		hold_unpin(f);
	else
		hold_pin(f);
	if (sites_put(f->b, f->process, end, &block->transfer) ||
		step_apply(f->tid, &f->before, &f->registers) ||
		ptrace(PTRACE_CONT, f->tid, NULL, NULL) != 0)
		return -1;
	f->held = f->stale = false;
	for (;;) {
		if (tracer_wait(f->b, until, f->tid, &status) <= 0)
			return -1;
		/* Threads and processes are created in the middle of a system call. */
		if (status >> 16 && status >> 16 != PTRACE_EVENT_EXEC &&
			status >> 16 != PTRACE_EVENT_STOP) {
			tracer_deal(f->b, f->tid, status);
			continue;
		}
		s = tracer_site(f->b, f->tid, status, &f->before);
		if (s && s->key.address == end)
			break;
		tracer_deal(f->b, f->tid, status); /* a signal: the burst is over */
		return -1;
	}
	f->held = true;
	f->b->counts[TALLY_STOPS]++;
	tracer_mend_mask(tracer_find(f->b, f->tid), enters);
	f->registers = f->before;
	f->registers.rip = end;
	return 0;
}

static int record(struct held *f, uint64_t begin, uint64_t end, uint64_t to)
{
	branches_window_met(f->b, f->process, end, 1);
	return branches_put(f->b, &(struct branch_record){.kind = BRANCH_RUN,
					  .pid = f->process->pid,
					  .time = branches_now(CLOCK_MONOTONIC),
					  .begin = begin,
					  .end = end,
					  .to = to});
}

/* The number of runs recorded; *cut: it was limited. */
static unsigned burst_follow(struct held *f, unsigned length, bool *cut)
{
	bool whole = false; /* the next run began after a transfer */
	unsigned n = 0;

	while (n < length && branches_now(CLOCK_MONOTONIC) < f->until) {
		uint64_t begin = f->registers.rip;
		const struct block *found = branches_block(f->b, f->process, begin);
		struct block block;

		if (!found)
			break;
		block = *found;
		if ((!block.idle || f->stale) && burst_run(f, &block))
			break;
		f->registers.rip = block.end;
		if (step_transfer(&block.transfer, f->process->memory, &f->registers))
			break;
		if (whole && record(f, begin, block.end, f->registers.rip))
			break;
		n += whole;
		whole = true;
	}
	*cut = n < length;
	return n;
}

static void burst_tell(struct held *f, uint64_t began, uint64_t runs, bool cut, double cost)
{
	struct branches *b = f->b;

	b->counts[runs ? TALLY_BURSTS : TALLY_BURSTS_EMPTY]++;
	b->counts[TALLY_BURSTS_CUT] += runs && cut;
	b->counts[TALLY_TRANSFERS] += runs;
	b->counts[TALLY_BURST_NS] += (uint64_t)cost;
	branches_put(b, &(struct branch_record){.kind = BRANCH_QUIET,
				.pid = f->process->pid,
				.time = began,
				.begin = began,
				.end = branches_now(CLOCK_MONOTONIC)});
}

static uint64_t burst_between(struct branches *b, double least, double most)
{
	return (uint64_t)(least + branches_chance(b) * (most - least));
}

/* Of a burst that counts. */
static double usual_length(const struct branches *b)
{
	double cost = b->bursts.cost / fmax(b->bursts.count, 1);

	return fmin(fmax(CACHED_PART * cost, CACHED_LEAST), CACHED_MOST);
}

/* The share of executions that are in few runs: loops, which processors know well. */
static double tight_part(const struct cache *c)
{
	double all = 0, tight = 0;

	for (size_t i = 0; i < c->touched.count; i++)
		all += (double)((struct met *)table_at(&c->met, c->touched.data[i]))->now;
	for (size_t i = 0; i < c->touched.count; i++) {
		double now = (double)((struct met *)table_at(&c->met, c->touched.data[i]))->now;

		tight += now >= TIGHT * all ? now : 0;
	}
	return all > 0 ? tight / all : 0;
}

/* What counting takes of a time in copies, by its density. */
static double counting_time(const struct cache *c, double ns)
{
	double dense = ns > 0 ? c->work / ns : 0;

	return ns * COUNTING * dense / (dense + DENSE);
}

/*
 * Native time for a time in copies. Processors count in parallel with other work, so the share of
 * counting grows less than its density: it is 0.35 to 0.46 of the time of programs that do nothing
 * but branch, and nothing of the time of programs that wait. In a loop an increment takes less.
 */
static double native_time(const struct cache *c, double ns)
{
	double tight = tight_part(c), loose = counting_time(c, ns);

	return fmax(ns - tight * c->plain * TIGHT_NS - (1 - tight) * loose, ns / 2);
}

/*
 * The time of a burst with many stops is not known well: stops take most of it. Then what was
 * executed says more: a byte of code takes about as long as in bursts with few stops. It took no
 * longer than ns, since stops in new code take longer than those that their cost was measured by;
 * and not much less if there were few stops.
 * A burst of few bytes was in the kernel, and does not say how long code takes.
 */
static double likely_time(struct cache *c, double ns, uint64_t stops)
{
	double n = (double)stops, unsure = (n * STOP_UNSURE + n * n * STOPS_UNSURE) / ns;
	double bytes = 0, trust, sum;

	for (size_t i = 0; i < c->touched.count; i++) {
		const struct met *m = table_at(&c->met, c->touched.data[i]);

		bytes += (double)m->now * ((double)(m->key.end - m->key.begin) + 4);
	}
	if (!(bytes > 0))
		return ns;
	trust = 1 / (1 + pow(unsure / UNSURE_LEAST, 2));
	if (trust > 0.5 && bytes > LEARN_BYTES) {
		c->sure_ns += ns;
		c->sure_bytes += bytes;
	}
	sum = (c->sure_ns + USUAL_BYTES * BYTE_NS) / (c->sure_bytes + USUAL_BYTES) * bytes;
	return fmin(fmax(exp(trust * log(ns) + (1 - trust) * log(sum)), (1 - unsure) * ns), ns);
}

/* A burst in copies. */
struct burst_time {
	uint64_t runs;   /* transfers */
	double used, ns; /* CPU time; the native time of these, as far as known; 0: not known */
	double doubt;    /* of ns, as native_note has it */
};

/*
 * A return is a compare and a jump in copies. Processors predict these otherwise than returns, and
 * execute them in less time or in more, by much that is not known.
 */
static double doubt_time(const struct cache *c, const struct burst_time *t, double ns)
{
	double counted = native_time(c, ns), transfers = c->work - c->plain;
	double indirect = transfers / t->ns;
	double stops = log(t->used / ns) + log(counted / t->ns);
	double unsure = c->plain * TIGHT_UNSURE + transfers * TIGHT_TRANSFERS;
	double tight = fmin(tight_part(c) * unsure / ns, TIGHT_MOST);

	return hypot(hypot(hypot(DOUBT_STOPS * stops, DOUBT_COUNTING * log(ns / counted)),
			     DOUBT_INDIRECT * indirect / (indirect + HALF_INDIRECT)),
		log(1 - tight));
}

/* In copies, for some time around the usual length. false: the process has ended, or has another
 * cache (own: its place). */
static bool burst_copied(
	struct held *f, struct cache *c, struct cache *const *own, double usual, bool *cut)
{
	struct branches *b = f->b;
	const struct followed *p = f->process;
	pid_t pid = p->pid;

	b->caching = c;
	b->orphaned = false;
	*cut = cached_follow(c, f,
		       burst_between(b, usual * (1 - CACHED_APART), usual * (1 + CACHED_APART))) !=
	       0;
	b->caching = NULL;
	if (b->orphaned)
		cache_free(c);
	return process_find(b, pid) == p && *own == c;
}

static void burst_limit(struct held *f, double most)
{
	hold_pin(f);
	f->most = hold_spent(f) + (uint64_t)fmin(most, CACHED_LAST);
}

/* Loads are timed. Without copies, nothing is. */
static uint64_t follow_timed(struct held *f, struct cache *c, bool *cut)
{
	if (!c)
		return 0;
	burst_limit(f, f->b->most);
	timing_begin(c);
	return burst_copied(f, c, &f->process->cache, CACHED_LEAST, cut) ? timing_end(c) : 0;
}

static double logged_length(const struct branches *b)
{
	return fmin(fmax(LOGGED_PART * usual_length(b), CACHED_LEAST), LOGGED_MOST);
}

/* Values are logged, and transfers counted; how long it takes natively is not known. */
static uint64_t follow_logged(struct held *f, struct cache *c, bool *cut)
{
	uint64_t runs;

	burst_limit(f, INFINITY);
	value_log_begin(c);
	if (!burst_copied(f, c, &f->process->logging, logged_length(f->b), cut))
		return 0;
	runs = cache_count(c);
	cache_rate(c, 0);
	value_log_end(c, f->tid);
	return runs;
}

/* CPU time of a thread since it was `used`, at a moment. It may be gone since, and the time of its
 * process is taken only while it is alone. */
static uint64_t ran_since(const struct held *f, uint64_t used, uint64_t began)
{
	uint64_t now = hold_time(f->process, f->tid);
	uint64_t elapsed = branches_now(CLOCK_MONOTONIC) - began;

	if (now <= used)
		return 0;
	return now - used < elapsed ? now - used : elapsed;
}

/* false: as burst_copied. */
static bool follow_counted(struct held *f, struct cache *c, bool *cut, struct burst_time *t)
{
	struct branches *b = f->b;
	uint64_t began = branches_now(CLOCK_MONOTONIC), used = hold_time(f->process, f->tid);
	uint64_t stops = b->counts[TALLY_STOPS];
	double cost, ns;

	c->setup_ns = c->setup_stops = 0;
	c->interrupts = 0;
	c->work = c->plain = 0;
	if (!burst_copied(f, c, &f->process->cache, usual_length(b), cut))
		return false;
	t->runs = cache_count(c);
	used = ran_since(f, used, began);
	used -= used < c->setup_ns ? used : c->setup_ns;
	stops = b->counts[TALLY_STOPS] - stops - c->setup_stops;
	cost = ((double)stops - c->interrupts) * cache_stop_cost(b) +
	       c->interrupts * b->costs.interrupted;
	ns = fmax((double)used - cost, (double)used / 4);
	t->used = (double)used;
	/* A burst that ended at once gives no rate. */
	t->ns = ns > TIMED_MIN ? likely_time(c, native_time(c, ns), stops) : 0;
	t->doubt = t->ns > 0 ? doubt_time(c, t, ns) : 0;
	return true;
}

/* In copies if possible, else from breakpoint to breakpoint. */
static uint64_t follow_best(struct held *f, struct cache *c, bool *cut)
{
	struct branches *b = f->b;
	struct burst_time t = {0};
	uint64_t before = 0;

	if (!c)
		return burst_follow(f, (unsigned)burst_between(b, LENGTH_MIN, LENGTH_MAX), cut);
	burst_limit(f, b->most);
	if (!follow_counted(f, c, cut, &t))
		return 0;
	/* The time of a burst in loops that were not yet unrolled is not known well. */
	if (!*cut && unroll_loops(c, f, t.used)) {
		cache_rate(c, 0);
		before = t.runs;
		if (!follow_counted(f, c, cut, &t))
			return before;
	}
	native_note(c, t.ns * 1e-9, t.doubt);
	cache_rate(c, t.ns * 1e-9);
	b->counts[TALLY_BURSTS_TIMED] += t.ns > 0;
	if (t.ns <= 0)
		return before + t.runs;
	b->counts[TALLY_TIMED_NS] += (uint64_t)t.ns;
	b->counts[TALLY_TIMED_TRANSFERS] += t.runs;
	return before + t.runs;
}

/* It may run on another processor: to follow it there takes longer than what is saved. */
void branches_turn(struct branches *b, pid_t tid, bool rest)
{
	struct thread *t = tracer_find(b, tid);
	struct held f = {.b = b, .tid = tid, .process = t->process};
	const struct followed *p = f.process;

	f.until = branches_now(CLOCK_MONOTONIC) + WAIT_STOP;
	if (hold_stop(&f) == 0 && p->cache && native_counts(p->cache))
		native_turn(p->cache, &f, rest);
	if (f.held)
		ptrace(PTRACE_CONT, tid, NULL, NULL);
}

/* Whether values are logged: as often as their share of the cost allows. Bursts are divided into
 * strata, each of which has one that logs, by chance: so some burst of a short run logs, too. */
static bool burst_logs(struct branches *b)
{
	struct logging *l = &b->logging;
	double other = (1 - LOGGED_SHARE) * l->logged.cost / l->logged.count;
	double own = LOGGED_SHARE * l->others.cost / l->others.count;

	l->place += own / (own + other);
	if (l->place <= l->next)
		return false;
	l->next = floor(l->next) + 1 + branches_chance(b);
	return true;
}

static uint64_t burst_of(struct held *f, bool logs, bool *cut)
{
	struct branches *b = f->b;
	struct cache *logging = logs ? cache_logging(f) : NULL;

	if (logging)
		return follow_logged(f, logging, cut);
	return (b->request.latency ? follow_timed : follow_best)(f, cache_of(f), cut);
}

void branches_burst(struct branches *b, pid_t tid)
{
	struct thread *t = tracer_find(b, tid);
	struct held f = {.b = b, .tid = tid, .process = t->process};
	uint64_t began, own = branches_now(CLOCK_THREAD_CPUTIME_ID), used = 0, runs = 0;
	bool cut = false, logs = b->request.values && burst_logs(b);
	pid_t pid = t->process->pid;
	double cost;

	if (process_look(b, f.process))
		return;
	began = branches_now(CLOCK_MONOTONIC);
	f.until = began + WAIT_STOP;
	branches_set_horizon(b, began);
	hold_quiet(b, true);
	tracer_tick(b, TICK);
	if (hold_stop(&f) == 0) {
		branches_pin_to(tid);
		f.until = branches_now(CLOCK_MONOTONIC) + LAST;
		used = hold_time(f.process, tid);
		t = tracer_find(b, tid);
		t->trap_blocked = false;
		tracer_mend_mask(t, true);
		if (f.process->cache) {
			native_pause(f.process->cache);
			f.registers.rip = anchors_step_out(f.process->cache, f.registers.rip);
		}
		runs = burst_of(&f, logs, &cut);
	}
	hold_unpin(&f);
	sites_clear(b);
	if (f.held) {
		if (f.process->cache)
			native_resume(f.process->cache, &f);
		step_apply(tid, &f.before, &f.registers);
		ptrace(PTRACE_CONT, tid, NULL, NULL);
	}
	tracer_tick(b, 0);
	hold_quiet(b, false);
	if (process_find(b, pid) == f.process && tracer_find(b, tid)) {
		used = used ? ran_since(&f, used, began) : 0;
		b->counts[TALLY_STOP_NS] += used;
		cost = (double)(used + branches_now(CLOCK_THREAD_CPUTIME_ID) - own);
		if (runs)
			pace_note(logs ? &b->logging.logged : &b->logging.others, cost);
		burst_tell(&f, began, runs, cut, cost);
	}
	branches_set_horizon(b, 0);
	branches_pin_free(b);
}
