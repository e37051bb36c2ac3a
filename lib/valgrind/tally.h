/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Counts of keys of three words: a hash table that grows up to a limit. Beyond it new keys are
 * lost, and the losses are counted. */
#ifndef VALGRIND_TALLY_H
#define VALGRIND_TALLY_H

#include "pub_tool_basics.h"

struct tally_entry {
	ULong key[3];
	ULong count; /* 0: free */
};

/* Zero-initialised is empty. */
struct tally {
	struct tally_entry *entries;
	UInt size, used; /* size: a power of two */
	ULong lost;
};

void tally_add(struct tally *t, ULong a, ULong b, ULong c, ULong times);
void tally_reset(struct tally *t);

#endif
