/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The native memory hierarchy, below the fast paths of model.c: first-level caches, second level,
 * last level, memory, and the TLBs.
 *
 * All caches are write-back and allocate on loads and stores, with exact LRU.  They are neither
 * inclusive nor exclusive: a line that comes from outside is put into every level on its way, and
 * leaving one level does not touch the others. A dirty line that leaves a level is a use of that
 * line in the next, which it enters if it was not there; it is written out before the line that
 * takes its place is fetched.  An access that crosses lines is one access to each.
 *
 * States: see coherence.c.  In the last level an entry is SHARED (clean) or MODIFIED (dirty).
 */
#include "model/state.h"

/* Where there is no second level, the last level is the secondary cache. */
static void leave_ll(struct model *m, uint64_t *counts, uint64_t victim)
{
	if (victim != NEVER && (victim & MESI) == MODIFIED && !m->cores[0].l2.ways)
		counts[EV_L2_WRITEBACK_QUADWORDS] += m->ll.quadwords;
}

void hierarchy_write_back(struct model *m, uint64_t *counts, uint64_t address)
{
	uint64_t victim, *entry;

	if (!m->ll.ways)
		return;
	entry = cache_use(&m->ll, address, &victim);
	*entry |= MODIFIED;
	leave_ll(m, counts, victim);
}

/* A line has left the second level. */
static void leave_l2(struct model *m, struct core *core, uint64_t victim)
{
	uint64_t address = victim & ~core->l2.offset;

	if (victim == NEVER || (victim & MESI) != MODIFIED)
		return;
	count(m, EV_L2_WRITEBACK_QUADWORDS, core->l2.quadwords);
	coherence_gone(m, core, address);
	hierarchy_write_back(m, m->counts, address);
}

static void leave_l1(struct model *m, struct core *core, uint64_t victim)
{
	uint64_t address = victim & ~core->l1d.offset, next, *entry;

	if (victim == NEVER || (victim & MESI) != MODIFIED)
		return;
	count(m, EV_L1_WRITEBACK_QUADWORDS, core->l1d.quadwords);
	if (!core->l2.ways) {
		coherence_gone(m, core, address);
		hierarchy_write_back(m, m->counts, address);
		return;
	}
	entry = cache_use(&core->l2, address, &next);
	*entry = (*entry & ~(uint64_t)STATES) | MODIFIED | WRITTEN;
	leave_l2(m, core, next);
}

/* The last level and what is behind it. */
static uint64_t outside(struct model *m, struct core *core, uint64_t address, enum purpose purpose,
	enum supplier supplier)
{
	int secondary = !m->cores[0].l2.ways, counted = purpose != PREFETCH;
	uint64_t victim;

	if (m->ll.ways && counted) {
		count(m, EV_LL_REFERENCES, 1);
		if (secondary)
			count(m, EV_L2_REFERENCES, 1);
	}
	if (supplier == FROM_MODIFIED)
		return clock_line(m, core, LINE_FROM_HOLDER, m->intervention);
	if (!m->ll.ways)
		return clock_line(m, core, LINE_FROM_MEMORY, m->memory);
	cache_use(&m->ll, address, &victim);
	if (victim == NEVER)
		return clock_line(m, core, LINE_FROM_LL, m->ll.latency);
	if (counted) {
		count(m, purpose == FETCH ? EV_LL_INSTRUCTION_MISSES : EV_LL_DATA_MISSES, 1);
		if (secondary)
			count(m, purpose == FETCH ? EV_L2I_MISSES : EV_L2D_MISSES, 1);
	}
	leave_ll(m, m->counts, victim);
	return clock_line(m, core, LINE_FROM_MEMORY, m->memory);
}

/*
 * A store is about to make the core's line in L1 MODIFIED, and the core has it in `state`: in L2 if
 * `l2` is not null, else in L1 alone.  Returns what that costs.
 */
static uint64_t claim(
	struct model *m, struct core *core, uint64_t address, unsigned state, uint64_t *l2)
{
	uint64_t latency = 0;

	if (state == SHARED) {
		count(m, EV_STORES_TO_SHARED, 1);
		coherence_upgrade(m, core, address);
		latency = m->intervention;
		m->sender = MODEL_CAUSE_INTERVENTION;
	} else if (state == EXCLUSIVE && !(l2 && (*l2 & WRITTEN))) {
		count(m, EV_STORES_TO_CLEAN, 1);
	}
	if (l2)
		*l2 |= WRITTEN;
	return latency;
}

/* Gets a line into L1 (and L2); *state becomes the state it has in L1. */
static uint64_t refill(
	struct model *m, struct core *core, uint64_t address, enum purpose purpose, unsigned *state)
{
	int counted = purpose != PREFETCH;
	uint64_t victim, *l2 = 0;
	enum supplier supplier;
	unsigned held;

