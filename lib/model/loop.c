/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The loop over records that nearly everything goes through: run_records of run.c for the machines
 * of today (lines of 64 bytes, pages of 4 KiB), with nobody watching who must be told of each
 * record, and the first-order clock.  Both do the same; here each instruction of the host counts.
 */
#include "model/branch.h"
#include "model/run.h"

#define COMMON_LINE 6
#define COMMON_PAGE 12
#define LINE_BYTES  (1u << COMMON_LINE)

int is_common(const struct model *m)
{
	const struct cache *l1d = &m->core->l1d;

	return l1d->bits == COMMON_LINE && m->page_bits == COMMON_PAGE &&
	       l1d->hint_mask == HINTS - 1;
}

/*
 * While the loop runs, of the first-order clock it keeps two things itself: the order of the last
 * instruction, and `free`, the order from which on a taken branch need not wait for the one before:
 * that is clock_taken's taken_free less what was lost to the front and back ends until then.
 */
struct pace {
	uint64_t tick, order, free;
};

INLINE void leave(struct model *m, struct clock *c, const struct pace *p)
{
	m->tick = p->tick;
	c->order = p->order;
	c->taken_free = p->free + c->front + c->back;
}

INLINE void enter(const struct model *m, const struct clock *c, struct pace *p)
{
	p->tick = m->tick;
	p->order = c->order;
	p->free = c->taken_free - c->front - c->back;
}

INLINE void pass_taken(const struct model *m, struct clock *c, struct pace *p)
{
	int64_t wait = (int64_t)(p->free - p->order);

	c->front += wait > 0 ? (uint64_t)wait : 0;
	p->free = p->order + m->taken_interval;
}

/* Does the load, within one granule, perhaps meet a store other than to get all of its bytes? */
INLINE int may_meet(const struct store_buffer *b, uint32_t depth, uint64_t address, unsigned size)
{
	const struct last_store *last = &b->last[(address >> 3) % STORE_GRANULES];
	uint64_t before, behind;

	if (LIKELY((uint32_t)b->number - last->number > depth))
		return 0;
	before = address - last->address;
	behind = (uint64_t)last->size - size - before;
	return (int64_t)(before | behind) < 0;
}

/* What an access may do without a function; 0: nothing was done. */
INLINE int pass_access(struct model *m, struct core *core, const struct model_segment *s,
	const struct model_access *a, uint64_t address, struct pace *p, uint32_t depth)
{
	struct store_buffer *b = &core->stores;
	const uint64_t at = (address >> COMMON_LINE) % LINE_SLOTS;
	const struct line_slot *slot = &core->line_slots[at];
	unsigned way = a->way, size = a->size;
	uint64_t order;

	if (UNLIKELY(slot->above != line_slot_above(address, COMMON_LINE)))
		return 0;
	if (LIKELY(way == LOADS) && LIKELY(!(address & a->mask))) {
		if (UNLIKELY(may_meet(b, depth, address, size)))
			goto meets;
		goto used;
	}
	if (UNLIKELY((address % LINE_BYTES) + size > LINE_BYTES))
		return 0;
	if (way == LOADS || way == WIDE_LOADS) {
		if (meets_store(m, core, address, size))
			goto meets;
		goto used;
	}
	if (UNLIKELY(way == OTHERWISE) || UNLIKELY(!core->storable[at]) ||
		UNLIKELY(b->number >= core->clock.stores_full))
		return 0;
	order = p->order + a->insn + 1u;
	if (LIKELY(way != WIDE_STORES) && LIKELY(!(address & a->mask))) {
		if (way == MODIFIES && UNLIKELY(may_meet(b, depth, address, size))) {
			leave(m, &core->clock, p);
			meet_store(m, core, s, a, address, order);
			enter(m, &core->clock, p);
			p->order = order - a->insn - 1u;
		}
		forward_remember(b, address, size, order);
	} else {
		if (way == MODIFIES)
			return 0;
		forward_store(b, address, size, order);
	}
used:
	core->line_used[slot->line] = ++p->tick;
	core->page_used[slot->page] = p->tick;
	return 1;
meets:
	leave(m, &core->clock, p);
	order = p->order;
	meet_store(m, core, s, a, address, order + a->insn + 1u);
	enter(m, &core->clock, p);
	p->order = order;
	goto used;
}

/* Where a branch through a register or memory, or a return, went, for who wants to know. */
static NOINLINE void note_target(struct model_watch *w, struct model_segment *s, uint64_t to)
{
	struct model_targets *t = &w->targets;
	struct model_target *e = &t->entry[s->run.base & t->mask];
	uint64_t from = s->block->insns[s->insn_count - 1].address;

	if (LIKELY(e->count != 0) && LIKELY(e->from == from) && LIKELY(e->to == to)) {
		e->count++;
		return;
	}
	targets_count(t, from, to);
	s->run.base = (uint32_t)(targets_find(t, from, to) - t->entry);
}

