/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A set-associative array: the caches, and (with pages for lines) the TLBs. Exact LRU replacement
 * is done here, other policies in policy.c.
 *
 * An entry is the line's address with its state in the low bits, which are free because a line has
 * at least 16 bytes; 0 is an empty way. Each way has the time of its last use; an empty one has 0,
 * so that the oldest way of a set is the one to fill. A small table has, for the low bits of a line
 * number, the last position of such a line: most hits cost one comparison whatever the
 * associativity, and only the others search their set.
 */
#ifndef MODEL_CACHE_H
#define MODEL_CACHE_H

#include <stdint.h>

#include "model/model.h"

#define NOINLINE    __attribute__((noinline))
#define LIKELY(x)   __builtin_expect(!!(x), 1)
#define UNLIKELY(x) __builtin_expect(!!(x), 0)

enum line_state {
	INVALID = 0,
	SHARED = 1,
	EXCLUSIVE = 2, /* clean, and in no other core */
	MODIFIED = 3,
	MESI = 3,       /* mask of the above */
	WRITTEN = 4,    /* in the second level: a store has gone to the first-level copy */
	WATCHED = 4,    /* in the first level: see hierarchy.c */
	PREFETCHED = 8, /* and not used since */
	STATES = 15,    /* mask of all state bits */
};

static inline int is_dirty(uint64_t entry)
{
	return (entry & MESI) == MODIFIED;
}

/* In an entry: cache_guess and similar must not find the line, so that its next use takes the slow
 * path. (No address of a program has this bit.) */
#define UNSEEN (UINT64_C(1) << 63)

/* State of a set for policies other than LRU. */
struct policy_set {
	uint64_t bits;   /* see policy.c */
	uint64_t filled; /* bit 2w: way w < 32 is not empty */
	uint64_t last;   /* the way that was used last */
};

struct cache {
	uint64_t *entries; /* ways of set 0, of set 1 ... */
	uint64_t *used;    /* when */
	uint16_t *hints;   /* by the low bits of the line number: index of an entry */
	uint64_t hint_mask;
	uint64_t *time;     /* the model's clock of uses */
	uint64_t mask;      /* sets - 1, if that is a power of two */
	uint64_t sets;      /* else the number of sets, for a division; 0 when mask serves */
	uint64_t offset;    /* line - 1 */
	uint32_t ways;      /* 0: the cache does not exist */
	uint32_t bits;      /* log2 of the line */
	uint64_t latency;   /* slots */
	uint32_t quadwords; /* 16-byte units in a line */
	uint32_t policy;    /* enum model_policy */
	uint32_t front;     /* fast paths look into it */
	struct policy_set *policy_sets; /* for others than LRU: one a set */
	uint64_t random;                /* deterministic */
	uint64_t recent; /* of a TLB with such a policy: number of the page used last, plus one */
};

/* Ages of srrip and qlru: two bits a way. */
static inline unsigned age(const struct policy_set *s, uint32_t way)
{
	return s->bits >> 2 * way & 3;
}

static inline void set_age(struct policy_set *s, uint32_t way, unsigned to)
{
	s->bits = (s->bits & ~(UINT64_C(3) << 2 * way)) | (uint64_t)to << 2 * way;
}

/* A bit of each age. */
#define AGES UINT64_C(0x5555555555555555)

/* Ages all ways except one until the oldest of them is 3. */
static inline void qlru_age(struct policy_set *s, uint32_t but)
{
	uint64_t others = s->filled & ~(UINT64_C(1) << 2 * but), bits, more;

	bits = s->bits & others * 3;
	if (!others || bits & bits >> 1 & AGES)
		return;
	more = bits & ~AGES ? 1 : bits ? 2 : 3;
	s->bits += others * more;
}

static inline void qlru_hit(struct policy_set *s, uint32_t way)
{
	set_age(s, way, 0);
	qlru_age(s, way);
}

/* A power of two, a few times the lines of a first-level cache. */
#define HINTS 2048

/* The set of the line with this number. */
static inline uint64_t cache_set_number(const struct cache *c, uint64_t number)
{
	return UNLIKELY(c->sets != 0) ? number % c->sets : number & c->mask;
}

/* Index of its first entry. */
static inline uint64_t cache_set_of(const struct cache *c, uint64_t number)
{
	return cache_set_number(c, number) * c->ways;
}

static inline uint64_t cache_set(const struct cache *c, uint64_t address)
{
	return cache_set_of(c, address >> c->bits);
}

