/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Blocks on their path, each starting in the state after the block before. */
#include <pthread.h>
#include <stdlib.h>

#include "schedule/follow.h"

struct schedule_path {
	struct schedule_path *next; /* of those not in use */
	struct schedule_work *work;
	struct schedule_options options;
	struct walk walk;
	struct times times[SCHEDULE_BLOCK_MAX];
};

struct schedule_paths {
	const struct core *core;
	pthread_mutex_t lock;
	struct schedule_path *idle;
};

struct schedule_paths *schedule_paths_new(const struct core *c, struct error *e)
{
	struct schedule_paths *all = calloc(1, sizeof(*all));

	if (!all) {
		error_nomem(e);
		return NULL;
	}
	all->core = c;
	pthread_mutex_init(&all->lock, NULL);
	return all;
}

static void path_free(struct schedule_path *p)
{
	schedule_work_free(p->work);
	free(p);
}

void schedule_paths_free(struct schedule_paths *all)
{
	if (!all)
		return;
	for (struct schedule_path *p = all->idle, *next; p; p = next) {
		next = p->next;
		path_free(p);
	}
	pthread_mutex_destroy(&all->lock);
	free(all);
}

static struct schedule_path *path_new(struct error *e)
{
	struct schedule_path *p = calloc(1, sizeof(*p));

	if (!p) {
		error_nomem(e);
		return NULL;
	}
	p->work = schedule_work_new(e);
	if (!p->work) {
		free(p);
		return NULL;
	}
	p->options.loop = true; /* from where decoded instructions are kept: no limit of bytes */
	return p;
}

struct schedule_path *schedule_path_begin(struct schedule_paths *all, struct error *e)
{
	struct schedule_path *p;

	pthread_mutex_lock(&all->lock);
	p = all->idle;
	if (p)
		all->idle = p->next;
	pthread_mutex_unlock(&all->lock);
	if (!p)
		p = path_new(e);
	if (!p)
		return NULL;
	follow_begin(p->work, &p->options, all->core->window);
	p->walk = (struct walk){.w = p->work, .c = all->core, .options = &p->options};
	return p;
}

void schedule_path_end(struct schedule_paths *all, struct schedule_path *p)
{
	if (!p)
		return;
	pthread_mutex_lock(&all->lock);
	p->next = all->idle;
	all->idle = p;
	pthread_mutex_unlock(&all->lock);
}

struct schedule_work *schedule_path_work(struct schedule_path *p)
{
	return p->work;
}

void schedule_path_drain(struct schedule_path *p)
{
	enum { LEAST = 2 }; /* cycles from renaming to retirement */
	struct walk *k = &p->walk;

	if (k->last_retire < k->front + LEAST)
		return;
	k->front = k->last_retire - LEAST;
	k->place = 0;
}

/* What most of the gaps are for, by a vote that each weighs in. */
static void vote_for(struct schedule_row *row, float *vote, const struct times *t, uint32_t gap)
{
	if (row->cause == t->cause) {
		*vote += (float)gap;
	} else if ((float)gap > *vote) {
		row->cause = t->cause;
		*vote = (float)gap - *vote;
	} else {
		*vote -= (float)gap;
		return;
	}
	row->blame = t->blame == UINT32_MAX ? -1 : (int)t->blame;
	row->ports = t->ports;
}

void schedule_path_block(struct schedule_path *p, const struct op *ops, uint32_t first,
	uint32_t count, bool taken, struct schedule_row *rows, float *vote)
{
	uint32_t before = p->walk.last_retire, begin;

	p->walk.first = first;
	follow(&p->walk, ops + first, count, taken, p->times);
	begin = p->times[0].rename;
	for (uint32_t i = 0; rows && i < count; i++) {
		const struct times *t = &p->times[i];
		struct schedule_row *row = &rows[first + i];

		row->mi += t->retire - before;
		row->issue = t->issue - begin;
		row->complete = t->complete - begin;
		row->retire = t->retire - begin;
		if (t->retire > before)
			vote_for(row, &vote[first + i], t, t->retire - before);
		before = t->retire;
	}
}
