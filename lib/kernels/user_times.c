/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "kernels/user_times.h"

#include <math.h>
#include <pthread.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"

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

struct user_times user_times_measure(double seconds)
{
	return (struct user_times){
		user_time_of(user_calls, seconds), user_time_of(user_faults, seconds)};
}
