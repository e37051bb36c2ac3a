/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Random numbers that are the same in each run. */
#ifndef MODEL_RANDOM_H
#define MODEL_RANDOM_H

#include <stdint.h>

/* 0..n - 1; n is far below 2^53. state: not 0. xorshift64* (Vigna, 2016). */
static inline uint64_t model_random_below(uint64_t *state, uint64_t n)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return ((*state * UINT64_C(2685821657736338717)) >> 11) % n;
}

#endif
