/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/blocked.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "experiment/time_slices.h"

#define DRAINED      5000000 /* ns after which records have been read */
#define LOOK_PART    200 /* to look how much was not recorded takes at most this part of the time */
#define LOOKS_MOST   256 /* threads that are asked in a round */
#define GLANCES_MOST 8   /* likewise, again and again */
/* A thread that waits for a signal goes on at most so long after the end of a child that sent it.
 */
#define CHILD_SECONDS_MOST 0.25

/* What is charged of a pause: a part after which it goes on, what was recorded of it before a gap
 * in which it ended, or all that is left of it. */
enum charge { CHARGE_PART, CHARGE_CUT, CHARGE_REST };

struct off {
	struct {
		uint64_t tid;
	} key;
	uint64_t since,
		began; /* not yet charged, and of the whole pause; 0: on a processor, or gone */
	uint64_t rest; /* ns of time off not yet in a sample */
	uint32_t thread, node;
	pid_t pid;
	bool known;
	bool sure;      /* nothing is to be asked */
	long obstacle;  /* row, by registers; -1: not known */
	long told;      /* by /proc, */
	uint64_t asked; /* then; 0: /proc did not say */
	uint64_t woken; /* 0: not seen */
	struct blocked_wake wake;
	uint64_t child_ended; /* during the wait; 0: none */
	pid_t child;
	bool ended; /* the thread */
	struct unseen unseen;
};

void blocked_init(struct blocked *b, struct spaces *spaces, uint32_t metric, uint64_t period)
{
	memset(b, 0, sizeof(*b));
	b->experiment = spaces->experiment;
	b->spaces = spaces;
	b->metric = metric;
	b->period = period;
	b->threads = (struct table){.entry_size = sizeof(struct off), .key_size = 8};
	obstacles_init(&b->obstacles, spaces);
}

static struct off *blocked_entry_of(struct blocked *b, pid_t tid)
{
	struct off key = {.key = {(uint64_t)(uint32_t)tid}};

	return table_add(&b->threads, &key.key);
}

/* ---- pauses ---- */

static int blocked_pause(struct blocked *b, struct off *o, uint32_t phase, long obstacle,
	uint64_t from, uint64_t to, enum charge charge)
{
	struct experiment_pause row = {
		.key = {.thread = o->thread, .phase = phase, .node = o->node},
		.count = charge == CHARGE_REST,
		.time = to - from,
		.longest = to - from};
	struct unseen_pause latest;
	bool missed;
	long number;

	if (from >= to)
		return 0;
	if (obstacle < 0)
		obstacle = obstacles_plain(&b->obstacles, PAUSE_UNKNOWN, "");
	if (obstacle < 0)
		return -1;
	row.key.obstacle = (uint32_t)obstacle;
	if (o->woken && from < o->woken) {
		row.key.wake = o->wake.kind;
		row.key.waker = o->wake.thread;
		row.key.waker_node = o->wake.node;
	}
	number = experiment_row(b->experiment, EXPERIMENT_PAUSES, &row);
	if (number < 0)
		return -1;
	missed = !o->woken &&
		 (charge == CHARGE_CUT || (charge == CHARGE_REST && wait_windows_missed(&b->windows,
									    o->began, to))) &&
		 experiment_obstacle_at(b->experiment, (size_t)obstacle)->key.reason !=
			 PAUSE_PROCESSOR;
	latest = (struct unseen_pause){.row = (uint32_t)number,
		.node = o->node,
		.missed = missed,
		.time = row.time,
		.count = row.count};
	if (unseen_remember(&o->unseen, &latest))
		return -1;
	return missed ? missed_add(&b->missed, (size_t)number, &row) : 0;
}

/* Shells wait for the signal of a child. The kernel records no wake by a thread that ends, but its
 * end; any other thread of the run that sent a signal was seen. */
static long blocked_by_child(struct blocked *b, const struct off *o, long obstacle, uint64_t time)
{
	const struct experiment_obstacle *row;

	if (obstacle < 0 || !o->child_ended || o->woken ||
		(double)(time - o->child_ended) > CHILD_SECONDS_MOST * 1e9)
		return obstacle;
	row = experiment_obstacle_at(b->experiment, (size_t)obstacle);
	return row->key.reason == PAUSE_SIGNAL
		       ? obstacles_child(&b->obstacles, row->call, (uint64_t)o->child)
		       : obstacle;
}

