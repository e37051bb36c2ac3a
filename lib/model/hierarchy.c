/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The native memory hierarchy, below the fast paths of model.c: first-level caches, second
 * level, last level and memory.
 *
 * All caches are write-back and allocate on loads and stores.  An access that crosses lines is
 * one access to each.  How L2 relates to L1, and LL to all private caches (config.l2_inclusion,
 * ll_inclusion):
 *
 * - Neither inclusive nor exclusive: a line that comes from outside is put into every level on its
 *   way, and leaving one level does not touch the others. A dirty line that leaves a level is a use
 *   of that line in the next, which it enters if it was not there; it is written out before the
 *   line that replaces it is fetched.
 * - Inclusive: the same, but what leaves the level leaves the levels before it too. Modified data
 *   found there go out with it.
 * - Exclusive: what comes from outside passes it by, and what leaves the level before, clean or
 *   dirty, enters it, after the line that replaces it was fetched. A line found is taken out of
 *   it; but instruction fetches leave it there, and LL keeps what other cores share. A dirty line
 *   that LL gives up is written to memory.
 *
 * Instructions and data in one core: a store to a line takes it from L1I, and a fetch that
 * misses L1I takes it from L1D if that holds it modified.
 *
 * States: see coherence.c.  In the last level an entry is SHARED (clean) or MODIFIED (dirty), in
 * L1I always SHARED.
 */
#include "model/objects.h"
#include "model/state.h"
#include "model/watch.h"

/* ---- lines that go ---- */

void hierarchy_forget_code(struct model *m, struct core *core, uint64_t address, uint64_t bytes)
{
	uint64_t line = core->l1i.offset + 1, first = address & ~core->l1i.offset, a, *entry;

	for (a = first; a <= address + bytes - 1 && a >= first; a += line) {
		entry = cache_find(&core->l1i, a);
		if (!entry)
			continue;
		fetched_forget(m, core, entry);
		cache_remove(&core->l1i, entry);
		if (core->fetch_line == a)
			core->fetch_line = NEVER;
	}
}

/* Drops these lines from the core's first level; returns whether one was modified. */
static int recall_l1(struct model *m, struct core *core, uint64_t address, uint64_t bytes)
{
	uint64_t line = core->l1d.offset + 1, first = address & ~core->l1d.offset, a, *entry;
	int modified = 0;

	hierarchy_forget_code(m, core, address, bytes);
	for (a = first; a <= address + bytes - 1 && a >= first; a += line) {
		entry = cache_find(&core->l1d, a);
		if (!entry)
			continue;
		if (is_dirty(*entry)) {
			count_at(m, core, EV_L1_WRITEBACK_QUADWORDS, core->l1d.quadwords);
			modified = 1;
		}
		cache_remove(&core->l1d, entry);
		slot_drop(core, a);
	}
	return modified;
}

int hierarchy_recall(struct model *m, struct core *core, uint64_t address, uint64_t bytes)
{
	uint64_t line = core->l2.offset + 1, a = address, *entry;
	int modified = 0;

	if (!core->l2.ways)
		return recall_l1(m, core, address, bytes);
	for (; a <= address + bytes - 1 && a >= address; a += line) {
		int dirty = recall_l1(m, core, a, line);

		entry = cache_find(&core->l2, a);
		if (entry) {
			dirty |= is_dirty(*entry);
			cache_remove(&core->l2, entry);
		}
		if (dirty)
			count_at(m, core, EV_L2_WRITEBACK_QUADWORDS, core->l2.quadwords);
		modified |= dirty;
	}
	return modified;
}

/* Moves a line from the private caches to the next level. */
static void leave_core(struct model *m, struct core *core, uint64_t address, int dirty)
{
	if (dirty)
		coherence_gone(m, core, address);
	if (dirty || m->config.ll_inclusion == MODEL_EXCLUSIVE)
		outside_write_back(m, core, address, dirty);
}

/* A line has left the second level. */
static void leave_l2(struct model *m, struct core *core, uint64_t victim)
{
	uint64_t address = victim & ~core->l2.offset;
	int dirty;

	if (victim == NEVER || !victim)
		return;
	dirty = is_dirty(victim);
	if (m->config.l2_inclusion == MODEL_INCLUSIVE)
		dirty |= recall_l1(m, core, address, core->l2.offset + 1);
	if (dirty)
		count(m, EV_L2_WRITEBACK_QUADWORDS, core->l2.quadwords);
	leave_core(m, core, address, dirty);
}

