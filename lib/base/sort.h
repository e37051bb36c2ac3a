/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * For comparison functions of qsort: each key in turn, as in
 *
 *	return sort_falling(a->samples, b->samples) ?: sort_rising(a->address, b->address);
 */
#ifndef BASE_SORT_H
#define BASE_SORT_H

#include <stdint.h>

static inline int sort_rising(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static inline int sort_falling(uint64_t a, uint64_t b)
{
	return sort_rising(b, a);
}

/* Of numbers that may be fractions, without NAN. */
static inline int sort_rising_number(double a, double b)
{
	return (a > b) - (a < b);
}

static inline int sort_falling_number(double a, double b)
{
	return (a < b) - (a > b);
}

#endif
