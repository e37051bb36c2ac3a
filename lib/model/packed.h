/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A large last level with exact LRU, for hosts whose caches it does not fit into: a set is one line
 * of the host. It holds the set's entries in the order of their last uses, the latest first, and
 * then empty ones. So neither times nor ways are needed, and replacing, using and removing a line
 * moves entries by one.
 *
 * An entry is 0, or the tag plus one. The tag is the line's number divided by the number of sets.
 * Lines have no state here: with an L2 in front, and in the flavour of cachegrind, nothing depends
 * on what is dirty in the last level. Addresses have 48 bits; those above are taken for copies of
 * bit 47.
 */
#ifndef MODEL_PACKED_H
#define MODEL_PACKED_H

#include <stdint.h>

#include "model/cache.h"

#define PACKED_ENTRIES 16
#define PACKED_LINE    6 /* log2 of a line */
#define PACKED_ADDRESS 48

/*
 * Unless the last level is inclusive, nothing depends on what a line replaces that arrives from the
 * private caches. Such lines wait here, in order, while the host fetches their sets, until there
 * are 16 or one of these sets is asked for.
 */
#define PACKED_COMING 16

struct packed {
	uint32_t *rows;       /* of PACKED_ENTRIES, each a line of the host; null: not packed */
	uint64_t sets, magic; /* 2^64 / sets, rounded up */
	uint32_t ways, coming;
	uint32_t coming_sets[PACKED_COMING] __attribute__((aligned(64))); /* else PACKED_NO_SET */
	uint32_t coming_entries[PACKED_COMING];
};

#define PACKED_NO_SET UINT32_MAX

struct packed_place {
	uint32_t *row;
	uint64_t set;
	uint32_t entry;
};

/* With fewer sets tags do not fit; with more the multiplication by magic is not a division. With
 * fewer ways, rows take more room than ways with times. */
static inline int packed_serves(uint64_t sets, uint32_t ways, uint32_t line, uint32_t policy)
{
	return policy == MODEL_LRU && line == 1u << PACKED_LINE && ways >= 8 &&
	       ways <= PACKED_ENTRIES && sets >= 1u << 12 && sets < 1u << 22;
}

static inline void packed_init(struct packed *p, uint64_t sets, uint32_t ways)
{
	p->sets = sets;
	p->magic = UINT64_MAX / sets + 1;
	p->ways = ways;
	for (unsigned i = 0; i < PACKED_COMING; i++)
		p->coming_sets[i] = PACKED_NO_SET;
}

static inline struct packed_place packed_place(const struct packed *p, uint64_t address)
{
	uint64_t number = (address & ((UINT64_C(1) << PACKED_ADDRESS) - 1)) >> PACKED_LINE;
	uint64_t tag = (uint64_t)((unsigned __int128)number * p->magic >> 64);
	uint64_t set = number - tag * p->sets;

	return (struct packed_place){p->rows + set * PACKED_ENTRIES, set, (uint32_t)tag + 1};
}

/* An entry of struct cache. */
static inline uint64_t packed_line(const struct packed *p, uint64_t set, uint32_t entry)
{
	uint64_t number = (uint64_t)(entry - 1) * p->sets + set;
	int64_t address = (int64_t)(number << (PACKED_LINE + 64 - PACKED_ADDRESS));

	return (uint64_t)(address >> (64 - PACKED_ADDRESS)) | SHARED;
}

#ifdef __AVX2__
#define PACKED_HALF 8

static inline __m256i packed_half(const uint32_t *row, unsigned half)
{
	return _mm256_load_si256((const __m256i *)(const void *)(row + half * PACKED_HALF));
}

static inline void packed_set_half(uint32_t *row, unsigned half, __m256i to)
{
	_mm256_store_si256((__m256i *)(void *)(row + half * PACKED_HALF), to);
}

/* A bit for each of the 16 words that is this one. */
static inline unsigned packed_same(const uint32_t *words, uint32_t word)
{
	__m256i want = _mm256_set1_epi32((int)word);
	__m256i low = _mm256_cmpeq_epi32(packed_half(words, 0), want);
	__m256i high = _mm256_cmpeq_epi32(packed_half(words, 1), want);

	return (unsigned)_mm256_movemask_ps(_mm256_castsi256_ps(low)) |
	       (unsigned)_mm256_movemask_ps(_mm256_castsi256_ps(high)) << PACKED_HALF;
}

/* All ones in the words of this half that are before place n. */
static inline __m256i packed_before(unsigned n, unsigned half)
{
	__m256i place = _mm256_add_epi32(_mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7),
		_mm256_set1_epi32((int)(half * PACKED_HALF)));

	return _mm256_cmpgt_epi32(_mm256_set1_epi32((int)n), place);
}

