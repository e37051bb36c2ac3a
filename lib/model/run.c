/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The general loop over records.
 *
 * Most records change little: lines in the first-level caches and pages in the first TLBs only
 * become the most recent ones, and stores that no load reads are only noted. The loop does this
 * itself, without calls. For everything else it calls the functions of the step-by-step interface
 * of model.h, in program order. So all counts are the same as if every record had been run step by
 * step; a test compares both on random blocks.
 */
#include "model/run.h"
#include "model/branch.h"

/* A guarded access that happened. */
static NOINLINE void run_count_guarded(struct model *m, const struct model_segment *s,
	const struct model_access *a, uint64_t address)
{
	m->counts[EV_LOADS] += a->kind == MODEL_ACCESS_LOAD || a->kind == MODEL_ACCESS_MODIFY;
	m->counts[EV_STORES] += a->kind == MODEL_ACCESS_STORE || a->kind == MODEL_ACCESS_MODIFY;
	if (!m->watch)
		return;
	m->insn = &s->block->insns[a->insn];
	watch_address(m, address);
	watch_guarded(m, a);
	watch_address(m, 0);
}

/* Must precede anything that the fast path does not handle. */
static inline void arrive(struct model *m, struct core *core, struct model_insn *in, uint64_t order)
{
	m->insn = in;
	core->class_bits = in->class_bits;
	core->clock.order = order;
	if (order >= core->clock.next_wait)
		clock_wait(&core->clock);
}

/* Not inlined, so that what calls it has registers left. */
static NOINLINE void access_otherwise(struct model *m, struct core *core,
	const struct model_segment *s, const struct model_access *a, uint64_t address,
	uint64_t order)
{
	arrive(m, core, &s->block->insns[a->insn], order);
	if (a->guarded)
		run_count_guarded(m, s, a, address);
	watch_address(m, address);
	if (a->kind == MODEL_ACCESS_PREFETCH)
		model_prefetch(m, address);
	if (a->kind == MODEL_ACCESS_LOAD || a->kind == MODEL_ACCESS_MODIFY)
		model_load_slowly(m, core, address, a->size);
	if (a->kind == MODEL_ACCESS_STORE || a->kind == MODEL_ACCESS_MODIFY)
		model_store_slowly(m, core, address, a->size);
	watch_address(m, 0);
}

/* Within one granule: is the overlap without cost in time? Overlaps of only the low bits of an
 * address are counted. As in forward_load. */
NOINLINE int run_met_in_vain(struct model *m, struct core *core, const struct model_segment *s,
	const struct model_access *a, uint64_t address, uint64_t order)
{
	struct buffered_store store = forward_from(m, core, address, a->size, order);

	if (!store.size || forward_covers(store, address, a->size))
		return 1;
	if (forward_overlaps(store, address, a->size) ||
		forward_delays(m, core, store, address, a->size))
		return 0;
	m->insn = &s->block->insns[a->insn];
	watch_address(m, address);
	count(m, EV_ALIASES_4K, 1);
	watch_address(m, 0);
	return 1;
}

/* A load that may overlap a store in the buffer. */
NOINLINE void run_meet_store(struct model *m, struct core *core, const struct model_segment *s,
	const struct model_access *a, uint64_t address, uint64_t order)
{
	unsigned size = a->size;

	if (LIKELY(!((address ^ (address + size - 1)) >> 3)) &&
		LIKELY(run_met_in_vain(m, core, s, a, address, order)))
		return;
	arrive(m, core, &s->block->insns[a->insn], order);
	watch_address(m, address);
	forward_load(m, core, address, size);
	watch_address(m, 0);
}

/* The entry of L1D is of this line; page: index in page_used. */
INLINE void set_slot(
	struct core *core, uint64_t address, uint64_t entry, uint64_t page, int storable)
{
	uint64_t at = (address >> core->l1d.bits) % LINE_SLOTS;

