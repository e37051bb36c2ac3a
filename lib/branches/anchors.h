/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Anchors: instructions of code that is not followed, whose executions are counted exactly between
 * bursts. An anchor leads through a stub: an increment, what the instruction does, and a jump back.
 * It takes about a nanosecond and no stop.
 *
 * Only one instruction is ever replaced, of five bytes or more (by a jump), or the displacement of
 * a direct branch. So there is no place within the patch to which the program, a signal's return or
 * an indirect jump could get, and anchors may stay while ssrun does other things, or is killed.
 * The flags must be dead there. Where a process has several threads, increments are locked, and
 * all threads are stopped when patches change.
 *
 * Anchors stay in place during bursts, whose copies are made from the original bytes. One that is
 * executed very often is in place in some spells only (native_turn).
 */
#ifndef BRANCHES_ANCHORS_H
#define BRANCHES_ANCHORS_H

#include "branches/cache.h"

#define ANCHORS_MAX  192 /* a multiple of 64 */
#define ANCHOR_BYTES 5

struct anchor {
	uint64_t address;       /* of the instruction */
	uint64_t to;            /* of a branch: executions that go there count; 0: all do */
	uint64_t where;         /* address of the bytes that are replaced */
	uint64_t last;          /* value of the counter when it was read last */
	double counts, seconds; /* in bursts, as far as known: executions, native time */
	double latest;          /* executions per second in the last burst, or spell with it */
	double duty;            /* share of the spells in which it is to be in place */
	double since;           /* ns of the program's own time in the log before it was made */
	size_t after;           /* bursts in the log then */
	uint16_t stub;          /* in its arena */
	uint8_t arena;
	uint8_t size;   /* of what is replaced */
	uint8_t length; /* of the instruction */
	uint8_t own[ANCHOR_BYTES], ours[ANCHOR_BYTES];
	bool in;
	bool lost; /* its instruction faults: it is not put in again */
};

struct anchors {
	struct anchor all[ANCHORS_MAX]; /* in the order of their creation */
	unsigned count;
	uint8_t order[ANCHORS_MAX]; /* their numbers: those that go together are side by side */
	double turn;                /* of 1, where this order begins in the next spell */
	uint16_t stubs[ARENAS_MAX]; /* made, of each arena */
	VEC(uint64_t) barred;       /* addresses of instructions that cannot be anchors, sorted */
};

/* The run from begin to end that goes to `to`: does the anchor count it? */
static inline bool anchor_counts(const struct anchor *a, uint64_t begin, uint64_t end, uint64_t to)
{
	return a->to ? a->address == end && a->to == to : a->address - begin <= end - begin;
}

/* Makes an anchor that counts all executions of this run, and is not in place yet; NULL: it has no
 * instruction that could be one. */
struct anchor *anchors_add(
	struct cache *c, struct held *f, uint64_t begin, uint64_t end, uint64_t to);
/* Puts it in place, or takes it out. The only thread is held. */
void anchor_put(struct cache *c, struct anchor *a, bool in);
/* Executions of all since the last time: hits[ANCHORS_MAX]. false: the process is gone. */
bool anchors_read(struct cache *c, uint64_t *hits);

#endif
