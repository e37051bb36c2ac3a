/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Branch prediction, for the loops that run branches; branch.c describes the algorithms.
 *
 * Each call predicts a branch, compares the prediction with the outcome, trains the predictor, and
 * returns whether the prediction was right (1) or not (0). Only branch_elsewhere changes other
 * parts of the model.
 */
#ifndef MODEL_BRANCH_H
#define MODEL_BRANCH_H

#include "model/state.h"

/*
 * An entry of the base table for a conditional branch. In entries below DYNAMIC, bit 0 is the
 * predicted direction; the tables are not used, and an outcome that agrees changes nothing.
 */
enum base_state {
	NEVER_TAKEN,
	ALWAYS_TAKEN,
	SETTLED_NOT_TAKEN,
	SETTLED_TAKEN,
	DYNAMIC, /* and up: bit 1 is the prediction; see branch.c */
};

/* Addresses of instructions with and without alignment, spread over the low bits. */
static inline uint32_t predictor_base(const struct predictor *p, uint64_t from)
{
	return (uint32_t)((from ^ from >> 2) & p->base_mask);
}

/* A streak: in bit 0 the direction, above it how many times running; see branch.c. */
enum { STREAK_ONE = 2, STREAK_SURE = 32 * STREAK_ONE, STREAK_HISTORY = 12 };
#define PREDICTOR_MULTIPLIER UINT64_C(0x9E3779B97F4A7C15)

static inline uint8_t *predictor_streak(struct predictor *p, uint64_t from)
{
	uint64_t key = from << STREAK_HISTORY ^ (p->history & ((1u << STREAK_HISTORY) - 1));

	return &p->streaks[key * PREDICTOR_MULTIPLIER >> p->streak_shift];
}

/* For branches that are not settled, or were wrong. base, streak: the branch's. */
int branch_predict(
	struct predictor *p, uint8_t *base, uint8_t *streak, uint64_t from, unsigned taken);

/* index: predictor_base of it; taken: 0 or 1. */
static inline int predict_conditional(
	struct predictor *p, uint32_t index, uint64_t from, unsigned taken)
{
	uint8_t *base = &p->base[index], *streak;

	if (!((*base ^ taken) & ~2u)) {
		p->history = p->history << 1 | taken;
		return 1;
	}
	streak = predictor_streak(p, from);
	if ((*streak ^ taken) == STREAK_SURE && *base >= DYNAMIC) {
		p->history = p->history << 1 | taken;
		return 1;
	}
	return branch_predict(p, base, streak, from, taken);
}

/* Kind cachegrind: outcomes in the index of a counter. */
#define COUNTER_HISTORY 7

/* Of kind cachegrind: where the last target of an indirect branch is. */
#define COUNTED_TARGETS 512
static inline uint64_t *branch_counted_target(const struct predictor *p, uint64_t from)
{
	return &p->targets[0][from % COUNTED_TARGETS];
}

int branch_predict_indirect(struct model *m, struct predictor *p, uint64_t from, uint64_t to);
/* All but conditional branches and direct jumps: predicts, counts a misprediction and charges it.
 */
void branch_elsewhere(struct model *m, struct core *core, enum model_branch_kind kind,
	uint64_t from, uint64_t next, uint64_t to);
/* A taken branch while the retirement clock runs: notes for it if its target is found late. */
void branch_find_late(
	struct model *m, struct core *core, enum model_branch_kind kind, uint64_t from);
static inline void branch_find(
	struct model *m, struct core *core, enum model_branch_kind kind, uint64_t from)
{
	if (core->btb.set && !core->retire)
		btb_later(&core->btb, from);
	else if (core->btb.set)
		branch_find_late(m, core, kind, from);
}
/* A call, which should return to `next`. */
static inline void push_return(const struct model *m, struct predictor *p, uint64_t next)
{
	uint32_t size = m->config.return_stack;

	if (!size)
		return;
	p->return_top = p->return_top + 1 < size ? p->return_top + 1 : 0;
	p->returns[p->return_top] = next;
	if (p->return_count < size)
		p->return_count++;
}

static inline int predict_return(struct model *m, struct predictor *p, uint64_t from, uint64_t to)
{
	uint64_t predicted;

	if (p->counters) /* cachegrind assumes so */
		return 1;
	if (UNLIKELY(!m->config.return_stack))
		return branch_predict_indirect(m, p, from, to);
	if (!p->return_count) {
		/* Calls that were not modelled have left something here. */
		p->returns_unseen -= p->returns_unseen > 0;
		return p->returns_unseen > 0;
	}
	p->return_count--;
	predicted = p->returns[p->return_top];
	p->return_top = p->return_top ? p->return_top - 1 : m->config.return_stack - 1;
	return predicted == to;
}

#endif
