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
 * get code, and what is rarely run is apart from the rest.
 *
 * What routines need of descriptors is constants of the code where it fits, so that the host does
 * not load them. No routine is handed a structure, nor returns one: compilers write it in pieces
 * and copy it as a whole, and a wide load of what narrow stores just wrote waits until these have
 * left the host's store buffer.
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

/* All code is given up. */
void jit_again(struct model *m);
/* Sets run.code of a segment whose `run` is filled in. record: what it is about to run. */
void jit_segment(struct model *m, struct model_segment *s, const uint64_t *record);

/* Routines for the code to call; see jit_routines.c. order: of the access's instruction. */
typedef void (*jit_routine)(uint64_t, uint64_t);
void jit_call(struct jit *e, jit_routine routine);
void jit_access_slowly(uint64_t access, uint64_t order);
/* Of a load near a store: the rest of the access comes after it. */
jit_routine jit_near_routine(const struct model_access *a);
jit_routine jit_access_routine(const struct model_access *a);
/* Branches: outcome is the index of one of the segment's, from is where it is. What they need is in
 * the code, so that the host does not wait for descriptors. */
void jit_branch_slowly(uint64_t outcome, uint64_t unused); /* neither conditional nor a jump */
void jit_taken_dynamic(uint64_t from, uint64_t outcome);   /* conditional ones, not settled */
void jit_passed_dynamic(uint64_t from, uint64_t outcome);
/* The same as jit_branch_slowly, after jit_taken: a call, a return (target: 0 if it is in the
 * record), an indirect branch, whose target is in the record. */
void jit_called(uint64_t next, uint64_t unused);
void jit_returned(uint64_t target, uint64_t outcome);
void jit_indirect(uint64_t from, uint64_t outcome);
/* The record goes to the retirement clock. */
void jit_retire(uint64_t unused, uint64_t unused_too);
/* The next record's segment gets the core's stamp, if fetched_again gives it. */
void jit_stamp(uint64_t unused, uint64_t unused_too);
/* An instruction has to wait, or the loop is to end. */
void jit_stop(uint64_t unused, uint64_t unused_too);

#endif