	core->line_slots[at] = (struct line_slot){
		line_slot_above(address, core->l1d.bits), (uint16_t)entry, (uint16_t)page};
	core->page_lines[page] |= UINT64_C(1) << (address >> core->l1d.bits & 63);
	core->storable[at] = (uint8_t)storable;
}

/* Fills the slot of the line and its page, if they are in the first level. */
static void fill_slot(struct model *m, struct core *core, uint64_t address)
{
	const struct cache *l1d = &core->l1d;
	const uint64_t *entry = cache_guess(l1d, address);
	uint64_t page = (address >> m->page_bits) + 1, used;
	const struct page_slot *slot = page_slot(core->data_pages, page);

	if (!entry || !core->slotted || slot->page != page)
		return;
	used = (uint64_t)(slot->used - core->page_used);
	if (used >= PAGES_NOTED || address >> 48)
		return;
	set_slot(core, address, (uint64_t)(entry - l1d->entries), used,
		(*entry & MESI) == m->stored);
}

INLINE void remember_store(struct core *core, uint64_t address, unsigned size, uint64_t order)
{
	if (LIKELY(!((address ^ (address + size - 1)) >> 3)))
		forward_remember(&core->stores, address, size, order);
	else
		forward_store(&core->stores, address, size, order);
}

/* The same as model_load_slowly and model_store_slowly, for an access in one line whose page is in
 * the first TLB. */
static NOINLINE void access_line(struct model *m, struct core *core, const struct model_access *a,
	struct model_insn *in, uint64_t address, uint64_t order)
{
	uint64_t latency, line = address & ~m->data_line;
	int stores = a->kind == MODEL_ACCESS_STORE;

	arrive(m, core, in, order);
	watch_address(m, address);
	if (!stores) {
		if (forward_meets(m, core, address, a->size, order))
			forward_load(m, core, address, a->size);
	} else {
		if (core->stores.number >= core->clock.stores_full)
			clock_store_full(&core->clock);
		remember_store(core, address, a->size, order);
	}
	*page_slot(core->data_pages, (address >> m->page_bits) + 1)->used = ++m->tick;
	m->accessed = address;
	m->accessed_size = a->size;
	latency = hierarchy_data(m, core, line, stores ? STORE : LOAD);
	if (latency && stores)
		clock_store(m, core, latency);
	else if (latency)
		clock_load(m, core, latency);
	watch_address(m, 0);
}

/* What an access of at most a line does in the store buffer. */
INLINE void meet_stores(struct model *m, struct core *core, const struct model_access *a,
	enum purpose purpose, uint64_t address, uint64_t order)
{
	if (purpose == LOAD) {
		if (UNLIKELY(forward_meets(m, core, address, a->size, order)))
			forward_load(m, core, address, a->size);
	} else if (purpose == STORE) {
		if (UNLIKELY(core->stores.number >= core->clock.stores_full))
			clock_store_full(&core->clock);
		remember_store(core, address, a->size, order);
	}
}

/* The same for loads and stores of up to a line, and prefetches, if the core is as hierarchy_usual
 * assumes; whether the line and its page are in the first level or not. */
INLINE void access_usual(struct model *m, struct core *core, const struct model_access *a,
	struct model_insn *in, uint64_t address, uint64_t order)
{
	uint64_t line = address & ~(uint64_t)(LINE_BYTES - 1),
		 number = (address >> COMMON_PAGE) + 1;
	const struct page_slot *slot = page_slot(core->data_pages, number);
	uint64_t latency = 0, *entry, page;
	enum purpose purpose = a->kind == MODEL_ACCESS_LOAD    ? LOAD
			       : a->kind == MODEL_ACCESS_STORE ? STORE
							       : PREFETCH;

