/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A set-associative array with exact LRU replacement: the caches, and (with pages for lines) the
 * TLBs.
 *
 * A set is its ways in order of use, the most recent first.  An entry is the line's address with
 * its state in the low bits, which are free because a line has at least 16 bytes; 0 is an empty
 * way.  Empty ways stand behind the others.  One pass finds a line, moves what is in front of it
 * back by one and, when it is not there, drops the last: a hit on the most recent way costs one
 * comparison, others the depth of the hit.
 */
#ifndef MODEL_CACHE_H
#define MODEL_CACHE_H

#include <stdint.h>

enum line_state {
	INVALID = 0,
	SHARED = 1,
	EXCLUSIVE = 2, /* clean, and in no other core */
	MODIFIED = 3,
	MESI = 3,    /* mask of the above */
	WRITTEN = 4, /* in the second level: a store has gone to the first-level copy */
	STATES = 15, /* mask of all state bits */
};

struct cache {
	uint64_t *entries;  /* ways of set 0, of set 1 ... */
	uint64_t mask;      /* sets - 1, when that is a power of two */
	uint64_t sets;      /* else the number of sets, for a division; 0 when mask serves */
	uint64_t offset;    /* line - 1 */
	uint32_t ways;      /* 0: there is no such cache */
	uint32_t bits;      /* log2 of the line */
	uint64_t latency;   /* slots */
	uint32_t quadwords; /* 16-byte units in a line */
};

static inline uint64_t *cache_set(const struct cache *c, uint64_t address)
{
	uint64_t block = address >> c->bits;
	uint64_t set = c->sets ? block % c->sets : block & c->mask;

	return c->entries + set * c->ways;
}

/* Is this entry the (valid) line? */
static inline int cache_is(uint64_t entry, uint64_t line)
{
	return (entry ^ line) - 1 < STATES;
}

static inline int cache_most_recent(const struct cache *c, uint64_t address)
{
	return cache_is(*cache_set(c, address), address & ~c->offset);
}

/*
 * Makes the line of address the most recent of its set; the entry returned is that line's.  *victim
 * is NEVER when it was there, else the entry that had to go (0: none), and the state of the new one
 * is SHARED.
 */
static inline uint64_t *cache_use(const struct cache *c, uint64_t address, uint64_t *victim)
{
	uint64_t line = address & ~c->offset;
	uint64_t *set = cache_set(c, address);
	uint64_t moving = set[0];
	uint32_t i;

	*victim = UINT64_MAX;
	if (cache_is(moving, line))
		return set;
	for (i = 1; i < c->ways; i++) {
		uint64_t entry = set[i];

		set[i] = moving;
		if (cache_is(entry, line)) {
			set[0] = entry;
			return set;
		}
		moving = entry;
	}
	*victim = moving;
	set[0] = line | SHARED;
	return set;
}

/* The line's entry, wherever it is in its set, or a null pointer; changes nothing. */
static inline uint64_t *cache_find(const struct cache *c, uint64_t address)
{
	uint64_t line = address & ~c->offset;
	uint64_t *set;
	uint32_t i;

	if (!c->ways)
		return (uint64_t *)0;
	set = cache_set(c, address);
	for (i = 0; i < c->ways; i++)
		if (cache_is(set[i], line))
			return set + i;
	return (uint64_t *)0;
}

/* Empties the way of an entry that cache_find found. */
static inline void cache_remove(const struct cache *c, uint64_t *entry)
{
	uint64_t *end = cache_set(c, *entry) + c->ways;

	for (; entry + 1 < end; entry++)
		entry[0] = entry[1];
	*entry = 0;
}

#endif
