/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Superblocks that only count (modes.h): a counter for each path through them, and the number of
 * events of an execution that execution alone determines. A counter counts how often its segment
 * began, so that its row is the difference between two segments' sums; rows are signed.
 */
#ifndef VALGRIND_COUNTED_H
#define VALGRIND_COUNTED_H

#include "model/trace.h"

#include "pub_tool_basics.h"

/* Of a row, after enum model_static. */
enum counted_static {
	COUNTED_LOCKED = MODEL_STATICS,
	COUNTED_PREFETCHES,
	COUNTED_SYSTEM_CALLS,
	COUNTED_DIVIDES,
	COUNTED_FP_DIVIDES,
	COUNTED_STATICS = 24,
};

/* Is there such a row?  Then the event that it is of. */
Bool counted_exists(UInt which);
unsigned counted_event(UInt which);
/* Of an execution that ends in the segment, of which the descriptors are complete until there; each
 * iteration of a repeated instruction is an instruction. */
void counted_sum(
	const struct model_block *b, const struct model_segment *s, int32_t sums[COUNTED_STATICS]);
/* Adds sums to the current thread's counts. */
void counted_add(const int64_t sums[COUNTED_STATICS]);

/* Counters of the superblock with this key, `rows` of them, next to each other, zero. */
uint64_t *counted_new(Addr key, UInt rows);
/* The counts of one execution of the superblock at `counter`. */
int16_t *counted_statics(uint64_t *counter);
/* Is there one? */
Bool counted_knows(Addr key);
/* It is discarded; its counts are kept for counted_take. */
void counted_discard(Addr key);
/* Adds all counts since the last call to sums, and clears them. */
void counted_take(int64_t sums[COUNTED_STATICS]);
/* Clears the counts: in the child of a fork. */
void counted_reset(void);
/* Fills in the counters of a superblock's segments, of which the descriptor is complete. */
void counted_describe(const struct model_block *block, uint64_t *counters);

#endif
