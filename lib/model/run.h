/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the ways to run a record share: step.c, the one instruction by instruction; fetched.c, the
 * segments whose lines are at hand; run.c, the loop over records.
 */
#ifndef MODEL_RUN_H
#define MODEL_RUN_H

#include "model/state.h"
#include "model/watch.h"

/* Of model_segment.statics. */
#define STATICS_USED (MODEL_STATIC_RETURNS + 1)

/* How a record's branches are run. */
enum { NO_BRANCH, CONDITIONAL, JUMP, CALL, RETURN, INDIRECT, INNER, SPECIAL = 8 };

/* How an access is run: those that are not guarded and of at most eight bytes, others of at most a
 * line, the rest. */
enum { LOADS = 1, STORES, MODIFIES, WIDE_LOADS, WIDE_STORES, OTHERWISE };
#define GRANULE 8

/* The access at address is under way; 0: none is. */
static inline void watch_address(struct model *m, uint64_t address)
{
	if (UNLIKELY(m->watch != 0))
		m->watch->address = address;
}

/* An access that is in no sums, for who watches. */
static inline void watch_guarded(struct model *m, const struct model_access *a)
{
	if (a->kind == MODEL_ACCESS_LOAD || a->kind == MODEL_ACCESS_MODIFY)
		watch_count(m, EV_LOADS, 1);
	if (a->kind == MODEL_ACCESS_STORE || a->kind == MODEL_ACCESS_MODIFY)
		watch_count(m, EV_STORES, 1);
}

static inline uint64_t outcome_target(
	const struct model_block *b, const struct model_outcome *o, const uint64_t *record)
{
	return o->target ? o->target : record[b->words - 1];
}

/* step.c: the record's first insns instructions. */
void step_record(
	struct model *m, const struct model_segment *s, const uint64_t *record, unsigned insns);

/* fetched.c: the segment becomes one of core->fetched, and its `run` is filled in; 0 if its lines
 * and pages are not at hand. */
int fetch_see(struct model *m, struct core *core, struct model_segment *s);

#endif
