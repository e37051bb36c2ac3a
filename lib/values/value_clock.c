/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How long the instructions of a window take, roughly: that of a wide processor that executes out
 * of order, predicts branches, and finds all data in its first cache. Windows begin at moments of
 * time. Were they equally long in instructions, the slow turns of a loop would be seen more often
 * than the fast ones; equally long in time, each execution is seen as often as any other.
 *
 * Only ratios between parts of one program matter. What differs most between executions of the same
 * code is how many of its branches are mispredicted, and how far instructions wait for each other.
 */
#include <string.h>

#include "values/private.h"

#define CYCLE      VALUE_CLOCK_CYCLE
#define TURN       (CYCLE / 6) /* an instruction's part of the width */
#define ITERATION  (CYCLE / 16)
#define LOAD       (4 * CYCLE)
#define MISPREDICT (14 * CYCLE)
#define HISTORY    0xfffu /* 12 branches */

void value_clock_begin(struct value_clock *c)
{
	c->fetch = c->retired = c->flags = 0;
	c->number = 0;
	memset(c->general, 0, sizeof(c->general));
	memset(c->vector, 0, sizeof(c->vector));
	memset(c->retire, 0, sizeof(c->retire));
	memset(c->memory, 0, sizeof(c->memory));
	c->history = 0;
}

static uint8_t clock_latency_in_cycles(const struct insn *i)
{
	if (i->classes & INSN_DIVIDE)
		return 14;
	if (i->classes & (INSN_FENCE | INSN_SERIALISING | INSN_LOCK))
		return 18;
	if (i->classes & INSN_X87)
		return 6;
	if (i->classes & INSN_FP)
		return 4;
	if (i->classes & INSN_MULTIPLY)
		return 3;
	return i->classes & (INSN_MOVE | INSN_ZEROES | INSN_NOP) ? 0 : 1;
}

void value_clock_decode(struct step *s, const struct insn *i)
{
	s->latency = clock_latency_in_cycles(i);
}

/* ---- branches ---- */

/* Of predictors: 1 to 4, from never to always; 0: not seen yet. */
#define UNSEEN   0
#define EVEN     2 /* above it, the branch is taken */
#define STRONGLY 4

static void clock_learn(uint8_t *counter, bool up)
{
	if (*counter == UNSEEN)
		*counter = up ? STRONGLY : 1;
	else if (up && *counter < STRONGLY)
		++*counter;
	else if (!up && *counter > 1)
		--*counter;
}

static unsigned place_of(uint64_t pc, uint32_t history)
{
	return ((pc ^ (uint64_t)history << 20) * 0x9e3779b97f4a7c15u >> 40) % VALUE_CLOCK_TABLE;
}

/*
 * Of two predictors, by the branch alone and by the branches before it, the one that was better.
 * What is new in a window, the program has mostly executed often: the processor knows it, and
 * windows would be shorter until we do.
 */
static bool outcome_predicted(struct value_clock *c, uint64_t pc, bool taken)
{
	uint8_t *own = &c->own[place_of(pc, 0)], *along = &c->along[place_of(pc, c->history)],
		*choice = &c->choice[place_of(pc, 0)];
	bool by_own = *own == UNSEEN ? taken : *own > EVEN,
	     by_history = *along == UNSEEN ? by_own : *along > EVEN,
	     right = (*choice > EVEN ? by_history : by_own) == taken;

	if (by_own != by_history)
		clock_learn(choice, by_history == taken);
	clock_learn(own, taken);
	clock_learn(along, taken);
	c->history = (c->history << 1 | taken) & HISTORY;
	return right;
}

static bool target_predicted(struct value_clock *c, uint64_t pc, uint64_t to)
{
	uint32_t *last = &c->target[place_of(pc, c->history)];
	bool right = *last == UNSEEN || *last == (uint32_t)to;

	*last = (uint32_t)to;
	c->history = (c->history << 2 ^ (uint32_t)(to >> 4)) & HISTORY;
	return right;
}

/* ---- time ---- */

static uint64_t later_of(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static uint64_t operands_ready(const struct value_clock *c, const struct step *s)
{
	uint64_t at = s->kind == STEP_CONDITION ? c->flags : 0;

	for (unsigned all = s->uses; all; all &= all - 1)
		at = later_of(at, c->general[__builtin_ctz(all)]);
	for (uint32_t all = s->vector_uses; all; all &= all - 1)
		at = later_of(at, c->vector[__builtin_ctz(all)]);
	return at;
}

static void turn_of_branch(
	struct value_clock *c, const struct step *s, const struct execution *x, uint64_t done)
{
	bool right = true;

	if (s->kind == STEP_CONDITION || s->kind == STEP_COUNT)
		right = outcome_predicted(c, s->pc, x->taken);
	else if (s->kind != STEP_RETURN && s->operand != OPERAND_IS_CONSTANT)
		right = target_predicted(c, s->pc, x->to);
	if (!right)
		c->fetch = later_of(c->fetch, done + MISPREDICT);
	else if (x->taken)
		c->fetch = (c->fetch + CYCLE - 1) / CYCLE * CYCLE;
}

void value_clock_step(struct value_clock *c, const struct step *s, const struct execution *x)
{
	uint64_t *slot = &c->retire[c->number++ % VALUE_CLOCK_WINDOW], start, done;
	uint64_t *memory = &c->memory[x->address >> 3 & (VALUE_CLOCK_MEMORY - 1)];

	c->fetch = later_of(c->fetch, *slot) + (s->kind == STEP_STRING ? ITERATION : TURN);
	start = later_of(c->fetch, operands_ready(c, s));
	if (s->memory && s->reads)
		start = later_of(start, *memory) + LOAD;
	done = start + (uint64_t)s->latency * CYCLE;
	if (s->memory && s->writes)
		*memory = done;
	/* The stack pointer is renamed ahead. */
	for (unsigned all = s->sets & ~(1u << 4); all; all &= all - 1)
		c->general[__builtin_ctz(all)] = done;
	for (uint32_t all = s->vector_sets; all; all &= all - 1)
		c->vector[__builtin_ctz(all)] = done;
	if (s->kind == STEP_EXECUTE && !s->vector_sets)
		c->flags = done;
	if (s->kind >= STEP_CONDITION && s->kind <= STEP_RETURN)
		turn_of_branch(c, s, x, done);
	c->retired = later_of(c->retired, done);
	*slot = c->retired;
}
