/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "kernels/user_times.h"

#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/stats.h"

#define PAGE  4096
#define PAGES 2048
#define CALLS 512

/* Performs an operation a number of times, which it returns; 0: it cannot. */
typedef size_t user_operation(void);

static size_t user_calls(void)
{
	for (int i = 0; i < CALLS; i++)
		syscall(SYS_getppid);
	return CALLS;
}

static size_t user_faults(void)
{
	char *p = mmap(
		NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		return 0;
	madvise(p, PAGES * PAGE, MADV_NOHUGEPAGE);
	for (size_t i = 0; i < PAGES; i++)
		*(volatile char *)(p + i * PAGE) = 1;
	munmap(p, PAGES * PAGE);
	return PAGES;
}

static double thread_user_ns(void)
{
	struct rusage u;

	if (getrusage(RUSAGE_THREAD, &u))
		return NAN;
	return (double)u.ru_utime.tv_sec * 1e9 + (double)u.ru_utime.tv_usec * 1e3;
}

struct user_work {
	user_operation *operation;
	double seconds, ns; /* of each operation, at user level */
};

/* The kernel's division is of all ticks of a thread, so each operation has one. */
static void *user_work_thread(void *argument)
{
	struct user_work *w = argument;
	double begin = thread_user_ns(), end = clock_seconds() + w->seconds;
	size_t count = 0, more;

	do {
		more = w->operation();
		count += more;
	} while (more && clock_seconds() < end);
	if (more)
		w->ns = (thread_user_ns() - begin) / (double)count;
	return NULL;
}

static double user_time_of(user_operation *operation, double seconds)
{
	struct user_work w = {operation, seconds, NAN};
	pthread_t thread;

	if (pthread_create(&thread, NULL, user_work_thread, &w))
		return NAN;
	pthread_join(thread, NULL);
	return w.ns;
}

/* ---- translations that a system call leaves ---- */

#define WALKED 256 /* pages: more than first TLBs hold, fewer than second ones */
#define LINE   64
#define PASSES 64
#define ROUNDS 15

/* A chain of pointers to lines this far apart, each in another place of its page, in an order that
 * nothing foresees. */
static void *user_chain(char *memory, size_t distance)
{
	uint16_t order[WALKED];
	uint32_t random = 1;

	for (size_t i = 0; i < WALKED; i++)
		order[i] = (uint16_t)i;
	for (size_t i = WALKED - 1; i > 0; i--) {
		uint16_t other, kept = order[i];

		random = random * 1664525u + 1013904223u;
		other = (uint16_t)(random % (i + 1));
		order[i] = order[other];
		order[other] = kept;
	}
#define AT(i) (memory + order[i] * distance + (distance > LINE ? order[i] * LINE % PAGE : 0))
	for (size_t i = 0; i < WALKED; i++)
		*(void **)(void *)AT(i) = AT((i + 1) % WALKED);
	return AT(0);
#undef AT
}

/* Nanoseconds of one pass, with or without a system call before it. */
static double user_pass_ns(void **chain, bool call)
{
	double ns[ROUNDS];

	for (int r = 0; r < ROUNDS; r++) {
		uint64_t began = clock_ns();

		for (int i = 0; i < PASSES; i++) {
			if (call)
				syscall(SYS_getppid);
			for (int k = 0; k < WALKED; k++)
				chain = *(void *volatile *)chain;
		}
		ns[r] = (double)(clock_ns() - began) / PASSES;
	}
	return stats_median(ns, ROUNDS);
}

/* The kernel also replaces lines of the first level: the same number of lines on few pages lose as
 * many. */
static double user_walk_ns(void)
{
	char *p = mmap(
		NULL, WALKED * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	double pages, lines;
	void **chain;

	if (p == MAP_FAILED)
		return NAN;
	madvise(p, WALKED * PAGE, MADV_NOHUGEPAGE);
	chain = user_chain(p, PAGE);
	pages = user_pass_ns(chain, true) - user_pass_ns(chain, false);
	chain = user_chain(p, LINE);
	lines = user_pass_ns(chain, true) - user_pass_ns(chain, false);
	munmap(p, WALKED * PAGE);
	return fmax((pages - lines) / WALKED, 0);
}

/* ---- interruptions ---- */

#define STEPS  2000 /* of about a cycle each */
#define SLICE  10e6 /* ns */
#define SLICES 1000

/* Of the time that a thread had by the kernel, the part by which pieces of equal work took longer
 * than usual, where that is much longer. */
static double user_stolen_slice(double *ns, size_t room)
{
	uint64_t thread = clock_of(CLOCK_THREAD_CPUTIME_ID), began = clock_ns(), last = began, now;
	double longer = 0, usual, used, elapsed;
	size_t n = 0;

	while (n < room && (double)(last - began) < SLICE) {
		unsigned x = 0;

		for (unsigned i = 0; i < STEPS; i++) {
			x += i;
			__asm__ volatile("" : "+r"(x));
		}
		now = clock_ns();
		ns[n++] = (double)(now - last);
		last = now;
	}
	elapsed = (double)(last - began);
	used = (double)(clock_of(CLOCK_THREAD_CPUTIME_ID) - thread);
	usual = stats_median(ns, n);
	for (size_t i = 0; i < n; i++)
		longer += ns[i] > 1.5 * usual ? ns[i] - usual : 0;
	return fmax(longer - fmax(elapsed - used, 0), 0) / fmax(used, 1);
}

/* The lower quartile of slices: in some of the others, something else ran. */
static double user_stolen(double seconds)
{
	size_t count = (size_t)fmin(fmax(seconds * 1e9 / SLICE, 1), SLICES),
	       room = (size_t)SLICE / 100;
	double part[SLICES], *ns = malloc(room * sizeof(*ns));

	if (!ns)
		return NAN;
	for (size_t slice = 0; slice < count; slice++)
		part[slice] = user_stolen_slice(ns, room);
	free(ns);
	stats_median(part, count); /* sorts */
	return part[count / 4];
}

struct user_times user_times_measure(double seconds)
{
	return (struct user_times){user_time_of(user_calls, seconds),
		user_time_of(user_faults, seconds), user_walk_ns(), user_stolen(seconds / 2)};
}