/* A line has left a first level; a clean one matters only to an exclusive next level. */
static NOINLINE void leave_l1(struct model *m, struct core *core, uint64_t address, unsigned state)
{
	int dirty = state == MODIFIED;
	uint64_t next, *entry;

	if (dirty) {
		count(m, EV_L1_WRITEBACK_QUADWORDS, core->l1d.quadwords);
		if (core->retire)
			retire_leaves(core->retire, address);
	}
	if (!core->l2.ways) {
		leave_core(m, core, address, dirty);
		return;
	}
	if (!dirty && m->config.l2_inclusion != MODEL_EXCLUSIVE)
		return;
	entry = cache_use(&core->l2, address, &next);
	if (state > (*entry & MESI))
		*entry = (*entry & ~(uint64_t)STATES) | state;
	if (dirty)
		*entry |= WRITTEN;
	leave_l2(m, core, next);
}

INLINE void leave_l1d(struct model *m, struct core *core, uint64_t victim)
{
	if (victim == NEVER || !victim)
		return;
	/* Where most end. */
	if (!is_dirty(victim) && core->l2.ways && m->config.l2_inclusion != MODEL_EXCLUSIVE)
		return;
	leave_l1(m, core, victim & ~core->l1d.offset, victim & MESI);
}

/* ---- lines that arrive ---- */

/*
 * Called before a store makes the core's line in L1 MODIFIED; the core has it in `state`: in L2 if
 * `l2` is not null, else in L1 alone. Returns the cost.
 */
static NOINLINE uint64_t claim(
	struct model *m, struct core *core, uint64_t address, unsigned state, uint64_t *l2)
{
	uint64_t latency = 0;

	if (state == SHARED) {
		count(m, EV_STORES_TO_SHARED, 1);
		coherence_upgrade(m, core, address);
		latency = m->intervention;
		m->sender = sender_of(MODEL_CAUSE_INTERVENTION, RETIRE_TURN_LL);
	} else if (state == EXCLUSIVE && !(l2 && (*l2 & WRITTEN))) {
		count(m, EV_STORES_TO_CLEAN, 1);
	}
	if (l2)
		*l2 |= WRITTEN;
	return latency;
}

/* The second level has the line; *state becomes the state it has in L1. */
INLINE uint64_t take_from_l2(struct model *m, struct core *core, uint64_t address,
	enum purpose purpose, uint64_t *l2, unsigned *state)
{
	uint64_t latency = clock_line(m, core, LINE_FROM_L2, core->l2.latency), rest;
	unsigned held = *l2 & MESI;
	uint32_t sender;

	if (*l2 & PREFETCHED) {
		*l2 &= ~(uint64_t)PREFETCHED;
		sender = m->sender;
		rest = prefetch_rest(m, core, address & ~core->l2.offset);
		if (rest > latency)
			latency = rest;
		else
			m->sender = sender;
	}
	*state = held == SHARED ? SHARED : EXCLUSIVE;
	if (m->config.l2_inclusion == MODEL_EXCLUSIVE && !is_code(purpose)) {
		cache_remove(&core->l2, l2);
		l2 = 0;
		*state = held;
	}
	if (purpose != STORE)
		return latency;
	*state = MODIFIED;
	return latency + claim(m, core, address, held, l2);
}

/* In the second level: the line's entry or a null pointer, when *victim has to go for it, which is
 * then filled. */
INLINE uint64_t *use_l2(struct model *m, struct core *core, uint64_t address, uint64_t *victim)
{
	uint64_t *l2;

	if (m->config.l2_inclusion != MODEL_EXCLUSIVE)
		return cache_use(&core->l2, address, victim);
	l2 = cache_find(&core->l2, address);
	*victim = 0;
	if (l2)
		cache_use(&core->l2, address, victim);
	return l2;
}

/* Gets a line that the private caches do not have, into L2 if l2 (the entry that victim left) is
 * not null; *held becomes its state, before the effect of the store that requests it. */
static NOINLINE uint64_t hierarchy_fill(struct model *m, struct core *core, uint64_t address,
	enum purpose purpose, uint64_t *l2, uint64_t victim, unsigned *held)
{
	int late = m->config.ll_inclusion == MODEL_EXCLUSIVE;
	enum supplier supplier;
	uint64_t latency;

