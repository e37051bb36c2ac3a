/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The store buffer of a core; forward.c says what it is for.
 *
 * For each byte of a page there is the number of the last store to a byte with these bits 11..0 of
 * its address. So the youngest store that overlaps a load is the one with the largest number among
 * the load's bytes: one vector of eight numbers for a granule, which has eight bytes. Most loads
 * overlap none that is recent; the order of the last store to each granule shows that first.
 */
#ifndef MODEL_FORWARD_H
#define MODEL_FORWARD_H

#include <stdint.h>

#include "model/cache.h"

#ifdef __SSE4_1__
#include <smmintrin.h>
#endif

/* Stores that are searched for forwarding; config.store_buffer may not be larger. */
#define STORES_MAX 256
/* A store of more bytes takes several entries. */
#define STORE_PIECE 64
#define STORE_BYTES 4096
/* Numbers have 16 bits. Before one could come round, those of older stores become so old. */
#define STORES_OLD 16384

struct buffered_store {
	uint64_t address;
	uint32_t order; /* the low bits of the clock's */
	uint32_t size;
};

struct store_buffer {
	uint64_t number; /* of stores so far, plus STORES_MAX + 1 */
	uint64_t aging;  /* the number from which on forward_age is due */
	struct buffered_store ring[STORES_MAX];
	uint32_t orders[STORE_BYTES / 8]; /* of the last store to each granule */
	uint16_t numbers[STORE_BYTES] __attribute__((aligned(64)));
};

/* forward.c. */
void forward_store(struct store_buffer *b, uint64_t address, unsigned size, uint64_t order);
void forward_age(struct store_buffer *b);
unsigned forward_back_far(const struct store_buffer *b, uint64_t address, unsigned size);

/* A bit for each byte of the granule that is among these. */
static inline unsigned forward_bytes(uint64_t address, unsigned size)
{
	return ((1u << size) - 1) << (address & 7);
}

#ifdef __SSE4_1__
/* All ones for each of these bits. */
static inline __m128i forward_mask(unsigned bytes)
{
	const __m128i bits = _mm_setr_epi16(1, 2, 4, 8, 16, 32, 64, 128);

	return _mm_cmpeq_epi16(_mm_and_si128(_mm_set1_epi16((short)bytes), bits), bits);
}
#endif

/* Distance to the youngest store to bytes of one granule of any page. */
static inline unsigned forward_back_near(
	const struct store_buffer *b, uint64_t address, unsigned size)
{
	const uint16_t *numbers = &b->numbers[address % STORE_BYTES & ~UINT64_C(7)];
	unsigned bytes = forward_bytes(address, size);
#ifdef __SSE4_1__
	__m128i back = _mm_sub_epi16(_mm_set1_epi16((short)b->number),
		_mm_load_si128((const __m128i *)(const void *)numbers));
	__m128i others = forward_mask(~bytes);

	return (uint16_t)_mm_cvtsi128_si32(_mm_minpos_epu16(_mm_or_si128(back, others)));
#else
	unsigned least = UINT16_MAX;

	for (unsigned i = 0; i < 8; i++) {
		unsigned back = (uint16_t)(b->number - numbers[i]);

		least = bytes >> i & 1 && back < least ? back : least;
	}
	return least;
#endif
}

/* Store number b->number is to these bytes of a granule. */
static inline void forward_mark(struct store_buffer *b, uint64_t address, unsigned size)
{
	uint16_t *numbers = &b->numbers[address % STORE_BYTES & ~UINT64_C(7)];
	unsigned bytes = forward_bytes(address, size);
#ifdef __SSE4_1__
	__m128i *to = (__m128i *)(void *)numbers, number = _mm_set1_epi16((short)b->number);

	if (LIKELY(size == 8))
		_mm_store_si128(to, number);
	else
		_mm_store_si128(
			to, _mm_blendv_epi8(_mm_load_si128(to), number, forward_mask(bytes)));
#else
	for (unsigned i = 0; i < 8; i++)
		numbers[i] = bytes >> i & 1 ? (uint16_t)b->number : numbers[i];
#endif
}

/* A store within one granule. */
static inline void forward_remember(
	struct store_buffer *b, uint64_t address, unsigned size, uint64_t order)
{
	struct buffered_store *s = &b->ring[b->number % STORES_MAX];

	s->address = address;
	s->size = size;
	s->order = (uint32_t)order;
	forward_mark(b, address, size);
	b->orders[address / 8 % (STORE_BYTES / 8)] = (uint32_t)order;
	if (UNLIKELY(++b->number >= b->aging))
		forward_age(b);
}

/* Was there a store to one of the load's granules not more than `window` instructions before? */
static inline int forward_is_near(const struct store_buffer *b, uint32_t window, uint64_t address,
	unsigned size, uint64_t order)
{
	uint64_t granule = address >> 3, last = (address + size - 1) >> 3;

	for (; granule <= last; granule++)
		if ((uint32_t)order - b->orders[granule % (STORE_BYTES / 8)] <= window)
			return 1;
	return 0;
}

/* The youngest store among the last `buffer` ones, and not more than `window` instructions before
 * the load of this order, that overlaps bits 11..0 of the load; else null. */
static inline const struct buffered_store *forward_youngest(const struct store_buffer *b,
	uint32_t buffer, uint32_t window, uint64_t address, unsigned size, uint64_t order)
{
	const struct buffered_store *s;
	unsigned back;

	if (LIKELY(!forward_is_near(b, window, address, size, order)))
		return (const struct buffered_store *)0;
	back = (address & 7) + size <= 8 ? forward_back_near(b, address, size)
					 : forward_back_far(b, address, size);
	if (LIKELY(back > buffer))
		return (const struct buffered_store *)0;
	s = &b->ring[(b->number - back) % STORES_MAX];
	return (uint32_t)order - s->order > window ? (const struct buffered_store *)0 : s;
}

/* Did it write all bytes of the load? */
static inline int forward_covers(const struct buffered_store *s, uint64_t address, unsigned size)
{
	uint64_t before = address - s->address, behind = (uint64_t)s->size - size - before;

	return (int64_t)(before | behind) >= 0;
}

#endif