/* Once it was woken, it waited for a processor. */
static int blocked_pauses(
	struct blocked *b, struct off *o, uint32_t phase, uint64_t time, enum charge charge)
{
	uint64_t woken = o->woken > o->since && o->woken < time ? o->woken : time;
	/* If the pause ended before /proc was asked, the answer is of a later one. */
	bool told = o->asked && (charge == CHARGE_PART || o->asked <= time);
	long obstacle = told ? o->told : o->obstacle, processor;

	if (charge == CHARGE_REST)
		obstacle = blocked_by_child(b, o, obstacle, time);
	if (o->woken && o->woken <= o->since)
		woken = o->since;
	if (blocked_pause(b, o, phase, obstacle, o->since, woken, charge))
		return -1;
	if (woken == time)
		return 0;
	processor = obstacles_processor(&b->obstacles);
	return processor < 0 ? -1 : blocked_pause(b, o, phase, processor, woken, time, charge);
}

/* Time off at a node, as samples. */
static int blocked_sample(struct blocked *b, struct off *o, struct experiment_sample *sample,
	uint64_t begin, uint64_t end)
{
	if (!sample->count)
		return 0;
	sample->key.metric = b->metric;
	sample->key.thread = o->thread;
	return experiment_add_between(b->experiment, sample, spaces_since(b->spaces, begin),
		spaces_since(b->spaces, end));
}

static uint64_t blocked_samples(const struct blocked *b, struct off *o, uint64_t time)
{
	uint64_t samples = (o->rest + time) / b->period;

	o->rest = (o->rest + time) % b->period;
	return samples;
}

static int blocked_charge(
	struct blocked *b, struct off *o, uint32_t phase, uint64_t time, enum charge charge)
{
	struct experiment_sample sample = {.key = {.phase = phase, .node = o->node}};
	uint64_t begin = o->since;

	if (!o->since || time <= o->since)
		return 0;
	if (blocked_pauses(b, o, phase, time, charge))
		return -1;
	unseen_known(&o->unseen, begin, time);
	sample.count = blocked_samples(b, o, time - begin);
	o->since = time;
	if (!o->known)
		b->unknown += sample.count;
	return blocked_sample(b, o, &sample, begin, time);
}

/* ---- waits in gaps ---- */

/* A part of the unseen ones that is like a pause. */
static int blocked_like(struct blocked *b, struct off *o, uint32_t phase,
	const struct unseen_pause *part, uint64_t begin, uint64_t end)
{
	struct experiment_pause row = {
		.count = part->count, .time = part->time, .longest = part->longest};
	struct experiment_sample sample = {.key = {.phase = phase, .node = part->node}};
	long number;

	if (!part->time)
		return 0;
	if (part->row == UNSEEN_NO_ROW) {
		row.key.obstacle = part->obstacle;
		row.key.thread = o->thread;
		row.key.node = part->node;
	} else {
		row.key = experiment_pause_at(b->experiment, part->row)->key;
	}
	row.key.phase = phase;
	number = experiment_row(b->experiment, EXPERIMENT_PAUSES, &row);
	if (number < 0 || (part->missed && missed_add(&b->missed, (size_t)number, &row)))
		return -1;
	sample.count = blocked_samples(b, o, part->time);
	return blocked_sample(b, o, &sample, begin, end);
}

static int blocked_divide(
	struct blocked *b, struct off *o, uint32_t phase, uint64_t begin, uint64_t end)
{
	struct unseen_pause parts[UNSEEN_LATEST];
	size_t n = unseen_divide(&o->unseen, parts);

	for (size_t i = 0; i < n; i++)
		if (blocked_like(b, o, phase, &parts[i], begin, end))
			return -1;
	return 0;
}