	if (m->active & (m->active - 1)) {
		coherence_come_near(m, address);
		if (victim && is_dirty(victim))
			coherence_come_near(m, victim);
	}
	if (m->ll.ways) {
		outside_come_near(m, address, !late);
		if (late && victim && !m->packed.rows)
			outside_come_near(m, victim & ~core->l2.offset, 1);
	}
	if (!late)
		leave_l2(m, core, victim);
	supplier = coherence_fetch(m, core, address, purpose);
	*held = purpose == STORE || (supplier == FROM_OUTSIDE && !is_code(purpose)) ? EXCLUSIVE
										    : SHARED;
	if (l2)
		*l2 = (*l2 & ~(uint64_t)STATES) | *held | (purpose == STORE ? WRITTEN : 0);
	latency = outside_fetch(m, core, address, purpose, supplier);
	if (late)
		leave_l2(m, core, victim);
	return latency;
}

/* Gets a line into L1 (and L2); *state becomes its state in L1, *missed whether L2 missed. */
INLINE uint64_t refill(struct model *m, struct core *core, uint64_t address, enum purpose purpose,
	unsigned *state, int *missed)
{
	int counted = is_demand(purpose);
	uint64_t victim = 0, *l2 = 0, latency;
	unsigned held;

	*missed = 0;
	if (core->l2.ways) {
		if (counted)
			count(m, EV_L2_REFERENCES, 1);
		l2 = use_l2(m, core, address, &victim);
		if (victim == NEVER)
			return take_from_l2(m, core, address, purpose, l2, state);
		if (counted)
			count(m, purpose == FETCH ? EV_L2I_MISSES : EV_L2D_MISSES, 1);
	}
	*missed = 1;
	latency = hierarchy_fill(m, core, address, purpose, l2, victim, &held);
	*state = purpose == STORE ? MODIFIED : held;
	return latency;
}

/* Does a line that leaves L1 enter the next level only after the line that replaces it has come? */
static int leaves_late(const struct model *m, const struct core *core)
{
	return (core->l2.ways ? m->config.l2_inclusion : m->config.ll_inclusion) == MODEL_EXCLUSIVE;
}

/* With objects, every access to a line that cores take from each other is looked at. */
static NOINLINE void watch_line(
	struct model *m, struct core *core, uint64_t address, uint64_t *entry, enum purpose purpose)
{
	struct objects *o = m->watch ? m->watch->objects : (struct objects *)0;
	uint64_t unit = address & ~m->unit;

	if (o && is_demand(purpose) && objects_knows(o, unit)) {
		objects_access(o, m, unit, purpose == STORE);
		slot_drop(core, address);
		*entry |= WATCHED | UNSEEN;
	} else {
		*entry &= ~(uint64_t)WATCHED;
	}
}

INLINE void watch(struct model *m, struct core *core, uint64_t address, uint64_t *entry,
	enum purpose purpose, int anew)
{
	if (UNLIKELY(*entry & WATCHED) || (anew && UNLIKELY(m->active & (m->active - 1))))
		watch_line(m, core, address, entry, purpose);
}

/* L1D has the line, and may have to become its owner. */
static NOINLINE uint64_t hit_data(
	struct model *m, struct core *core, uint64_t address, enum purpose purpose, uint64_t *entry)
{
	unsigned state = *entry & MESI, first = (*entry & PREFETCHED) != 0;
	uint64_t latency = 0, rest = 0;
	uint32_t sender;

	*entry &= ~(uint64_t)PREFETCHED;
	if (first)
		rest = prefetch_rest(m, core, address);
	if (purpose == STORE && state != MODIFIED) {
		latency = claim(m, core, address, state, cache_find(&core->l2, address));
		hierarchy_forget_code(m, core, address, core->l1d.offset + 1);
		*entry |= MODIFIED;
	}
	watch(m, core, address, entry, purpose, first || (purpose == STORE && state == SHARED));
	sender = m->sender;
	if (first)
		prefetch_data(m, core, address, purpose);
	m->sender = sender;
	return latency > rest ? latency : rest;
}