/* Is this entry the (valid) line? */
static inline int cache_is(uint64_t entry, uint64_t line)
{
	return (entry ^ line) - 1 < STATES;
}

/* The same, also for UNSEEN lines. */
static inline int cache_holds(uint64_t entry, uint64_t line)
{
	return cache_is(entry & ~UNSEEN, line & ~UNSEEN);
}

/* The line's entry if the hint is right, else a null pointer. This is not yet a use: call
 * cache_touch. */
static inline uint64_t *cache_guess(const struct cache *c, uint64_t address)
{
	uint64_t *entry = c->entries + c->hints[(address >> c->bits) & c->hint_mask];

	return cache_is(*entry, address & ~c->offset) ? entry : (uint64_t *)0;
}

static inline void cache_touch(struct cache *c, const uint64_t *entry)
{
	c->used[entry - c->entries] = ++*c->time;
}

/* Of SCANNED times or entries (arrays are a multiple of that), a bit for each that is after `than`,
 * or is `as` under the mask. */
#define SCANNED 4
#ifdef __AVX2__
#include <immintrin.h>
static inline unsigned cache_later(const uint64_t *used, uint64_t than)
{
	__m256i times = _mm256_loadu_si256((const __m256i *)(const void *)used);
	__m256i later = _mm256_cmpgt_epi64(times, _mm256_set1_epi64x((long long)than));

	return (unsigned)_mm256_movemask_pd(_mm256_castsi256_pd(later));
}

static inline unsigned cache_alike(const uint64_t *entries, uint64_t mask, uint64_t as)
{
	__m256i all = _mm256_loadu_si256((const __m256i *)(const void *)entries);
	__m256i bits = _mm256_and_si256(all, _mm256_set1_epi64x((long long)mask));
	__m256i same = _mm256_cmpeq_epi64(bits, _mm256_set1_epi64x((long long)as));

	return (unsigned)_mm256_movemask_pd(_mm256_castsi256_pd(same));
}
#else
static inline unsigned cache_later(const uint64_t *used, uint64_t than)
{
	unsigned later = 0;

	for (unsigned i = 0; i < SCANNED; i++)
		later |= (unsigned)(used[i] > than) << i;
	return later;
}

static inline unsigned cache_alike(const uint64_t *entries, uint64_t mask, uint64_t as)
{
	unsigned same = 0;

	for (unsigned i = 0; i < SCANNED; i++)
		same |= (unsigned)((entries[i] & mask) == as) << i;
	return same;
}
#endif

#ifdef __AVX2__
/* Four ways at a time; a few times faster than the version below, with the same result. */
#define WAYS_AT_ONCE 4

/* For each of n ways, what `cache_way` and `cache_oldest` do. */
static inline __attribute__((always_inline)) uint64_t cache_match(
	const uint64_t *entries, uint32_t n, uint64_t line)
{
	__m256i want = _mm256_set1_epi64x((long long)(line & ~UNSEEN));
	__m256i seen = _mm256_set1_epi64x((long long)~(UNSEEN | STATES));
	uint64_t found = 0;
	uint32_t i;

	for (i = 0; i < n; i += WAYS_AT_ONCE) {
		__m256i e = _mm256_loadu_si256((const __m256i *)(const void *)(entries + i));
		__m256i same = _mm256_cmpeq_epi64(_mm256_and_si256(e, seen), want);

		found |= (uint64_t)(uint32_t)_mm256_movemask_pd(_mm256_castsi256_pd(same)) << i;
	}
	return found;
}

static inline __attribute__((always_inline)) uint32_t cache_least(const uint64_t *used, uint32_t n)
{
	__m256i best = _mm256_loadu_si256((const __m256i *)(const void *)used), other, least;
	uint64_t found = 0;
	uint32_t i;

	for (i = WAYS_AT_ONCE; i < n; i += WAYS_AT_ONCE) {
		other = _mm256_loadu_si256((const __m256i *)(const void *)(used + i));
		best = _mm256_blendv_epi8(best, other, _mm256_cmpgt_epi64(best, other));
	}
	other = _mm256_permute4x64_epi64(best, 0x4e);
	best = _mm256_blendv_epi8(best, other, _mm256_cmpgt_epi64(best, other));
	other = _mm256_permute4x64_epi64(best, 0xb1);
	least = _mm256_blendv_epi8(best, other, _mm256_cmpgt_epi64(best, other));
	for (i = 0; i < n; i += WAYS_AT_ONCE) {
		other = _mm256_loadu_si256((const __m256i *)(const void *)(used + i));
		found |= (uint64_t)(uint32_t)_mm256_movemask_pd(
				 _mm256_castsi256_pd(_mm256_cmpeq_epi64(other, least)))
			 << i;
	}
	return (uint32_t)__builtin_ctzll(found);
}