	arrive(m, core, in, order);
	watch_address(m, address);
	if (m->parts & MODEL_PART_STORES)
		meet_stores(m, core, a, purpose, address, order);
	m->accessed = address;
	m->accessed_size = a->size;
	if (LIKELY(slot->page == number))
		*slot->used = ++m->tick;
	else
		latency = tlb_translate_data(m, core, address & ~m->page);
	latency += hierarchy_usual(m, core, line, purpose, &entry);
	if (latency && purpose == LOAD)
		clock_load(m, core, latency);
	else if (latency && purpose == STORE)
		clock_store(m, core, latency);
	watch_address(m, 0);
	page = (uint64_t)(slot->used - core->page_used);
	if (LIKELY(!(*entry & UNSEEN)) && LIKELY(slot->page == number) &&
		LIKELY(page < PAGES_NOTED) && LIKELY(!(address >> 48)))
		set_slot(core, address, (uint64_t)(entry - core->l1d.entries), page,
			(*entry & MESI) == MODIFIED);
}

/* An access without a slot. */
NOINLINE void run_access_unslotted(struct model *m, struct core *core,
	const struct model_segment *s, const struct model_access *a, uint64_t address,
	uint64_t order)
{
	struct cache *l1d = &core->l1d;
	const struct page_slot *slot;
	uint64_t page = (address >> m->page_bits) + 1;
	const uint64_t *entry;

	if (a->guarded && !address)
		return;
	slot = page_slot(core->data_pages, page);
	if (a->guarded || a->kind > MODEL_ACCESS_STORE || slot->page != page || core->retire ||
		m->cachegrind || (address & m->data_line) + a->size > m->data_line + 1) {
		access_otherwise(m, core, s, a, address, order);
		fill_slot(m, core, address);
		return;
	}
	entry = cache_guess(l1d, address);
	if (!entry || (a->kind == MODEL_ACCESS_STORE &&
			      ((*entry & MESI) != m->stored ||
				      core->stores.number >= core->clock.stores_full))) {
		access_line(m, core, a, &s->block->insns[a->insn], address, order);
	} else {
		if (a->kind == MODEL_ACCESS_STORE)
			remember_store(core, address, a->size, order);
		else if (forward_meets(m, core, address, a->size, order))
			run_meet_store(m, core, s, a, address, order);
		*slot->used = ++m->tick;
		l1d->used[entry - l1d->entries] = m->tick;
	}
	fill_slot(m, core, address);
}

/* The same for cachegrind's flavour without clock and watchers: an access within one line. */
static NOINLINE void access_imitated(
	struct model *m, struct core *core, const struct model_access *a, uint64_t address)
{
	uint64_t number = (address >> COMMON_PAGE) + 1, page, entry;
	const struct page_slot *slot = page_slot(core->data_pages, number);

	if (UNLIKELY(slot->page != number))
		tlb_translate_data(m, core, address & ~m->page);
	entry = cachegrind_line(m, core, address & ~(uint64_t)(LINE_BYTES - 1));
	page = (uint64_t)(slot->used - core->page_used);
	if (LIKELY(slot->page == number) && LIKELY(page < PAGES_NOTED) && !(address >> 48))
		set_slot(core, address, entry, page, 1);
	m->accessed = address;
	m->accessed_size = a->size;
}

void run_access_common(struct model *m, struct core *core, const struct model_segment *s,
	const struct model_access *a, uint64_t address, uint64_t base)
{
	uint64_t order = base + a->insn + 1u;

	if (core->imitates && !m->watch && a->way <= WIDE_STORES &&
		address % LINE_BYTES + a->size <= LINE_BYTES)
		access_imitated(m, core, a, address);
	else if (UNLIKELY(!core->usual) || UNLIKELY(core->retire != 0) ||
		 UNLIKELY(a->way == MODIFIES) ||
		 (UNLIKELY(a->way == OTHERWISE) &&
			 (a->kind != MODEL_ACCESS_PREFETCH || a->guarded)) ||
		 UNLIKELY(address % LINE_BYTES + a->size > LINE_BYTES))
		run_access_unslotted(m, core, s, a, address, order);
	else
		access_usual(m, core, a, &s->block->insns[a->insn], address, order);
}

