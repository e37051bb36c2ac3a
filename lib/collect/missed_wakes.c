/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/missed_wakes.h"

#include <string.h>

#include "base/table.h"

#define ENOUGH 10 /* pauses whose end was seen */

struct sums {
	double time, count;
};

struct group {
	struct {
		uint32_t obstacle, thread, phase,
			node; /* obstacle UINT32_MAX: of all at the node */
	} key;
	struct sums missed, seen; /* seen: until they were woken */
	struct sums unseen;       /* ended in windows, but not by what is recorded */
	struct sums processor;    /* of a node: after that */
	struct sums moved;        /* of missed, to the processor's row */
};

static void missed_sum(struct sums *s, const struct experiment_pause *p)
{
	s->time += (double)p->time;
	s->count += (double)p->count;
}

static struct group *missed_group(
	const struct missed_wakes *m, const struct experiment_pause *p, uint32_t obstacle)
{
	struct group key = {.key = {obstacle, p->key.thread, p->key.phase, p->key.node}};

	return table_find(&m->groups, &key.key);
}

int missed_add(struct missed_wakes *m, size_t row, const struct experiment_pause *p)
{
	struct missed_part *part;

	while (m->rows.count <= row) {
		part = vec_push(&m->rows);
		if (!part)
			return -1;
		*part = (struct missed_part){0};
	}
	part = &m->rows.data[row];
	part->time += p->time;
	part->count += p->count;
	return 0;
}

static int make_groups(struct missed_wakes *m, const struct experiment *x)
{
	m->groups = TABLE_OF(struct group);
	for (size_t i = 0; i < m->rows.count; i++) {
		const struct missed_part *part = &m->rows.data[i];
		const struct experiment_pause *p = experiment_pause_at(x, i);
		struct group *g,
			key = {.key = {p->key.obstacle, p->key.thread, p->key.phase, p->key.node}};

		if (!part->time)
			continue;
		g = table_add(&m->groups, &key.key);
		if (!g)
			return -1;
		g->missed.time += (double)part->time;
		g->missed.count += (double)part->count;
		key.key.obstacle = UINT32_MAX;
		if (!table_add(&m->groups, &key.key))
			return -1;
	}
	return 0;
}

/* What is known of pauses at the same places. */
static void sum_seen(const struct missed_wakes *m, const struct experiment *x, uint32_t processor)
{
	for (size_t i = 0; i < x->pauses.count; i++) {
		const struct experiment_pause *p = experiment_pause_at(x, i);
		struct group *node = missed_group(m, p, UINT32_MAX),
			     *g = missed_group(m, p, p->key.obstacle);

		if (node && p->key.obstacle == processor)
			missed_sum(&node->processor, p);
		else if (node && p->key.wake != WAKE_UNSEEN)
			missed_sum(&node->seen, p);
		if (g)
			missed_sum(p->key.wake == WAKE_UNSEEN ? &g->unseen : &g->seen, p);
	}
}

/* The part that a pause of the group waits for a processor. */
static double processor_part(const struct missed_wakes *m, const struct experiment_pause *p)
{
	const struct group *node = missed_group(m, p, UINT32_MAX);
	double all = node->seen.time + node->processor.time;

	return all > 0 ? node->processor.time / all : 0;
}

static void pause_grow(struct experiment_pause *p, double time, double count)
{
	p->time += (uint64_t)time;
	p->count += (uint64_t)(count + 0.5);
}

/* unseen has the missed ones as well: they are in the same row. */
static void divide_row(struct missed_wakes *m, struct experiment_pause *p, struct group *g)
{
	double rest_time = g->unseen.time - g->missed.time,
	       rest_count = g->unseen.count - g->missed.count, waits = g->seen.time + rest_time,
	       ends = g->seen.count + rest_count, part = processor_part(m, p);
	double time = g->missed.time * (1 - part);

	if (g->seen.count < ENOUGH || waits <= 0)
		return;
	if (p->key.wake != WAKE_UNSEEN) {
		pause_grow(p, time * (double)p->time / waits,
			g->missed.count * (double)p->count / ends);
		return;
	}
	/* Rows have a time. */
	p->time = (uint64_t)(rest_time + time * rest_time / waits) + 1;
	p->count = (uint64_t)(rest_count + g->missed.count * rest_count / ends + 0.5);
	if (p->longest > p->time)
		p->longest = p->time;
	g->moved.time = g->missed.time * part;
	g->moved.count = g->missed.count;
}

int missed_divide(struct missed_wakes *m, struct experiment *x, uint32_t processor)
{
	if (!m->rows.count)
		return 0;
	if (make_groups(m, x))
		return -1;
	sum_seen(m, x, processor);
	for (size_t i = 0; i < x->pauses.count; i++) {
		struct experiment_pause *p = table_at(&x->pauses, i);
		struct group *g = missed_group(m, p, p->key.obstacle);

		if (g && p->key.obstacle != processor)
			divide_row(m, p, g);
	}
	for (size_t i = 0; i < m->groups.count; i++) {
		const struct group *g = table_at(&m->groups, i);
		struct experiment_pause row = {.key = {.obstacle = processor,
						       .thread = g->key.thread,
						       .phase = g->key.phase,
						       .node = g->key.node},
			.count = (uint64_t)g->moved.count,
			.time = (uint64_t)g->moved.time};

		if (row.time && experiment_row(x, EXPERIMENT_PAUSES, &row) < 0)
			return -1;
	}
	return 0;
}

void missed_fini(struct missed_wakes *m)
{
	table_fini(&m->groups);
	vec_fini(&m->rows);
}
