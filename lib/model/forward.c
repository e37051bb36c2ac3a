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
 * The youngest store is found by byte: see forward.h.
 */
#include "model/state.h"

/* A load or store within one granule, of at most the `size` bytes that are left. */
static unsigned within_granule(uint64_t address, unsigned size)
{
	unsigned room = 8 - (unsigned)(address & 7);

	return size < room ? size : room;
}

/* So that no number comes round. */
NOINLINE void forward_age(struct store_buffer *b)
{
	for (unsigned i = 0; i < STORE_BYTES; i++)
		if ((uint16_t)(b->number - b->numbers[i]) > STORES_OLD)
			b->numbers[i] = (uint16_t)(b->number - STORES_OLD);
	b->aging = b->number + STORES_OLD;
}

static void forward_push(struct store_buffer *b, uint64_t address, unsigned size, uint64_t order)
{
	b->ring[b->number % STORES_MAX] = (struct buffered_store){
		.address = address,
		.size = size,
		.order = (uint32_t)order,
	};
	while (size) {
		unsigned n = within_granule(address, size);

		forward_mark(b, address, n);
		b->orders[address / 8 % (STORE_BYTES / 8)] = (uint32_t)order;
		address += n;
		size -= n;
	}
	if (++b->number >= b->aging)
		forward_age(b);
}

NOINLINE unsigned forward_back_far(const struct store_buffer *b, uint64_t address, unsigned size)
{
	unsigned least = UINT16_MAX;

	if (size > STORE_BYTES)
		size = STORE_BYTES;
	while (size) {
		unsigned n = within_granule(address, size);
		unsigned back = forward_back_near(b, address, n);

		least = back < least ? back : least;
		address += n;
		size -= n;
	}
	return least;
}

void forward_store(struct store_buffer *b, uint64_t address, unsigned size, uint64_t order)
{
	for (; size > STORE_PIECE; size -= STORE_PIECE, address += STORE_PIECE)
		forward_push(b, address, STORE_PIECE, order);
	forward_push(b, address, size, order);
}

void forward_load(struct model *m, struct core *core, uint64_t address, unsigned size)
{
	const struct buffered_store *s = forward_from(m, core, address, size, core->clock.order);

	if (!s || forward_covers(s, address, size))
		return;
	if (address - s->address < s->size || s->address - address < size) {
		count(m, EV_STORE_FORWARD_FAILURES, 1);
		core->clock.back += m->forward;
		note(m, core, RETIRE_FORWARD, MODEL_CAUSE_FORWARD, m->forward, address);
	} else {
		count(m, EV_ALIASES_4K, 1);
	}
}
