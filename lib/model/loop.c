/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The fast loop over records. It does what run_records of run.c does, with the same results, under
 * two conditions: the machine has lines of 64 bytes and pages of 4 KiB, and no watcher needs each
 * record. Samples of what execution alone determines (instructions, loads ...) are counted down by
 * the sums of settled segments; only the record in which an overflow falls is gone through.
 *
 * Segments that are run often have code of their own (jit.h), which the loop enters; it runs the
 * others itself. The work is bound by the number of the host's instructions and, in large programs,
 * by how much code and how many descriptors its caches keep. Measure both kinds of programs before
 * and after a change.
 * - These changes made it faster: direct paths for frequent misses (translations that the second
 *   level has, lines prefetched by software, segments seen again after other code was fetched),
 *   more slots of lines than L1D has lines, segments that stay known when L1I loses other lines.
 * - These changes did not: fewer loads, other optimization levels or tuning, a smaller buffer,
 *   packed tags and fields, one host branch less for each taken branch, predictor entries in
 *   registers, AVX-512, code that calls a routine for each access, branches that wait to be
 *   predicted many at a time (gzip 7% slower).
 *
 * What is left is the cost of what is modelled: first-level misses (some 250 cycles of the host
 * each), the tagged predictor, and the first look at a segment and at its branches after a miss of
 * L1I, which waits for the host's memory.
 */
#include "model/loop.h"

#include "model/branch.h"
#include "model/jit.h"

int loop_is_common(const struct model *m)
{
	const struct cache *l1d = &m->core->l1d;

	return l1d->bits == COMMON_LINE && m->page_bits == COMMON_PAGE &&
	       l1d->hint_mask == HINTS - 1;
}

INLINE void pass_taken(struct clock *c, struct pace *p, uint64_t interval)
{
	int64_t wait = (int64_t)(p->free - p->order);

	c->front += wait > 0 ? (uint64_t)wait : 0;
	p->free = p->order + interval;
}

/* The result of an access without a function call: PASSED; otherwise nothing was done, and the
 * access overlaps a store or has no slot. */
enum passed { PASSED, MEETS, UNSLOTTED };

/* Loads and stores that span granules or are wide, and instructions that load and store. met: the
 * overlap with stores is already handled. */
INLINE enum passed pass_other(struct model *m, struct core *core, const struct model_access *a,
	uint64_t address, uint64_t base, int met, const unsigned parts)
{
	struct store_buffer *b = &core->stores;
	unsigned way = a->way, size = a->size;

	if (UNLIKELY((address % LINE_BYTES) + size > LINE_BYTES))
		return UNSLOTTED;
	if (!(parts & MODEL_PART_STORES))
		return way == LOADS || way == WIDE_LOADS ||
				       (LIKELY(way != OTHERWISE) &&
					       LIKELY(loop_may_store(core, address, parts)))
			       ? PASSED
			       : UNSLOTTED;
	if (way == LOADS || way == WIDE_LOADS)
		return !met && forward_meets(m, core, address, size, base + a->insn + 1u) ? MEETS
											  : PASSED;
	if (UNLIKELY(way == OTHERWISE) || UNLIKELY(!loop_may_store(core, address, parts)))
		return UNSLOTTED;
	if (way != MODIFIES) {
		forward_store(b, address, size, base + a->insn + 1u);
		return PASSED;
	}
	if (UNLIKELY(address & a->mask))
		return UNSLOTTED;
	if (!met && UNLIKELY(loop_may_meet(m, b, address, size, base + a->insn + 1u)))
		return MEETS;
	forward_remember(b, address, size, base + a->insn + 1u);
	return PASSED;
}

INLINE enum passed pass_access(struct model *m, struct core *core, const struct model_access *a,
	uint64_t address, struct pace *p, int met, const unsigned parts)
{
	const struct line_slot *slot = &core->line_slots[(address >> COMMON_LINE) % LINE_SLOTS];
	enum passed passed;

	if (UNLIKELY(slot->above != line_slot_above(address, COMMON_LINE)))
		return UNSLOTTED;
	if (UNLIKELY(address & a->mask) || UNLIKELY(a->way > STORES)) {
		passed = pass_other(m, core, a, address, p->order, met, parts);
		if (UNLIKELY(passed != PASSED))
			return passed;
	} else if (LIKELY(a->way == LOADS)) {
		if (parts & MODEL_PART_STORES && !met &&
			UNLIKELY(loop_may_meet(
				m, &core->stores, address, a->size, p->order + a->insn + 1u)))
			return MEETS;
	} else {
		if (UNLIKELY(!loop_may_store(core, address, parts)))
			return UNSLOTTED;
		if (parts & MODEL_PART_STORES)
			forward_remember(&core->stores, address, a->size, p->order + a->insn + 1u);
	}
	core->line_used[slot->line] = ++p->tick;
	core->page_used[slot->page] = p->tick;
	return PASSED;
}

