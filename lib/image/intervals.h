/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Ranges of addresses that may nest and overlap: symbols, compilation units, functions. The result
 * is the range that begins last of those that contain an address; among equal ones, the last
 * added.
 */
#ifndef IMAGE_INTERVALS_H
#define IMAGE_INTERVALS_H

#include <stdint.h>

#include "base/vec.h"

#define INTERVAL_NONE UINT32_MAX

struct interval {
	uint64_t low, high; /* [low, high) */
	uint32_t value;     /* the owner's */
	uint32_t outer;     /* the nearest before it that reaches further, or INTERVAL_NONE */
};

struct intervals {
	VEC(struct interval) all;
};

/* Empty ones are left out.  -1 when memory is out. */
int intervals_add(struct intervals *s, uint64_t low, uint64_t high, uint32_t value);
/* To be called once, after the last was added. */
void intervals_settle(struct intervals *s);
/* Borrowed; NULL: none contains it. */
const struct interval *intervals_find(const struct intervals *s, uint64_t address);
/* The number of those that begin at address or before it. */
size_t intervals_before(const struct intervals *s, uint64_t address);
void intervals_fini(struct intervals *s);

#endif
