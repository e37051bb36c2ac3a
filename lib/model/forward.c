/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Store-to-load forwarding. The stores that a load may still overlap in the store buffer are the
 * last config.store_buffer ones that are at most config.window instructions old. As in real
 * processors the youngest of them whose bits 11..0 overlap with the load's decides:
 * - it really overlaps and has all bytes of the load: forwarded;
 * - it has only some of them: the load waits (a failure);
 * - it is at another page: 4 KiB aliasing. That costs time only where the store has not all bytes
 *   either that the load seems to need, and only by the retirement clock.
 *
 * A store of more than 64 bytes takes an entry for each 64.
 */
#include "model/state.h"

static void forward_push(struct store_buffer *b, uint64_t address, unsigned size, uint64_t order)
{
	uint64_t until = order + b->window, granule = address / STORE_GRANULE;

	for (; granule <= (address + size - 1) / STORE_GRANULE; granule++) {
		b->near_until[granule % STORE_GRANULES] = until;
		b->near_exact[granule % STORE_GRANULES] = NEVER_EXACT;
		b->near_number[granule % STORE_GRANULES] = b->number;
	}
	forward_enter(b, address, size, until, MANY_BEFORE);
}

void forward_store(struct store_buffer *b, uint64_t address, unsigned size, uint64_t order)
{
	for (; size > STORE_PIECE; size -= STORE_PIECE, address += STORE_PIECE)
		forward_push(b, address, STORE_PIECE, order);
	forward_push(b, address, size, order);
}

#ifdef __SSE2__
#include <emmintrin.h>
#define STORES_AT_ONCE 8u

/* A bit for each of the stores from `first` on, a multiple of STORES_AT_ONCE, that overlaps bits
 * 11..0 of the load. */
static inline unsigned forward_overlap_bits(
	const struct store_buffer *b, uint64_t first, uint64_t address, unsigned size)
{
	const __m128i page = _mm_set1_epi16(STORE_BYTES - 1);
	__m128i low = _mm_load_si128((const __m128i *)(const void *)&b->low[first]);
	__m128i sizes = _mm_load_si128((const __m128i *)(const void *)&b->size[first]);
	__m128i load = _mm_set1_epi16((short)address);
	__m128i behind = _mm_and_si128(_mm_sub_epi16(low, load), page);
	__m128i before = _mm_and_si128(_mm_sub_epi16(load, low), page);
	__m128i overlap = _mm_or_si128(_mm_cmplt_epi16(behind, _mm_set1_epi16((short)size)),
		_mm_cmplt_epi16(before, sizes));

	return (unsigned)_mm_movemask_epi8(_mm_packs_epi16(overlap, _mm_setzero_si128()));
}
#else
#define STORES_AT_ONCE 1u

static inline unsigned forward_overlap_bits(
	const struct store_buffer *b, uint64_t first, uint64_t address, unsigned size)
{
	unsigned behind = (b->low[first] - (unsigned)address) % STORE_BYTES;
	unsigned before = ((unsigned)address - b->low[first]) % STORE_BYTES;

	return behind < size || before < b->size[first];
}
#endif

/* The number of the last store to the load's granules. */
static uint64_t forward_last(const struct store_buffer *b, uint64_t address, unsigned size)
{
	uint64_t granule = address / STORE_GRANULE, last = (address + size - 1) / STORE_GRANULE;
	uint64_t number = b->near_number[granule++ % STORE_GRANULES], other;

	for (; granule <= last; granule++) {
		other = b->near_number[granule % STORE_GRANULES];
		number = other > number ? other : number;
	}
	return number;
}

NOINLINE struct buffered_store forward_search(const struct store_buffer *b, uint32_t buffer,
	uint64_t address, unsigned size, uint64_t order)
{
	const struct buffered_store none = {0, 0};
	uint64_t at, number, oldest = b->number - buffer;
	unsigned bits, lane;

	if (size > STORE_BYTES)
		size = STORE_BYTES;
	number = forward_last(b, address, size);
	while (number >= oldest) {
		at = number % STORES_MAX;
		lane = at % STORES_AT_ONCE;
		if (b->until[at] < order)
			break;
		bits = forward_overlap_bits(b, at - lane, address, size) & ((2u << lane) - 1);
		if (!bits) {
			number -= lane + 1;
			continue;
		}
		lane -= 31 ^ (unsigned)__builtin_clz(bits);
		at -= lane;
		return number - lane < oldest || b->until[at] < order
			       ? none
			       : (struct buffered_store){b->address[at], b->size[at]};
	}
	return none;
}

/* How many stores ago was this one, which is among the last? 1: it is the last one. */
static uint64_t forward_since(const struct store_buffer *b, struct buffered_store s)
{
	uint64_t since = 1;

	while (since < STORES_MAX && (b->address[(b->number - since) % STORES_MAX] != s.address ||
					     b->size[(b->number - since) % STORES_MAX] != s.size))
		since++;
	return since;
}

void forward_load(struct model *m, struct core *core, uint64_t address, unsigned size)
{
	struct buffered_store s = forward_from(m, core, address, size, core->clock.order);

	if (!s.size || forward_covers(s, address, size))
		return;
	if (forward_overlaps(s, address, size)) {
		count(m, EV_STORE_FORWARD_FAILURES, 1);
		core->clock.back += m->forward;
		note(m, core, RETIRE_FORWARD, MODEL_CAUSE_FORWARD, m->forward, address);
	} else {
		count(m, EV_ALIASES_4K, 1);
		if (forward_delays(m, core, s, address, size))
			note(m, core, RETIRE_ALIAS, MODEL_CAUSE_ALIAS, m->alias,
				forward_since(&core->stores, s));
	}
}