/* The rest of an access that pass_access did not do; all delayed state has been brought up to date.
 */
static NOINLINE void access_slowly(struct model *m, struct core *core,
	const struct model_segment *s, const struct model_access *a, uint64_t address,
	enum passed passed)
{
	uint64_t base = core->clock.order;
	struct pace p;

	if (passed == MEETS) {
		run_meet_store(m, core, s, a, address, base + a->insn + 1u);
		p = (struct pace){.tick = m->tick, .order = base};
		passed = pass_access(m, core, a, address, &p, 1, MODEL_PARTS_ALL);
		m->tick = p.tick;
	}
	if (passed == UNSLOTTED)
		run_access_common(m, core, s, a, address, base);
}

/* Counts the target of a branch through a register or memory, or of a return, for the watch. */
static NOINLINE void note_target(struct model_watch *w, struct model_segment *s, uint64_t to)
{
	struct model_targets *t = &w->targets;
	struct model_target *e = &t->entry[s->run.base & t->mask];
	uint64_t from = s->block->insns[s->insn_count - 1].address;

	if (LIKELY(e->count != 0) && LIKELY(e->from == from) && LIKELY(e->to == to)) {
		e->count++;
		return;
	}
	targets_add(t, from, to, 1);
	s->run.base = (uint32_t)(targets_find(t, from, to) - t->entry);
}

static NOINLINE void branch_away(
	struct model *m, struct core *core, struct model_segment *s, uint64_t to)
{
	const struct model_outcome *o = s->outcomes;

	m->insn = &s->block->insns[o->insn];
	branch_elsewhere(m, core, (enum model_branch_kind)o->kind, s->run.from,
		s->run.from + s->run.length, o->target ? o->target : to);
}

static NOINLINE void mispredicted_at(
	struct model *m, struct core *core, const struct model_segment *s, unsigned event)
{
	m->insn = &s->block->insns[s->outcomes->insn];
	run_mispredicted(m, core, event);
}

/* An unusual record. */
static NOINLINE void pass_slowly(
	struct model *m, struct core *core, struct model_segment *s, const uint64_t *record)
{
	struct model_watch *w = m->watch;

	fetched_last(core);
	if (w)
		watch_record(w, s, record, s->slow && m->repeating == s->block->insns[0].address);
	s->ended++;
	step_record(m, s, record, s->insn_count);
	if (w)
		watch_end(w);
}

/* Calls a function outside the loop, with the state of the clock brought up to date. */
#define ELSEWHERE(call)                                                                            \
	do {                                                                                       \
		loop_leave(m, clock, &p);                                                          \
		call;                                                                              \
		loop_enter(m, clock, &p, limit);                                                   \
	} while (0)

/* The same, but order stays that of the instruction before the record. */
#define WITHIN(call)                                                                               \
	do {                                                                                       \
		uint64_t base = p.order;                                                           \
                                                                                                   \
		loop_leave(m, clock, &p);                                                          \
		call;                                                                              \
		loop_enter(m, clock, &p, limit);                                                   \
		p.order = base;                                                                    \
	} while (0)

void loop_access(struct model *m, const struct model_segment *s, const struct model_access *a,
	uint64_t address)
{
	struct core *core = m->core;
	uint64_t base = core->clock.order;
	struct pace p = {.tick = m->tick, .order = base};
	enum passed passed = pass_access(m, core, a, address, &p, 0, m->parts);

	if (LIKELY(passed == MEETS) && LIKELY(address % GRANULE + a->size <= GRANULE) &&
		LIKELY(run_met_in_vain(m, core, s, a, address, base + a->insn + 1u)))
		passed = pass_access(m, core, a, address, &p, 1, m->parts);
	if (passed == PASSED)
		m->tick = p.tick;
	else if (LIKELY(passed == UNSLOTTED))
		run_access_common(m, core, s, a, address, base);
	else
		access_slowly(m, core, s, a, address, passed);
}

