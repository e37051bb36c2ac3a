/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Geometries that cannot be.  What the model cannot do (model_check) comes on top of what no
 * processor could. */
#include <stdio.h>

#include "machine/private.h"

static bool power_of_two(uint64_t n)
{
	return n && !(n & (n - 1));
}

const char *machine_check_cache(
	const struct model_cache_config *c, uint32_t flavour, char *text, size_t size)
{
	uint64_t set = (uint64_t)c->ways * c->line;

	if (c->size == 0)
		return NULL;
	if (!power_of_two(c->line) || c->line < 16 || c->line > 4096)
		snprintf(text, size,
			"a line of %u bytes: lines are a power of two, 16 to 4096 bytes", c->line);
	else if (c->size > 1u << 30)
		snprintf(text, size, "%u bytes: a cache is at most 1G", c->size);
	else if (c->ways == 0)
		snprintf(text, size, "0 ways: it takes at least one");
	else if (set > c->size)
		snprintf(text, size,
			"%u ways of %u bytes make a set larger than the %u bytes of the whole "
			"cache",
			c->ways, c->line, c->size);
	else if (c->size % set)
		snprintf(text, size, "%u bytes do not divide into sets of %u ways of %u bytes",
			c->size, c->ways, c->line);
	else if (flavour == MODEL_CACHEGRIND && !power_of_two(c->size / set))
		snprintf(text, size, "%llu sets: cachegrind's caches have a power of two of them",
			(unsigned long long)(c->size / set));
	else
		return NULL;
	return text;
}

const char *machine_check_tlb(const struct model_tlb_config *t, char *text, size_t size)
{
	if (t->entries == 0)
		return NULL;
	if (t->entries > 1u << 16)
		snprintf(text, size, "%u entries: a TLB has at most 65536", t->entries);
	else if (t->ways == 0)
		snprintf(text, size, "0 ways: it takes at least one");
	else if (t->ways > t->entries || t->entries % t->ways)
		snprintf(text, size, "%u entries do not divide into sets of %u ways", t->entries,
			t->ways);
	else if (!power_of_two(t->entries / t->ways))
		snprintf(text, size, "%u sets: a TLB has a power of two of them",
			t->entries / t->ways);
	else
		return NULL;
	return text;
}

void machine_fit(struct model_config *c)
{
	const uint32_t ways[MODEL_LEVELS] = {c->l1i.ways, c->l1d.ways, c->l2.ways, c->ll.ways,
		c->itlb.ways, c->dtlb.ways, c->stlb.ways};
	uint32_t before = c->l2.size ? c->l2.line : c->l1d.line;

	for (int i = 0; i < MODEL_LEVELS; i++)
		if (ways[i] > MODEL_WAYS_MAX(c->policy[i]))
			c->policy[i] = MODEL_LRU;
	if (c->l2_inclusion == MODEL_EXCLUSIVE &&
		(c->l2.line != c->l1d.line || c->l2.line != c->l1i.line))
		c->l2_inclusion = MODEL_NEITHER;
	if (c->ll_inclusion == MODEL_EXCLUSIVE &&
		(c->ll.line != before || (!c->l2.size && c->ll.line != c->l1i.line)))
		c->ll_inclusion = MODEL_NEITHER;
}

const char *machine_check_whole(const struct machine *m)
{
	const struct model_config *c = &m->model;

	if (!c->l1i.size || !c->l1d.size)
		return "a machine needs both L1I and L1D";
	if (!power_of_two(c->page_size))
		return "the page size must be a power of two";
	if (c->flavour == MODEL_CACHEGRIND && (c->l2.size || !c->ll.size))
		return "cachegrind's semantics know L1I, L1D and LL, and no L2";
	return model_check(c);
}
