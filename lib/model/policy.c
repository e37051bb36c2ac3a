/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Replacement policies other than exact LRU (which is in cache.h, because the fast paths take part
 * in it).
 *
 * The state of a set is one word. With the policies that first-level caches and TLBs may have
 * (tree-plru, bit-plru, random), using the last used way once more changes nothing, and the fast
 * paths of model.c and run.c do no more than that: all other lines of a set are marked UNSEEN, so
 * that their use comes here.
 *
 * - Tree-PLRU: a complete binary tree over the ways, one bit per node, that selects the half to
 *   search for the victim: 1 is the upper half. If the number of ways is not a power of two, the
 *   missing ways are never selected.
 * - Bit-PLRU (MRU, NRU): see Malamy et al., US patent 5353425.
 * - SRRIP: Jaleel et al., "High performance cache replacement using re-reference interval
 *   prediction", ISCA 2010, with two bits and promotion to 0.
 * - QLRU: Abel and Reineke, "nanoBench", ISPASS 2020: QLRU_H00_M1_R0_U1.
 *
 * Invalid ways are filled before a victim is chosen, the lowest first.
 */
#include "model/state.h"

/* Node n's children are 2n and 2n + 1; the root is 1. */
static uint32_t tree_leaves(uint32_t ways)
{
	return ways > 1 ? UINT32_C(2) << (31 - (unsigned)__builtin_clz(ways - 1)) : 1;
}

static void tree_touch(struct cache *c, struct policy_set *s, uint32_t way)
{
	uint32_t node = way + tree_leaves(c->ways);

	for (; node > 1; node /= 2) {
		uint64_t bit = UINT64_C(1) << (node / 2);

		s->bits = node & 1 ? s->bits & ~bit : s->bits | bit;
	}
}

static uint32_t tree_victim(struct cache *c, struct policy_set *s)
{
	uint32_t leaves = tree_leaves(c->ways), node = 1, half = leaves / 2, first = 0;

	for (; node < leaves; half /= 2) {
		uint32_t upper = (s->bits >> node & 1) && first + half < c->ways;

		first += upper ? half : 0;
		node = 2 * node + upper;
	}
	return first;
}

static void bit_touch(struct cache *c, struct policy_set *s, uint32_t way)
{
	uint64_t all = c->ways == 64 ? UINT64_MAX : (UINT64_C(1) << c->ways) - 1;

	s->bits |= UINT64_C(1) << way;
	if (s->bits == all)
		s->bits = UINT64_C(1) << way;
}

static uint32_t bit_victim(struct cache *c, struct policy_set *s)
{
	uint32_t way = (uint32_t)__builtin_ctzll(~s->bits | UINT64_C(1) << 63);

	return way < c->ways ? way : 0;
}

static void no_touch(struct cache *c, struct policy_set *s, uint32_t way)
{
	(void)c, (void)s, (void)way;
}

/* xorshift64* (Vigna, 2016). */
static uint32_t random_victim(struct cache *c, struct policy_set *s)
{
	(void)s;
	if (!c->random)
		c->random = UINT64_C(0x9E3779B97F4A7C15);
	c->random ^= c->random >> 12;
	c->random ^= c->random << 25;
	c->random ^= c->random >> 27;
	return (uint32_t)((c->random * UINT64_C(2685821657736338717) >> 33) % c->ways);
}

static uint32_t first_of_age_3(const struct cache *c, const struct policy_set *s)
{
	uint32_t way = 0;

	while (way < c->ways && age(s, way) != 3)
		way++;
	return way;
}

static void rrip_touch(struct cache *c, struct policy_set *s, uint32_t way)
{
	(void)c;
	set_age(s, way, 0);
}

static void srrip_fill(struct cache *c, struct policy_set *s, uint32_t way)
{
	(void)c;
	set_age(s, way, 2);
}

