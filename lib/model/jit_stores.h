/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The store buffer in the code of segments (jit_stores.c), and what jit.c shares with it. Registers
 * are as in jit.c; rax has the address of the access, rcx the index of its slot, rbp the number of
 * the next store.
 */
#ifndef MODEL_JIT_STORES_H
#define MODEL_JIT_STORES_H

#include "model/jit_x86.h"

#define CORE(field) jit_at(R12, offsetof(struct core, field))

/* Bytes of an access to the store buffer at most, and granules that it may span. */
#define JIT_WIDE 32
#define JIT_NEAR (JIT_WIDE / STORE_GRANULE + 1)

/* Jumps to what the code does not do itself, and where each goes on. */
struct jit_slow {
	uint8_t *jumps[12];
	unsigned count;
	uint8_t *near[JIT_NEAR]; /* a load near a store */
	unsigned near_count;
	const uint8_t *far; /* where it goes on */
	const uint8_t *back;
	jit_routine routine;
	/* Of an access that is expected in the line of the one before: where it is not, and where
	 * its code then goes on. Null: it is not expected there. */
	uint8_t *apart;
	const uint8_t *together;
};

/* jit.c. */
void jit_slow_if(struct jit *e, struct jit_slow *slow, unsigned condition);
/* rax, rcx of access i. */
void jit_line(struct jit *e, unsigned i);
void jit_call_access(struct jit *e, jit_routine routine, unsigned i, unsigned insn);

/* Can no store be in the buffer that the load needs?  Else the code that jit_near writes goes on.
 */
void jit_far_from_stores(struct jit *e, struct jit_slow *slow, const struct model_access *a);
void jit_near(struct jit *e, const struct jit_slow *slow, const struct model *m, unsigned i,
	const struct model_access *a);
/* As forward_remember, also for several whole granules. */
void jit_remember(struct jit *e, const struct model *m, unsigned insn, unsigned size);

#endif
