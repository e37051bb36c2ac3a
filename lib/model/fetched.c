/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Segments whose instruction lines and pages are in the first level.
 *
 * Fetching such lines only notes their use, by a store a line (fetched_use). What is known of a
 * segment has a stamp: the core's number of changes of L1I and of translations at that time. A
 * segment with the core's present stamp is run at once. With an older one it is looked at again:
 * each entry of L1I has the stamp of its last change. So a miss of L1I costs the segments of other
 * lines little.
 *
 * What is put off until someone looks: the uses of pages follow from those of their lines, which
 * `settled` brings up to date; the line fetched last is that of the segment run last; and the
 * counts of a segment are sums over its records (fetched_count).
 */
#include "model/branch.h"
#include "model/jit.h"
#include "model/opcache.h"
#include "model/run.h"

/* wandering: a watcher needs the target. */
static unsigned fetched_way_of(const struct model_segment *s, int wandering)
{
	static const uint8_t way[] = {
		[MODEL_CONDITIONAL] = CONDITIONAL,
		[MODEL_JUMP] = JUMP,
		[MODEL_CALL] = CALL,
		[MODEL_INDIRECT_JUMP] = INDIRECT,
		[MODEL_INDIRECT_CALL] = INDIRECT,
		[MODEL_RETURN] = RETURN,
	};
	const struct model_block *b = s->block;
	unsigned special = b->special_count ? SPECIAL : 0;

	if (wandering && b->indirect && s->insn_count == b->insn_count && !s->next)
		special |= WANDERS;

	if (!s->outcome_count)
		return special | NO_BRANCH;
	if (s->outcome_count > 1 || s->outcomes->insn + 1u != s->insn_count)
		return special | INNER | UNUSUAL;
	return special | way[s->outcomes->kind];
}

static unsigned way_of_access(const struct model_access *a)
{
	if (a->guarded || a->kind == MODEL_ACCESS_PREFETCH || !a->size || a->size > STORE_PIECE)
		return OTHERWISE;
	if (a->size <= GRANULE && !(a->size & (a->size - 1)))
		return a->kind == MODEL_ACCESS_LOAD    ? LOADS
		       : a->kind == MODEL_ACCESS_STORE ? STORES
						       : MODIFIES;
	return a->kind == MODEL_ACCESS_LOAD    ? WIDE_LOADS
	       : a->kind == MODEL_ACCESS_STORE ? WIDE_STORES
					       : OTHERWISE;
}

static void find_ways(const struct model_segment *s)
{
	for (unsigned i = s->access_count; i-- > 0 && !s->block->accesses[i].way;) {
		struct model_access *a = &s->block->accesses[i];

		a->way = (uint8_t)way_of_access(a);
		a->mask = a->way <= MODIFIES ? (uint8_t)(a->size - 1u) : 0;
	}
}

int fetched_see_repeat(struct model_segment *s)
{
	if (s->insn_count != 1 || s->outcome_count)
		return 0;
	find_ways(s);
	for (unsigned i = 0; i < s->access_count; i++)
		if (s->block->accesses[i].way == OTHERWISE)
			return 0;
	s->run.accesses = s->block->accesses;
	s->run.access_count = s->access_count;
	s->run.insn_count = 1;
	return 1;
}

/* The same without addresses: only guarded accesses matter. */
static unsigned fetched_kind_without(const struct model_segment *s)
{
	unsigned any = s->run.way > BRANCH_WAY || s->run.way == INNER;

	for (unsigned i = 0; i < s->access_count; i++)
		any |= s->block->accesses[i].guarded;
	return any ? RUN_ANY : RUN_NONE;
}

/* Of enum RUN_*. */
static unsigned fetched_kind_of(const struct model *m, struct model_segment *s)
{
	const struct model_access *a = s->block->accesses;
	unsigned kind = s->access_count ? 0 : RUN_NONE;

	if (!m->addresses)
		return fetched_kind_without(s);
	if (s->run.way > BRANCH_WAY || s->run.way == INNER ||
		s->access_count > MODEL_RUNNING_SIMPLE)
		return RUN_ANY;
	for (unsigned i = 0; i < s->access_count; i++) {
		if (a[i].way > STORES)
			return RUN_ANY;
		kind = 2 * kind + (a[i].way == STORES);
		s->run.size[i] = (uint8_t)a[i].size;
		s->run.insn[i] = (uint8_t)a[i].insn;
	}
	return s->access_count == 0   ? RUN_NONE
	       : s->access_count == 1 ? RUN_L + kind
				      : RUN_LL + kind;
}

