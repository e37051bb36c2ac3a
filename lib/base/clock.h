/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Time since some fixed moment (CLOCK_MONOTONIC): it never goes back. */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <stdint.h>

uint64_t clock_ns(void);
double clock_seconds(void);

#endif
