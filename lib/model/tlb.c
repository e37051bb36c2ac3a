/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Translations, below the fast paths: first-level TLBs for instructions and data, a second level for
 * both, and walks of the page table.
 */
#include "model/state.h"

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
