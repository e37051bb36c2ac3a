/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The branch target buffer, for the clocks that follow instructions to their retirement: where a
 * taken branch is known before it is decoded. It has two levels; the first is the part of each set
 * that was used last. A branch that it does not know is found by the decoder if its target is in
 * the instruction, else when it is executed.
 *
 * Uses are dated by misses of L1I: an epoch lasts from one to the next. Only the first use of a
 * branch in an epoch matters, so segments whose lines stay in L1I (fetched.c) need not be asked
 * again, and all ways to run records give the same. What is used in an epoch fits: a buffer reaches
 * farther than L1I. A branch that is one too many in its set is taken for known.
 */
#ifndef MODEL_BTB_H
#define MODEL_BTB_H

#include <stdint.h>

#define BTB_WAYS 8u

struct btb_entry {
	uint32_t branch, epoch; /* epoch 0: free */
};

enum btb_found { BTB_FIRST, BTB_SECOND, BTB_UNKNOWN };

struct btb {
	struct btb_entry *entries; /* null: every branch is known */
	uint64_t sets;
	uint32_t first; /* ways of the first level */
	uint32_t epoch; /* from 1 on */
	uint64_t found[BTB_UNKNOWN + 1];
};

/* Where the taken branch is found; it is used then. */
static inline enum btb_found btb_find(struct btb *b, uint64_t branch)
{
	uint64_t hash = branch * 0x9e3779b97f4a7c15u;
	uint32_t tag = (uint32_t)(hash >> 12), newer = 0;
	struct btb_entry *set = b->entries + ((hash >> 32) * b->sets >> 32) * BTB_WAYS,
			 *victim = set;
	unsigned i, k;

	for (i = 0; i < BTB_WAYS; i++) {
		if (set[i].branch == tag && set[i].epoch)
			break;
		if (set[i].epoch < victim->epoch)
			victim = &set[i];
	}
	if (i == BTB_WAYS) {
		if (victim->epoch == b->epoch)
			return BTB_FIRST;
		*victim = (struct btb_entry){tag, b->epoch};
		return BTB_UNKNOWN;
	}
	for (k = 0; k < BTB_WAYS; k++)
		newer += set[k].epoch > set[i].epoch;
	set[i].epoch = b->epoch;
	return newer < b->first ? BTB_FIRST : BTB_SECOND;
}

#endif
