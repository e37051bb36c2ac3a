/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The store buffer of a core; forward.c says what it is for.
 *
 * Stores are in a ring, in the order of the program. For each granule of a page, of eight bytes,
 * there is the last store to bytes with these bits 11..3 of their address. Most loads need none,
 * which one comparison shows; most others are of the same bytes, of this page or another. For the
 * rest each store names the one before to its granule; loads of more granules search the ring, some
 * stores at a time.
 */
#ifndef MODEL_FORWARD_H
#define MODEL_FORWARD_H

#include <stdint.h>

#include "model/cache.h"

/* Stores that are searched for forwarding; config.store_buffer may not be larger. */
#define STORES_MAX 256
/* A store of more bytes takes several entries. */
#define STORE_PIECE    64
#define STORE_BYTES    4096
#define STORE_GRANULE  8
#define STORE_GRANULES (STORE_BYTES / STORE_GRANULE)

/* One of them; size 0: none. */
struct buffered_store {
	uint64_t address, size;
};

struct store_buffer {
	uint64_t number; /* of stores so far, plus STORES_MAX + 1 */
	uint32_t window; /* how many instructions later a load can need a store */
	/* By a store's number. before: the store before to its granule; MANY_BEFORE if it is to
	 * several. */
	uint64_t address[STORES_MAX], until[STORES_MAX], before[STORES_MAX];
	uint16_t low[STORES_MAX] __attribute__((aligned(64))); /* bits of the address */
	uint16_t size[STORES_MAX] __attribute__((aligned(64)));
	uint64_t aliases; /* that the code of segments met, and are not in the counts yet */
	/* Of the last store to each granule: until, forward_exact, number. Code may read what
	 * comes after them, which does not matter. */
	uint64_t near_until[STORE_GRANULES], near_exact[STORE_GRANULES];
	uint64_t near_number[STORE_GRANULES];
};

#define MANY_BEFORE UINT64_MAX

/* Address and size of an access of one granule, in one number; others have NEVER_EXACT. */
#define NEVER_EXACT UINT64_MAX
static inline uint64_t forward_exact(uint64_t address, unsigned size)
{
	return address * STORE_GRANULE + size - 1;
}

/* forward.c. */
void forward_store(struct store_buffer *b, uint64_t address, unsigned size, uint64_t order);
/* The youngest store among the last `buffer` ones, and not more than a window before the load of
 * this order, that overlaps bits 11..0 of the load. */
struct buffered_store forward_search(const struct store_buffer *b, uint32_t buffer,
	uint64_t address, unsigned size, uint64_t order);

static inline uint64_t forward_granule(uint64_t address)
{
	return address / STORE_GRANULE % STORE_GRANULES;
}

static inline void forward_enter(
	struct store_buffer *b, uint64_t address, unsigned size, uint64_t until, uint64_t before)
{
	uint64_t at = b->number++ % STORES_MAX;

	b->address[at] = address;
	b->until[at] = until;
	b->before[at] = before;
	b->low[at] = (uint16_t)address;
	b->size[at] = (uint16_t)size;
}

/* A store within one granule. */
static inline void forward_remember(
	struct store_buffer *b, uint64_t address, unsigned size, uint64_t order)
{
	uint64_t until = order + b->window, granule = forward_granule(address);
	uint64_t before = b->near_number[granule];

	b->near_until[granule] = until;
	b->near_exact[granule] = forward_exact(address, size);
	b->near_number[granule] = b->number;
	forward_enter(b, address, size, until, before);
}

/* May the load need a store? */
static inline int forward_is_near(
	const struct store_buffer *b, uint64_t address, unsigned size, uint64_t order)
{
	uint64_t granule = address / STORE_GRANULE, last = (address + size - 1) / STORE_GRANULE;

	for (; granule <= last; granule++)
		if (b->near_until[granule % STORE_GRANULES] >= order)
			return 1;
	return 0;
}

/* The same for a load within one granule: also not, if the last store there wrote its bytes and no
 * others. */
static inline int forward_is_near_granule(
	const struct store_buffer *b, uint64_t address, unsigned size, uint64_t order)
{
	uint64_t granule = forward_granule(address);

	return UNLIKELY(b->near_until[granule] >= order) &&
	       b->near_exact[granule] != forward_exact(address, size);
}

/* As forward_search, of a load within one granule. */
static inline struct buffered_store forward_search_granule(const struct store_buffer *b,
	uint32_t buffer, uint64_t address, unsigned size, uint64_t order)
{
	uint64_t number = b->near_number[forward_granule(address)], at;

	for (; b->number - number <= buffer; number = b->before[at]) {
		at = number % STORES_MAX;
		if (b->until[at] < order)
			break;
		if ((b->low[at] - address) % STORE_BYTES < size ||
			(address - b->low[at]) % STORE_BYTES < b->size[at])
			return (struct buffered_store){b->address[at], b->size[at]};
		if (UNLIKELY(b->before[at] == MANY_BEFORE))
			return forward_search(b, buffer, address, size, order);
	}
	return (struct buffered_store){0, 0};
}

/* Did it write all bytes of the load? */
static inline int forward_covers(struct buffered_store s, uint64_t address, unsigned size)
{
	uint64_t before = address - s.address, behind = s.size - size - before;

	return (int64_t)(before | behind) >= 0;
}

/* Some of them? */
static inline int forward_overlaps(struct buffered_store s, uint64_t address, unsigned size)
{
	return address - s.address < s.size || s.address - address < size;
}

#endif