/* Six are four and four that overlap. */
#define WAYS_SIX 6

static inline __attribute__((always_inline)) uint32_t cache_least_of_six(const uint64_t *used)
{
	__m256i first = _mm256_loadu_si256((const __m256i *)(const void *)used), best, other;
	__m256i last = _mm256_loadu_si256((const __m256i *)(const void *)(used + 2));
	uint32_t found;

	best = _mm256_blendv_epi8(first, last, _mm256_cmpgt_epi64(first, last));
	other = _mm256_permute4x64_epi64(best, 0x4e);
	best = _mm256_blendv_epi8(best, other, _mm256_cmpgt_epi64(best, other));
	other = _mm256_permute4x64_epi64(best, 0xb1);
	best = _mm256_blendv_epi8(best, other, _mm256_cmpgt_epi64(best, other));
	first = _mm256_cmpeq_epi64(first, best);
	last = _mm256_cmpeq_epi64(last, best);
	found = (uint32_t)_mm256_movemask_pd(_mm256_castsi256_pd(first)) |
		(uint32_t)_mm256_movemask_pd(_mm256_castsi256_pd(last)) << 2;
	return (uint32_t)__builtin_ctz(found);
}

/* Fully associative TLBs. Two halves, so that the host looks through both at once. */
#define WAYS_MANY 32

static NOINLINE __attribute__((unused)) int cache_way_of_many(
	const uint64_t *entries, uint32_t ways, uint64_t line)
{
	uint32_t half = ways / 2 & ~(WAYS_AT_ONCE - 1u);
	uint64_t low = cache_match(entries, half, line);
	uint64_t high = cache_match(entries + half, ways - half, line);

	return low ? __builtin_ctzll(low) : high ? (int)half + __builtin_ctzll(high) : -1;
}

static NOINLINE __attribute__((unused)) uint32_t cache_oldest_of_many(
	const uint64_t *used, uint32_t ways)
{
	uint32_t half = ways / 2 & ~(WAYS_AT_ONCE - 1u);
	uint32_t low = cache_least(used, half);
	uint32_t high = half + cache_least(used + half, ways - half);

	return used[high] < used[low] ? high : low;
}

/* Index of the way that has the line, or -1. The usual numbers of ways need no loop. */
static inline int cache_way(const uint64_t *entries, uint32_t ways, uint64_t line)
{
	uint64_t found;

	if (UNLIKELY(ways > WAYS_MANY))
		return cache_way_of_many(entries, ways, line);
	found = ways == 8    ? cache_match(entries, 8, line)
		: ways == 12 ? cache_match(entries, 12, line)
		: ways == 16 ? cache_match(entries, 16, line)
		: ways == WAYS_SIX
			? cache_match(entries, 4, line) | cache_match(entries + 2, 4, line) << 2
			: cache_match(entries, ways, line);

	return found ? __builtin_ctzll(found) : -1;
}

/* Index of the first of the smallest. */
static inline uint32_t cache_oldest(const uint64_t *used, uint32_t ways)
{
	return ways == 8          ? cache_least(used, 8)
	       : ways == 12       ? cache_least(used, 12)
	       : ways == 16       ? cache_least(used, 16)
	       : ways == WAYS_SIX ? cache_least_of_six(used)
	       : ways > WAYS_MANY ? cache_oldest_of_many(used, ways)
				  : cache_least(used, ways);
}
#define WAYS_VECTOR_MAX 124
#else
#define WAYS_AT_ONCE    1
#define WAYS_SIX        6
#define WAYS_VECTOR_MAX 0
static inline int cache_way(const uint64_t *entries, uint32_t ways, uint64_t line)
{
	(void)entries, (void)ways, (void)line;
	return -1;
}
static inline uint32_t cache_oldest(const uint64_t *used, uint32_t ways)
{
	(void)used, (void)ways;
	return 0;
}
#endif

/* May cache_way look for the line? Line 0 looks like an empty way; no program has code or data
 * there. */
static inline int cache_ways_at_once(const struct cache *c, uint64_t line)
{
	return (c->ways % WAYS_AT_ONCE == 0 || c->ways == WAYS_SIX) && c->ways &&
	       c->ways <= WAYS_VECTOR_MAX && line >> c->bits;
}

