/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where everything is in the model's memory. */
#include "model/branch.h"
#include "model/run.h"

struct arena {
	uintptr_t base; /* 0: only measuring */
	size_t used;
};

static void *model_take(struct arena *a, size_t bytes)
{
	size_t at = a->used;

	a->used += (bytes + 63) & ~(size_t)63;
	return a->base ? (void *)(a->base + at) : (void *)0;
}

static unsigned model_log2_of(uint64_t n)
{
	return n ? 63 - (unsigned)__builtin_clzll(n) : 0;
}

/* hinted: in front, where most accesses hit. */
static void lay_out_sets(struct arena *a, struct cache *c, uint64_t sets, uint32_t ways,
	uint32_t line, uint32_t policy, int hinted)
{
	uint64_t count =
		ways ? sets * ways : 1; /* a guess for a missing line finds an empty entry */
	uint64_t hints = hinted && count <= 65536 ? HINTS : 1;

	c->entries = model_take(a, count * sizeof(*c->entries));
	c->used = model_take(a, count * sizeof(*c->used));
	c->hints = model_take(a, hints * sizeof(*c->hints));
	c->hint_mask = hints - 1;
	c->ways = ways;
	c->mask = sets & (sets - 1) ? 0 : sets - 1;
	c->sets = sets & (sets - 1) ? sets : 0;
	c->bits = model_log2_of(line);
	c->offset = line - 1;
	c->quadwords = line / 16;
	c->policy = policy;
	c->front = hinted != 0;
	if (policy != MODEL_LRU)
		c->policy_sets = model_take(a, sets * sizeof(*c->policy_sets));
}

static void lay_out_cache(struct arena *a, struct cache *c, const struct model_cache_config *cache,
	const struct model_config *config, enum model_level level)
{
	if (!cache->size)
		return;
	lay_out_sets(a, c, cache->size / cache->line / cache->ways, cache->ways, cache->line,
		config->policy[level], level < MODEL_L2);
	c->latency = (uint64_t)cache->latency * config->width;
}

static void lay_out_tlb(struct arena *a, struct cache *c, const struct model_tlb_config *tlb,
	const struct model_config *config, enum model_level level)
{
	if (!tlb->entries)
		lay_out_sets(a, c, 1, 0, config->page_size, MODEL_LRU, 0);
	else
		lay_out_sets(a, c, tlb->entries / tlb->ways, tlb->ways, config->page_size,
			config->policy[level], level < MODEL_STLB);
}

/* Without entries for large pages alone, `ways` selects where else their entries are: see tlb.c. */
static void lay_out_large(struct arena *a, struct cache *c, const struct model_tlb_config *tlb,
	const struct model_config *config, enum model_level level)
{
	if (tlb->entries && config->large_pages != MODEL_PAGES_SMALL)
		lay_out_sets(a, c, tlb->entries / tlb->ways, tlb->ways, 1 << 21,
			config->policy[level], 0);
}

static uint64_t entries_of(const struct cache *c)
{
	return (c->sets ? c->sets : c->mask + 1) * c->ways;
}

/* Times of use that the loop over records is to reach fast. */
static void note_uses(struct core *core)
{
	uint64_t pages = entries_of(&core->dtlb);

	if (entries_of(&core->l1d) <= LINES_NOTED)
		core->l1d.used = core->line_used;
	if (pages >= PAGES_NOTED)
		return;
	core->dtlb.used = core->page_used;
	if (pages + entries_of(&core->large_dtlb) < PAGES_NOTED)
		core->large_dtlb.used = core->page_used + pages;
}

/* The last level's sets are packed where that is possible; then ll has the rest. */
static void lay_out_last(struct arena *a, const struct model_config *config, struct model *m)
{
	const struct model_cache_config *ll = &config->ll;
	uint64_t sets = ll->size ? ll->size / ll->line / ll->ways : 0;
	struct arena unused = {0, 0};

	/* Without an L2, what is dirty there is counted. */
	if ((config->flavour == MODEL_NATIVE && !config->l2.size) ||
		!packed_serves(sets, ll->ways, ll->line, config->policy[MODEL_LL])) {
		lay_out_cache(a, &m->ll, ll, config, MODEL_LL);
		return;
	}
	lay_out_cache(&unused, &m->ll, ll, config, MODEL_LL);
	packed_init(&m->packed, sets, ll->ways);
	m->packed.rows = model_take(a, sets * PACKED_ENTRIES * sizeof(*m->packed.rows));
}

