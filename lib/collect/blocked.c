/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/blocked.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "experiment/time_slices.h"

#define LOOKS_MOST 256 /* threads that are asked in a round */
/* A thread that waits for a signal goes on at most so long after the end of a child that sent it.
 */
#define CHILD_SECONDS_MOST 0.25

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

static int blocked_pause(struct blocked *b, const struct off *o, uint32_t phase, long obstacle,
	uint64_t from, uint64_t to, bool ends)
{
	struct experiment_pause row = {
		.key = {.thread = o->thread, .phase = phase, .node = o->node},
		.count = ends,
		.time = to - from,
		.longest = to - from};
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
	if (o->woken || !ends || !wake_windows_missed(&b->windows, o->began, to) ||
		experiment_obstacle_at(b->experiment, (size_t)obstacle)->key.reason ==
			PAUSE_PROCESSOR)
		return 0;
	return missed_add(&b->missed, (size_t)number, &row);
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
	struct blocked *b, struct off *o, uint32_t phase, uint64_t time, bool ends)
{
	uint64_t woken = o->woken > o->since && o->woken < time ? o->woken : time;
	/* If the pause ended before /proc was asked, the answer is of a later one. */
	bool told = o->asked && (!ends || o->asked <= time);
	long obstacle = told ? o->told : o->obstacle, processor;

	if (ends)
		obstacle = blocked_by_child(b, o, obstacle, time);
	if (o->woken && o->woken <= o->since)
		woken = o->since;
	if (blocked_pause(b, o, phase, obstacle, o->since, woken, ends))
		return -1;
	if (woken == time)
		return 0;
	processor = obstacles_processor(&b->obstacles);
	return processor < 0 ? -1 : blocked_pause(b, o, phase, processor, woken, time, ends);
}

static int blocked_charge(
	struct blocked *b, struct off *o, uint32_t phase, uint64_t time, bool ends)
{
	struct experiment_sample sample;
	uint64_t samples, begin = o->since;

	if (!o->since || time <= o->since)
		return 0;
	if (blocked_pauses(b, o, phase, time, ends))
		return -1;
	o->rest += time - o->since;
	o->since = time;
	samples = o->rest / b->period;
	o->rest %= b->period;
	if (!samples)
		return 0;
	if (!o->known)
		b->unknown += samples;
	sample = (struct experiment_sample){
		.key = {b->metric, o->thread, phase, o->node}, .count = samples};
	return experiment_add_between(b->experiment, &sample, spaces_since(b->spaces, begin),
		spaces_since(b->spaces, time));
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
		.obstacle = -1};
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
	int rc = o ? blocked_charge(b, o, phase, time, true) : -1;

	if (o)
		o->since = 0;
	return rc;
}

int blocked_exit(struct blocked *b, pid_t tid, uint32_t phase, uint64_t time)
{
	struct off *o = blocked_entry_of(b, tid);

	if (blocked_in(b, tid, phase, time))
		return -1;
	o->rest = 0; /* the number may be reused */
	return 0;
}

int blocked_settle(struct blocked *b, uint32_t phase, uint64_t time)
{
	for (size_t i = 0; i < b->threads.count; i++)
		if (blocked_charge(b, table_at(&b->threads, i), phase, time, false))
			return -1;
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

int blocked_look(struct blocked *b)
{
	unsigned looks = 0;

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

/* "sampled: of 3.2% of the run" */
static int say_missed(struct blocked *b, uint64_t time)
{
	char text[80];

	if (!b->windows.gaps.count)
		return 0;
	snprintf(text, sizeof(text), PAUSE_WAKES_SAMPLED "%.1f%% of the run",
		100 * wake_windows_share(&b->windows, time));
	return experiment_fact(b->experiment, PAUSE_WAKES_FACT, text, NULL);
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
	table_fini(&b->threads);
	obstacles_fini(&b->obstacles);
	wake_windows_fini(&b->windows);
	missed_fini(&b->missed);
}
