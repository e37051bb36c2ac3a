/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The branch target buffer, for the clocks that follow instructions to their retirement: where a
 * taken branch is known before it is decoded. It has two levels; the first is the part of each set
 * that was used last. A branch that it does not know is found by the decoder if its target is in
 * the instruction, else when it is executed.
 *
 * Uses are dated by misses of L1I: an epoch lasts from one to the next. Only the first use of a
 * branch in an epoch matters, so segments need not be asked again before the next miss
 * (fetched.c), and all ways to run records give the same. What is used in an epoch fits: a buffer
 * reaches farther than L1I. A branch that is one too many in its set is taken for known.
 *
 * Where the answer is not needed at once, branches are only noted (btb_later) and looked for some
 * at a time, so that the host's misses on sets overlap.
 */
#ifndef MODEL_BTB_H
#define MODEL_BTB_H

#include <stdint.h>

#ifdef __AVX2__
#include <immintrin.h>
#endif

#define BTB_WAYS 8u

/* A line of the host. */
struct btb_set {
	uint32_t branch[BTB_WAYS];
	uint32_t epoch[BTB_WAYS]; /* 0: free */
} __attribute__((aligned(64)));

enum btb_found { BTB_FIRST, BTB_SECOND, BTB_UNKNOWN };

/* Branches to be looked for. */
#define BTB_LATE 64u

struct btb_late {
	uint64_t branch;
	uint32_t epoch;
};

struct btb {
	struct btb_set *set; /* null: every branch is known */
	uint64_t sets;
	uint32_t first; /* ways of the first level */
	uint32_t epoch; /* from 1 on */
	uint32_t lates;
	uint64_t found[BTB_UNKNOWN + 1];
	struct btb_late late[BTB_LATE];
};

/* Bits of the ways that have this tag; of those whose epoch is above this one, or not. */
#ifdef __AVX2__
static inline __m256i btb_ways(const uint32_t *ways)
{
	return _mm256_load_si256((const __m256i *)(const void *)ways);
}

static inline unsigned btb_bits(__m256i same)
{
	return (unsigned)_mm256_movemask_ps(_mm256_castsi256_ps(same));
}

static inline unsigned btb_same(const uint32_t *ways, uint32_t as)
{
	return btb_bits(_mm256_cmpeq_epi32(btb_ways(ways), _mm256_set1_epi32((int)as)));
}

static inline unsigned btb_not_above(const uint32_t *ways, uint32_t than)
{
	__m256i least = _mm256_min_epu32(btb_ways(ways), _mm256_set1_epi32((int)than));

	return btb_bits(_mm256_cmpeq_epi32(least, btb_ways(ways)));
}
#else
static inline unsigned btb_same(const uint32_t *ways, uint32_t as)
{
	unsigned bits = 0;

	for (unsigned i = 0; i < BTB_WAYS; i++)
		bits |= (unsigned)(ways[i] == as) << i;
	return bits;
}

static inline unsigned btb_not_above(const uint32_t *ways, uint32_t than)
{
	unsigned bits = 0;

	for (unsigned i = 0; i < BTB_WAYS; i++)
		bits |= (unsigned)(ways[i] <= than) << i;
	return bits;
}
#endif

/* A branch that is not in its set takes the place of the one that was used longest ago. */
static inline enum btb_found btb_enter(struct btb_set *set, uint32_t tag, uint32_t epoch)
{
	unsigned victim = 0;

	for (unsigned i = 1; i < BTB_WAYS; i++)
		victim = set->epoch[i] < set->epoch[victim] ? i : victim;
	if (set->epoch[victim] == epoch)
		return BTB_FIRST;
	set->branch[victim] = tag;
	set->epoch[victim] = epoch;
	return BTB_UNKNOWN;
}

static inline uint64_t btb_hash(uint64_t branch)
{
	return branch * 0x9e3779b97f4a7c15u;
}

static inline struct btb_set *btb_set_of(const struct btb *b, uint64_t hash)
{
	return b->set + ((hash >> 32) * b->sets >> 32);
}

/* Where the taken branch was found in an epoch; it was used then. */
static inline enum btb_found btb_find_at(const struct btb *b, uint64_t branch, uint32_t epoch)
{
	uint64_t hash = btb_hash(branch);
	uint32_t tag = (uint32_t)(hash >> 12);
	struct btb_set *set = btb_set_of(b, hash);
	unsigned found = btb_same(set->branch, tag) & ~btb_same(set->epoch, 0), way, older;

	if (!found)
		return btb_enter(set, tag, epoch);
	way = (unsigned)__builtin_ctz(found);
	older = btb_not_above(set->epoch, set->epoch[way]);
	set->epoch[way] = epoch;
	return BTB_WAYS - (unsigned)__builtin_popcount(older) < b->first ? BTB_FIRST : BTB_SECOND;
}

/* None is to be looked for (btb_catch_up). */
static inline enum btb_found btb_find(const struct btb *b, uint64_t branch)
{
	return btb_find_at(b, branch, b->epoch);
}

/* Looks for all that were noted. */
void btb_catch_up(struct btb *b);

/* The taken branch is used now. Where it is found will be in b->found. */
static inline void btb_later(struct btb *b, uint64_t branch)
{
	b->late[b->lates++] = (struct btb_late){branch, b->epoch};
	if (b->lates == BTB_LATE)
		btb_catch_up(b);
}

#endif
