/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * MESI between the cores' private data caches and second levels, with a directory, after the
 * R10000's external requests (perfex events 12, 13, 28 to 31; Zagha et al., section 4).
 *
 * The unit of coherence is the larger of the first-level data line and the second-level line.  A
 * core has a unit in the highest state of any copy in its L1D, L1I (always SHARED) and L2:
 * EXCLUSIVE and MODIFIED mean that no other core has it.
 *
 * - A load that misses in a core's private caches, where another core owns the unit (EXCLUSIVE or
 *   MODIFIED), sends the owner an intervention; both have it SHARED afterwards and modified data
 *   are written back.
 * - A store that misses sends the owner an intervention, or each sharer an invalidation; all lose
 *   it.
 * - A store to a SHARED line sends invalidations to the other sharers.
 * - Instruction fetches request SHARED, for each unit of the line.
 *
 * Counts go to the core that receives a request: EV_INTERVENTIONS and EV_INVALIDATIONS for each,
 * the _HITS if it still had the line.  It may have lost it, because the directory is updated when a
 * core writes its modified data back but not when a clean line is dropped.  So the directory is a
 * table of the cores that fetched a unit.  If a unit is not in it (another replaced it), requests
 * go to all active cores, and those without the unit are not counted. The state that a line gets
 * depends only on the real copies, never on the directory.
 *
 * While only one core has ever run, there are no requests.  Cost: one lookup in the directory and
 * one probe per holder on each miss of the private caches.
 */
#include "model/objects.h"
#include "model/state.h"
#include "model/watch.h"

#define DIRECTORY_VALID 1
#define DIRECTORY_OWNED 2

static struct directory_entry *directory_at(struct model *m, uint64_t unit)
{
	uint64_t hash = unit * UINT64_C(0x9E3779B97F4A7C15);

	return &m->directory[hash >> (64 - DIRECTORY_BITS)];
}

static int directory_knows(const struct directory_entry *d, uint64_t unit)
{
	return (d->unit & ~(uint64_t)DIRECTORY_OWNED) == (unit | DIRECTORY_VALID);
}

/* The highest state of any copy in the core's private data caches. */
static unsigned coherence_probe(struct model *m, const struct core *core, uint64_t unit)
{
	const uint64_t *entry = cache_find(&core->l2, unit);
	unsigned state = entry ? *entry & MESI : INVALID;
	uint64_t a, code = unit & ~core->l1i.offset;

	for (a = unit; a <= unit + m->unit && a >= unit; a += core->l1d.offset + 1) {
		entry = cache_find(&core->l1d, a);
		if (entry && (*entry & MESI) > state)
			state = *entry & MESI;
	}
	for (a = code; state == INVALID && a <= unit + m->unit && a >= code;
		a += core->l1i.offset + 1)
		if (cache_find(&core->l1i, a))
			state = SHARED;
	return state;
}

/* All copies become `state` (INVALID: they go); data that are modified and not handed on go
 * outside. */
static void set_state(struct model *m, struct core *core, uint64_t unit, unsigned state)
{
	uint64_t *entry = cache_find(&core->l2, unit), a;

	if (entry && state == INVALID)
		cache_remove(&core->l2, entry);
	else if (entry)
		*entry = (*entry & ~(uint64_t)STATES) | state;
	for (a = unit; a <= unit + m->unit && a >= unit; a += core->l1d.offset + 1) {
		entry = cache_find(&core->l1d, a);
		slot_drop(core, a);
		if (entry && state == INVALID)
			cache_remove(&core->l1d, entry);
		else if (entry)
			*entry = (*entry & ~(uint64_t)STATES) | state;
	}
	if (state == INVALID)
		hierarchy_forget_code(m, core, unit, m->unit + 1);
}

/* A core that had the unit MODIFIED shares it from now on. */
static void write_out(struct model *m, struct core *holder, uint64_t unit)
{
	uint32_t quadwords = holder->l2.ways ? holder->l2.quadwords : holder->l1d.quadwords;

	holder->counts[holder->l2.ways ? EV_L2_WRITEBACK_QUADWORDS : EV_L1_WRITEBACK_QUADWORDS] +=
		quadwords;
	outside_write_back(m, holder, unit, 1);
}

/* Counts an event on another core for the unit's data. */
static void charge(struct model *m, unsigned event, uint64_t unit)
{
	if (UNLIKELY(m->watch != 0) && m->watch->objects)
		objects_count(m->watch->objects, m, event, 1,
			m->accessed - unit <= m->unit ? m->accessed : unit);
}

