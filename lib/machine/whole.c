/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rules over several lines of a machine description: which fields do not go together. Each names
 * the keyword that is wrong, and a possible value. All other limits of the model are checked by
 * model_check.
 */
#include <stdarg.h>
#include <stdio.h>

#include "machine/private.h"

/* Returns true, so that a rule can end with it. */
__attribute__((format(printf, 3, 4))) static bool blame(
	struct machine_fault *f, const char *key, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vsnprintf(f->text, sizeof(f->text), format, ap);
	va_end(ap);
	f->key = key;
	return true;
}

__attribute__((format(printf, 2, 3))) static bool advise(
	struct machine_fault *f, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vsnprintf(f->hint, sizeof(f->hint), format, ap);
	va_end(ap);
	return true;
}

struct level {
	const char *key, *policy;
	const struct model_cache_config *cache;
};

static void levels_of(const struct model_config *c, struct level out[4])
{
	out[0] = (struct level){"L1I", "L1I-policy", &c->l1i};
	out[1] = (struct level){"L1D", "L1D-policy", &c->l1d};
	out[2] = (struct level){"L2", "L2-policy", &c->l2};
	out[3] = (struct level){"LL", "LL-policy", &c->ll};
}

static bool whole_needed(const struct model_config *c, struct machine_fault *f)
{
	const char *missing = !c->l1i.size ? "L1I" : !c->l1d.size ? "L1D" : NULL;

	if (missing) {
		blame(f, missing, "a machine needs both L1I and L1D");
		return advise(f, "describe it, as in '%s 32K 8-way 64-byte 4-cycle'", missing);
	}
	if (c->page_size & (c->page_size - 1)) {
		blame(f, "page", "the page size must be a power of two, not %u", c->page_size);
		return advise(f, "take %u or %u", 1u << (31 - __builtin_clz(c->page_size)),
			2u << (31 - __builtin_clz(c->page_size)));
	}
	return false;
}

/* A line of one level is filled from one line of the next. */
static bool whole_lines(const struct model_config *c, struct machine_fault *f)
{
	struct level level[4];

	levels_of(c, level);
	for (int outer = 2; outer < 4; outer++)
		for (int inner = 0; inner < outer; inner++) {
			const struct model_cache_config *o = level[outer].cache,
							*i = level[inner].cache;

			if (!o->size || !i->size || o->line >= i->line)
				continue;
			blame(f, level[outer].key,
				"its lines of %u bytes are shorter than the %u of %s, which is "
				"filled from it",
				o->line, i->line, level[inner].key);
			return advise(f, "give %s %u-byte lines, or %s shorter ones",
				level[outer].key, i->line, level[inner].key);
		}
	return false;
}

static bool policy_of(
	const char *key, const char *what, uint32_t policy, uint32_t ways, struct machine_fault *f)
{
	uint32_t most;

	if (policy >= MODEL_POLICIES)
		return blame(f, key, "unknown policy %u", policy);
	most = MODEL_WAYS_MAX(policy);
	if (ways <= most)
		return false;
	blame(f, key, "its policy needs sets of up to %u ways, and %s has %u", most, what, ways);
	return advise(f, "take lru or random%s, or fewer ways",
		most < 64 && ways <= 64 ? ", tree-plru or bit-plru" : "");
}

static bool policies(const struct model_config *c, struct machine_fault *f)
{
	const struct {
		const char *key, *what, *large_what;
		const struct model_tlb_config *small, *large;
	} tlbs[] = {{"ITLB-policy", "ITLB", "ITLB-2M", &c->itlb, &c->large_itlb},
		{"DTLB-policy", "DTLB", "DTLB-2M", &c->dtlb, &c->large_dtlb},
		{"STLB-policy", "STLB", "STLB-2M", &c->stlb, &c->large_stlb}};
	struct level level[4];

	levels_of(c, level);
	for (int i = 0; i < 4; i++)
		if (policy_of(level[i].policy, level[i].key, c->policy[MODEL_L1I + i],
			    level[i].cache->size ? level[i].cache->ways : 0, f))
			return true;
	for (int i = 0; i < 3; i++) {
		uint32_t policy = c->policy[MODEL_ITLB + i];

		if (policy_of(tlbs[i].key, tlbs[i].what, policy,
			    tlbs[i].small->entries ? tlbs[i].small->ways : 0, f) ||
			policy_of(tlbs[i].key, tlbs[i].large_what, policy,
				tlbs[i].large->entries ? tlbs[i].large->ways : 0, f))
			return true;
	}
	return false;
}

