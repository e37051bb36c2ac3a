/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the functions that run a record share: model_step.c runs it instruction by instruction,
 * fetched.c runs segments whose lines are in the first level, run.c is the loop over records.
 */
#ifndef MODEL_RUN_H
#define MODEL_RUN_H

#include "model/opcache.h"
#include "model/state.h"
#include "model/watch.h"

/* Of model_segment.statics. */
#define STATICS_USED (MODEL_STATIC_RETURNS + 1)

/* Of the machines of today. */
#define COMMON_LINE 6
#define COMMON_PAGE 12
#define LINE_BYTES  (1u << COMMON_LINE)

/* How a record's branches are run. WANDERS: the target is only in the record, and a watcher needs
 * it; UNUSUAL: INNER. */
enum {
	NO_BRANCH,
	CONDITIONAL,
	JUMP,
	CALL,
	RETURN,
	INDIRECT,
	INNER,
	SPECIAL = 8,
	WANDERS = 16,
	UNUSUAL = 32
};
#define BRANCH_WAY 7u

/* How an access is run: those that are not guarded and of one, two, four or eight bytes, others of
 * at most a line, the rest. */
enum { LOADS = 1, STORES, MODIFIES, WIDE_LOADS, WIDE_STORES, OTHERWISE };
#define GRANULE 8

/* The accesses of a segment, model_running.seen: the letters are loads and stores of one, two, four
 * or eight bytes, in order; ANY: any others; always ANY with INNER, SPECIAL and WANDERS. */
enum { RUN_UNSEEN, RUN_ANY, RUN_NONE, RUN_L, RUN_S, RUN_LL, RUN_LS, RUN_SL, RUN_SS };

/* The access at address is under way; 0: none is. */
static inline void watch_address(struct model *m, uint64_t address)
{
	if (UNLIKELY(m->watch != 0))
		m->watch->address = address;
}

/* An access that is in no sums, for watchers. */
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

/* run.c: the parts that both loops over records leave to functions; order: of the access's
 * instruction, base: of the one before the record's first. Before a call, all state that advances
 * time must be up to date. */
void run_meet_store(struct model *m, struct core *core, const struct model_segment *s,
	const struct model_access *a, uint64_t address, uint64_t order);
int run_met_in_vain(struct model *m, struct core *core, const struct model_segment *s,
	const struct model_access *a, uint64_t address, uint64_t order);
/* run_access_unslotted where loop_is_common. */
void run_access_common(struct model *m, struct core *core, const struct model_segment *s,
	const struct model_access *a, uint64_t address, uint64_t base);
void run_access_unslotted(struct model *m, struct core *core, const struct model_segment *s,
	const struct model_access *a, uint64_t address, uint64_t order);
/* Counts the guarded ones of accesses a..end that happened; nothing else is known of them. */
void run_guarded(struct model *m, const struct model_segment *s, const uint64_t *words,
	const struct model_access *a, const struct model_access *end);
uint64_t run_specials(struct model *m, struct core *core, const struct model_segment *s,
	const uint64_t *words, uint64_t base, uint64_t tick);
void run_outcomes(struct model *m, struct core *core, const struct model_segment *s,
	const uint64_t *record, uint64_t base);
void run_elsewhere(struct model *m, struct core *core, const struct model_segment *s,
	const struct model_outcome *o, const uint64_t *record);
void run_mispredicted(struct model *m, struct core *core, unsigned event);
/* loop.c: runs the records at..end, on the machines that it supports, up to the first record after
 * which clock.order is not below limit, or that watch_exceeds. Returns where it stopped. */
const uint64_t *loop_run(struct model *m, const uint64_t *at, const uint64_t *end, uint64_t limit);
int loop_is_common(const struct model *m);

/* model_step.c: the record's first insns instructions. */
void step_record(
	struct model *m, const struct model_segment *s, const uint64_t *record, unsigned insns);
/* A whole record without clock and watch, but for the prediction of its branch, whose segment's
 * `run` is filled in, and not unusual: the same line by line, instead of instruction by
 * instruction. */
void step_lines(struct model *m, struct core *core, struct model_segment *s, const uint64_t *record,
	uint64_t base);

/* fetched.c.  Before the first record: the core may be another than last time. */
void fetched_begin(struct model *m);
/* The segment's stamp is not the core's.  Are its lines and pages still in the first level, where
 * they were?  Then it gets that stamp; else 0. */
int fetched_again(struct model *m, struct core *core, struct model_segment *s);
/* The same after fetched_again, wherever its lines are; its `run` is filled in. record: its next.
 */
int fetched_see(
	struct model *m, struct core *core, struct model_segment *s, const uint64_t *record);
/* The same wherever its lines are. */
void fetched_know(struct model *m, struct core *core, struct model_segment *s);
/* Its record is run: its lines are used.  Returns the time after. */
INLINE uint64_t fetched_use(struct core *core, struct model_segment *s, uint64_t tick)
{
	uint64_t *used = core->l1i.used;

	s->run.count++;
	core->last = s;
	if (UNLIKELY(!s->run.fetch_count))
		return tick;
	used[s->run.entry[0]] = ++tick;
	if (s->run.fetch_count == 1)
		return tick;
	used[s->run.entry[1]] = ++tick;
	for (unsigned i = MODEL_RUNNING_LINES; i < s->run.fetch_count; i++)
		used[s->block->fetches[i].hint] = ++tick;
	return tick;
}
/* The line that was fetched last gets into core->fetch_line. */
INLINE void fetched_last(struct core *core)
{
	const struct model_segment *s = core->last;

	if (!s)
		return;
	if (s->run.fetch_count)
		core->fetch_line = s->block->fetches[s->run.fetch_count - 1u].line;
	core->last = (struct model_segment *)0;
}
/* All records so far get into the counts. */
void fetched_count(struct model *m, struct core *core);
/* The same for a slow segment, whether its lines are there or not: it must be one iteration of a
 * repeated instruction and no more, with accesses of the usual kinds; else 0. */
int fetched_see_repeat(struct model_segment *s);

/* The retirement clock runs a whole record. */
INLINE void run_retire(
	struct model *m, struct core *core, struct model_segment *s, const uint64_t *record)
{
	opcache_look(m, core, s);
	retire_record(core->retire, s, record, s->insn_count);
}

/* Is the record a repetition that the one before has in it already, for the retirement clock? */
int run_goes_along(const struct retire *t, const struct model_segment *s, const uint64_t *record);

#endif
