/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Writes points into the ring that ssrun follows (collect/points.h), or sends them to the model as
 * requests. Which of the two, if any, is determined once, when the library is loaded.
 *
 * A thread's id is read once and kept; the child of a fork reads it again.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "collect/points.h"
#include "speedshop.h"
#include "speedshop/request.h"

#define INTERFACE_VERSION 1
#define UNLIKELY(x)       __builtin_expect(!!(x), 0)

static struct points *points; /* NULL: ssrun does not follow */
static bool on_model;
static uint32_t pid;
/* In the thread's own static block, so that it is there in handlers of signals too. */
static __thread uint32_t tid __attribute__((tls_model("initial-exec")));

static void points_in_child(void)
{
	pid = (uint32_t)getpid();
	tid = 0;
}

static struct points *points_map(const char *path)
{
	const size_t size = sizeof(struct points) + POINTS_ROOM * sizeof(struct point);
	/* Links are followed in /proc alone, where ssrun's descriptors are some. */
	int follow = strncmp(path, "/proc/", 6) == 0 ? 0 : O_NOFOLLOW;
	int fd = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK | follow);
	struct points *p = MAP_FAILED;
	struct stat st;

	if (fd < 0)
		return NULL;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size >= (off_t)size)
		p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (p == MAP_FAILED)
		return NULL;
	if (p->magic == POINTS_MAGIC && p->room == POINTS_ROOM)
		return p;
	munmap(p, size);
	return NULL;
}

__attribute__((constructor)) static void find_listener(void)
{
	const char *path;

	on_model = speedshop_request(SPEEDSHOP_REQUEST_VERSION, 0) != 0;
	path = on_model ? NULL : secure_getenv(POINTS_ENVIRONMENT);
	if (!path || !*path)
		return;
	pid = (uint32_t)getpid();
	if (pthread_atfork(NULL, NULL, points_in_child) == 0)
		points = points_map(path);
}

static uint64_t points_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* The claim of a number; never 0. */
static uint32_t claim_of(uint64_t number)
{
	uint32_t claim = (uint32_t)(number + 1);

	return claim ? claim : 1;
}

/* The slot is ours; or another writer's, which will make a void point of the number. */
static bool claim_slot(struct point *slot, uint32_t own)
{
	uint32_t other = 0;

	while (!__atomic_compare_exchange_n(
		&slot->claim, &other, own, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) {
		if (other == 0)
			continue;
		/* Of several writers that give up, the last counts: the reader finds others older.
		 */
		if ((int32_t)(own - other) <= 0 ||
			__atomic_compare_exchange_n(&slot->claim, &other, own, false,
				__ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
			return false;
		other = 0;
	}
	return true;
}

static void fill_point(
	struct point *slot, uint64_t number, uint64_t time, enum point_kind kind, const char *name)
{
	size_t length = strnlen(name, POINT_NAME - 1);

	/* A concurrent reader of the old point in this slot must notice that it is replaced. */
	__atomic_store_n(&slot->ready, 0, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_RELEASE);
	slot->time = time;
	slot->pid = pid;
	slot->tid = tid;
	slot->kind = kind;
	memcpy(slot->name, name, length);
	slot->name[length] = '\0';
	__atomic_store_n(&slot->ready, number + 1, __ATOMIC_RELEASE);
}

/* Others may have wanted it meanwhile. */
static void release_slot(struct point *slot, uint64_t number, uint64_t time)
{
	uint32_t own = claim_of(number), last = own;

	while (!__atomic_compare_exchange_n(
		&slot->claim, &last, 0, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
		number += last - own;
		own = last;
		fill_point(slot, number, time, POINT_VOID, "");
	}
}

static bool write_point(struct points *p, enum point_kind kind, const char *name)
{
	uint64_t number, time;
	struct point *slot;

	if (!__atomic_load_n(&p->listening, __ATOMIC_RELAXED))
		return false;
	if (UNLIKELY(!tid))
		tid = (uint32_t)syscall(SYS_gettid);
	time = points_now();
	number = __atomic_fetch_add(&p->taken, 1, __ATOMIC_ACQ_REL);
	slot = &p->point[number % POINTS_ROOM];
	if (UNLIKELY(!claim_slot(slot, claim_of(number))))
		return true;
	/* After a whole round of the ring: the reader has counted it as lost. */
	if (__atomic_load_n(&slot->ready, __ATOMIC_RELAXED) <= number)
		fill_point(slot, number, time, kind, name);
	release_slot(slot, number, time);
	return true;
}

static bool points_pass(enum point_kind kind)
{
	if (UNLIKELY(points != NULL))
		return write_point(points, kind, "");
	return on_model && speedshop_request(SPEEDSHOP_REQUEST_SAMPLING, kind);
}

int ssrt_caliper_point(const char *name)
{
	if (UNLIKELY(points != NULL))
		return write_point(points, POINT_CALIPER, name ? name : "");
	return on_model &&
	       speedshop_request(SPEEDSHOP_REQUEST_CALIPER, (uintptr_t)(name ? name : ""));
}

void ssrt_experiment_suspend(void)
{
	points_pass(POINT_SUSPEND);
}

void ssrt_experiment_restart(void)
{
	points_pass(POINT_RESTART);
}

void ssrt_buffer_clear(void)
{
	points_pass(POINT_CLEAR);
}

void ssrt_experiment_init(void)
{
	points_pass(POINT_CLEAR);
	points_pass(POINT_RESTART);
}

void ssrt_experiment_shutdown(void)
{
	points_pass(POINT_END);
}

void ssrt_experiment_stop(void)
{
	points_pass(POINT_END);
}

long ssrt_interface_routine(int op, void *context)
{
	(void)context;
	switch (op) {
	case SSRT_LISTENING:
		return on_model ? 2 : points && points->listening ? 1 : 0;
	case SSRT_VERSION:
		return INTERFACE_VERSION;
	default:
		return -1;
	}
}
