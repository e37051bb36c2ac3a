/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The tracing thread, and its communication with its owner. */
#include "branches/branches.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "branches/private.h"

uint64_t branches_now(clockid_t clock)
{
	struct timespec t;

	if (clock_gettime(clock, &t))
		return 0;
	return (uint64_t)t.tv_sec * SECOND + (uint64_t)t.tv_nsec;
}

double branches_chance(struct branches *b)
{
	b->chance ^= b->chance << 13;
	b->chance ^= b->chance >> 7;
	b->chance ^= b->chance << 17;
	return (double)((b->chance * 0x2545f4914f6cdd1du >> 11) + 1) * 0x1p-53;
}

int branches_put(struct branches *b, const struct branch_record *r)
{
	int rc;

	pthread_mutex_lock(&b->lock);
	rc = vec_add(&b->queue, *r);
	pthread_mutex_unlock(&b->lock);
	return rc;
}

void branches_say(struct branches *b, const char *format, ...)
{
	char text[256];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	pthread_mutex_lock(&b->lock);
	for (size_t i = 0; i <= strlen(text); i++)
		(void)vec_add(&b->notices, text[i]);
	pthread_mutex_unlock(&b->lock);
}

void branches_set_horizon(struct branches *b, uint64_t time)
{
	pthread_mutex_lock(&b->lock);
	b->horizon = time;
	pthread_mutex_unlock(&b->lock);
}

bool branches_stopping(struct branches *b)
{
	bool stop;

	pthread_mutex_lock(&b->lock);
	stop = b->stop;
	pthread_mutex_unlock(&b->lock);
	return stop;
}

/* ---- the thread ---- */

static void *trace(void *data)
{
	struct branches *b = data;
	struct error e = {0};
	uint64_t one = 1;
	int rc;

	sched_getaffinity(0, sizeof(b->processors), &b->processors);
	rc = tracer_begin(b, &e);
	pthread_mutex_lock(&b->lock);
	b->begun = e;
	b->settled = true;
	pthread_mutex_unlock(&b->lock);
	if (write(b->wake, &one, sizeof(one)) < 0)
		return NULL;
	if (rc == 0) {
		if (branches_calibrate(b))
			branches_say(b, "the cost of stops could not be measured: there are no "
					"execution rates");
		branches_run(b);
	}
	sites_clear(b);
	b->more = true;
	tracer_wait(b, 0, 0, NULL);
	tracer_end(b);
	return NULL;
}

static void branches_free_all(struct branches *b)
{
	while (b->processes.count)
		process_remove(b, b->processes.data[b->processes.count - 1]);
	vec_fini(&b->processes);
	vec_fini(&b->threads);
	vec_fini(&b->queue);
	vec_fini(&b->taken);
	vec_fini(&b->notices);
	vec_fini(&b->noticed);
	table_fini(&b->sites);
	table_fini(&b->candidates);
	pthread_mutex_destroy(&b->lock);
	if (b->wake >= 0)
		close(b->wake);
	free(b);
}

/* Waits until the thread has seized the program, or cannot. */
static int wait_for_begin(struct branches *b, struct error *e)
{
	uint64_t count;
	bool settled;

	do {
		if (read(b->wake, &count, sizeof(count)) < 0 && errno != EINTR)
			break;
		pthread_mutex_lock(&b->lock);
		*e = b->begun;
		settled = b->settled;
		pthread_mutex_unlock(&b->lock);
	} while (!settled);
	if (e->code == ERR_NONE)
		return 0;
	branches_stop(b);
	return -1;
}

static int branches_start(struct branches *b, struct error *e)
{
	b->wake = eventfd(0, EFD_CLOEXEC);
	if (b->wake < 0)
		return error_sys(e, errno, "eventfd");
	errno = pthread_create(&b->tracing, NULL, trace, b);
	if (errno)
		return error_sys(e, errno, "cannot start a thread");
	b->started = true;
	return wait_for_begin(b, e);
}

struct branches *branches_new(const struct branches_request *r, struct error *e)
{
	struct branches *b;

	b = calloc(1, sizeof(*b));
	if (!b) {
		error_nomem(e);
		return NULL;
	}
	*e = (struct error){0};
	b->request = *r;
	b->wake = -1;
	b->chance = r->seed * 0x9e3779b97f4a7c15u | 1;
	pthread_mutex_init(&b->lock, NULL);
	b->sites = (struct table){.entry_size = sizeof(struct site), .key_size = 8};
	b->candidates = (struct table){.entry_size = sizeof(struct candidate),
		.key_size = sizeof(((struct candidate *)0)->key)};
	if (branches_start(b, e)) {
		branches_free_all(b);
		return NULL;
	}
	return b;
}

/* ---- its owner ---- */

int branches_descriptor(const struct branches *b)
{
	return b->wake;
}

bool branches_ended(struct branches *b, int *status, struct rusage *usage)
{
	bool ended;

	pthread_mutex_lock(&b->lock);
	ended = b->ended;
	if (ended) {
		*status = b->status;
		*usage = b->usage;
	}
	pthread_mutex_unlock(&b->lock);
	return ended;
}

uint64_t branches_horizon(struct branches *b)
{
	uint64_t time;

	pthread_mutex_lock(&b->lock);
	time = b->horizon;
	pthread_mutex_unlock(&b->lock);
	return time ? time : branches_now(CLOCK_MONOTONIC);
}

const struct branch_record *branches_take(struct branches *b, size_t *count)
{
	branch_queue queue;

	pthread_mutex_lock(&b->lock);
	queue = b->queue;
	b->queue = b->taken;
	b->queue.count = 0;
	b->taken = queue;
	pthread_mutex_unlock(&b->lock);
	*count = b->taken.count;
	return b->taken.data;
}

const char *branches_notice(struct branches *b)
{
	const char *notice;

	if (b->notice >= b->noticed.count) {
		pthread_mutex_lock(&b->lock);
		vec_fini(&b->noticed);
		b->noticed.data = b->notices.data;
		b->noticed.count = b->notices.count;
		b->noticed.capacity = b->notices.capacity;
		b->notices.data = NULL;
		b->notices.count = b->notices.capacity = 0;
		pthread_mutex_unlock(&b->lock);
		b->notice = 0;
	}
	if (b->notice >= b->noticed.count || b->noticed.data[b->noticed.count - 1])
		return NULL;
	notice = b->noticed.data + b->notice;
	b->notice += strlen(notice) + 1;
	return notice;
}

void branches_stop(struct branches *b)
{
	if (!b->started)
		return;
	pthread_mutex_lock(&b->lock);
	b->stop = true;
	pthread_mutex_unlock(&b->lock);
	pthread_kill(b->tracing, SIGCHLD);
	pthread_join(b->tracing, NULL);
	b->started = false;
}

void branches_free(struct branches *b)
{
	if (!b)
		return;
	branches_stop(b);
	branches_free_all(b);
}