NOINLINE void run_guarded(struct model *m, const struct model_segment *s, const uint64_t *words,
	const struct model_access *a, const struct model_access *end)
{
	for (; a < end; a++, words++)
		if (a->guarded && *words)
			run_count_guarded(m, s, a, *words);
}

/* Accesses a..end, of which words has the addresses; base: order of the instruction before the
 * segment's first. */
static uint64_t run_accesses(struct model *m, struct core *core, const struct model_segment *s,
	const uint64_t *words, const struct model_access *a, const struct model_access *end,
	uint64_t base, uint64_t tick)
{
	const unsigned bits = core->l1d.bits;

	if (UNLIKELY(!m->addresses)) {
		run_guarded(m, s, words, a, end);
		return tick;
	}

	for (; a < end; a++, words++) {
		uint64_t address = *words, line = address >> bits;
		const struct line_slot *slot = &core->line_slots[line % LINE_SLOTS];
		unsigned way = a->way, size = a->size;

		if (UNLIKELY(slot->above != line_slot_above(address, bits)))
			goto unslotted;
		/* An access within one granule is within one line. */
		if (LIKELY(way <= MODIFIES) && LIKELY(!(address & a->mask))) {
			if (LIKELY(way == LOADS)) {
				if (UNLIKELY(forward_meets(
					    m, core, address, size, base + a->insn + 1u)))
					run_meet_store(m, core, s, a, address, base + a->insn + 1u);
				goto used;
			}
			if (UNLIKELY(!core->storable[line % LINE_SLOTS]) ||
				UNLIKELY(core->stores.number >= core->clock.stores_full))
				goto unslotted;
			if (way == MODIFIES && UNLIKELY(forward_meets(m, core, address, size,
						       base + a->insn + 1u)))
				run_meet_store(m, core, s, a, address, base + a->insn + 1u);
			forward_remember(&core->stores, address, size, base + a->insn + 1u);
		} else {
			if (UNLIKELY((address & ((1u << bits) - 1)) + size > 1u << bits))
				goto unslotted;
			if (way == WIDE_LOADS || way == LOADS) {
				if (forward_meets(m, core, address, size, base + a->insn + 1u))
					run_meet_store(m, core, s, a, address, base + a->insn + 1u);
			} else {
				if ((way != WIDE_STORES && way != STORES) ||
					!core->storable[line % LINE_SLOTS] ||
					core->stores.number >= core->clock.stores_full)
					goto unslotted;
				forward_store(&core->stores, address, size, base + a->insn + 1u);
			}
		}
	used:
		core->line_used[slot->line] = ++tick;
		core->page_used[slot->page] = tick;
		continue;
	unslotted:
		m->tick = tick;
		run_access_unslotted(m, core, s, a, address, base + a->insn + 1u);
		tick = m->tick;
	}
	return tick;
}

/* The same where instructions of other classes are in between. */
NOINLINE uint64_t run_specials(struct model *m, struct core *core, const struct model_segment *s,
	const uint64_t *words, uint64_t base, uint64_t tick)
{
	const struct model_block *b = s->block;
	unsigned at = 0;

	for (unsigned k = 0; k < b->special_count && b->specials[k] < s->insn_count; k++) {
		struct model_insn *in = &b->insns[b->specials[k]];

		tick = run_accesses(m, core, s, words + at, b->accesses + at,
			b->accesses + in->first_access, base, tick);
		at = in->first_access;
		m->tick = tick;
		arrive(m, core, in, base + b->specials[k] + 1u);
		model_classify_special(m, core, in->class_bits);
		tick = m->tick;
	}
	return run_accesses(m, core, s, words + at, b->accesses + at, b->accesses + s->access_count,
		base, tick);
}

NOINLINE void run_mispredicted(struct model *m, struct core *core, unsigned event)
{
	count(m, event, 1);
	core->clock.front += m->mispredict;
	note(m, core, RETIRE_MISPREDICT, MODEL_CAUSE_MISPREDICT, 0, 0);
}

