/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The descriptors (model/trace.h) of translated superblocks, by address, and what is kept of
 * discarded ones.
 *
 * block_new creates a descriptor, the caller fills it, and block_ready finishes it, which must come
 * before the code runs; block_discard ends it. With a profile (blocks_keep) the counts of discarded
 * descriptors are kept and continued when the same code is translated again. A descriptor must not
 * be discarded while records that name it wait for the model.
 */
#ifndef VALGRIND_BLOCKS_H
#define VALGRIND_BLOCKS_H

#include "model/trace.h"
#include "valgrind/bytes.h"

#include "pub_tool_basics.h"

/* One allocation, with room for the given number of each. All zero except the pointers and the
 * address; the caller fills in the counts. block->specials points to room for `insns` indices,
 * *room to that for outcomes, which segments point into. */
struct model_block *block_new(Addr address, UInt insns, UInt accesses, UInt fetches, UInt segments,
	UInt outcomes, struct model_outcome **room);
/* The same, until the next call; it is not known here, and not for block_ready or block_discard. */
struct model_block *block_scratch(Addr address, UInt insns, UInt accesses, UInt fetches,
	UInt segments, UInt outcomes, struct model_outcome **room);
void block_ready(struct model_block *block);
void block_discard(Addr address);
/* NULL: there is none now. */
struct model_block *block_find(Addr address);

/* From now on, keeps the counts of discarded descriptors. starts: segments count, in `ended`, how
 * often they began and not how often they ended, and indirect branches count their targets (struct
 * block_branch). */
void blocks_keep(Bool starts);
/* The target of a superblock while it is always the same, for counts without a model. The code
 * calls block_goes when the target changes. */
struct block_branch {
	uint64_t to;
	uint64_t since; /* the last segment's count when it began to go there */
	const struct model_block *block;
};
struct block_branch *block_branch(struct model_block *block);
void block_goes(struct block_branch *branch, Addr to);
/* Reports all counts that are only in these (profile_goes). */
void blocks_tell_branches(void);

/* Adds up the events of all executed code that execution determines: counts[EVENT_LIMIT]. */
void blocks_sum(uint64_t *counts);

/* All counts to zero: in the child of a fork. */
void blocks_reset(void);

/* Adds all that were executed to what becomes the section BLOCKS; events: appends the row's events
 * as "v how many, for each v event, v count". */
void blocks_write(struct bytes *to, void (*events)(struct bytes *to, UInt row));

#endif