/* The kernel cannot be asked what it had counted then. */
static int blocked_guess(struct blocked *b, struct off *o, uint32_t phase, uint64_t time)
{
	uint64_t begin = o->unseen.then.time, gaps;

	if (!begin || begin >= time)
		return 0;
	gaps = wait_windows_gone(&b->windows, begin, time);
	if (!gaps)
		return 0;
	unseen_guess(&o->unseen, &b->usual, gaps);
	return blocked_divide(b, o, phase, begin, time);
}

/* Of a thread that ends in a gap: one that had waited for longer than this gap is assumed to have
 * waited on. */
static bool blocked_waits_on(const struct blocked *b, const struct off *o, uint64_t time)
{
	const struct wait_windows *w = &b->windows;
	const struct wait_gap *gap = w->gaps.count ? &w->gaps.data[w->gaps.count - 1] : NULL;

	return o->since && (!gap || o->since >= gap->from || time <= gap->from || time > gap->to ||
				   gap->from - o->since > time - gap->from);
}

static int blocked_last(struct blocked *b, struct off *o, uint32_t phase, uint64_t time)
{
	if (blocked_waits_on(b, o, time))
		return blocked_charge(b, o, phase, time, CHARGE_REST);
	if (o->since && blocked_charge(b, o, phase,
				b->windows.gaps.data[b->windows.gaps.count - 1].from, CHARGE_CUT))
		return -1;
	return blocked_guess(b, o, phase, time);
}

/* Of a thread none of whose waits was recorded. */
static int blocked_unplaced(struct blocked *b, struct off *o, uint32_t phase, uint64_t time)
{
	struct unseen *u = &o->unseen;
	struct experiment_pause row = {.key = {.thread = o->thread, .phase = phase}};
	struct experiment_sample sample = {.key = {.phase = phase}};
	long obstacle, node;

	if (u->time <= 0 || !o->thread)
		return 0;
	obstacle = obstacles_plain(&b->obstacles, PAUSE_UNKNOWN, "");
	node = experiment_node(b->experiment, EXPERIMENT_ROOT, 0, 0);
	if (obstacle < 0 || node < 0)
		return -1;
	row.key.obstacle = (uint32_t)obstacle;
	row.key.node = sample.key.node = (uint32_t)node;
	row.time = row.longest = (uint64_t)u->time;
	row.count = u->count > 0 ? (uint64_t)u->count : 0;
	sample.count = blocked_samples(b, o, row.time);
	b->unknown += sample.count;
	u->time = 0;
	return experiment_row(b->experiment, EXPERIMENT_PAUSES, &row) < 0
		       ? -1
		       : blocked_sample(b, o, &sample, time, time);
}

static int blocked_unseen(struct blocked *b, struct off *o, uint32_t phase, bool counted)
{
	const struct wait_gap *gap = &b->windows.gaps.data[b->windows.gaps.count - 1];
	struct unseen_counts now;
	uint64_t begin = o->unseen.then.time, gaps;

	if (o->ended || !unseen_read((pid_t)o->key.tid, &now))
		return 0;
	gaps = wait_windows_gone(&b->windows, begin, now.time);
	if (!begin || !counted || unseen_is_none(&o->unseen, &now, o->since != 0)) {
		unseen_none(&o->unseen, &now, gaps);
		return 0;
	}
	if (o->since && o->since < gap->from && blocked_charge(b, o, phase, gap->from, CHARGE_CUT))
		return -1;
	o->since = 0;
	unseen_add(&o->unseen, &b->usual, &now, gaps);
	return blocked_divide(b, o, phase, begin, now.time);
}

static void blocked_skip(struct off *o, uint64_t time)
{
	o->unseen.then.time = 0;
	if (o->since && o->since < time)
		o->since = time;
}

void blocked_forget(struct blocked *b, uint64_t time)
{
	for (size_t i = 0; i < b->threads.count; i++)
		blocked_skip(table_at(&b->threads, i), time);
}

void blocked_clear(struct blocked *b)
{
	for (size_t i = 0; i < b->threads.count; i++) {
		struct off *o = table_at(&b->threads, i);

		unseen_detach(&o->unseen, b->experiment);
		o->rest = 0;
	}
	table_fini(&b->experiment->pauses);
	missed_fini(&b->missed);
	b->unknown = 0;
}