NOINLINE void run_elsewhere(struct model *m, struct core *core, const struct model_segment *s,
	const struct model_outcome *o, const uint64_t *record)
{
	const struct model_insn *in = &s->block->insns[o->insn];

	branch_elsewhere(m, core, (enum model_branch_kind)o->kind, in->address,
		in->address + in->length, outcome_target(s->block, o, record));
}

INLINE void run_outcome(struct model *m, struct core *core, const struct model_segment *s,
	const struct model_outcome *o, const uint64_t *record)
{
	if (o->taken)
		clock_taken(m, &core->clock);
	if (LIKELY(o->kind == MODEL_CONDITIONAL)) {
		if (UNLIKELY(!predict_conditional(&core->predictor,
			    predictor_base(&core->predictor, o->from), o->from, o->taken))) {
			m->insn = &s->block->insns[o->insn];
			run_mispredicted(m, core, EV_MISPREDICTED_CONDITIONALS);
		}
	} else if (o->kind != MODEL_JUMP) {
		m->insn = &s->block->insns[o->insn];
		run_elsewhere(m, core, s, o, record);
	}
}

/* Branches in the middle of a superblock. */
NOINLINE void run_outcomes(struct model *m, struct core *core, const struct model_segment *s,
	const uint64_t *record, uint64_t base)
{
	const struct model_outcome *o = s->outcomes, *end = o + s->outcome_count;

	for (; o < end; o++) {
		core->clock.order = base + o->insn + 1u;
		if (UNLIKELY(core->clock.order >= core->clock.next_wait))
			clock_wait(&core->clock);
		run_outcome(m, core, s, o, record);
	}
}

/*
 * Processors move some 32 bytes at a time in a repeated string instruction, whatever its unit. So
 * for the retirement clock an iteration that continues in the same 32 bytes, without waits, is part
 * of the one before.
 */
#define REPEAT_BYTES 32
NOINLINE int run_goes_along(
	const struct retire *t, const struct model_segment *s, const uint64_t *record)
{
	return !t->notes && s->access_count &&
	       (record[s->access_count] & (REPEAT_BYTES - 1)) >=
		       s->block->accesses[s->access_count - 1].size;
}

/* The part of a record after its accesses. */
INLINE void run_end(struct model *m, struct core *core, const struct model_segment *s,
	const uint64_t *record, uint64_t base)
{
	struct clock *clock = &core->clock;
	unsigned way = s->run.way & BRANCH_WAY;

	if (UNLIKELY(way == INNER))
		run_outcomes(m, core, s, record, base);
	clock->order = base + s->run.insn_count;
	if (UNLIKELY(clock->order >= clock->next_wait))
		clock_wait(clock);
	if (s->run.taken && way != INNER)
		clock_taken(m, clock);
	if (LIKELY(way == CONDITIONAL)) {
		if (UNLIKELY(!predict_conditional(
			    &core->predictor, s->run.base, s->run.from, s->run.taken))) {
			m->insn = &s->block->insns[s->outcomes->insn];
			run_mispredicted(m, core, EV_MISPREDICTED_CONDITIONALS);
		}
	} else if (way == CALL) {
		push_return(m, &core->predictor, s->run.from + s->run.length);
	} else if (way == RETURN) {
		if (UNLIKELY(!predict_return(m, &core->predictor, s->run.from,
			    outcome_target(s->block, s->outcomes, record)))) {
			m->insn = &s->block->insns[s->outcomes->insn];
			run_mispredicted(m, core, EV_MISPREDICTED_RETURNS);
		}
	} else if (way == INDIRECT) {
		m->insn = &s->block->insns[s->outcomes->insn];
		run_elsewhere(m, core, s, s->outcomes, record);
	}
}