/* The entry becomes the first. Those before place n move by one; the one there is gone. */
static inline void packed_push(uint32_t *row, unsigned n, uint32_t entry)
{
	const __m256i turn = _mm256_setr_epi32(7, 0, 1, 2, 3, 4, 5, 6);
	__m256i low = packed_half(row, 0), high = packed_half(row, 1);
	__m256i low_on = _mm256_permutevar8x32_epi32(low, turn);
	__m256i high_on = _mm256_permutevar8x32_epi32(high, turn);

	high_on = _mm256_blend_epi32(high_on, low_on, 1);
	low_on = _mm256_blend_epi32(
		low_on, _mm256_castsi128_si256(_mm_cvtsi32_si128((int)entry)), 1);
	packed_set_half(row, 0, _mm256_blendv_epi8(low, low_on, packed_before(n + 1, 0)));
	packed_set_half(row, 1, _mm256_blendv_epi8(high, high_on, packed_before(n + 1, 1)));
}

/* The one at place n is gone, and those after it move by one. */
static inline void packed_drop(uint32_t *row, unsigned n)
{
	const __m256i turn = _mm256_setr_epi32(1, 2, 3, 4, 5, 6, 7, 0);
	__m256i low = packed_half(row, 0), high = packed_half(row, 1);
	__m256i low_on = _mm256_permutevar8x32_epi32(low, turn);
	__m256i high_on = _mm256_permutevar8x32_epi32(high, turn);

	low_on = _mm256_blend_epi32(low_on, high_on, 0x80);
	high_on = _mm256_blend_epi32(high_on, _mm256_setzero_si256(), 0x80);
	packed_set_half(row, 0, _mm256_blendv_epi8(low_on, low, packed_before(n, 0)));
	packed_set_half(row, 1, _mm256_blendv_epi8(high_on, high, packed_before(n, 1)));
}
#else
static inline unsigned packed_same(const uint32_t *words, uint32_t word)
{
	unsigned same = 0;

	for (unsigned i = 0; i < PACKED_ENTRIES; i++)
		same |= (unsigned)(words[i] == word) << i;
	return same;
}

static inline void packed_push(uint32_t *row, unsigned n, uint32_t entry)
{
	for (; n > 0; n--)
		row[n] = row[n - 1];
	row[0] = entry;
}

static inline void packed_drop(uint32_t *row, unsigned n)
{
	for (; n + 1 < PACKED_ENTRIES; n++)
		row[n] = row[n + 1];
	row[n] = 0;
}
#endif

/* The entry's place in its row, or PACKED_ENTRIES. */
static inline unsigned packed_find(const struct packed_place *at)
{
	return (unsigned)__builtin_ctz(packed_same(at->row, at->entry) | 1u << PACKED_ENTRIES);
}

/* Puts in what has waited. */
void packed_arrive(struct packed *p);

/* packed_use where the victim does not matter. */
static inline void packed_come(struct packed *p, uint64_t address)
{
	struct packed_place at = packed_place(p, address);

	__builtin_prefetch(at.row, 1);
	p->coming_sets[p->coming] = (uint32_t)at.set;
	p->coming_entries[p->coming] = at.entry;
	if (++p->coming == PACKED_COMING)
		packed_arrive(p);
}

/* Must precede any look into the set. */
static inline void packed_settle(struct packed *p, const struct packed_place *at)
{
	if (UNLIKELY(packed_same(p->coming_sets, (uint32_t)at->set) != 0))
		packed_arrive(p);
}

/* As cache_use: returns the victim. *newer: entries of the set that were used since, if it was
 * there. */
static inline uint64_t packed_use(struct packed *p, uint64_t address, unsigned *newer)
{
	struct packed_place at = packed_place(p, address);
	unsigned n;
	uint32_t last;

	packed_settle(p, &at);
	*newer = n = packed_find(&at);
	if (n < PACKED_ENTRIES) {
		packed_push(at.row, n, at.entry);
		return UINT64_MAX;
	}
	last = at.row[p->ways - 1];
	packed_push(at.row, p->ways - 1, at.entry);
	return last ? packed_line(p, at.set, last) : 0;
}

/* The line's place in its set, or PACKED_ENTRIES. If it was there it leaves, or with keep becomes
 * the most recent. */
static inline unsigned packed_take(struct packed *p, uint64_t address, int keep)
{
	struct packed_place at = packed_place(p, address);
	unsigned n;

	packed_settle(p, &at);
	n = packed_find(&at);
	if (n == PACKED_ENTRIES)
		return n;
	if (keep)
		packed_push(at.row, n, at.entry);
	else
		packed_drop(at.row, n);
	return n;
}

#endif