/* The line's entry, wherever it is in its set, or a null pointer; changes nothing. */
static inline uint64_t *cache_find(const struct cache *c, uint64_t address)
{
	uint64_t line = address & ~c->offset;
	uint64_t *set;
	uint32_t i;

	if (!c->ways)
		return (uint64_t *)0;
	set = c->entries + cache_set(c, address);
	if (cache_ways_at_once(c, line)) {
		int way = cache_way(set, c->ways, line);

		return way >= 0 ? set + way : (uint64_t *)0;
	}
	for (i = 0; i < c->ways; i++)
		if (cache_holds(set[i], line))
			return set + i;
	return (uint64_t *)0;
}

/* The line's entry; or if it is not there (*found 0) the one of its set that was used longest ago,
 * or is empty. */
static inline uint64_t *cache_search(
	const struct cache *c, uint64_t set, uint64_t line, uint32_t *found)
{
	const uint64_t *entries = c->entries + set, *used = c->used + set;
	uint64_t oldest_use = used[0];
	uint32_t i, oldest = 0, at = 0, hit = 0;

	if (cache_ways_at_once(c, line)) {
		int way = cache_way(entries, c->ways, line);

		*found = way >= 0;
		return c->entries + set + (way >= 0 ? (uint32_t)way : cache_oldest(used, c->ways));
	}
	/* Visits all ways without an early exit: processors predict such an exit badly. */
	for (i = 0; i < c->ways; i++) {
		uint32_t is = (uint32_t)cache_holds(entries[i], line);

		at = is ? i : at;
		hit |= is;
		oldest = used[i] < oldest_use ? i : oldest;
		oldest_use = used[i] < oldest_use ? used[i] : oldest_use;
	}
	*found = hit;
	return c->entries + set + (hit ? at : oldest);
}

/* cache_use for other policies than LRU; set is its number. */
uint64_t *policy_use(struct cache *c, uint64_t set, uint64_t line, uint64_t *victim);

/*
 * Makes the line of address the most recent of its set and returns its entry. *victim is NEVER on a
 * hit, else the replaced entry (0: none), and the state of the new one is SHARED.
 */
static inline uint64_t *cache_use(struct cache *c, uint64_t address, uint64_t *victim)
{
	uint64_t *entry;

	if (c->policy) {
		entry = policy_use(
			c, cache_set_number(c, address >> c->bits), address & ~c->offset, victim);
		if (c->hint_mask)
			c->hints[(address >> c->bits) & c->hint_mask] =
				(uint16_t)(entry - c->entries);
		return entry;
	}
	*victim = UINT64_MAX;
	entry = cache_guess(c, address);
	if (!entry) {
		uint32_t found;

		entry = cache_search(c, cache_set(c, address), address & ~c->offset, &found);
		if (!found) {
			*victim = *entry & ~UNSEEN;
			*entry = (address & ~c->offset) | SHARED;
		}
		*entry &= ~UNSEEN;
		if (c->hint_mask)
			c->hints[(address >> c->bits) & c->hint_mask] =
				(uint16_t)(entry - c->entries);
	}
	cache_touch(c, entry);
	return entry;
}

/*
 * Pages whose translation is certainly in the first TLB for data or instructions, by the low bits
 * of the page number. Such an access only has to note its use. Page 0 is never here and marks an
 * empty slot.
 */
#define PAGE_SLOTS 512

struct page_slot {
	uint64_t page;  /* number, from 1 on */
	uint64_t *used; /* of the translation */
};

/* The same for a line in the set of another number. It is found by key: an address without some
 * bits of its offset. */
static inline uint64_t *cache_use_key(
	struct cache *c, uint64_t number, uint64_t key, uint64_t *victim)
{
	uint64_t *entry;
	uint32_t found;

	if (c->policy)
		return policy_use(c, cache_set_number(c, number), key, victim);
	*victim = UINT64_MAX;
	entry = cache_search(c, cache_set_of(c, number), key, &found);
	if (!found) {
		*victim = *entry;
		*entry = key | SHARED;
	}
	cache_touch(c, entry);
	return entry;
}

/* Empties the way of an entry that cache_find found. */
static inline void cache_remove(struct cache *c, uint64_t *entry)
{
	*entry = 0;
	c->used[entry - c->entries] = 0;
	if (c->policy_sets) {
		uint64_t at = (uint64_t)(entry - c->entries), way = at % c->ways;

		c->policy_sets[at / c->ways].filled &= ~(way < 32 ? UINT64_C(1) << 2 * way : 0);
	}
}

#endif