	if (core->l2.ways) {
		if (counted)
			count(m, EV_L2_REFERENCES, 1);
		l2 = cache_use(&core->l2, address, &victim);
		if (victim == NEVER) {
			held = *l2 & MESI;
			*state = held == SHARED ? SHARED : EXCLUSIVE;
			if (purpose != STORE)
				return clock_line(m, core, LINE_FROM_L2, core->l2.latency);
			*state = MODIFIED;
			return clock_line(m, core, LINE_FROM_L2, core->l2.latency) +
			       claim(m, core, address, held, l2);
		}
		if (counted)
			count(m, purpose == FETCH ? EV_L2I_MISSES : EV_L2D_MISSES, 1);
		leave_l2(m, core, victim);
	}
	supplier = coherence_fetch(m, core, address, purpose);
	held = purpose == STORE || (supplier == FROM_OUTSIDE && purpose != FETCH) ? EXCLUSIVE
										  : SHARED;
	if (l2)
		*l2 = (*l2 & ~(uint64_t)STATES) | held | (purpose == STORE ? WRITTEN : 0);
	*state = purpose == STORE ? MODIFIED : held;
	return outside(m, core, address, purpose, supplier);
}

uint64_t hierarchy_data(struct model *m, struct core *core, uint64_t address, enum purpose purpose)
{
	uint64_t victim, latency, *entry = cache_use(&core->l1d, address, &victim);
	unsigned state;

	if (victim == NEVER) {
		state = *entry & MESI;
		if (purpose != STORE || state == MODIFIED)
			return 0;
		latency = claim(m, core, address, state, cache_find(&core->l2, address));
		*entry |= MODIFIED;
		return latency;
	}
	if (purpose != PREFETCH)
		count(m, EV_L1D_MISSES, 1);
	leave_l1(m, core, victim);
	latency = refill(m, core, address, purpose, &state);
	*entry = (*entry & ~(uint64_t)STATES) | state;
	return latency;
}

uint64_t hierarchy_fetch(struct model *m, struct core *core, uint64_t address)
{
	uint64_t victim;
	unsigned state;

	cache_use(&core->l1i, address, &victim);
	if (victim == NEVER)
		return 0;
	count(m, EV_L1I_MISSES, 1);
	return refill(m, core, address, FETCH, &state);
}

/*
 * Behind a first-level TLB, or without one in its place: the second level, or a walk.  slots: of
 * who has no first level, or null.
 */
static uint64_t translate(struct model *m, struct core *core, uint64_t address,
	enum event_number walks, struct page_slot *slots)
{
	uint64_t victim, *entry;

	if (core->stlb.ways) {
		entry = cache_use(&core->stlb, address, &victim);
		if (victim != NEVER && victim && !core->dtlb.ways)
			page_lost(m, core->data_pages, victim);
		if (victim != NEVER && victim && !core->itlb.ways)
			page_lost(m, core->fetch_pages, victim);
		if (slots)
			page_found(m, slots, &core->stlb, address, entry, NEVER);
		if (victim == NEVER)
			return slots ? 0 : m->second_tlb;
	}
	count(m, walks, 1);
	return m->walk;
}

/* Nothing translates. */
static uint64_t no_translation(
	struct model *m, struct core *core, struct page_slot *slots, uint64_t address)
{
	uint64_t page = address >> m->page_bits;

	if (page)
		*page_slot(slots, page + 1) = (struct page_slot){page + 1, &core->nothing_used};
	return 0;
}

static uint64_t translate_first(struct model *m, struct core *core, struct cache *tlb,
	struct page_slot *slots, uint64_t address, enum event_number misses,
	enum event_number walks)
{
	uint64_t victim, *entry;

	if (!tlb->ways && !core->stlb.ways)
		return no_translation(m, core, slots, address);
	if (!tlb->ways)
		return translate(m, core, address, walks, slots);
	entry = cache_use(tlb, address, &victim);
	page_found(m, slots, tlb, address, entry, victim);
	if (victim == NEVER)
		return 0;
	count(m, misses, 1);
	return translate(m, core, address, walks, (struct page_slot *)0);
}

uint64_t translate_data(struct model *m, struct core *core, uint64_t address)
{
	return translate_first(
		m, core, &core->dtlb, core->data_pages, address, EV_DTLB_MISSES, EV_DTLB_WALKS);
}

uint64_t translate_fetch(struct model *m, struct core *core, uint64_t address)
{
	return translate_first(
		m, core, &core->itlb, core->fetch_pages, address, EV_ITLB_MISSES, EV_ITLB_WALKS);
}
