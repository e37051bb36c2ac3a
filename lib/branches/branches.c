/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The tracing thread or process (apart.c), and its communication with its owner. */
#include "branches/branches.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/random.h"
#include "branches/private.h"

uint64_t branches_now(clockid_t clock)
{
	return clock_of(clock);
}

double branches_chance(struct branches *b)
{
	return (double)((random_next(&b->chance) * 0x2545f4914f6cdd1du >> 11) + 1) * 0x1p-53;
}

/*
 * Not a mutex of the C library: that identifies a holder by thread-local memory, which the tracer
 * shares with the thread that waits for it. When that is killed, the kernel clears its number, and
 * a robust mutex that is held then is never released.
 */
enum { NOBODY, OWNER, TRACER };

static _Thread_local int side = OWNER;

/* The tracer goes on if its owner was killed with the lock. */
static void lock(struct branches *b)
{
	const struct timespec pause = {0, 20 * (long)MICROSECOND};
	int holder = NOBODY;

	while (!atomic_compare_exchange_strong(&b->holder, &holder, side)) {
		if (side == TRACER && getppid() != b->owner) {
			atomic_store(&b->holder, side);
			return;
		}
		nanosleep(&pause, NULL);
		holder = NOBODY;
	}
}

static void unlock(struct branches *b)
{
	atomic_store(&b->holder, NOBODY);
}

int branches_put(struct branches *b, const struct branch_record *r)
{
	int rc;

	lock(b);
	rc = vec_add(&b->queue, *r);
	unlock(b);
	return rc;
}

void branches_say(struct branches *b, const char *format, ...)
{
	char text[256];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	lock(b);
	for (size_t i = 0; i <= strlen(text); i++)
		(void)vec_add(&b->notices, text[i]);
	unlock(b);
}

void branches_set_horizon(struct branches *b, uint64_t time)
{
	lock(b);
	b->horizon = time;
	unlock(b);
}

bool branches_stopping(struct branches *b)
{
	bool stop;

	lock(b);
	stop = b->stop || b->alone;
	unlock(b);
	return stop;
}

/* ---- the thread ---- */

void branches_child_ended(struct branches *b, int status, const struct rusage *usage)
{
	uint64_t one = 1;

	lock(b);
	b->ended = true;
	b->zombie = b->apart;
	b->status = status;
	b->usage = *usage;
	unlock(b);
	if (write(b->wake, &one, sizeof(one)) < 0)
		return; /* it can be read anyway */
}

static void tell_begun(struct branches *b, const struct error *e)
{
	uint64_t one = 1;

	lock(b);
	b->begun = *e;
	b->settled = true;
	unlock(b);
	if (write(b->wake, &one, sizeof(one)) < 0)
		return; /* it can be read anyway */
}

static void follow(struct branches *b)
{
	branches_run(b);
	sites_clear(b);
	b->more = true;
	tracer_wait(b, 0, 0, NULL);
	tracer_end(b);
}

/* The tracer's process. Where it may not follow the program, the thread tries. */
static void trace_apart(struct branches *b)
{
	struct error e = {0};

	side = TRACER;
	lock(b);
	b->apart = getpid();
	unlock(b);
	b->alone = getppid() != b->owner;
	if (tracer_begin(b, &e) == 0) {
		tell_begun(b, &e);
		follow(b);
		b->over = true;
	} else {
		tracer_end(b);
	}
}

/* The tracer was killed, and the program goes on without. */
static void outlast(struct branches *b)
{
	const struct timespec pause = {0, 20 * (long)MILLISECOND};
	struct rusage usage;
	int status;

	branches_say(b, "the process that follows the program was killed: there are no more branch "
			"records, and the program may die of SIGTRAP");
	lock(b);
	b->apart = 0;
	unlock(b);
	while (!b->request.running && !branches_stopping(b)) {
		if (wait4(b->request.pid, &status, WNOHANG, &usage) == b->request.pid) {
			branches_child_ended(b, status, &usage);
			return;
		}
		nanosleep(&pause, NULL);
	}
}

