/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The descriptors (model/trace.h) of translated superblocks, by address, and what is kept of those
 * that are discarded.
 *
 * A descriptor is made by block_new, filled by the caller, and finished by block_ready, which must
 * come before the code runs; block_discard ends it.  Who profiles (blocks_keep) loses nothing by
 * that: counts are kept, and go on where the same code is translated again.  No record that names a
 * descriptor may be waiting for the model when it is discarded.
 */
#ifndef VALGRIND_BLOCKS_H
#define VALGRIND_BLOCKS_H

#include "model/trace.h"
#include "valgrind/bytes.h"

#include "pub_tool_basics.h"

/* One allocation: room for so many of each.  All zero but the pointers and the address; the counts
 * are the caller's to fill.  block->specials points to room for `insns` indices. */
struct model_block *block_new(
	Addr address, UInt insns, UInt accesses, UInt fetches, UInt segments, UInt outcomes);
/* The room for its outcomes; segments point into it. */
struct model_outcome *block_outcomes(struct model_block *block);
void block_ready(struct model_block *block);
void block_discard(Addr address);
/* NULL: there is none now. */
struct model_block *block_find(Addr address);

/* From now on keep what discarded ones counted.  starts: segments count, in `ended`, how often they
 * began and not how often they ended, and indirect branches where they went (struct block_branch).
 */
void blocks_keep(Bool starts);
/* Where a superblock went the last times, while it always goes to the same place: what counts where
 * there is no model.  block_goes is called by the code when that changes. */
struct block_branch {
	uint64_t to;
	uint64_t since; /* the last segment's count when it began to go there */
	const struct model_block *block;
};
struct block_branch *block_branch(struct model_block *block);
void block_goes(struct block_branch *branch, Addr to);
/* Tells of all that is only in these (profile_goes). */
void blocks_tell_branches(void);

/* Adds up what execution tells of all that was executed: counts[EVENT_LIMIT]. */
void blocks_sum(uint64_t *counts);

/* All counts to zero: in the child of a fork. */
void blocks_reset(void);

/* Adds all that were executed to what becomes the section BLOCKS; events: appends the row's events
 * as "v how many, for each v event, v count". */
void blocks_write(struct bytes *to, void (*events)(struct bytes *to, UInt row));

#endif
