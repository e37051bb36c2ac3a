/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <stdint.h>
#include <sys/resource.h>
#include <time.h>

#define SECOND 1000000000u /* ns */

/* Time since some fixed moment (CLOCK_MONOTONIC): it never goes back. */
uint64_t clock_ns(void);
double clock_seconds(void);
/* Another clock of clock_gettime(2), in ns; 0: there is none (any more). */
uint64_t clock_of(clockid_t clock);
/* The CPU time of a usage, user and system, in ns. */
double clock_used_ns(const struct rusage *usage);

#endif
