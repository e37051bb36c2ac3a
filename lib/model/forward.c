/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Store-to-load forwarding. The stores that a load may still overlap in the store buffer are the
 * last config.store_buffer ones that are at most config.window instructions old. As in real
 * processors the youngest of them whose bits 11..0 overlap with the load's decides:
 * - it really overlaps and has all bytes of the load: forwarded;
 * - it has only some of them: the load waits (a failure);
 * - it is at another page: 4 KiB aliasing, counted and without cost.
 *
 * A store of more than 64 bytes takes an entry for each 64.
 *
 * A table by bits 11..3 has the last store to each eight bytes of a page, and each store has the
 * one before it there, so that a load compares only stores to nearby bytes.
 */
#include "model/state.h"

static void forward_push(struct store_buffer *b, uint64_t address, unsigned size, uint64_t order)
{
	struct buffered_store *s = &b->ring[b->number % STORES_MAX];
	uint64_t granule = address >> 3;
	unsigned i, span = (unsigned)((address & 7) + size + 7) >> 3;

	s->address = address;
	s->size = size;
	s->order = (uint32_t)order;
	for (i = 0; i < span; i++) {
		struct last_store *last = &b->last[(granule + i) % STORE_GRANULES];

		b->before[i][b->number % STORES_MAX] = last->number;
		*last = last_store(address, size, order, b->number);
	}
	b->number++;
}

void forward_store(struct store_buffer *b, uint64_t address, unsigned size, uint64_t order)
{
	for (; size > STORE_PIECE; size -= STORE_PIECE, address += STORE_PIECE)
		forward_push(b, address, STORE_PIECE, order);
	forward_push(b, address, size, order);
}

void forward_load(struct model *m, struct core *core, uint64_t address, unsigned size)
{
	const struct store_buffer *b = &core->stores;
	const struct buffered_store *s;
	uint64_t granule = address >> 3;
	unsigned i, span = (unsigned)((address & 7) + size + 7) >> 3;
	uint32_t youngest = 0;

	if (span == 1 && forward_settled(m, core, address, size))
		return;
	if (span > STORE_GRANULES)
		span = STORE_GRANULES;
	for (i = 0; i < span; i++) {
		uint32_t back =
			forward_look_back(m, b, granule + i, address, size, core->clock.order);

		if (back && (!youngest || back < youngest))
			youngest = back;
	}
	if (!youngest)
		return;
	s = &b->ring[(b->number - youngest) % STORES_MAX];
	if (address - s->address < s->size && address - s->address + size <= s->size)
		return;
	if (address - s->address < s->size || s->address - address < size) {
		count(m, EV_STORE_FORWARD_FAILURES, 1);
		core->clock.back += m->forward;
		note(m, core, RETIRE_FORWARD, MODEL_CAUSE_FORWARD, m->forward, address);
	} else {
		count(m, EV_ALIASES_4K, 1);
	}
}