/* What cannot run otherwise; how many words it has. */
static NOINLINE unsigned run_slowly(
	struct model *m, struct core *core, struct model_segment *s, const uint64_t *record)
{
	fetched_last(core);
	s->ended++;
	step_record(m, s, record, s->insn_count);
	return s->block->words;
}

/* Any machine, any watch, any clock. */
static void run_records(struct model *m, const uint64_t *at, const uint64_t *end)
{
	struct core *core = m->core;
	uint64_t tick = m->tick;

	while (at < end) {
		struct model_segment *s = model_word_segment(*at);
		uint64_t base = core->clock.order;
		const uint64_t *record = at;
		int again = s->slow && m->repeating == s->block->insns[0].address;

		if (m->watch)
			watch_record(m->watch, s, at, again);
		if (UNLIKELY(s->run.stamp != core->stamp) && !fetched_again(m, core, s) &&
			(s->slow || !fetched_see(m, core, s, at))) {
			m->tick = tick;
			at += run_slowly(m, core, s, at);
			tick = m->tick;
		} else {
			tick = fetched_use(core, s, tick);
			at += s->block->words;
			if (LIKELY(!(s->run.way & SPECIAL)))
				tick = run_accesses(m, core, s, record + 1, s->run.accesses,
					s->run.accesses + s->run.access_count, base, tick);
			else
				tick = run_specials(m, core, s, record + 1, base, tick);
			run_end(m, core, s, record, base);
		}
		if (core->retire && !(again && run_goes_along(core->retire, s, record)))
			run_retire(m, core, s, record);
	}
	m->tick = tick;
	fetched_count(m, core);
	if (m->watch && m->watch->static_count)
		fetched_lose(m, core); /* loop_run must see those that watch_exceeds */
	if (m->watch)
		watch_end(m->watch);
}

/* The end of the next RECORDS_AT_ONCE records. */
#define RECORDS_AT_ONCE 64
static const uint64_t *skip_records(const uint64_t *at, const uint64_t *end)
{
	for (unsigned i = 0; i < RECORDS_AT_ONCE && at < end; i++)
		at += model_word_words(*at);
	return at;
}

/* Runs records up to the first after which clock.order is not below `until`: returns where it
 * stopped, which may be some records later. */
static const uint64_t *run_until(
	struct model *m, const uint64_t *begin, const uint64_t *end, uint64_t until)
{
	struct core *core = m->core;
	int common = loop_is_common(m) && !(m->watch && !watch_is_calm(m->watch));

	if (!common && until == NEVER) {
		run_records(m, begin, end);
		return end;
	}
	if (m->batch.on) {
		batch_run(m, begin, end);
		fetched_count(m, core);
		return end;
	}
	while (begin < end && core->clock.order < until) {
		uint64_t order = core->clock.order, limit = common ? until : 0;

		if (limit && m->watch && m->watch->static_count) {
			uint64_t ahead = order + watch_ahead(m->watch);

			for (unsigned i = 0; i < MODEL_STATICS; i++)
				core->ran[i] = 0;
			limit = ahead < limit ? ahead : limit;
		}
		if (limit > order) {
			begin = loop_run(m, begin, end, limit);
			/* Phases of the sampled clock need no counts of what execution alone
			 * determines. */
			if (begin == end || m->watch)
				fetched_count(m, core);
			if (m->watch && m->watch->static_count)
				watch_settle(m->watch, core->ran);
		}
		if (begin < end && core->clock.order < until) {
			const uint64_t *next = skip_records(begin, end);

			run_records(m, begin, next);
			begin = next;
		}
	}
	return begin;
}

void model_run(struct model *m, const uint64_t *begin, const uint64_t *end)
{
	struct core *core = m->core;

	tlb_flush_due(m, core);
	fetched_begin(m);
	while (begin < end) {
		begin = run_until(m, begin, end, m->sampled ? core->sampled.next : NEVER);
		if (m->sampled && core->clock.order >= core->sampled.next)
			sampled_clock_step(m, core);
	}
}
