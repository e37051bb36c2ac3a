/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Store-to-load forwarding.  The stores that a load may still meet in the store buffer are the last
 * config.store_buffer ones that are at most config.window instructions old.  As in real processors
 * the youngest of them whose bits 11..0 overlap with the load's decides: it overlaps in truth and
 * holds all bytes of the load: forwarded; it holds only some: the load waits (a failure); it is at
 * another page: 4 KiB aliasing, counted and without cost.
 *
 * A table by bits 11..3 says which store came last to each eight bytes of a page, so that most
 * loads are settled by one look; the others go through the buffer, youngest first.
 */
#include "model/state.h"

#define PAGE_BITS 4095u

void forward_store(struct store_buffer *b, uint64_t address, unsigned size, uint64_t order)
{
	struct buffered_store *s = &b->ring[b->number % STORES_MAX];
	uint64_t granule = address >> 3, last = (address + size - 1) >> 3;

	s->address = address;
	s->size = size;
	s->order = order;
	if (last - granule >= STORE_GRANULES)
		last = granule + STORE_GRANULES - 1;
	for (;; granule++) {
		b->last[granule % STORE_GRANULES] = (uint32_t)b->number;
		if (granule == last)
			break;
	}
	b->number++;
}

/* Do the bits 11..0 of the load's and the store's bytes overlap? */
static int meets(const struct buffered_store *s, uint64_t address, unsigned size)
{
	return ((address - s->address) & PAGE_BITS) < s->size ||
	       ((s->address - address) & PAGE_BITS) < size;
}

static void look_back(struct model *m, struct core *core, uint64_t address, unsigned size)
{
	const struct store_buffer *b = &core->stores;
	uint32_t back;

	for (back = 1; back <= m->config.store_buffer; back++) {
		const struct buffered_store *s = &b->ring[(b->number - back) % STORES_MAX];

		if (!s->size || core->clock.order - s->order > m->config.window)
			return;
		if (!meets(s, address, size))
			continue;
		if (address - s->address < s->size && address - s->address + size <= s->size)
			return;
		if (address - s->address < s->size || s->address - address < size) {
			m->counts[EV_STORE_FORWARD_FAILURES]++;
			core->clock.back += m->forward;
		} else {
			m->counts[EV_ALIASES_4K]++;
		}
		return;
	}
}

void forward_load(struct model *m, struct core *core, uint64_t address, unsigned size)
{
	const struct store_buffer *b = &core->stores;
	uint64_t granule = address >> 3, last = (address + size - 1) >> 3;

	if (last - granule >= STORE_GRANULES)
		last = granule + STORE_GRANULES - 1;
	for (;; granule++) {
		uint32_t number = b->last[granule % STORE_GRANULES];
		const struct buffered_store *s = &b->ring[number % STORES_MAX];

		if ((uint32_t)b->number - number <= m->config.store_buffer) {
			/* If this holds all of the load, no younger one meets it unless through
			 * other granules. */
			if (granule == last && granule == address >> 3 &&
				address - s->address < s->size &&
				address - s->address + size <= s->size)
				return;
			break;
		}
		if (granule == last)
			return;
	}
	look_back(m, core, address, size);
}