/* A return, or a branch through a register or memory. */
static NOINLINE void branch_away(
	struct model *m, struct core *core, struct model_segment *s, uint64_t to)
{
	const struct model_outcome *o = s->outcomes;

	m->insn = &s->block->insns[o->insn];
	to = o->target ? o->target : to;
	if ((s->run.way & BRANCH_WAY) == INDIRECT)
		branch_elsewhere(m, core, (enum model_branch_kind)o->kind, s->run.from,
			s->run.from + s->run.length, to);
	else if (UNLIKELY(!predict_return(m, &core->predictor, s->run.from, to)))
		mispredicted(m, core, EV_MISPREDICTED_RETURNS);
}

/* A record that is not as most are. */
static NOINLINE void pass_slowly(
	struct model *m, struct core *core, struct model_segment *s, const uint64_t *record)
{
	struct model_watch *w = m->watch;

	fetch_settle(core);
	if (w)
		watch_record(w, s, record, s->slow && m->repeating == s->block->insns[0].address);
	s->ended++;
	step_record(m, s, record, s->insn_count);
	if (w)
		watch_end(w);
}

/* What is not done in the loop itself; behind it all is as if nothing had been kept back. */
#define ELSEWHERE(call)                                                                            \
	do {                                                                                       \
		leave(m, clock, &p);                                                               \
		call;                                                                              \
		enter(m, clock, &p);                                                               \
	} while (0)

/* Likewise, but order stays that of the instruction before the record. */
#define WITHIN(call)                                                                               \
	do {                                                                                       \
		uint64_t base = p.order;                                                           \
                                                                                                   \
		leave(m, clock, &p);                                                               \
		call;                                                                              \
		enter(m, clock, &p);                                                               \
		p.order = base;                                                                    \
	} while (0)

/* Few things stay in registers from one part of a record to the next, so that they find room. */
const uint64_t *run_common(struct model *m, const uint64_t *at, const uint64_t *end, uint64_t limit)
{
	struct core *core = m->core;
	struct clock *clock = &core->clock;
	const uint32_t depth = m->config.store_buffer;
	const int wandering = m->watch && m->watch->targets.entry;
	const struct model_access *a;
	struct model_segment *s;
	struct pace p;
	unsigned way;

	enter(m, clock, &p);
next:
	if (UNLIKELY(at >= end) || UNLIKELY(p.order >= limit))
		goto out;
	s = (struct model_segment *)(uintptr_t)*at;
	if (UNLIKELY(!s->run.seen))
		goto unseen;
seen:
	at++;
	a = s->run.accesses;
	s->run.count++;
	s->run.tick = p.tick;
	p.tick += s->run.fetch_count;
	if (UNLIKELY(s->run.way >= SPECIAL))
		goto special;
	for (; a != s->run.accesses_end; a++, at++) {
		if (UNLIKELY(!pass_access(m, core, s, a, *at, &p, depth)))
			WITHIN(access_unslotted(m, core, s, a, *at, base + a->insn + 1u));
	}
	way = s->run.way;
ends:
	at += s->run.behind;
	p.order += s->run.insn_count;
	if (UNLIKELY(p.order >= clock->next_wait))
		ELSEWHERE(clock_wait(clock));
	if (LIKELY(way == CONDITIONAL)) {
		unsigned taken = s->run.taken;

		if (taken)
			pass_taken(m, clock, &p);
		if (LIKELY(predict_conditional(&core->predictor, s->run.base, s->run.from, taken)))
			goto next;
		m->insn = &s->block->insns[s->outcomes->insn];
		ELSEWHERE(mispredicted(m, core, EV_MISPREDICTED_CONDITIONALS));
		goto next;
	}
	if (way == NO_BRANCH || way == INNER)
		goto next;
	pass_taken(m, clock, &p);
	if (way == CALL)
		push_return(m, &core->predictor, s->run.from + s->run.length);
	else if (way == RETURN || way == INDIRECT)
		ELSEWHERE(branch_away(m, core, s, at[-1]));
	goto next;
special:
	way = s->run.way;
	if (wandering && (way & WANDERS))
		note_target(m->watch, s, at[s->run.words - 2]);
	if (way & SPECIAL) {
		WITHIN(m->tick = run_specials(m, core, s, at, base, m->tick));
		at += s->run.accesses_end - a;
	} else {
		for (; a != s->run.accesses_end; a++, at++)
			if (UNLIKELY(!pass_access(m, core, s, a, *at, &p, depth)))
				WITHIN(access_unslotted(m, core, s, a, *at, base + a->insn + 1u));
	}
	way &= BRANCH_WAY;
	if (way == INNER)
		WITHIN(run_outcomes(m, core, s, at + s->run.behind - s->run.words, base));
	goto ends;
unseen:
	if (m->watch && watch_exceeds(m->watch, s))
		goto out;
	if (!s->slow && fetch_see(m, core, s))
		goto seen;
	ELSEWHERE(pass_slowly(m, core, s, at));
	at += s->block->words;
	goto next;
out:
	leave(m, clock, &p);
	return at;
}
