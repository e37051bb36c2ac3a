/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Routines that the code of segments calls (jit.c). They keep the state in registers that the code
 * and its callers preserve, so this file alone is compiled without link-time optimization.
 */
#include "model/branch.h"
#include "model/jit.h"
#include "model/loop.h"
#include "model/run.h"

#if JIT

register const uint64_t *at __asm__("rbx");
register struct core *core __asm__("r12");
register uint64_t tick __asm__("r13");
register uint64_t order __asm__("r14");
register struct jit_context *context __asm__("r15");

static struct model_segment *routine_segment(void)
{
	return model_word_segment(*at);
}

static void routine_leave(void)
{
	struct pace p = {tick, order, context->free, context->stop};

	loop_leave(context->m, context->clock, &p);
}

static void routine_enter(void)
{
	struct pace p;

	loop_enter(context->m, context->clock, &p, context->limit);
	tick = p.tick;
	order = p.order;
	context->free = p.free;
	context->stop = loop_stop_code(context->m, context->limit);
}

void jit_stamp(uint64_t unused, uint64_t unused_too)
{
	(void)unused, (void)unused_too;
	fetched_again(context->m, core, routine_segment());
}

/* After an access outside the code, whatever its instruction's order made of the clock's. */
static void routine_return(void)
{
	const struct clock *c = context->clock;

	tick = context->m->tick;
	context->free = c->taken_free - c->front - c->back;
	context->stop = loop_stop_code(context->m, context->limit);
}

/* An access that may change more than the times of its line and page. */
NOINLINE void jit_access_slowly(uint64_t access, uint64_t unused)
{
	struct model_segment *s = routine_segment();

	(void)unused;
	routine_leave();
	loop_access(context->m, s, &s->run.accesses[access], at[1 + access]);
	routine_return();
}

/* An access that has no slot, or a store that its slot does not serve. */
static NOINLINE void routine_unslotted(uint64_t access)
{
	struct model_segment *s = routine_segment();

	routine_leave();
	run_access_common(context->m, core, s, &s->run.accesses[access], at[1 + access], order);
	routine_return();
}

/* The slot of an access within one line; null: it has none. */
INLINE const struct line_slot *routine_slot(uint64_t address, unsigned size)
{
	const struct line_slot *slot = &core->line_slots[(address >> COMMON_LINE) % LINE_SLOTS];

	if (UNLIKELY(slot->above != line_slot_above(address, COMMON_LINE)) ||
		UNLIKELY(address % LINE_BYTES + size > LINE_BYTES))
		return (const struct line_slot *)0;
	return slot;
}

/* A load that needs a store. Returns 0 if it may take time, and nothing was done. */
INLINE int routine_meet(struct buffered_store s, uint64_t address, unsigned size)
{
	struct model *m = context->m;

	if (!s.size || forward_covers(s, address, size))
		return 1;
	if (m->timed || core->retire || m->watch)
		return 0;
	m->counts[forward_overlaps(s, address, size) ? EV_STORE_FORWARD_FAILURES : EV_ALIASES_4K]++;
	return 1;
}

static NOINLINE int routine_meet_wide(uint64_t address, unsigned size, uint64_t order_of)
{
	uint32_t buffer = context->m->config.store_buffer;

	return routine_meet(
		forward_search(&core->stores, buffer, address, size, order_of), address, size);
}

static NOINLINE int routine_meet_granule(uint64_t address, unsigned size, uint64_t order_of)
{
	uint32_t buffer = context->m->config.store_buffer;

	return routine_meet(forward_search_granule(&core->stores, buffer, address, size, order_of),
		address, size);
}

/* May take time. */
static NOINLINE void routine_meet_slowly(uint64_t access, uint64_t order_of)
{
	struct model_segment *s = routine_segment();

	routine_leave();
	run_meet_store(context->m, core, s, &s->run.accesses[access], at[1 + access], order_of);
	routine_return();
}

#define JIT_NEAR(size)                                                                             \
	static void jit_near_##size(uint64_t access, uint64_t order_of)                            \
	{                                                                                          \
		uint32_t buffer = context->m->config.store_buffer;                                 \
		uint64_t address = at[1 + access];                                                 \
                                                                                                   \
		if (UNLIKELY(!routine_meet(forward_search_granule(&core->stores, buffer, address,  \
						   size, order_of),                                \
			    address, size)))                                                       \
			routine_meet_slowly(access, order_of);                                     \
	}

JIT_NEAR(1)
JIT_NEAR(2)
JIT_NEAR(4)
JIT_NEAR(8)

static void jit_near_wide(uint64_t access, uint64_t order_of)
{
	unsigned size = routine_segment()->run.accesses[access].size;

	if (UNLIKELY(!routine_meet_wide(at[1 + access], size, order_of)))
		routine_meet_slowly(access, order_of);
}

jit_routine jit_near_routine(const struct model_access *a)
{
	static const jit_routine sized[] = {jit_near_1, jit_near_2, jit_near_4, jit_near_8};

	return a->way == WIDE_LOADS ? jit_near_wide : sized[__builtin_ctz(a->size)];
}