void loop_outcome(struct model *m, const struct model_segment *s, const struct model_outcome *o,
	const uint64_t *record)
{
	struct core *core = m->core;
	struct predictor *p = &core->predictor;
	uint64_t next = o->from + s->block->insns[o->insn].length;
	uint64_t to = outcome_target(s->block, o, record);

	clock_taken(m, &core->clock);
	m->insn = &s->block->insns[o->insn];
	if (o->kind == MODEL_CALL)
		push_return(m, p, next);
	else if (o->kind != MODEL_RETURN)
		branch_elsewhere(m, core, (enum model_branch_kind)o->kind, o->from, next, to);
	else if (UNLIKELY(!predict_return(m, p, o->from, to)))
		run_mispredicted(m, core, EV_MISPREDICTED_RETURNS);
}

/* Runs records by the code of their segments, as far as these have some. *at: the next record;
 * *end: the end of the records, which may come nearer. */
static NOINLINE struct pace loop_code(
	struct model *m, const uint64_t **at, const uint64_t **end, struct pace p, uint64_t limit)
{
	struct jit_context c = {.at = *at,
		.end = *end,
		.stop = loop_stop_code(m, limit),
		.free = p.free,
		.tick = p.tick,
		.order = p.order,
		.core = m->core,
		.m = m,
		.clock = &m->core->clock,
		.limit = limit};

	m->jit.enter(&c);
	m->counts[EV_ALIASES_4K] += m->core->stores.aliases;
	m->core->stores.aliases = 0;
	*at = c.at;
	*end = c.end;
	return (struct pace){c.tick, c.order, c.free, loop_stop(c.clock, limit)};
}

/* Is the segment a further iteration of the repeated instruction that was executed last? Such an
 * iteration only accesses memory: it is fetched from the line of the last fetch, and is not counted
 * as an instruction. If so, counts it, except for its accesses. */
static NOINLINE int iterates(struct model *m, struct core *core, struct model_segment *s)
{
	const struct model_insn *in = &s->block->insns[0];
	uint64_t last = in->address + in->length - 1;

	fetched_last(core);
	if (m->repeating != in->address ||
		(m->addresses && (((in->address ^ core->fetch_line) | (last ^ core->fetch_line)) &
					 ~m->fetch_line)) ||
		(!s->run.accesses && !fetched_see_repeat(s)))
		return 0;
	for (unsigned i = MODEL_STATIC_LOADS; i <= MODEL_STATIC_STORES; i++) {
		m->counts[model_static_event(i)] += s->statics[i];
		core->ran[i] += s->statics[i];
	}
	if (s->next != m->repeating)
		m->repeating = 0;
	s->ended++;
	return 1;
}

/* Does step_lines serve? */
INLINE int loop_by_lines(const struct model *m, const struct model_segment *s)
{
	return !s->slow && s->run.seen && s->run.way <= BRANCH_WAY && !m->watch && !m->cachegrind;
}

/* A load of one granule, of a size that is a power of two; 0: nothing was done. */
INLINE int pass_load(const struct model *m, struct core *core, struct pace *p, uint64_t address,
	unsigned size, unsigned insn, const unsigned parts)
{
	const struct line_slot *slot = &core->line_slots[(address >> COMMON_LINE) % LINE_SLOTS];

	if (UNLIKELY((slot->above ^ line_slot_above(address, COMMON_LINE)) |
		     ((uint32_t)address & (size - 1))) ||
		(parts & MODEL_PART_STORES && UNLIKELY(loop_may_meet(m, &core->stores, address,
						      size, p->order + insn + 1u))))
		return 0;
	core->line_used[slot->line] = ++p->tick;
	core->page_used[slot->page] = p->tick;
	return 1;
}

/* The same for a store. */
INLINE int pass_store(struct core *core, struct pace *p, uint64_t address, unsigned size,
	unsigned insn, const unsigned parts)
{
	const struct line_slot *slot = &core->line_slots[(address >> COMMON_LINE) % LINE_SLOTS];

	if (UNLIKELY((slot->above ^ line_slot_above(address, COMMON_LINE)) |
		     ((uint32_t)address & (size - 1))) ||
		UNLIKELY(!loop_may_store(core, address, parts)))
		return 0;
	if (parts & MODEL_PART_STORES)
		forward_remember(&core->stores, address, size, p->order + insn + 1u);
	core->line_used[slot->line] = ++p->tick;
	core->page_used[slot->page] = p->tick;
	return 1;
}