uint64_t hierarchy_data(struct model *m, struct core *core, uint64_t address, enum purpose purpose)
{
	uint64_t victim, latency, *entry = cache_use(&core->l1d, address, &victim);
	int late = leaves_late(m, core), missed;
	uint32_t sender;
	unsigned state;

	if (victim == NEVER)
		return hit_data(m, core, address, purpose, entry);
	if (victim)
		slot_drop(core, victim);
	if (is_demand(purpose))
		count(m, EV_L1D_MISSES, 1);
	if (!late)
		leave_l1d(m, core, victim);
	latency = refill(m, core, address, purpose, &state, &missed);
	sender = m->sender;
	if (state == MODIFIED)
		hierarchy_forget_code(m, core, address, core->l1d.offset + 1);
	*entry = (*entry & ~(uint64_t)STATES) | state;
	if (purpose == AHEAD)
		*entry |= PREFETCHED | UNSEEN;
	else
		watch(m, core, address, entry, purpose, 1);
	if (late)
		leave_l1d(m, core, victim);
	if (m->prefetching && core->l2.ways)
		prefetch_behind_l1(m, core, address, missed);
	if (m->prefetching && purpose != AHEAD)
		prefetch_data(m, core, address, purpose);
	m->sender = sender; /* of the line itself, not of those ahead */
	return latency;
}

/* ---- the machines of today ---- */

#define USUAL_LINE 6
static int hierarchy_usual_sets(const struct cache *c)
{
	return c->ways && !c->sets && c->bits == USUAL_LINE && c->ways % WAYS_AT_ONCE == 0 &&
	       c->ways <= WAYS_VECTOR_MAX;
}

int hierarchy_is_usual(const struct model *m, const struct core *core)
{
	return core->slotted && !m->cachegrind && m->config.l2_inclusion != MODEL_EXCLUSIVE &&
	       hierarchy_usual_sets(&core->l1d) && hierarchy_usual_sets(&core->l2);
}

/* The line's entry in L2, which counts as a use; null: it is not there, and nothing has changed. */
INLINE uint64_t *usual_l2(struct model *m, struct core *core, uint64_t line)
{
	struct cache *l2 = &core->l2;
	uint64_t set = line >> USUAL_LINE & l2->mask, victim;
	uint64_t *entries = l2->entries + set * l2->ways;
	int way = cache_way(entries, l2->ways, line);

	if (way < 0)
		return (uint64_t *)0;
	if (LIKELY(l2->policy == MODEL_QLRU))
		qlru_hit(l2->policy_sets + set, (uint32_t)way);
	else if (l2->policy == MODEL_LRU)
		l2->used[set * l2->ways + (uint32_t)way] = ++m->tick;
	else
		policy_use(l2, set, line, &victim);
	return entries + way;
}

/* L2 does not have the line either. */
static NOINLINE uint64_t usual_refill(
	struct model *m, struct core *core, uint64_t line, enum purpose purpose, unsigned *state)
{
	int missed;

	return refill(m, core, line, purpose, state, &missed);
}

/* L1D does not have the line, which gets the entry. */
INLINE uint64_t usual_miss(
	struct model *m, struct core *core, uint64_t line, enum purpose purpose, uint64_t *entry)
{
	uint64_t victim = *entry & ~UNSEEN, latency, *l2;
	enum model_cause sender;
	unsigned state;
	int missed = 0;

	*entry = line | SHARED;
	core->l1d.used[entry - core->l1d.entries] = ++m->tick;
	if (LIKELY(victim != 0))
		slot_drop(core, victim);
	if (LIKELY(is_demand(purpose)))
		count(m, EV_L1D_MISSES, 1);
	if (UNLIKELY(is_dirty(victim)))
		leave_l1(m, core, victim & ~core->l1d.offset, MODIFIED);
	l2 = usual_l2(m, core, line);
	if (LIKELY(l2 != 0)) {
		if (LIKELY(is_demand(purpose)))
			count(m, EV_L2_REFERENCES, 1);
		latency = take_from_l2(m, core, line, purpose, l2, &state);
	} else {
		missed = 1;
		latency = usual_refill(m, core, line, purpose, &state);
	}
	sender = m->sender;
	if (state == MODIFIED)
		hierarchy_forget_code(m, core, line, core->l1d.offset + 1);
	*entry = line | state;
	watch(m, core, line, entry, purpose, 1);
	if (m->prefetching) {
		prefetch_behind_l1(m, core, line, missed);
		prefetch_data(m, core, line, purpose);
	}
	m->sender = sender;
	return latency;
}

uint64_t hierarchy_usual(
	struct model *m, struct core *core, uint64_t line, enum purpose purpose, uint64_t **at)
{
	struct cache *l1d = &core->l1d;
	uint64_t set = (line >> USUAL_LINE & l1d->mask) * l1d->ways, *entry;
	int way = cache_way(l1d->entries + set, l1d->ways, line);

