/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Chance for tests, the same in each run: xorshift64 (Marsaglia, "Xorshift RNGs", 2003), never 0.
 */
#ifndef TESTS_CHANCE_H
#define TESTS_CHANCE_H

#include <stdint.h>

static uint64_t chance_state = 88172645463325252u;

static inline uint64_t chance_next(void)
{
	chance_state ^= chance_state << 13;
	chance_state ^= chance_state >> 7;
	chance_state ^= chance_state << 17;
	return chance_state;
}

/* With better low bits: xorshift64* (Vigna 2016). */
static inline uint64_t chance_mixed(void)
{
	return chance_next() * 0x2545f4914f6cdd1du;
}

/* [0, 1) */
static inline double chance_uniform(void)
{
	return (double)(chance_next() >> 11) / (double)(1ull << 53);
}

/* [0, n) */
static inline uint32_t chance_below(uint32_t n)
{
	return (uint32_t)((chance_mixed() >> 32) * n >> 32);
}

#endif