/* The host fetches the descriptors of the next records' segments. */
#define RECORDS_AHEAD 4
static NOINLINE void loop_look_ahead(const uint64_t *at, const uint64_t *end)
{
	for (unsigned i = 0; i < RECORDS_AHEAD && at < end; i++) {
		const struct model_segment *s = model_word_segment(*at);

		__builtin_prefetch(&s->run);
		__builtin_prefetch(&s->block);
		__builtin_prefetch(&s->slow);
		at += model_word_words(*at);
	}
}

INLINE void loop_look_at_next(const uint64_t *at, const uint64_t *end)
{
	if (at < end)
		__builtin_prefetch(&model_word_segment(*at)->run);
}

#define LOAD(i)  LIKELY(pass_load(m, core, &p, at[1 + (i)], s->run.size[i], s->run.insn[i], parts))
#define STORE(i) LIKELY(pass_store(core, &p, at[1 + (i)], s->run.size[i], s->run.insn[i], parts))

/* Few values stay in registers from one part of a record to the next, so that they fit. The usual
 * kinds of segments have code of their own, which is left for the general one at an unusual access.
 * retire: the retirement clock, if that counts; else null. coded: code of segments is run where
 * there is some. parts: those that are run, a constant;
 * the calls out of the loop may do more, without effect on counts that depend on these. */
INLINE const uint64_t *run_loop(struct model *m, const uint64_t *at, const uint64_t *end,
	uint64_t limit, struct retire *retire, const unsigned parts, const int coded)
{
	struct core *core = m->core;
	struct clock *clock = &core->clock;
	const uint64_t interval = m->taken_interval;
	const uint64_t *behind = at; /* the record, or the next one */
	const struct model_access *a, *a_end;
	struct model_segment *s;
	struct pace p;
	unsigned way, passed_by;
	int met;
	enum passed passed;
	int again;

	loop_enter(m, clock, &p, limit);
	goto first;
next:
	if (retire)
		run_retire(m, core, s, behind - s->block->words);
first:
	at = behind;
	if (UNLIKELY(at >= end))
		goto out;
	s = model_word_segment(*at);
	if (UNLIKELY(s->run.stamp != core->stamp))
		goto unseen;
seen:
	if (JIT && coded && LIKELY(s->run.code != m->jit.out)) {
		const uint64_t *to = end;

		p = loop_code(m, &at, &to, p, limit);
		behind = at;
		end = to;
		goto first;
	}
	behind = at + model_word_words(*at);
	loop_look_at_next(behind, end);
	p.tick = fetched_use(core, s, p.tick);
	passed_by = 0;
	switch (s->run.seen) {
	case RUN_NONE:
		break;
	case RUN_LL:
		if (!LOAD(0))
			goto accesses;
		passed_by = 1;
		if (!LOAD(1))
			goto accesses;
		break;
	case RUN_LS:
		if (!LOAD(0))
			goto accesses;
		passed_by = 1;
		if (!STORE(1))
			goto accesses;
		break;
	case RUN_SL:
		if (!STORE(0))
			goto accesses;
		passed_by = 1;
		if (!LOAD(1))
			goto accesses;
		break;
	case RUN_SS:
		if (!STORE(0))
			goto accesses;
		passed_by = 1;
		if (!STORE(1))
			goto accesses;
		break;
	case RUN_L:
		if (!LOAD(0))
			goto accesses;
		break;
	case RUN_S:
		if (!STORE(0))
			goto accesses;
		break;
	case RUN_ANY:
		if (UNLIKELY(s->run.way >= SPECIAL))
			goto special;
		goto accesses;
	default:
		__builtin_unreachable();
	}
	way = s->run.way;
	goto passed;
accesses:
	if (!(parts & MODEL_PART_CACHES)) {
		run_guarded(m, s, at + 1, s->run.accesses, s->run.accesses + s->run.access_count);
		way = s->run.way & BRANCH_WAY;
		goto branches;
	}
	a = s->run.accesses + passed_by;
	a_end = s->run.accesses + s->run.access_count;
	at += 1 + passed_by;
	for (; a != a_end; a++, at++) {
		met = 0;
	retry:
		passed = pass_access(m, core, a, *at, &p, met, parts);
		if (LIKELY(passed == PASSED))
			continue;
		if (LIKELY(passed == UNSLOTTED)) {
			WITHIN(run_access_common(m, core, s, a, *at, base));
		} else if (LIKELY(*at % GRANULE + a->size <= GRANULE) &&
			   LIKELY(run_met_in_vain(m, core, s, a, *at, p.order + a->insn + 1u))) {
			met = 1;
			goto retry;
		} else {
			WITHIN(access_slowly(m, core, s, a, *at, passed));
		}
	}
	way = s->run.way & BRANCH_WAY;
branches:
	if (UNLIKELY(way == INNER)) {
		WITHIN(run_outcomes(m, core, s, behind - s->block->words, base));
		way = NO_BRANCH;
	}
passed:
	p.order += s->run.insn_count;
	if (UNLIKELY(p.order >= p.stop)) {
		if (p.order >= clock->next_wait)
			ELSEWHERE(clock_wait(clock));
		if (p.order >= limit)
			end = behind;
		p.stop = loop_stop(clock, limit);
	}
	if (LIKELY(way == CONDITIONAL)) {
		unsigned taken = s->run.taken;

		if (parts & MODEL_PART_CLOCK && taken)
			pass_taken(clock, &p, interval);
		if (parts & MODEL_PART_PREDICTORS && UNLIKELY(!predict_conditional(&core->predictor,
							     s->run.base, s->run.from, taken)))
			ELSEWHERE(mispredicted_at(m, core, s, EV_MISPREDICTED_CONDITIONALS));
		goto next;
	}
	if (way == NO_BRANCH)
		goto next;
	if (parts & MODEL_PART_CLOCK)
		pass_taken(clock, &p, interval);
	if (!(parts & MODEL_PART_PREDICTORS))
		goto next;
	if (way == CALL) {
		push_return(m, &core->predictor, s->run.from + s->run.length);
	} else if (way == RETURN) {
		if (UNLIKELY(!predict_return(m, &core->predictor, s->run.from,
			    s->outcomes->target ? s->outcomes->target : behind[-1])))
			ELSEWHERE(mispredicted_at(m, core, s, EV_MISPREDICTED_RETURNS));
	} else if (way == INDIRECT) {
		ELSEWHERE(branch_away(m, core, s, behind[-1]));
	}
	goto next;
special:
	way = s->run.way;
	if (way & WANDERS)
		note_target(m->watch, s, behind[-1]);
	if (!(way & SPECIAL))
		goto accesses;
	WITHIN(m->tick = run_specials(m, core, s, at + 1, base, m->tick));
	way &= BRANCH_WAY;
	goto branches;
unseen:
	if (LIKELY(fetched_again(m, core, s)))
		goto seen;
	if (m->watch && watch_exceeds(m->watch, s))
		goto out;
	loop_look_ahead(at + model_word_words(*at), end);
	if (!s->slow && fetched_see(m, core, s, at))
		goto seen;
	behind = at + model_word_words(*at);
	if (parts & MODEL_PART_CACHES && !(parts & MODEL_PART_CLOCK) && !retire &&
		LIKELY(loop_by_lines(m, s))) {
		WITHIN(step_lines(m, core, s, at, base));
		way = s->run.way;
		goto branches;
	}
	if (s->slow && !retire && iterates(m, core, s)) {
		passed_by = 0;
		goto accesses;
	}
	again = s->slow && m->repeating == s->block->insns[0].address;
	ELSEWHERE(pass_slowly(m, core, s, at));
	if (retire && !(again && run_goes_along(retire, s, at)))
		run_retire(m, core, s, at);
	if (p.order >= limit)
		end = behind;
	goto first;
out:
	loop_leave(m, clock, &p);
	return at;
}