	if (way < 0) {
		*at = entry = l1d->entries + set + cache_oldest(l1d->used + set, l1d->ways);
		return usual_miss(m, core, line, purpose, entry);
	}
	*at = entry = l1d->entries + set + way;
	l1d->used[set + (uint32_t)way] = ++m->tick;
	if (LIKELY(!(*entry & (UNSEEN | PREFETCHED | WATCHED))) &&
		LIKELY(purpose != STORE || is_dirty(*entry)))
		return 0;
	*entry &= ~UNSEEN;
	return hit_data(m, core, line, purpose, entry);
}

/* Writes back what L1D has modified of a line, before that line is fetched. */
static void release_data(struct model *m, struct core *core, uint64_t address, uint64_t bytes)
{
	uint64_t line = core->l1d.offset + 1, first = address & ~core->l1d.offset, a, *entry;

	for (a = first; a <= address + bytes - 1 && a >= first; a += line) {
		entry = cache_find(&core->l1d, a);
		if (!entry || !is_dirty(*entry))
			continue;
		cache_remove(&core->l1d, entry);
		slot_drop(core, a);
		leave_l1(m, core, a, MODIFIED);
	}
}

static uint64_t fetch_line(
	struct model *m, struct core *core, uint64_t address, enum purpose purpose)
{
	uint64_t victim, latency, *entry;
	uint32_t sender;
	unsigned state;
	int missed;

	fetched_replace(m, core, address);
	entry = cache_use(&core->l1i, address, &victim);
	if (victim == NEVER) {
		if (!(*entry & PREFETCHED))
			return 0;
		*entry &= ~(uint64_t)PREFETCHED;
		latency = prefetch_rest(m, core, address);
		sender = m->sender;
		prefetch_code(m, core, address);
		m->sender = sender;
		return latency;
	}
	if (is_demand(purpose)) {
		count(m, EV_L1I_MISSES, 1);
		core->btb.epoch++;
		core->found_from = core->stamp;
	}
	release_data(m, core, address, core->l1i.offset + 1);
	latency = refill(m, core, address, purpose, &state, &missed);
	sender = m->sender;
	if (purpose == FETCH_AHEAD)
		*entry |= PREFETCHED | UNSEEN;
	if (victim && leaves_late(m, core))
		leave_l1(m, core, victim & ~core->l1i.offset, SHARED);
	if (m->prefetching && core->l2.ways)
		prefetch_behind_l1(m, core, address, missed);
	if (m->prefetching && purpose != FETCH_AHEAD)
		prefetch_code(m, core, address);
	m->sender = sender;
	return latency;
}

uint64_t hierarchy_fetch(struct model *m, struct core *core, uint64_t address)
{
	return fetch_line(m, core, address, FETCH);
}

/* ---- prefetches ---- */

NOINLINE int hierarchy_ahead_l1d(struct model *m, struct core *core, uint64_t line)
{
	if (cache_find(&core->l1d, line))
		return 0;
	count(m, EV_HARDWARE_PREFETCHES, 1);
	prefetch_sent(m, core, line, hierarchy_data(m, core, line, AHEAD));
	return sender_cause(m->sender) != MODEL_CAUSE_L2;
}

void hierarchy_ahead_l1i(struct model *m, struct core *core, uint64_t line)
{
	if (cache_find(&core->l1i, line))
		return;
	count(m, EV_HARDWARE_PREFETCHES, 1);
	prefetch_sent(m, core, line, fetch_line(m, core, line, FETCH_AHEAD));
}

static NOINLINE void bring_ahead_l2(struct model *m, struct core *core, uint64_t line)
{
	uint64_t victim, *l2;
	unsigned held;

	count(m, EV_HARDWARE_PREFETCHES, 1);
	l2 = cache_use(&core->l2, line, &victim);
	prefetch_sent(m, core, line, hierarchy_fill(m, core, line, AHEAD, l2, victim, &held));
	*l2 |= PREFETCHED;
}

void hierarchy_ahead_l2(struct model *m, struct core *core, uint64_t line)
{
	/* Where L2 is exclusive, L1 may have the line instead. */
	if (LIKELY(cache_find(&core->l2, line) != 0) ||
		(m->config.l2_inclusion == MODEL_EXCLUSIVE && cache_find(&core->l1d, line)))
		return;
	bring_ahead_l2(m, core, line);
}