bool blocked_gap_begins(struct blocked *b)
{
	bool any = false;

	for (size_t i = 0; i < b->threads.count; i++) {
		struct off *o = table_at(&b->threads, i);

		if (!o->ended && !o->unseen.then.time)
			unseen_read((pid_t)o->key.tid, &o->unseen.then);
		any |= !o->ended && o->unseen.then.time;
	}
	return any;
}

int blocked_gap(struct blocked *b, uint32_t phase, bool counted)
{
	const struct wait_windows *w = &b->windows;
	uint64_t began = clock_ns();

	if (!w->gaps.count || !b->gaps ||
		(w->off && began - w->gaps.data[w->gaps.count - 1].from < DRAINED) ||
		(w->off && began < b->next_look))
		return 0;
	for (size_t i = 0; i < b->threads.count; i++) {
		struct off *o = table_at(&b->threads, i);

		if (blocked_unseen(b, o, phase, counted))
			return -1;
		o->unseen.age += !w->off;
	}
	b->next_look = began + (clock_ns() - began) * LOOK_PART;
	return 0;
}

/* ---- turns ---- */

int blocked_out(struct blocked *b, const struct blocked_at *at, const struct record_sample *sample)
{
	struct off *o = blocked_entry_of(b, at->tid);
	struct obstacle_thread thread = {.tid = at->tid};

	if (!o)
		return -1;
	if (o->since && !at->known)
		return 0; /* the first sample whose call path is known */
	*o = (struct off){.key = o->key,
		.since = at->time,
		.began = at->time,
		.rest = o->rest,
		.thread = at->thread,
		.node = at->node,
		.pid = at->pid,
		.known = at->known,
		.obstacle = -1,
		.unseen = o->unseen};
	if (!at->time || !sample)
		return 0;
	thread.process = spaces_process(b->spaces, at->pid, at->time);
	if (!thread.process)
		return -1;
	o->obstacle = obstacles_by_registers(&b->obstacles, &thread, sample, &o->sure);
	return o->obstacle < 0 ? -1 : 0;
}

int blocked_preempted(struct blocked *b, pid_t tid)
{
	struct off *o = blocked_entry_of(b, tid);

	if (!o)
		return -1;
	o->obstacle = obstacles_processor(&b->obstacles);
	o->sure = true;
	return o->obstacle < 0 ? -1 : 0;
}

void blocked_woken(struct blocked *b, pid_t tid, uint64_t time, const struct blocked_wake *wake)
{
	struct off key = {.key = {(uint64_t)(uint32_t)tid}}, *o = table_find(&b->threads, &key.key);

	if (!o || !o->since || o->woken || time < o->began)
		return;
	o->woken = time;
	o->wake = *wake;
}

void blocked_child_ended(struct blocked *b, pid_t parent, pid_t child, uint64_t time)
{
	struct off key = {.key = {(uint64_t)(uint32_t)parent}},
		   *o = table_find(&b->threads, &key.key);

	if (!o || !o->since || time < o->began)
		return;
	o->child_ended = time;
	o->child = child;
}

int blocked_in(struct blocked *b, pid_t tid, uint32_t phase, uint64_t time)
{
	struct off *o = blocked_entry_of(b, tid);
	int rc = o ? blocked_charge(b, o, phase, time, CHARGE_REST) : -1;

	if (!o)
		return rc;
	unseen_back(&o->unseen, time);
	o->since = 0;
	return rc;
}

int blocked_begins(struct blocked *b, const struct blocked_at *at)
{
	struct off *o = blocked_entry_of(b, at->tid);

	if (!o)
		return -1;
	unseen_fini(&o->unseen);
	*o = (struct off){.key = o->key,
		.thread = at->thread,
		.pid = at->pid,
		.unseen = {.then = {.time = at->time}}};
	return 0;
}

int blocked_exit(struct blocked *b, pid_t tid, uint32_t phase, uint64_t time, bool counted)
{
	struct off *o = blocked_entry_of(b, tid);

	if (o && !counted)
		blocked_skip(o, time);
	if (!o || blocked_last(b, o, phase, time) || blocked_unplaced(b, o, phase, time))
		return -1;
	unseen_fini(&o->unseen);
	*o = (struct off){.key = o->key, .ended = true}; /* the number may be reused */
	return 0;
}