const uint64_t *loop_run(struct model *m, const uint64_t *at, const uint64_t *end, uint64_t limit)
{
	enum { UNTIMED = MODEL_PARTS_ALL & ~MODEL_PART_CLOCK };
	struct retire *none = (struct retire *)0;

	/* Code was made for what runs outside windows. */
	if (m->core->retire)
		return run_loop(m, at, end, limit, m->core->retire, UNTIMED,
			!((m->parts_away ^ m->parts_clocked) & UNTIMED));
	switch (m->parts) {
	case MODEL_PART_EXECUTION | MODEL_PART_PREDICTORS:
		return run_loop(
			m, at, end, limit, none, MODEL_PART_EXECUTION | MODEL_PART_PREDICTORS, 1);
	case MODEL_PARTS_MISSES:
		return run_loop(m, at, end, limit, none, MODEL_PARTS_MISSES, 1);
	case MODEL_PARTS_MISSES | MODEL_PART_PREDICTORS:
		return run_loop(
			m, at, end, limit, none, MODEL_PARTS_MISSES | MODEL_PART_PREDICTORS, 1);
	case UNTIMED:
		return run_loop(m, at, end, limit, none, UNTIMED, 1);
	default:
		return run_loop(m, at, end, limit, none, MODEL_PARTS_ALL, 1);
	}
}