/* The flavour of cachegrind has one set of caches for all threads. */
unsigned model_core_count(const struct model_config *config)
{
	return config->flavour == MODEL_CACHEGRIND ? 1 : config->cores;
}

static void lay_out_btb(struct arena *a, struct btb *b, const struct model_config *config)
{
	b->sets = config->btb / BTB_WAYS;
	if (!b->sets)
		return;
	b->set = model_take(a, b->sets * sizeof(*b->set));
	b->first = (uint32_t)(config->btb_first / b->sets);
	b->epoch = 1;
}

static void lay_out_opcache(
	struct arena *a, struct core *core, const struct model_config *config, int real)
{
	struct opcache *o;
	uint64_t sets;
	void *lines;

	if (!config->op_cache || !config->decode || !config->fetch_group)
		return;
	o = model_take(a, sizeof(*o));
	lines = model_take(a, entries_of(&core->l1i) * sizeof(*o->line));
	if (!real)
		return;
	o->line = lines;
	sets = core->l1i.sets ? core->l1i.sets : core->l1i.mask + 1;
	o->ways = (uint32_t)((config->op_cache + sets - 1) / sets);
	o->until_branch = config->decode_until == MODEL_DECODE_UNTIL_BRANCH;
	core->opcache = o;
}

/* m: where to leave the pointers.  Without memory, where it is only measured, all cores are `core`.
 */
static void lay_out_all(
	struct arena *a, const struct model_config *config, struct model *m, struct core *core)
{
	unsigned i, n = model_core_count(config);

	model_take(a, sizeof(struct model));
	m->cores = model_take(a, n * sizeof(struct core));
	for (i = 0; i < n; i++) {
		void *predictor;

		core = m->cores ? &m->cores[i] : core;
		lay_out_cache(a, &core->l1i, &config->l1i, config, MODEL_L1I);
		lay_out_cache(a, &core->l1d, &config->l1d, config, MODEL_L1D);
		lay_out_cache(a, &core->l2, &config->l2, config, MODEL_L2);
		lay_out_tlb(a, &core->itlb, &config->itlb, config, MODEL_ITLB);
		lay_out_tlb(a, &core->dtlb, &config->dtlb, config, MODEL_DTLB);
		lay_out_tlb(a, &core->stlb, &config->stlb, config, MODEL_STLB);
		lay_out_large(a, &core->large_itlb, &config->large_itlb, config, MODEL_ITLB);
		lay_out_large(a, &core->large_dtlb, &config->large_dtlb, config, MODEL_DTLB);
		lay_out_large(a, &core->large_stlb, &config->large_stlb, config, MODEL_STLB);
		note_uses(core);
		core->changed = model_take(a, entries_of(&core->l1i) * sizeof(*core->changed));
		predictor = model_take(a, branch_predictor_size(config));
		if (model_clock_retires(config)) {
			lay_out_opcache(a, core, config, m->cores != 0);
			core->clocked = model_take(a, sizeof(*core->clocked));
			lay_out_btb(a, &core->btb, config);
		}
		if (m->cores)
			branch_predictor_init(&core->predictor, config, predictor);
	}
	lay_out_last(a, config, m);
	if (config->large_pages != MODEL_PAGES_SMALL)
		m->large = model_take(a, LARGE_RANGES * sizeof(*m->large));
	if (model_clock_retires(config))
		m->had = model_take(a, (size_t)1 << (HAD_BITS - 3));
	if (config->execution.kernel_flush && config->parts & MODEL_PART_TLBS)
		m->seen = model_take(a, (size_t)1 << SEEN_BITS);
	if (model_clock_retires(config) && config->clock == MODEL_CLOCK_SAMPLED)
		m->sampled = model_take(a, sizeof(*m->sampled));
	if (n > 1)
		m->directory = model_take(a, sizeof(*m->directory) << DIRECTORY_BITS);
}

size_t model_size(const struct model_config *config)
{
	struct arena a = {0, 0};
	struct model model = {0};
	struct core core = {0};

	lay_out_all(&a, config, &model, &core);
	return a.used;
}

void model_lay_out(struct model *m, const struct model_config *config)
{
	struct arena a = {(uintptr_t)m, 0};

	lay_out_all(&a, config, m, (struct core *)0);
}
