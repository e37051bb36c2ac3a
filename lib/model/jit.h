/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Segments as code of the host. A segment that is run often gets some lines of x86-64 code that run
 * its records (jit.c), with sizes, offsets and addresses as constants. The code does what changes
 * little: it notes uses of lines and pages in the first level, stores that no load reads, and
 * branches whose prediction is settled. For all else it calls routines (jit_routines.c). It ends
 * with a jump to the code of the next record's segment. Parts that a run does not need are left
 * out.
 *
 * The results are those of loop.c, which runs what has no code. Without memory for code, with
 * another host or another compiler than GCC (whose global register variables hold the state), there
 * is none.
 *
 * A host keeps less code than data in its caches: so only segments that are run often (fetched.c)
 * get code, and what is rarely run comes after the rest.
 */
#ifndef MODEL_JIT_H
#define MODEL_JIT_H

#include "model/state.h"

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define JIT 1
#else
#define JIT 0
#endif

/* What the code and its routines share; in the routines' registers while they run: at, tick, order.
 */
struct jit_context {
	const uint64_t *end; /* of the records */
	uint64_t stop, free; /* struct pace */
	const uint64_t *at;
	uint64_t tick, order;
	struct core *core;
	struct model *m;
	struct clock *clock;
	uint64_t limit;
};

/* Sets run.code of a segment whose `run` is filled in. */
void jit_segment(struct model *m, struct model_segment *s);

/* Routines for the code to call; see jit_routines.c. order: of the access's instruction. */
typedef void (*jit_routine)(uint64_t, uint64_t);
void jit_access_slowly(uint64_t access, uint64_t order);
jit_routine jit_access_routine(const struct model_access *a);
/* Branches: outcome is the index of one of the segment's. The first is for those that are neither
 * conditional nor direct jumps, the others for conditional ones that are not settled. */
void jit_branch_slowly(uint64_t outcome, uint64_t unused);
void jit_taken_dynamic(uint64_t outcome, uint64_t unused);
void jit_passed_dynamic(uint64_t outcome, uint64_t unused);
/* The record goes to the retirement clock. */
void jit_retire(uint64_t unused, uint64_t unused_too);
/* The next record's segment gets the core's stamp, if fetched_again gives it. */
void jit_stamp(uint64_t unused, uint64_t unused_too);
/* An instruction has to wait, or the loop is to end. */
void jit_stop(uint64_t unused, uint64_t unused_too);

#endif
