/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How blocks are copied (copy.c, unroll.c). */
#ifndef BRANCHES_TRANSLATE_H
#define BRANCHES_TRANSLATE_H

#include "branches/cache.h"
#include "isa/brief.h"

#define AHEAD      32u /* blocks per stop */
#define INSNS      64  /* per block; the rest of a longer one is another block */
#define READ_BYTES 512

struct code { /* a block of the original */
	struct insn insns[INSNS];
	struct insn_flags flags[INSNS];
	const uint8_t *at[INSNS]; /* their bytes */
	unsigned count;
	uint64_t end;             /* address after them */
	bool transfers;           /* and a transfer that can be copied follows */
	bool stops;               /* or an instruction that cannot be copied, */
	bool calls;               /* which is a system call that may be done in copies */
	struct transfer transfer; /* of the next instruction */
	struct insn last;
	const uint8_t *last_at;
	uint8_t bytes[READ_BYTES + INSN_LENGTH_MAX];
};

/* Targets that are copied later. */
struct hop {
	uint32_t jump;    /* displacement of the branch to it */
	uint32_t counter; /* 0: none */
	uint64_t target;
};

struct translation {
	struct out out;
	struct held *held;
	struct code code;
	struct hop hops[AHEAD];
	unsigned hop_count, left;
	struct ahead_list ahead;
};

/* Where a block is counted, before which instruction, and how (BY_ and registers of emit_count):
 * where flags are dead; else after all, if they are dead at its only target; else where a register
 * is overwritten, or after all if its only target overwrites one; else at its beginning, by a
 * detour. */
struct counted {
	int place, by;
};

enum { NOWHERE = -1 };

/* A block as it is without our breakpoints. */
void copy_block(struct cache *c, const struct arena *a, uint64_t address, struct code *code);
/* Of the block that was read. */
struct counted copy_place(struct translation *t, const struct copy *copy);
/* Its instructions up to the transfer, counted there. */
void copy_straight(struct translation *t, uint32_t slot, struct counted counted);
/* An exit: counted, if necessary, then a jump to its target. Its first byte is at the place that
 * jump leads to. */
int copy_way(struct translation *t, const struct hop *hop);
/* NULL: there is none. */
struct copy *copy_find(struct cache *c, uint64_t address, uint64_t begin);

#endif
