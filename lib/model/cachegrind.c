/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The variant that imitates cachegrind's simulation (Valgrind 3.19, its manual's section
 * "Simulation Details"), so that the two can be compared miss by miss:
 *
 * - two levels: L1I and L1D, then LL; exact LRU; loads and stores alike; nothing is ever
 *   invalidated; one set of caches for all threads;
 * - an access that crosses from one line to the next touches both in that order, and is one miss if
 *   either is;
 * - one that misses L1 touches LL by the same rule with the line size of LL;
 * - an access longer than the smallest line of the three caches is cut to that length;
 * - a further iteration of a rep instruction fetches the instruction again.
 *
 * Cachegrind counts a load and a store of the same bytes by one instruction as one access. Here
 * they are two; the misses are the same, because the store hits the line that the load fetched.
 */
#include "model/state.h"

/* core: the owner of its first level, if it is one. */
static int misses(
	struct model *m, struct core *core, struct cache *c, uint64_t address, unsigned size)
{
	uint64_t last = address + size - 1, victim, second;
	int missed;

	if (c == &core->l1i)
		fetched_replace(m, core, address);
	cache_use(c, address, &victim);
	missed = victim != NEVER;
	if (c == &core->l1d)
		slot_drop(core, victim);
	if (address >> c->bits != last >> c->bits) {
		if (c == &core->l1i)
			fetched_replace(m, core, last);
		cache_use(c, last, &second);
		missed |= second != NEVER;
		if (c == &core->l1d)
			slot_drop(core, second);
	}
	return missed;
}

int cachegrind_misses_last(struct model *m, struct core *core, uint64_t address, unsigned size)
{
	uint64_t last = address + size - 1;
	unsigned newer;
	int missed;

	if (!m->packed.rows)
		return misses(m, core, &m->ll, address, size);
	missed = packed_use(&m->packed, address, &newer) != NEVER;
	if (address >> PACKED_LINE != last >> PACKED_LINE)
		missed |= packed_use(&m->packed, last, &newer) != NEVER;
	return missed;
}

static uint64_t refer(struct model *m, struct core *core, struct cache *l1, uint64_t address,
	unsigned size, enum event_number l1_misses, enum event_number l2_misses,
	enum event_number ll_misses)
{
	if (size > m->least_line)
		size = m->least_line;
	if (m->packed.rows)
		outside_come_near(m, address, 1);
	if (!misses(m, core, l1, address, size))
		return 0;
	count(m, l1_misses, 1);
	count(m, EV_LL_REFERENCES, 1);
	count(m, EV_L2_REFERENCES, 1); /* LL is the secondary cache here */
	if (!cachegrind_misses_last(m, core, address, size))
		return m->ll.latency;
	count(m, l2_misses, 1);
	count(m, ll_misses, 1);
	return m->memory;
}

uint64_t cachegrind_data(struct model *m, struct core *core, uint64_t address, unsigned size)
{
	if (m->batch.on) {
		batch_data(m, address, size < m->least_line ? size : m->least_line);
		return 0;
	}
	return refer(m, core, &core->l1d, address, size, EV_L1D_MISSES, EV_L2D_MISSES,
		EV_LL_DATA_MISSES);
}

uint64_t cachegrind_fetch(struct model *m, struct core *core, uint64_t address, unsigned size)
{
	if (m->batch.on) {
		batch_code(m, address, size);
		return 0;
	}
	return refer(m, core, &core->l1i, address, size, EV_L1I_MISSES, EV_L2I_MISSES,
		EV_LL_INSTRUCTION_MISSES);
}

uint64_t cachegrind_line(struct model *m, struct core *core, uint64_t line)
{
	struct cache *l1d = &core->l1d;
	uint32_t found;
	uint64_t *entry = cache_search(l1d, cache_set(l1d, line), line, &found);
	uint64_t victim = *entry & ~UNSEEN;

	if (!found) {
		if (m->packed.rows)
			outside_come_near(m, line, 1);
		if (victim)
			slot_drop(core, victim);
		*entry = line | SHARED;
		m->counts[EV_L1D_MISSES]++;
		m->counts[EV_LL_REFERENCES]++;
		m->counts[EV_L2_REFERENCES]++;
		if (cachegrind_misses_last(m, core, line, 1)) {
			m->counts[EV_L2D_MISSES]++;
			m->counts[EV_LL_DATA_MISSES]++;
		}
	}
	cache_touch(l1d, entry);
	return (uint64_t)(entry - l1d->entries);
}

int cachegrind_is_usual(const struct model *m, const struct core *core)
{
	const struct cache *l1d = &core->l1d;

	return m->cachegrind && core->slotted && !m->timed && l1d->bits == 6 && m->ll.bits == 6 &&
	       m->least_line == 64 && m->page_bits == 12 && l1d->policy == MODEL_LRU &&
	       !(m->parts & MODEL_PART_STORES);
}