int blocked_settle(struct blocked *b, uint32_t phase, uint64_t time)
{
	for (size_t i = 0; i < b->threads.count; i++) {
		struct off *o = table_at(&b->threads, i);

		if (o->since ? blocked_charge(b, o, phase, time, CHARGE_PART)
			     : !o->ended && blocked_guess(b, o, phase, time))
			return -1;
	}
	return 0;
}

/* ---- what is waited for ---- */

static int blocked_ask(struct blocked *b, struct off *o)
{
	struct obstacle_thread thread = {.tid = (pid_t)o->key.tid};
	long obstacle;

	if (!spaces_knows(b->spaces, o->pid))
		return 0;
	thread.process = spaces_process(b->spaces, o->pid, o->since);
	if (!thread.process)
		return -1;
	o->sure = true; /* it is asked once */
	obstacle = obstacles_by_proc(&b->obstacles, &thread);
	if (obstacle == -2)
		return 0;
	if (obstacle < 0)
		return -1;
	o->told = obstacle;
	o->asked = clock_ns();
	return 0;
}

/* In a gap, of threads of which no wait was recorded lately. */
static int blocked_glance(struct blocked *b)
{
	long node = experiment_node(b->experiment, EXPERIMENT_ROOT, 0, 0);

	if (node < 0)
		return -1;
	for (size_t i = 0, n = b->threads.count, looks = 0; i < n && looks < GLANCES_MOST; i++) {
		struct off *o = table_at(&b->threads, (b->glances + i) % n);
		struct obstacle_thread thread = {.tid = (pid_t)o->key.tid};
		long obstacle;

		if (o->ended || o->since || !o->unseen.then.time ||
			!(o->unseen.glanced || unseen_is_stale(&o->unseen)) ||
			!spaces_knows(b->spaces, o->pid))
			continue;
		if (++looks == GLANCES_MOST)
			b->glances += i + 1;
		thread.process = spaces_process(b->spaces, o->pid, o->unseen.then.time);
		obstacle = thread.process ? obstacles_by_proc(&b->obstacles, &thread) : -1;
		if (obstacle == -2)
			continue;
		if (obstacle < 0 || unseen_glance(&o->unseen, (uint32_t)obstacle, (uint32_t)node))
			return -1;
	}
	return 0;
}

int blocked_look(struct blocked *b)
{
	unsigned looks = 0;

	if (b->windows.off && b->gaps && blocked_glance(b))
		return -1;
	for (size_t i = 0; i < b->threads.count && looks < LOOKS_MOST; i++) {
		struct off *o = table_at(&b->threads, i);

		if (!o->since || o->sure)
			continue;
		looks++;
		if (blocked_ask(b, o))
			return -1;
	}
	descriptors_round(&b->obstacles.descriptors);
	return 0;
}

/* "recorded in 3.2% of the run" */
static int say_missed(struct blocked *b, uint64_t time)
{
	char text[80];

	if (!b->windows.gaps.count)
		return 0;
	b->windows.began = b->spaces->began;
	snprintf(text, sizeof(text), PAUSE_SAMPLED "%.1f%% of the run",
		100 * wait_windows_share(&b->windows, time));
	if (b->gaps && experiment_fact(b->experiment, PAUSE_WAITS_FACT, text, NULL))
		return -1;
	return b->wakes ? experiment_fact(b->experiment, PAUSE_WAKES_FACT, text, NULL) : 0;
}

int blocked_end(struct blocked *b, uint64_t time)
{
	long processor = obstacles_processor(&b->obstacles);

	if (processor < 0 || say_missed(b, time) ||
		missed_divide(&b->missed, b->experiment, (uint32_t)processor))
		return -1;
	return obstacles_end(&b->obstacles);
}

void blocked_fini(struct blocked *b)
{
	for (size_t i = 0; i < b->threads.count; i++)
		unseen_fini(&((struct off *)table_at(&b->threads, i))->unseen);
	table_fini(&b->threads);
	obstacles_fini(&b->obstacles);
	wait_windows_fini(&b->windows);
	missed_fini(&b->missed);
}
