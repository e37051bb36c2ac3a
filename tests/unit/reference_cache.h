/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A cache, or a TLB, restated slowly and obviously: an array of ways that are searched from the
 * first to the last, and replacement policies written from their definitions.
 */
#ifndef TESTS_REFERENCE_CACHE_H
#define TESTS_REFERENCE_CACHE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "model/model.h"

enum { I, S, E, M };

struct ref_way {
	bool valid;
	uint64_t line; /* address */
	int state;
	bool written, prefetched;
	/* What policies know. */
	uint64_t used;
	bool recent;
	int age;
};

struct ref_cache {
	uint64_t line_size, sets, ways; /* sets 0: there is none */
	uint32_t policy;
	uint64_t time, random;
	struct ref_way *all;
	bool *upper; /* tree-plru: for each set, whether the victim is in the upper half, by node */
};

static void ref_cache_new(
	struct ref_cache *c, uint64_t lines, uint64_t ways, uint64_t line_size, uint32_t policy)
{
	*c = (struct ref_cache){.line_size = line_size, .ways = ways, .policy = policy};
	if (!lines)
		return;
	c->sets = lines / ways;
	c->all = calloc(lines, sizeof(*c->all));
	c->upper = calloc(c->sets, 128);
	c->random = UINT64_C(0x9E3779B97F4A7C15);
}

static void ref_cache_free(struct ref_cache *c)
{
	free(c->all);
	free(c->upper);
}

static struct ref_way *ref_find(struct ref_cache *c, uint64_t address)
{
	uint64_t line = address / c->line_size;
	struct ref_way *w = c->sets ? c->all + line % c->sets * c->ways : NULL;

	for (uint64_t i = 0; w && i < c->ways; i++)
		if (w[i].valid && w[i].line == line * c->line_size)
			return &w[i];
	return NULL;
}

/* Points every node on the way to the leaf away from it.  The tree spans lo..hi. */
static void ref_tree_touch(bool *upper, unsigned node, uint64_t lo, uint64_t hi, uint64_t way)
{
	uint64_t middle = (lo + hi) / 2;

	if (hi - lo == 1)
		return;
	upper[node] = way < middle;
	if (way < middle)
		ref_tree_touch(upper, 2 * node, lo, middle, way);
	else
		ref_tree_touch(upper, 2 * node + 1, middle, hi, way);
}

static uint64_t ref_tree_victim(
	const bool *upper, unsigned node, uint64_t lo, uint64_t hi, uint64_t ways)
{
	uint64_t middle = (lo + hi) / 2;

	if (hi - lo == 1)
		return lo;
	if (upper[node] && middle < ways)
		return ref_tree_victim(upper, 2 * node + 1, middle, hi, ways);
	return ref_tree_victim(upper, 2 * node, lo, middle, ways);
}

static uint64_t ref_leaves(const struct ref_cache *c)
{
	uint64_t n = 1;

	while (n < c->ways)
		n *= 2;
	return n;
}

/* The way was used; filled: for the first time. */
static void ref_used(struct ref_cache *c, struct ref_way *w, bool filled)
{
	uint64_t set = (uint64_t)(w - c->all) / c->ways, way = (uint64_t)(w - c->all) % c->ways;
	struct ref_way *ways = c->all + set * c->ways;
	uint64_t recent = 0;
	int oldest = 0;

	switch (c->policy) {
	case MODEL_LRU:
		w->used = ++c->time;
		break;
	case MODEL_TREE_PLRU:
		ref_tree_touch(c->upper + 128 * set, 1, 0, ref_leaves(c), way);
		break;
	case MODEL_BIT_PLRU:
		w->recent = true;
		for (uint64_t i = 0; i < c->ways; i++)
			recent += ways[i].recent;
		for (uint64_t i = 0; i < c->ways && recent == c->ways; i++)
			ways[i].recent = i == way;
		break;
	case MODEL_SRRIP:
		w->age = filled ? 2 : 0;
		break;
	case MODEL_QLRU:
		w->age = filled ? 1 : 0;
		for (uint64_t i = 0; i < c->ways; i++)
			if (i != way && ways[i].valid && ways[i].age > oldest)
				oldest = ways[i].age;
		for (uint64_t i = 0; i < c->ways; i++)
			if (i != way && ways[i].valid)
				ways[i].age += 3 - oldest;
		break;
	}
}

static uint64_t ref_oldest(const struct ref_cache *c, struct ref_way *ways)
{
	uint64_t least = 0;

	for (uint64_t i = 1; i < c->ways; i++)
		if (ways[i].used < ways[least].used)
			least = i;
	return least;
}

static uint64_t ref_random(struct ref_cache *c)
{
	c->random ^= c->random >> 12;
	c->random ^= c->random << 25;
	c->random ^= c->random >> 27;
	return (c->random * UINT64_C(2685821657736338717) >> 33) % c->ways;
}

static bool ref_has_age_3(const struct ref_cache *c, const struct ref_way *ways, uint64_t *way)
{
	for (*way = 0; *way < c->ways; ++*way)
		if (ways[*way].age == 3)
			return true;
	return false;
}

/* The way of a full set that is to go. */
static uint64_t ref_victim(struct ref_cache *c, uint64_t set)
{
	struct ref_way *ways = c->all + set * c->ways;
	uint64_t way = 0;

	switch (c->policy) {
	case MODEL_LRU:
		return ref_oldest(c, ways);
	case MODEL_TREE_PLRU:
		return ref_tree_victim(c->upper + 128 * set, 1, 0, ref_leaves(c), c->ways);
	case MODEL_BIT_PLRU:
		while (way < c->ways && ways[way].recent)
			way++;
		return way == c->ways ? 0 : way;
	case MODEL_RANDOM:
		return ref_random(c);
	case MODEL_SRRIP:
		while (!ref_has_age_3(c, ways, &way))
			for (uint64_t i = 0; i < c->ways; i++)
				ways[i].age++;
		return way;
	default:
		return ref_has_age_3(c, ways, &way) ? way : 0;
	}
}

/* Puts a line in that is not there; *old is what had to go (not valid: nothing). */
static struct ref_way *ref_put(struct ref_cache *c, uint64_t address, struct ref_way *old)
{
	uint64_t set = address / c->line_size % c->sets, way = 0;
	struct ref_way *ways = c->all + set * c->ways;
	bool recent;

	while (way < c->ways && ways[way].valid)
		way++;
	if (way == c->ways)
		way = ref_victim(c, set);
	*old = ways[way];
	recent = ways[way].recent;
	ways[way] = (struct ref_way){.valid = true,
		.line = address / c->line_size * c->line_size,
		.state = S,
		.recent = recent};
	ref_used(c, &ways[way], true);
	return &ways[way];
}

#endif
