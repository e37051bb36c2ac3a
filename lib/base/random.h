/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Random numbers: xorshift64 (Marsaglia, 2003). Its low bits are the worst. */
#ifndef BASE_RANDOM_H
#define BASE_RANDOM_H

#include <stdint.h>

/* 1..2^64 - 1. state: not 0. */
static inline uint64_t random_next(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	return *state ^= *state << 17;
}

#endif