static uint32_t srrip_victim(struct cache *c, struct policy_set *s)
{
	uint32_t way;

	while ((way = first_of_age_3(c, s)) == c->ways)
		for (uint32_t i = 0; i < c->ways; i++)
			set_age(s, i, age(s, i) + 1);
	return way;
}

static void qlru_touch(struct cache *c, struct policy_set *s, uint32_t way)
{
	(void)c;
	qlru_hit(s, way);
}

static void qlru_fill(struct cache *c, struct policy_set *s, uint32_t way)
{
	(void)c;
	set_age(s, way, 1);
	qlru_age(s, way);
}

static uint32_t qlru_victim(struct cache *c, struct policy_set *s)
{
	uint64_t threes = s->bits & s->bits >> 1 & AGES;
	uint32_t way = threes ? (uint32_t)__builtin_ctzll(threes) / 2 : 0;

	return way < c->ways ? way : 0;
}

static const struct {
	void (*touch)(struct cache *c, struct policy_set *s, uint32_t way);
	void (*fill)(struct cache *c, struct policy_set *s, uint32_t way);
	uint32_t (*victim)(struct cache *c, struct policy_set *s); /* of a full set */
} policies[MODEL_POLICIES] = {
	[MODEL_TREE_PLRU] = {tree_touch, tree_touch, tree_victim},
	[MODEL_BIT_PLRU] = {bit_touch, bit_touch, bit_victim},
	[MODEL_RANDOM] = {no_touch, no_touch, random_victim},
	[MODEL_SRRIP] = {rrip_touch, srrip_fill, srrip_victim},
	[MODEL_QLRU] = {qlru_touch, qlru_fill, qlru_victim},
};

/* The way of a set in front that was used last is the only one that fast paths may find. */
static void hide_others(struct policy_set *s, uint64_t *entries, uint32_t way)
{
	uint64_t *last = &entries[s->last];

	if (*last && s->last != way)
		*last |= UNSEEN;
	s->last = way;
}

/* The way that has the line; else the first empty one, with *held 0; else c->ways. */
static uint32_t look_for(const struct cache *c, struct policy_set *s, const uint64_t *entries,
	uint64_t line, int *held)
{
	uint32_t way, empty = c->ways;
	int found;

	*held = 1;
	if (cache_ways_at_once(c, line)) {
		found = cache_way(entries, c->ways, line);
		if (found >= 0)
			return (uint32_t)found;
		*held = 0;
		if (c->ways <= 32) {
			uint64_t empty_ways = ~s->filled & AGES;

			way = empty_ways ? (uint32_t)__builtin_ctzll(empty_ways) / 2 : c->ways;
			return way < c->ways ? way : c->ways;
		}
		found = cache_way(entries, c->ways, 0);
		return found >= 0 ? (uint32_t)found : c->ways;
	}
	for (way = 0; way < c->ways; way++) {
		if (cache_holds(entries[way], line))
			return way;
		if (!entries[way] && empty == c->ways)
			empty = way;
	}
	*held = 0;
	return empty;
}

uint64_t *policy_use(struct cache *c, uint64_t set, uint64_t line, uint64_t *victim)
{
	uint64_t *entries = c->entries + set * c->ways;
	struct policy_set *s = c->policy_sets + set;
	int held;
	uint32_t way = look_for(c, s, entries, line, &held);

	*victim = UINT64_MAX;
	if (held) {
		entries[way] &= ~UNSEEN;
		if (LIKELY(c->policy == MODEL_QLRU))
			qlru_touch(c, s, way);
		else
			policies[c->policy].touch(c, s, way);
	} else {
		if (way == c->ways)
			way = policies[c->policy].victim(c, s);
		*victim = entries[way] & ~UNSEEN;
		entries[way] = line | SHARED;
		if (way < 32)
			s->filled |= UINT64_C(1) << 2 * way;
		policies[c->policy].fill(c, s, way);
	}
	if (c->front && c->policy != MODEL_RANDOM)
		hide_others(s, entries, way);
	return entries + way;
}
