/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/parallel.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/mapping.h"

enum { THREADS_MAX = 16 };

struct place {
	bool made;
	int status; /* of make */
	struct error error;
};

struct run {
	const struct parallel *p;
	char *results;
	struct place *places; /* result i is at place i % PARALLEL_AHEAD */
	pthread_mutex_t lock; /* of what follows, and of places[].made */
	pthread_cond_t made, taken;
	size_t next, first; /* to be made, to be taken */
	bool stop;
};

unsigned parallel_processors(unsigned most)
{
	cpu_set_t set;
	unsigned n = sched_getaffinity(0, sizeof(set), &set) == 0 ? (unsigned)CPU_COUNT(&set) : 1;

	return n < most ? n : most;
}

static void *result_at(const struct run *r, size_t i)
{
	return r->results + i % PARALLEL_AHEAD * r->p->size;
}

/* With the lock, which is given up meanwhile. False: nothing can be made now. */
static bool make_next(struct run *r)
{
	size_t i = r->next;
	struct place *place = &r->places[i % PARALLEL_AHEAD];

	if (r->stop || i == r->p->count || i == r->first + PARALLEL_AHEAD)
		return false;
	r->next++;
	pthread_mutex_unlock(&r->lock);
	memset(result_at(r, i), 0, r->p->size);
	place->status = r->p->make(r->p->context, i, result_at(r, i), &place->error);
	pthread_mutex_lock(&r->lock);
	place->made = true;
	pthread_cond_signal(&r->made);
	return true;
}

static void *parallel_work(void *data)
{
	struct run *r = data;

	pthread_mutex_lock(&r->lock);
	while (!r->stop && r->next < r->p->count)
		if (!make_next(r))
			pthread_cond_wait(&r->taken, &r->lock);
	pthread_mutex_unlock(&r->lock);
	return NULL;
}

/* With the lock: result i is there. */
static void wait_for_result(struct run *r, size_t i)
{
	while (!r->places[i % PARALLEL_AHEAD].made)
		if (!make_next(r))
			pthread_cond_wait(&r->made, &r->lock);
}

static void drop_result(struct run *r, size_t i)
{
	if (r->p->drop)
		r->p->drop(r->p->context, result_at(r, i));
	r->places[i % PARALLEL_AHEAD].made = false;
}

static int take_result(struct run *r, size_t i, struct error *e)
{
	const struct place *place = &r->places[i % PARALLEL_AHEAD];

	if (place->status && e)
		*e = place->error;
	if (place->status)
		return -1;
	return r->p->take ? r->p->take(r->p->context, i, result_at(r, i), e) : 0;
}

static int take_all(struct run *r, struct error *e)
{
	int status = 0;

	pthread_mutex_lock(&r->lock);
	for (size_t i = 0; i < r->p->count && status == 0; i++) {
		wait_for_result(r, i);
		pthread_mutex_unlock(&r->lock);
		status = take_result(r, i, e);
		pthread_mutex_lock(&r->lock);
		drop_result(r, i);
		r->first = i + 1;
		pthread_cond_broadcast(&r->taken);
	}
	r->stop = true;
	pthread_cond_broadcast(&r->taken);
	pthread_mutex_unlock(&r->lock);
	return status;
}

/* Signals are for the caller's thread. As many as start: the caller works, too. */
static unsigned start_threads(struct run *r, pthread_t *threads, unsigned wanted)
{
	sigset_t all, old;
	unsigned n = 0;

	mapping_mask(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	while (n < wanted && pthread_create(&threads[n], NULL, parallel_work, r) == 0)
		n++;
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return n;
}

int parallel_run(const struct parallel *p, struct error *e)
{
	struct run r = {.p = p,
		.results = malloc(PARALLEL_AHEAD * p->size),
		.places = calloc(PARALLEL_AHEAD, sizeof(*r.places)),
		.lock = PTHREAD_MUTEX_INITIALIZER,
		.made = PTHREAD_COND_INITIALIZER,
		.taken = PTHREAD_COND_INITIALIZER};
	unsigned wanted = p->threads ? p->threads : parallel_processors(THREADS_MAX), n;
	pthread_t threads[THREADS_MAX];
	int status = -1;

	if (wanted > THREADS_MAX)
		wanted = THREADS_MAX;
	if (wanted > p->count)
		wanted = (unsigned)p->count;
	if (!r.results || !r.places) {
		error_nomem(e);
	} else {
		n = start_threads(&r, threads, wanted ? wanted - 1 : 0);
		status = take_all(&r, e);
		while (n-- > 0)
			pthread_join(threads[n], NULL);
		for (size_t i = r.first; i < r.next; i++)
			drop_result(&r, i);
	}
	free(r.places);
	free(r.results);
	return status;
}
