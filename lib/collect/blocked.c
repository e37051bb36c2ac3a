/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/blocked.h"

#include <string.h>

#include "experiment/time_slices.h"

struct off {
	struct {
		uint64_t tid;
	} key;
	uint64_t since; /* 0: on a processor, or gone */
	uint64_t rest;  /* ns of time off not yet in a sample */
	uint32_t thread, node;
	bool known;
};

void blocked_init(struct blocked *b, const struct spaces *spaces, uint32_t metric, uint64_t period)
{
	memset(b, 0, sizeof(*b));
	b->experiment = spaces->experiment;
	b->spaces = spaces;
	b->metric = metric;
	b->period = period;
	b->threads = (struct table){.entry_size = sizeof(struct off), .key_size = 8};
}

static struct off *blocked_entry_of(struct blocked *b, pid_t tid)
{
	struct off key = {.key = {(uint64_t)(uint32_t)tid}};

	return table_add(&b->threads, &key.key);
}

static int blocked_charge(struct blocked *b, struct off *o, uint32_t phase, uint64_t time)
{
	struct experiment_sample sample;
	uint64_t samples, begin = o->since;

	if (!o->since || time <= o->since)
		return 0;
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

int blocked_out(
	struct blocked *b, pid_t tid, uint32_t thread, uint32_t node, uint64_t time, bool known)
{
	struct off *o = blocked_entry_of(b, tid);

	if (!o)
		return -1;
	if (o->since && !known)
		return 0; /* the first sample whose call path is known */
	o->since = time;
	o->thread = thread;
	o->node = node;
	o->known = known;
	return 0;
}

int blocked_in(struct blocked *b, pid_t tid, uint32_t phase, uint64_t time)
{
	struct off *o = blocked_entry_of(b, tid);
	int rc = o ? blocked_charge(b, o, phase, time) : -1;

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
		if (blocked_charge(b, table_at(&b->threads, i), phase, time))
			return -1;
	return 0;
}

void blocked_fini(struct blocked *b)
{
	table_fini(&b->threads);
}
