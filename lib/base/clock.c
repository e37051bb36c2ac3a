/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/clock.h"

#include <sys/time.h>

uint64_t clock_of(clockid_t clock)
{
	struct timespec t;

	if (clock_gettime(clock, &t))
		return 0;
	return (uint64_t)t.tv_sec * SECOND + (uint64_t)t.tv_nsec;
}

uint64_t clock_ns(void)
{
	return clock_of(CLOCK_MONOTONIC);
}

double clock_seconds(void)
{
	return (double)clock_ns() * 1e-9;
}

double clock_used_ns(const struct rusage *usage)
{
	struct timeval used;

	timeradd(&usage->ru_utime, &usage->ru_stime, &used);
	return (double)used.tv_sec * 1e9 + (double)used.tv_usec * 1e3;
}