/* Exclusive caches pass whole lines to each other. */
static bool inclusion(const struct model_config *c, struct machine_fault *f)
{
	const uint32_t inclusions[] = {c->l2_inclusion, c->ll_inclusion};
	static const char *const keys[] = {"L2-inclusion", "LL-inclusion"};
	struct level level[4];

	levels_of(c, level);
	for (int outer = 2; outer < 4; outer++) {
		const struct model_cache_config *o = level[outer].cache;
		/* Filled from L2 where there is one, else from both of the first level. */
		int begin = outer == 3 && c->l2.size ? 2 : 0, end = begin == 2 ? 3 : 2;

		if (!o->size || inclusions[outer - 2] != MODEL_EXCLUSIVE)
			continue;
		for (int i = begin; i < end; i++) {
			if (level[i].cache->line == o->line)
				continue;
			blame(f, keys[outer - 2],
				"an exclusive %s needs the line size of the level before it: %s "
				"has %u bytes, %s %u",
				level[outer].key, level[i].key, level[i].cache->line,
				level[outer].key, o->line);
			return advise(f, "take neither or inclusive, or lines of the same length");
		}
	}
	return false;
}

static bool on(const struct model_prefetcher *p)
{
	return p->entries || p->ahead || p->lines;
}

/* What cachegrind does not have. */
static bool cachegrind(const struct model_config *c, struct machine_fault *f)
{
	const struct {
		const char *key;
		bool given;
		const char *want;
	} rules[] = {
		{"L2", c->l2.size != 0, "L2 none"},
		{"LL", c->ll.size == 0, "LL 8M 16-way 64-byte 40-cycle, or the like"},
		{"L1I-policy", c->policy[MODEL_L1I] != MODEL_LRU, "lru"},
		{"L1D-policy", c->policy[MODEL_L1D] != MODEL_LRU, "lru"},
		{"LL-policy", c->policy[MODEL_LL] != MODEL_LRU, "lru"},
		{"L2-policy", c->policy[MODEL_L2] != MODEL_LRU, "lru"},
		{"ITLB-policy", c->policy[MODEL_ITLB] != MODEL_LRU, "lru"},
		{"DTLB-policy", c->policy[MODEL_DTLB] != MODEL_LRU, "lru"},
		{"STLB-policy", c->policy[MODEL_STLB] != MODEL_LRU, "lru"},
		{"L2-inclusion", c->l2_inclusion != MODEL_NEITHER, "neither"},
		{"LL-inclusion", c->ll_inclusion != MODEL_NEITHER, "neither"},
		{"L1I-next", on(&c->l1i_next), "off"},
		{"L1D-next", on(&c->l1d_next), "off"},
		{"L1D-stride", on(&c->l1d_stride), "off"},
		{"L1D-stream", on(&c->l1d_stream), "off"},
		{"L2-adjacent", c->l2_adjacent != 0, "off"},
		{"L2-stream", on(&c->l2_stream), "off"},
	};

	if (c->flavour != MODEL_CACHEGRIND)
		return false;
	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
		if (!rules[i].given)
			continue;
		blame(f, rules[i].key, "the semantics of cachegrind need '%s'", rules[i].want);
		return advise(f, "change it, or take 'semantics native'");
	}
	return false;
}

/* The number of cores with these caches. */
static bool whole_room(const struct model_config *c, struct machine_fault *f)
{
	struct model_config fewer = *c;

	if (c->cores < 2 || model_size(c) <= (size_t)1 << 30)
		return false;
	while (fewer.cores > 1 && model_size(&fewer) > (size_t)1 << 30)
		fewer.cores--;
	blame(f, "cores", "the caches of %u cores together take more than 1G to model", c->cores);
	return advise(f, "take %u cores%s", fewer.cores,
		model_size(&fewer) > (size_t)1 << 30 ? " and smaller caches" : " or fewer");
}

bool machine_find_fault(const struct machine *m, struct machine_fault *f)
{
	static bool (*const rules[])(const struct model_config *, struct machine_fault *) = {
		whole_needed, cachegrind, whole_lines, policies, inclusion};
	const char *why;

	f->key = NULL;
	f->text[0] = f->hint[0] = '\0';
	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++)
		if (rules[i](&m->model, f))
			return true;
	why = model_check(&m->model);
	if (!why)
		return false;
	if (!whole_room(&m->model, f))
		blame(f, NULL, "%s", why);
	return true;
}