static void *trace(void *data)
{
	struct branches *b = data;
	struct error e = {0};
	int holder = TRACER;
	bool apart;

	sched_getaffinity(0, sizeof(b->processors), &b->processors);
	/* Visits leave nothing in a program, nor do samples. */
	apart = !b->request.visit && !b->request.only_samples && apart_run(trace_apart, b);
	side = OWNER;
	atomic_compare_exchange_strong(&b->holder, &holder, NOBODY); /* it was killed */
	if (apart && b->settled) {
		if (!b->over)
			outlast(b);
		lock(b);
		b->apart = 0;
		unlock(b);
		return NULL;
	}
	b->apart = 0;
	if (tracer_begin(b, &e) == 0) {
		tell_begun(b, &e);
		follow(b);
	} else {
		tell_begun(b, &e);
		tracer_end(b);
	}
	return NULL;
}

static void branches_free_all(struct branches *b)
{
	while (b->processes.count)
		process_remove(b, b->processes.data[b->processes.count - 1]);
	vec_fini(&b->processes);
	vec_fini(&b->threads);
	for (size_t i = 0; i < b->queue.count; i++)
		free(b->queue.data[i].owned);
	vec_fini(&b->queue);
	vec_fini(&b->taken);
	vec_fini(&b->notices);
	vec_fini(&b->noticed);
	table_fini(&b->sites);
	table_fini(&b->candidates);
	if (b->wake >= 0)
		close(b->wake);
	free(b);
}

/* Waits until the thread has seized the program, or cannot. It looks again after a while: the write
 * that wakes us may fail. */
static int wait_for_begin(struct branches *b, struct error *e)
{
	struct pollfd wake = {.fd = b->wake, .events = POLLIN};
	uint64_t count;
	bool settled;

	do {
		if (poll(&wake, 1, 100) > 0 && read(b->wake, &count, sizeof(count)) < 0 &&
			errno != EINTR)
			break;
		lock(b);
		*e = b->begun;
		settled = b->settled;
		unlock(b);
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
	b->owner = getpid();
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

	lock(b);
	ended = b->ended;
	if (ended) {
		*status = b->status;
		*usage = b->usage;
		/* It is still our child. */
		if (b->zombie)
			waitpid(b->request.pid, NULL, WNOHANG);
	}
	unlock(b);
	return ended;
}

uint64_t branches_horizon(struct branches *b)
{
	uint64_t time;

	lock(b);
	time = b->horizon;
	unlock(b);
	return time ? time : branches_now(CLOCK_MONOTONIC);
}

const struct branch_record *branches_take(struct branches *b, size_t *count)
{
	branch_queue queue;

	lock(b);
	queue = b->queue;
	b->queue = b->taken;
	b->queue.count = 0;
	b->taken = queue;
	unlock(b);
	*count = b->taken.count;
	return b->taken.data;
}

void branches_charge(struct branches *b, struct branches_charge spent)
{
	atomic_fetch_add(&b->charged, spent.own);
	atomic_fetch_add(&b->charged_others, spent.others);
}

void branches_beside(struct branches *b, uint64_t ns)
{
	atomic_store(&b->beside, ns);
}

void branches_reserve(struct branches *b, uint64_t ns)
{
	atomic_store(&b->reserved, ns);
}

const char *branches_notice(struct branches *b)
{
	const char *notice;

	if (b->notice >= b->noticed.count) {
		lock(b);
		vec_fini(&b->noticed);
		b->noticed.data = b->notices.data;
		b->noticed.count = b->notices.count;
		b->noticed.capacity = b->notices.capacity;
		b->notices.data = NULL;
		b->notices.count = b->notices.capacity = 0;
		unlock(b);
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
	lock(b);
	b->stop = true;
	if (b->apart)
		kill(b->apart, SIGCHLD);
	unlock(b);
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