static void count_request(struct model *m, uint64_t *counts, unsigned event, unsigned hits,
	unsigned state, uint64_t unit)
{
	counts[event]++;
	charge(m, event, unit);
	if (state == INVALID)
		return;
	counts[hits]++;
	charge(m, hits, unit);
}

/* The request for one other core; returns the state in which that had the unit. */
static unsigned request(
	struct model *m, struct core *other, uint64_t unit, int exclusive, int known, int owned)
{
	unsigned state = coherence_probe(m, other, unit);
	uint64_t *counts = other->counts;

	if (state >= EXCLUSIVE || (owned && state == INVALID))
		count_request(m, counts, EV_INTERVENTIONS, EV_INTERVENTION_HITS, state, unit);
	else if (exclusive && (known || state != INVALID))
		count_request(m, counts, EV_INVALIDATIONS, EV_INVALIDATION_HITS, state, unit);
	if (state == INVALID)
		return state;
	if (!exclusive && state == MODIFIED)
		write_out(m, other, unit);
	if (exclusive)
		set_state(m, other, unit, INVALID);
	else if (state >= EXCLUSIVE)
		set_state(m, other, unit, SHARED);
	return state;
}

/* fetched: the core does not have the unit. */
static enum supplier ask_others(struct model *m, struct core *core, uint64_t address, int exclusive,
	int take_ownership, int fetched)
{
	uint64_t unit = address & ~m->unit, self = UINT64_C(1) << core->number;
	uint64_t others = m->active & ~self, found = 0;
	struct directory_entry *d;
	int known, owned, modified = 0;

	if (!others)
		return FROM_OUTSIDE;
	d = directory_at(m, unit);
	known = directory_knows(d, unit);
	owned = known && (d->unit & DIRECTORY_OWNED);
	if (known)
		others &= d->holders;
	while (others) {
		unsigned number = (unsigned)__builtin_ctzll(others);
		unsigned state = request(m, &m->cores[number], unit, exclusive, known, owned);

		others &= others - 1;
		if (state != INVALID)
			found |= UINT64_C(1) << number;
		modified |= state == MODIFIED;
	}
	if (found && take_ownership && UNLIKELY(m->watch != 0) && m->watch->objects)
		objects_request(m->watch->objects, m, unit, fetched);
	if (exclusive || (!found && take_ownership)) {
		d->unit = unit | DIRECTORY_VALID | DIRECTORY_OWNED;
		d->holders = self;
	} else {
		d->unit = unit | DIRECTORY_VALID;
		d->holders = found | self;
	}
	return modified ? FROM_MODIFIED : found && !exclusive ? FROM_OUTSIDE_SHARED : FROM_OUTSIDE;
}

void coherence_come_near(struct model *m, uint64_t address)
{
	__builtin_prefetch(directory_at(m, address & ~m->unit), 1);
}

enum supplier coherence_fetch(
	struct model *m, struct core *core, uint64_t address, enum purpose purpose)
{
	uint64_t unit = address & ~m->unit;
	enum supplier supplier = FROM_OUTSIDE, one;

	if (!is_code(purpose))
		return ask_others(m, core, address, purpose == STORE, 1, 1);
	do {
		one = ask_others(m, core, unit, 0, 0, 1);
		if (one > supplier)
			supplier = one;
		unit += m->unit + 1;
	} while (unit <= (address | m->fetch_line) && unit);
	return supplier;
}

void coherence_upgrade(struct model *m, struct core *core, uint64_t address)
{
	uint64_t unit = address & ~m->unit;

	ask_others(m, core, address, 1, 1, 0);
	if (coherence_probe(m, core, unit) == SHARED)
		set_state(m, core, unit, EXCLUSIVE);
}

/* The core has written the unit's data back out of its private caches. */
void coherence_gone(struct model *m, struct core *core, uint64_t address)
{
	uint64_t unit = address & ~m->unit;
	struct directory_entry *d;

	if (!(m->active & ~(UINT64_C(1) << core->number)))
		return;
	d = directory_at(m, unit);
	if (directory_knows(d, unit) && d->holders == UINT64_C(1) << core->number &&
		coherence_probe(m, core, unit) == INVALID)
		d->unit = d->holders = 0;
}

void coherence_forget(struct model *m, uint64_t address, uint64_t bytes)
{
	uint64_t first = address & ~m->unit, unit;
	struct directory_entry *d;

	if (!m->directory)
		return;
	for (unit = first; unit <= address + bytes - 1 && unit >= first; unit += m->unit + 1) {
		d = directory_at(m, unit);
		if (directory_knows(d, unit))
			d->unit = d->holders = 0;
	}
}
