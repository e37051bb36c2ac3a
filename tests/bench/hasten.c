/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Days in minutes: for a program with this library in LD_PRELOAD, time passes HASTEN times as fast,
 * and what it waits for in poll(2) ends so much sooner. The first two seconds are as usual: what it
 * measures at its beginning is right.
 *
 * HASTEN_STEPS="HOURS:BY ...": after so many of these hours, the clock of the day is set by BY
 * hours. Times of the kernel's records, of files and of processors are as they are.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define SECOND 1000000000LL
#define HOUR   (3600 * SECOND)
#define USUAL  (2 * SECOND)

static struct {
	long long rate;
	struct timespec day, steady; /* when it began */
	const char *steps;
} hasten = {.rate = 1};

static void __attribute__((constructor)) hasten_begin(void)
{
	const char *rate = getenv("HASTEN");

	if (rate && atoll(rate) > 0)
		hasten.rate = atoll(rate);
	hasten.steps = getenv("HASTEN_STEPS");
	syscall(SYS_clock_gettime, CLOCK_REALTIME, &hasten.day);
	syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &hasten.steady);
}

static long long passed_since(const struct timespec *from, const struct timespec *to)
{
	return (to->tv_sec - from->tv_sec) * SECOND + to->tv_nsec - from->tv_nsec;
}

static long long passed_now(void)
{
	struct timespec now;
	long long passed;

	syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &now);
	passed = passed_since(&hasten.steady, &now);
	return passed < USUAL ? passed : USUAL + (passed - USUAL) * hasten.rate;
}

static long long steps_until(long long passed)
{
	const char *at = hasten.steps;
	long long sum = 0;

	while (at && *at) {
		char *rest;
		double hours = strtod(at, &rest), by;

		if (rest == at || *rest != ':')
			break;
		by = strtod(rest + 1, &rest);
		if (passed >= (long long)(hours * HOUR))
			sum += (long long)(by * HOUR);
		at = rest;
	}
	return sum;
}

int clock_gettime(clockid_t clock, struct timespec *t)
{
	long long passed, since;

	if (clock != CLOCK_REALTIME && clock != CLOCK_MONOTONIC)
		return (int)syscall(SYS_clock_gettime, clock, t);
	passed = passed_now();
	*t = clock == CLOCK_REALTIME ? hasten.day : hasten.steady;
	since = t->tv_nsec + passed + (clock == CLOCK_REALTIME ? steps_until(passed) : 0);
	t->tv_sec += since / SECOND - (since % SECOND < 0);
	t->tv_nsec = since % SECOND + (since % SECOND < 0 ? SECOND : 0);
	return 0;
}

time_t time(time_t *to)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	if (to)
		*to = t.tv_sec;
	return t.tv_sec;
}

int poll(struct pollfd *list, nfds_t count, int wait)
{
	long long ns = wait * 1000000LL / hasten.rate;
	struct timespec limit = {.tv_sec = ns / SECOND, .tv_nsec = ns % SECOND};

	return ppoll(list, count, wait < 0 ? NULL : &limit, NULL);
}
