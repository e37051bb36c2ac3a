/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The last level and memory, for the private caches (hierarchy.c, which describes the kinds of
 * levels).
 */
#include "model/state.h"

/* A line has left the last level. Without a second level, this is the secondary cache. */
static void leave_ll(struct model *m, struct core *core, uint64_t victim)
{
	uint64_t address = victim & ~m->ll.offset, cores;
	int dirty;

	if (victim == NEVER || !victim)
		return;
	dirty = is_dirty(victim);
	if (m->config.ll_inclusion == MODEL_INCLUSIVE) {
		for (cores = m->active; cores; cores &= cores - 1)
			dirty |= hierarchy_recall(
				m, &m->cores[__builtin_ctzll(cores)], address, m->ll.offset + 1);
		coherence_forget(m, address, m->ll.offset + 1);
	}
	if (dirty && !m->cores[0].l2.ways)
		count_at(m, core, EV_L2_WRITEBACK_QUADWORDS, m->ll.quadwords);
}

void outside_write_back(struct model *m, struct core *core, uint64_t address, int dirty)
{
	uint64_t victim, *entry;
	unsigned newer;

	if (!m->ll.ways)
		return;
	m->lasting.arrivals++;
	if (m->packed.rows && m->config.ll_inclusion != MODEL_INCLUSIVE) {
		packed_come(&m->packed, address);
		return;
	}
	if (m->packed.rows) {
		victim = packed_use(&m->packed, address, &newer);
	} else {
		entry = cache_use(&m->ll, address, &victim);
		if (dirty)
			*entry |= MODIFIED;
	}
	leave_ll(m, core, victim);
}

/* An exclusive last level gives up its copy, if it has one. */
static int take_from_exclusive(
	struct model *m, struct core *core, uint64_t address, int keep, unsigned *newer)
{
	uint64_t *entry, unused;

	if (m->packed.rows) {
		*newer = packed_take(&m->packed, address, keep);
		return *newer < PACKED_ENTRIES;
	}
	entry = cache_find(&m->ll, address);
	if (!entry)
		return 0;
	if (keep) {
		cache_use(&m->ll, address, &unused);
	} else {
		if (is_dirty(*entry) && !core->l2.ways)
			count(m, EV_L2_WRITEBACK_QUADWORDS, m->ll.quadwords);
		cache_remove(&m->ll, entry);
	}
	return 1;
}

/* Looks for the line in the last level; a null victim of LL: it was there. newer: how many of its
 * set were used since; half of them, where that is not known. */
static int ll_has(struct model *m, struct core *core, uint64_t address, enum purpose purpose,
	enum supplier supplier, uint64_t *victim, unsigned *newer)
{
	*victim = 0;
	*newer = m->config.ll.ways / 2;
	if (m->config.ll_inclusion == MODEL_EXCLUSIVE)
		return take_from_exclusive(m, core, address,
			is_code(purpose) || supplier == FROM_OUTSIDE_SHARED, newer);
	if (m->packed.rows)
		*victim = packed_use(&m->packed, address, newer);
	else
		cache_use(&m->ll, address, victim);
	m->lasting.arrivals += *victim != NEVER;
	return *victim == NEVER;
}

/* For the clock: have others replaced this line of the last level? */
static int is_gone(struct model *m, const struct core *core, unsigned newer)
{
	return core->retire && lasting_gone(&m->lasting, newer,
				       core->retire->gone >> RETIRE_CYCLE_BITS, core->clock.order);
}

/*
 * Lines that are used for the first time were written by the kernel a moment ago: it zeroes pages
 * and copies what is read. So for the retirement clock such lines, which count as misses, take no
 * longer than those of the last level, but only the first time. Code is in the kernel's memory
 * since the program's last run, or longer: where others use the last level, it is no longer there.
 * Lines are distinguished by a hash. Collisions become likely with some hundred megabytes; then one
 * of the two lines has the latency of memory.
 */
static int is_fresh(struct model *m, uint64_t address)
{
	uint64_t at = (address >> 6) * 0x9e3779b97f4a7c15u >> (64 - HAD_BITS);
	uint64_t bit = UINT64_C(1) << (at & 63);
	int fresh = !(m->had[at >> 6] & bit);

	m->had[at >> 6] |= bit;
	return fresh;
}

/* The last level and memory. */
uint64_t outside_fetch(struct model *m, struct core *core, uint64_t address, enum purpose purpose,
	enum supplier supplier)
{
	int secondary = !m->cores[0].l2.ways, counted = is_demand(purpose);
	uint64_t victim;
	unsigned newer;

	if (m->ll.ways && counted) {
		count(m, EV_LL_REFERENCES, 1);
		if (secondary)
			count(m, EV_L2_REFERENCES, 1);
	}
	if (supplier == FROM_MODIFIED)
		return clock_line(m, core, LINE_FROM_HOLDER, m->intervention);
	if (!m->ll.ways)
		return clock_line(m, core, LINE_FROM_MEMORY, m->memory);
	if (ll_has(m, core, address, purpose, supplier, &victim, &newer))
		return UNLIKELY(is_gone(m, core, newer))
			       ? clock_line(m, core, LINE_FROM_MEMORY, m->memory)
			       : clock_line(m, core, LINE_FROM_LL, m->ll.latency);
	if (counted) {
		count(m, purpose == FETCH ? EV_LL_INSTRUCTION_MISSES : EV_LL_DATA_MISSES, 1);
		if (secondary)
			count(m, purpose == FETCH ? EV_L2I_MISSES : EV_L2D_MISSES, 1);
	}
	leave_ll(m, core, victim);
	if (m->had && is_fresh(m, address) &&
		!(is_code(purpose) && lasting_has_others(&m->lasting))) {
		m->sender = sender_of(MODEL_CAUSE_MEMORY, RETIRE_TURN_LL);
		return m->ll.latency;
	}
	return clock_line(m, core, LINE_FROM_MEMORY, m->memory);
}

void outside_come_near(const struct model *m, uint64_t address, int replaces)
{
	const struct cache *c = &m->ll;
	uint64_t set;
	unsigned i;

	if (m->packed.rows) {
		__builtin_prefetch(packed_place(&m->packed, address).row, 1);
		return;
	}
	set = cache_set(c, address);
	for (i = 0; i < c->ways; i += 8) {
		__builtin_prefetch(&c->entries[set + i]);
		if (replaces && !c->policy)
			__builtin_prefetch(&c->used[set + i]);
	}
}