/* The first level changes. */
static uint64_t fetched_stamp(struct model *m, struct core *core)
{
	core->stamp = ++m->stamp;
	return core->stamp;
}

void fetched_lose(struct model *m, struct core *core)
{
	core->valid_from = fetched_stamp(m, core);
}

void fetched_begin(struct model *m)
{
	if (LIKELY(m->ran == m->core))
		return;
	m->ran = m->core;
	fetched_lose(m, m->core);
	m->core->found_from = m->core->stamp;
	if (!m->counted)
		m->counted = m->core->stamp;
}

/* The use of a line of code that was noted for the line alone gets to its page. */
static void settle_line(const struct core *core, uint64_t at)
{
	uint64_t line = core->l1i.entries[at], used = core->l1i.used[at];
	uint64_t page = (line >> core->page_bits) + 1;
	const struct page_slot *slot = page_slot((struct page_slot *)core->fetch_pages, page);

	if (line && !(line & (UNSEEN | PREFETCHED)) && slot->page == page && *slot->used < used)
		*slot->used = used;
}

static uint64_t lines_of(const struct cache *c)
{
	return (c->sets ? c->sets : c->mask + 1) * c->ways;
}

void fetched_settle(struct core *core)
{
	const uint64_t *used = core->l1i.used;
	uint64_t count = lines_of(&core->l1i), settled = core->settled, latest = settled;

	fetched_last(core);
	for (uint64_t i = 0; i < count; i += SCANNED)
		for (unsigned later = cache_later(used + i, settled); later; later &= later - 1) {
			uint64_t at = i + (unsigned)__builtin_ctz(later);

			latest = latest < used[at] ? used[at] : latest;
			settle_line(core, at);
		}
	core->settled = latest;
}

void fetched_replace(struct model *m, struct core *core, uint64_t address)
{
	struct cache *l1i = &core->l1i;
	const uint64_t *entry;
	uint32_t found;

	if (l1i->policy != MODEL_LRU) { /* whose entries hide each other */
		fetched_settle(core);
		fetched_lose(m, core);
		return;
	}
	if (cache_guess(l1i, address))
		return;
	entry = cache_search(l1i, cache_set(l1i, address), address & ~l1i->offset, &found);
	if (!found)
		fetched_forget(m, core, entry);
}

void fetched_forget(struct model *m, struct core *core, const uint64_t *entry)
{
	uint64_t at = (uint64_t)(entry - core->l1i.entries);

	fetched_last(core);
	settle_line(core, at);
	core->changed[at] = fetched_stamp(m, core);
	opcache_drop(core, at);
}

void fetched_lose_page(struct model *m, struct core *core, uint64_t page)
{
	const uint64_t *entries = core->l1i.entries;
	uint64_t count = lines_of(&core->l1i), stamp = fetched_stamp(m, core);
	uint64_t offset = (UINT64_C(1) << core->page_bits) - 1, mask = ~(offset | UNSEEN);
	uint64_t address = (page - 1) << core->page_bits;

	for (uint64_t i = 0; i < count; i += SCANNED)
		for (unsigned same = cache_alike(entries + i, mask, address); same;
			same &= same - 1)
			core->changed[i + (unsigned)__builtin_ctz(same)] = stamp;
}

/* Its taken branches are executed now. */
static NOINLINE void fetched_find_branches(
	struct model *m, struct core *core, const struct model_segment *s)
{
	for (const struct model_outcome *o = s->outcomes, *end = o + s->outcome_count; o < end; o++)
		if (o->taken) {
			m->insn = &s->block->insns[o->insn];
			branch_find(m, core, (enum model_branch_kind)o->kind, o->from);
		}
}

/* What its earlier stamp leaves to do. */
INLINE void fetched_restamp(struct model *m, struct core *core, struct model_segment *s)
{
	if (core->btb.set && s->run.stamp < core->found_from &&
		(s->run.taken || s->run.way & UNUSUAL)) {
		/* Mostly there is one, at the end, and the retirement clock does not run: then no
		 * descriptor is read, which the host may have to wait for. */
		if (LIKELY(!core->retire) && LIKELY(!(s->run.way & UNUSUAL)))
			btb_later(&core->btb, s->run.from);
		else
			fetched_find_branches(m, core, s);
	}
	if (s->run.stamp < m->counted) {
		s->run.link = core->fetched;
		core->fetched = s;
	}
	s->run.stamp = core->stamp;
}

