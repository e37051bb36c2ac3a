/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Impossible caches and TLBs, and possible ones near them. */
#include <stdio.h>

#include "machine/private.h"

static bool check_power_of_two(uint64_t n)
{
	return n && !(n & (n - 1));
}

const char *machine_check_cache(
	const struct model_cache_config *c, uint32_t flavour, char *text, size_t size)
{
	uint64_t set = (uint64_t)c->ways * c->line;

	if (c->size == 0)
		return NULL;
	if (!check_power_of_two(c->line) || c->line < 16 || c->line > 4096)
		snprintf(text, size, "a line of %u bytes: use a power of two from 16 to 4096",
			c->line);
	else if (c->size > 1u << 30)
		snprintf(text, size, "%u bytes: a cache is at most 1G", c->size);
	else if (c->ways == 0)
		snprintf(text, size, "0 ways: give at least one");
	else if (set > c->size)
		snprintf(text, size,
			"a set of %u ways of %u bytes is larger than the cache of %u bytes",
			c->ways, c->line, c->size);
	else if (c->size % set)
		snprintf(text, size, "%u bytes do not divide into sets of %u ways of %u bytes",
			c->size, c->ways, c->line);
	else if (flavour == MODEL_CACHEGRIND && !check_power_of_two(c->size / set))
		snprintf(text, size, "%llu sets: cachegrind needs a power of two",
			(unsigned long long)(c->size / set));
	else
		return NULL;
	return text;
}

/* Whether `count` lines or entries make whole sets of `ways` ways, a power of two of them where
 * that is required. */
static bool divides(uint64_t count, uint64_t ways, bool power)
{
	return count % ways == 0 && (!power || check_power_of_two(count / ways));
}

/* "8-way or 16-way": the possible numbers of ways for count that are nearest to `ways`. */
static void suggest_ways(uint64_t count, uint64_t ways, bool power, char *hint, size_t size)
{
	uint64_t below = ways < count ? ways : count, above = ways ? ways : 1;

	while (below > 1 && !divides(count, below, power))
		below--;
	below += below == 0;
	while (above < count && !divides(count, above, power))
		above++;
	if (!divides(count, below, power))
		below = above;
	if (above > count || above == below)
		snprintf(hint, size, "take %llu-way", (unsigned long long)below);
	else
		snprintf(hint, size, "take %llu-way or %llu-way", (unsigned long long)below,
			(unsigned long long)above);
}

/* The powers of two around n within low..high, in words. */
static void suggest_power(
	uint32_t n, uint32_t low, uint32_t high, const char *unit, char *hint, size_t size)
{
	uint32_t below = low;

	while (below * 2 <= n && below * 2 <= high)
		below *= 2;
	if (n < low || below == high)
		snprintf(hint, size, "take %u%s", below, unit);
	else
		snprintf(hint, size, "take %u%s or %u%s", below, unit, below * 2, unit);
}

const char *machine_hint_cache(
	const struct model_cache_config *c, uint32_t flavour, char *hint, size_t size)
{
	bool power = flavour == MODEL_CACHEGRIND;
	uint64_t set = (uint64_t)c->ways * c->line;

	if (!check_power_of_two(c->line) || c->line < 16 || c->line > 4096)
		suggest_power(c->line, 16, 4096, "-byte", hint, size);
	else if (c->size > 1u << 30)
		snprintf(hint, size, "take 1G or less");
	else if (c->size < c->line)
		snprintf(hint, size, "take a cache of at least %u bytes", c->line);
	else if (c->ways && c->size % c->line)
		snprintf(hint, size, "take %llu or %llu bytes",
			(unsigned long long)(c->size > set ? c->size - c->size % set : set),
			(unsigned long long)(c->size - c->size % set + set));
	else
		suggest_ways(c->size / c->line, c->ways, power, hint, size);
	return hint;
}

const char *machine_check_tlb(const struct model_tlb_config *t, char *text, size_t size)
{
	if (t->entries == 0)
		return NULL;
	if (t->entries > 1u << 16)
		snprintf(text, size, "%u entries: a TLB has at most 65536", t->entries);
	else if (t->ways == 0)
		snprintf(text, size, "0 ways: give at least one");
	else if (t->ways > t->entries || t->entries % t->ways)
		snprintf(text, size, "%u entries do not divide into sets of %u ways", t->entries,
			t->ways);
	else if (!check_power_of_two(t->entries / t->ways))
		snprintf(text, size, "%u sets: a TLB needs a power of two", t->entries / t->ways);
	else
		return NULL;
	return text;
}

const char *machine_hint_tlb(const struct model_tlb_config *t, char *hint, size_t size)
{
	if (t->entries > 1u << 16)
		snprintf(hint, size, "take 65536-entry or fewer");
	else
		suggest_ways(t->entries, t->ways, true, hint, size);
	return hint;
}

void machine_fit(struct model_config *c)
{
	const uint32_t ways[MODEL_LEVELS] = {c->l1i.ways, c->l1d.ways, c->l2.ways, c->ll.ways,
		c->itlb.ways, c->dtlb.ways, c->stlb.ways};
	uint32_t before = c->l2.size ? c->l2.line : c->l1d.line;

	for (int i = 0; i < MODEL_LEVELS; i++)
		if (ways[i] > MODEL_WAYS_MAX(c->policy[i]))
			c->policy[i] = MODEL_LRU;
	if (!c->itlb.entries || !c->dtlb.entries)
		c->policy[MODEL_STLB] = MODEL_LRU;
	if (c->l2_inclusion == MODEL_EXCLUSIVE &&
		(c->l2.line != c->l1d.line || c->l2.line != c->l1i.line))
		c->l2_inclusion = MODEL_NEITHER;
	if (c->ll_inclusion == MODEL_EXCLUSIVE &&
		(c->ll.line != before || (!c->l2.size && c->ll.line != c->l1i.line)))
		c->ll_inclusion = MODEL_NEITHER;
}