/* How: of enum LOADS ... */
INLINE void routine_access(uint64_t access, uint64_t order_of, unsigned how, unsigned size)
{
	uint64_t address = at[1 + access];
	const struct line_slot *slot = routine_slot(address, size);
	int within = how <= MODIFIES && !(address & (size - 1));

	if (UNLIKELY(!slot))
		goto unslotted;
	if (how != LOADS && how != WIDE_LOADS &&
		UNLIKELY(!loop_may_store(core, address, context->m->parts)))
		goto unslotted;
	if (how != STORES && how != WIDE_STORES &&
		UNLIKELY(within ? forward_is_near_granule(&core->stores, address, size, order_of) &&
					  !routine_meet_granule(address, size, order_of)
				: forward_is_near(&core->stores, address, size, order_of) &&
					  !routine_meet_wide(address, size, order_of)))
		goto slowly;
	if (how != LOADS && how != WIDE_LOADS) {
		if (LIKELY(within))
			forward_remember(&core->stores, address, size, order_of);
		else
			forward_store(&core->stores, address, size, order_of);
	}
	core->line_used[slot->line] = ++tick;
	core->page_used[slot->page] = tick;
	return;
unslotted:
	routine_unslotted(access);
	return;
slowly:
	jit_access_slowly(access, order_of);
}

#define JIT_ROUTINE(how, size)                                                                     \
	static void routine_##how##_##size(uint64_t access, uint64_t order_of)                     \
	{                                                                                          \
		routine_access(access, order_of, how, size);                                       \
	}
#define JIT_ROUTINES(how)                                                                          \
	JIT_ROUTINE(how, 1)                                                                        \
	JIT_ROUTINE(how, 2)                                                                        \
	JIT_ROUTINE(how, 4)                                                                        \
	JIT_ROUTINE(how, 8)

JIT_ROUTINES(LOADS)
JIT_ROUTINES(STORES)
JIT_ROUTINES(MODIFIES)

#define JIT_WIDE(how)                                                                              \
	static void routine_##how(uint64_t access, uint64_t order_of)                              \
	{                                                                                          \
		routine_access(                                                                    \
			access, order_of, how, routine_segment()->run.accesses[access].size);      \
	}

JIT_WIDE(WIDE_LOADS)
JIT_WIDE(WIDE_STORES)

jit_routine jit_access_routine(const struct model_access *a)
{
#define JIT_SIZES(how)                                                                             \
	{                                                                                          \
		routine_##how##_1, routine_##how##_2, routine_##how##_4, routine_##how##_8         \
	}
	static const jit_routine sized[][4] = {[LOADS] = JIT_SIZES(LOADS),
		[STORES] = JIT_SIZES(STORES),
		[MODIFIES] = JIT_SIZES(MODIFIES)};

	if (a->way <= MODIFIES)
		return sized[a->way][__builtin_ctz(a->size)];
	if (a->way == OTHERWISE)
		return jit_access_slowly;
	return a->way == WIDE_LOADS ? routine_WIDE_LOADS : routine_WIDE_STORES;
}

void jit_stop(uint64_t unused, uint64_t unused_too)
{
	struct model_segment *s = routine_segment();

	(void)unused, (void)unused_too;
	if (context->m->sampled && core->retire)
		run_retire(context->m, core, s, at);
	if (order >= context->clock->next_wait) {
		routine_leave();
		clock_wait(context->clock);
		routine_enter();
	}
	if (order >= context->limit)
		context->end = at;
	context->stop = loop_stop_code(context->m, context->limit);
}

void jit_retire(uint64_t unused, uint64_t unused_too)
{
	struct model_segment *s = routine_segment();

	(void)unused, (void)unused_too;
	run_retire(context->m, core, s, at);
}

/* ---- branches ---- */

void jit_branch_slowly(uint64_t outcome, uint64_t unused)
{
	struct model_segment *s = routine_segment();

	(void)unused;
	routine_leave();
	loop_outcome(context->m, s, &s->outcomes[outcome], at);
	routine_enter();
}

static NOINLINE void routine_mispredicted(uint64_t outcome, unsigned event)
{
	struct model *m = context->m;
	const struct model_segment *s = routine_segment();

	if (!m->timed && !core->retire && !m->watch) {
		m->counts[event]++;
		return;
	}
	routine_leave();
	m->insn = &s->block->insns[s->outcomes[outcome].insn];
	run_mispredicted(m, core, event);
	routine_return();
}

INLINE uint64_t routine_target(void)
{
	return at[model_word_words(*at) - 1u];
}

void jit_called(uint64_t next, uint64_t unused)
{
	(void)unused;
	push_return(context->m, &core->predictor, next);
}

void jit_returned(uint64_t target, uint64_t outcome)
{
	if (UNLIKELY(!predict_return(
		    context->m, &core->predictor, 0, target ? target : routine_target())))
		routine_mispredicted(outcome, EV_MISPREDICTED_RETURNS);
}

void jit_indirect(uint64_t from, uint64_t outcome)
{
	struct predictor *p = &core->predictor;

	if (UNLIKELY(!branch_predict_indirect(context->m, p, from, routine_target())))
		routine_mispredicted(outcome, EV_MISPREDICTED_INDIRECTS);
	else if (UNLIKELY(core->retire != 0) && p->varied)
		core->retire->varied++;
}

INLINE void routine_dynamic(uint64_t from, unsigned taken, uint64_t outcome)
{
	struct predictor *p = &core->predictor;
	uint8_t *base = &p->base[predictor_base(p, from)];
	uint8_t *streak = predictor_streak(p, from);

	if ((*streak ^ taken) == STREAK_SURE && *base >= DYNAMIC) {
		p->history = p->history << 1 | taken;
		return;
	}
	if (UNLIKELY(!branch_predict(p, base, streak, from, taken)))
		routine_mispredicted(outcome, EV_MISPREDICTED_CONDITIONALS);
}

void jit_taken_dynamic(uint64_t from, uint64_t outcome)
{
	routine_dynamic(from, 1, outcome);
}

void jit_passed_dynamic(uint64_t from, uint64_t outcome)
{
	routine_dynamic(from, 0, outcome);
}

#endif