int fetched_again(struct model *m, struct core *core, struct model_segment *s)
{
	uint64_t stamp = s->run.stamp;
	unsigned count = s->run.fetch_count;

	if (stamp < core->valid_from || (count && core->changed[s->run.entry[0]] > stamp) ||
		(count > 1 && core->changed[s->run.entry[1]] > stamp))
		return 0;
	for (unsigned i = MODEL_RUNNING_LINES; i < count; i++)
		if (core->changed[s->block->fetches[i].hint] > stamp)
			return 0;
	fetched_restamp(m, core, s);
	return 1;
}

/* Is the line, and its page, in the first level?  Then *at is where; before, where it was. */
INLINE int fetched_line(const struct core *core, uint64_t line, uint32_t *at)
{
	const struct cache *l1i = &core->l1i;
	const uint64_t *entry = &l1i->entries[*at];
	uint64_t page = (line >> core->page_bits) + 1;

	if (core->fetch_pages[page % PAGE_SLOTS].page != page)
		return 0;
	if (!cache_is(*entry, line)) {
		entry = cache_find(l1i, line);
		if (!entry || (*entry & UNSEEN) || entry - l1i->entries > UINT16_MAX)
			return 0;
		*at = (uint32_t)(entry - l1i->entries);
	}
	return 1;
}

/* All its lines: then they have where. Of the first ones the segment knows enough: its block, which
 * the host may have to wait for, is not looked at. */
static int fetched_has(const struct core *core, struct model_segment *s, unsigned count)
{
	for (unsigned i = 0; i < count && i < MODEL_RUNNING_LINES; i++) {
		uint32_t at = s->run.entry[i];

		if (!fetched_line(core, s->lines[i], &at))
			return 0;
		s->run.entry[i] = (uint16_t)at;
	}
	for (unsigned i = MODEL_RUNNING_LINES; i < count; i++) {
		struct model_fetch *f = &s->block->fetches[i];

		if (!fetched_line(core, f->line, &f->hint))
			return 0;
	}
	return 1;
}

/* What does not change from one time to the next. */
static void fetched_describe(const struct model *m, struct model_segment *s, unsigned count)
{
	s->run.accesses = s->block->accesses;
	s->run.access_count = s->access_count;
	s->run.insn_count = (uint8_t)s->insn_count;
	s->run.fetch_count = (uint8_t)count;
	for (unsigned i = 0; i < count && i < MODEL_RUNNING_LINES; i++) {
		s->lines[i] = s->block->fetches[i].line;
		s->line_groups[i] = s->block->fetches[i].groups;
	}
	s->run.way = (uint8_t)fetched_way_of(s, m->watch && m->watch->targets.entry);
	if (s->outcome_count) {
		s->run.from = s->outcomes->from;
		s->run.length = s->block->insns[s->outcomes->insn].length;
		s->run.base = predictor_base(&m->core->predictor, s->outcomes->from);
		s->run.taken = s->outcomes->taken;
	}
	find_ways(s);
	s->run.seen = (uint8_t)fetched_kind_of(m, s);
}

void fetched_know(struct model *m, struct core *core, struct model_segment *s)
{
	if (!s->slow && !s->run.seen)
		fetched_describe(m, s, s->fetch_count);
	fetched_restamp(m, core, s);
}

int fetched_see(struct model *m, struct core *core, struct model_segment *s, const uint64_t *record)
{
	unsigned count = m->addresses ? s->fetch_count : 0;

	if ((!count && m->addresses) || count > UINT8_MAX || s->insn_count > UINT8_MAX)
		return 0;
	if (UNLIKELY(!s->run.seen))
		fetched_describe(m, s, count);
	if (!fetched_has(core, s, count))
		return 0;
	opcache_add(core, s, count);
	jit_segment(m, s, record); /* may give up what is known of all others */
	fetched_restamp(m, core, s);
	return 1;
}

/* Records of a segment from which on it gets code. Writing it costs some hundred records. */
#define OFTEN 1000

void fetched_count(struct model *m, struct core *core)
{
	uint64_t sums[MODEL_STATICS] = {0};

	fetched_settle(core);
	if (!core->fetched)
		return;
	for (struct model_segment *s = core->fetched; s; s = s->run.link) {
		uint64_t count = s->run.count;

		for (unsigned i = 0; i < MODEL_STATICS; i++)
			sums[i] += (uint64_t)(uint32_t)count * s->statics[i];
		s->ended += count;
		s->run.count = 0;
		if (s->ended >= OFTEN && !s->often) {
			s->often = 1;
			s->run.stamp = 0; /* it gets code when it is seen again */
		}
	}
	for (unsigned i = 0; i < STATICS_USED; i++) {
		core->counts[model_static_event(i)] += sums[i];
		core->ran[i] += sums[i];
	}
	core->fetched = (struct model_segment *)0;
	m->counted = fetched_stamp(m, core);
}
