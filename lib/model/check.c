/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which configurations the model supports, and which events it counts in each. */
#include "model/state.h"

#define SIZE_MAXIMUM    (UINT32_C(1) << 30)
#define WAYS_MAXIMUM    MODEL_WAYS_MAX(MODEL_LRU)
#define LATENCY_MAXIMUM 1000000

static int power_of_two(uint32_t n)
{
	return n && !(n & (n - 1));
}

/* One text for each cache and each fault. */
#define CACHE_TEXTS(name)                                                                          \
	{                                                                                          \
		name " line must be a power of two from 16 bytes to a page",                       \
			name " is larger than 1 GiB", name " needs between 1 and 4096 ways",       \
			name " size must be a multiple of ways times line",                        \
			name " must have a power of two of sets for cachegrind",                   \
			name " latency is above 1000000 cycles", name " is missing"                \
	}

struct cache_check {
	const char *bad_line, *bad_size, *bad_ways, *bad_multiple, *bad_sets, *bad_latency,
		*missing;
};

static const struct cache_check l1i_texts = CACHE_TEXTS("L1I");
static const struct cache_check l1d_texts = CACHE_TEXTS("L1D");
static const struct cache_check l2_texts = CACHE_TEXTS("L2");
static const struct cache_check ll_texts = CACHE_TEXTS("LL");

static const char *check_cache(const struct model_config *config,
	const struct model_cache_config *cache, const struct cache_check *texts, int required)
{
	if (!cache->size)
		return required ? texts->missing : (const char *)0;
	if (!power_of_two(cache->line) || cache->line < 16 || cache->line > config->page_size)
		return texts->bad_line;
	if (cache->size > SIZE_MAXIMUM)
		return texts->bad_size;
	if (!cache->ways || cache->ways > WAYS_MAXIMUM)
		return texts->bad_ways;
	if (cache->size % ((uint64_t)cache->ways * cache->line))
		return texts->bad_multiple;
	if (config->flavour == MODEL_CACHEGRIND &&
		!power_of_two(cache->size / cache->ways / cache->line))
		return texts->bad_sets;
	if (cache->latency > LATENCY_MAXIMUM)
		return texts->bad_latency;
	return (const char *)0;
}

static const char *check_caches(const struct model_config *config)
{
	const char *why = check_cache(config, &config->l1i, &l1i_texts, 1);

	if (!why)
		why = check_cache(config, &config->l1d, &l1d_texts, 1);
	if (!why)
		why = check_cache(config, &config->l2, &l2_texts, 0);
	if (!why)
		why = check_cache(
			config, &config->ll, &ll_texts, config->flavour == MODEL_CACHEGRIND);
	if (why)
		return why;
	if (config->flavour == MODEL_CACHEGRIND)
		return config->l2.size ? "cachegrind's caches have no L2" : (const char *)0;
	if (config->l2.size &&
		(config->l2.line < config->l1d.line || config->l2.line < config->l1i.line))
		return "L2 line must not be shorter than those of L1";
	if (config->ll.size && config->l2.size && config->ll.line < config->l2.line)
		return "LL line must not be shorter than that of L2";
	if (config->ll.size &&
		(config->ll.line < config->l1d.line || config->ll.line < config->l1i.line))
		return "LL line must not be shorter than those of L1";
	return (const char *)0;
}

static const char *check_tlb(
	const struct model_tlb_config *tlb, const char *bad_ways, const char *bad_entries)
{
	if (!tlb->entries)
		return (const char *)0;
	if (tlb->entries > SIZE_MAXIMUM / 4096)
		return bad_entries;
	if (!tlb->ways || tlb->ways > WAYS_MAXIMUM || tlb->entries % tlb->ways)
		return bad_ways;
	return (const char *)0;
}

static const char *check_tlbs(const struct model_config *config)
{
	const char *why =
		check_tlb(&config->itlb, "ITLB entries must be a multiple of its ways (1 to 4096)",
			"ITLB has more than 262144 entries");

	if (!why)
		why = check_tlb(&config->dtlb,
			"DTLB entries must be a multiple of its ways (1 to 4096)",
			"DTLB has more than 262144 entries");
	if (!why)
		why = check_tlb(&config->stlb,
			"second-level TLB entries must be a multiple of its ways (1 to 4096)",
			"second-level TLB has more than 262144 entries");
	return why;
}

static const char *check_large(const struct model_config *config)
{
	const struct model_tlb_config *large[] = {
		&config->large_itlb, &config->large_dtlb, &config->large_stlb};
	const char *why = (const char *)0;
	unsigned i;

	for (i = 0; !why && i < 3; i++) {
		if (!large[i]->entries && large[i]->ways > MODEL_LARGE_SPLIT)
			return "a TLB without entries for large pages shares or splits";
		why = check_tlb(large[i],
			"entries for large pages must be a multiple of their ways (1 to 4096)",
			"a TLB has more than 262144 entries for large pages");
	}
	if (!why && config->large_pages >= MODEL_PAGES_MODES)
		why = "large pages must be 0 (none) or 1 (as the kernel maps them)";
	return why;
}

static const char *check_policy(uint32_t policy, uint32_t ways)
{
	if (policy >= MODEL_POLICIES)
		return "unknown replacement policy";
	if (ways > MODEL_WAYS_MAX(policy))
		return "tree-plru and bit-plru need sets of up to 64 ways, srrip and qlru of up to "
		       "32";
	return (const char *)0;
}

static const char *check_policies(const struct model_config *config)
{
	const uint32_t ways[MODEL_LEVELS] = {
		[MODEL_L1I] = config->l1i.ways,
		[MODEL_L1D] = config->l1d.ways,
		[MODEL_L2] = config->l2.size ? config->l2.ways : 0,
		[MODEL_LL] = config->ll.size ? config->ll.ways : 0,
		[MODEL_ITLB] = config->itlb.entries ? config->itlb.ways : 0,
		[MODEL_DTLB] = config->dtlb.entries ? config->dtlb.ways : 0,
		[MODEL_STLB] = config->stlb.entries ? config->stlb.ways : 0,
	};
	const uint32_t large[MODEL_LEVELS] = {
		[MODEL_ITLB] = config->large_itlb.ways,
		[MODEL_DTLB] = config->large_dtlb.ways,
		[MODEL_STLB] = config->large_stlb.ways,
	};
	const char *why = (const char *)0;
	unsigned i;

	for (i = 0; !why && i < MODEL_LEVELS; i++) {
		if (config->flavour == MODEL_CACHEGRIND && config->policy[i] != MODEL_LRU)
			return "cachegrind's caches replace by lru";
		if (i != MODEL_L2 && i != MODEL_LL && i != MODEL_STLB &&
			config->policy[i] >= MODEL_SRRIP && config->policy[i] < MODEL_POLICIES)
			return "srrip and qlru are policies of L2, LL and the second-level TLB";
		why = check_policy(config->policy[i], ways[i] > large[i] ? ways[i] : large[i]);
	}
	if (!why && config->policy[MODEL_STLB] >= MODEL_SRRIP && config->stlb.entries &&
		(!config->itlb.entries || !config->dtlb.entries))
		why = "srrip and qlru need a TLB before the second-level one";
	return why;
}

/* Exclusive caches pass whole lines to each other. */
static const char *check_inclusion(const struct model_config *config)
{
	uint32_t l1 = config->l1d.line == config->l1i.line ? config->l1d.line : 0;
	uint32_t before = config->l2.size ? config->l2.line : l1;

	if (config->l2_inclusion >= MODEL_INCLUSIONS || config->ll_inclusion >= MODEL_INCLUSIONS)
		return "a cache is neither (0), inclusive (1) or exclusive (2)";
	if (config->flavour == MODEL_CACHEGRIND && (config->l2_inclusion || config->ll_inclusion))
		return "cachegrind's caches are neither inclusive nor exclusive";
	if (config->l2.size && config->l2_inclusion == MODEL_EXCLUSIVE && config->l2.line != l1)
		return "an exclusive L2 has the line of L1I and L1D";
	if (config->ll.size && config->ll_inclusion == MODEL_INCLUSIVE && config->l2.size &&
		config->l2_inclusion == MODEL_EXCLUSIVE)
		return "an inclusive LL after an exclusive L2 is not modelled";
	if (config->ll.size && config->ll_inclusion == MODEL_EXCLUSIVE && config->ll.line != before)
		return "an exclusive LL has the line of the caches before it";
	return (const char *)0;
}

static int prefetcher_off(const struct model_prefetcher *p)
{
	return !p->entries && !p->ahead && !p->lines;
}

/* Off, or with all that a stream prefetcher has? */
static int whole_stream(const struct model_prefetcher *p)
{
	return prefetcher_off(p) || (p->entries && p->ahead && p->lines);
}

static const char *check_prefetchers(const struct model_config *config)
{
	const struct model_prefetcher *all[] = {&config->l1i_next, &config->l1d_next,
		&config->l1d_stride, &config->l1d_stream, &config->l2_stream};
	int on = config->l2_adjacent != 0;
	unsigned i;

	for (i = 0; i < 5; i++) {
		if (all[i]->entries > PREFETCH_ENTRIES_MAX || all[i]->ahead > PREFETCH_AHEAD_MAX ||
			all[i]->lines > PREFETCH_LINES_MAX)
			return "a prefetcher has more than 256 entries, 64 ahead or 16 lines";
		on |= !prefetcher_off(all[i]);
	}
	if (config->l2_adjacent > 1)
		return "L2's adjacent prefetch is off (0) or on (1)";
	if (!prefetcher_off(&config->l1d_stride) &&
		(!config->l1d_stride.entries || !config->l1d_stride.ahead))
		return "a stride prefetcher needs entries and a distance";
	if (!whole_stream(&config->l1d_stream) || !whole_stream(&config->l2_stream))
		return "a stream prefetcher needs entries, a distance, and lines";
	if (config->stream_step > PREFETCH_AHEAD_MAX)
		return "the requests of a stream are more than 64 lines apart";
	if (on && config->flavour == MODEL_CACHEGRIND)
		return "cachegrind has no prefetchers";
	return (const char *)0;
}

static const char *check_core(const struct model_config *config)
{
	const uint32_t *execution = (const uint32_t *)&config->execution;
	size_t i;

	if (!config->width || config->width > 64)
		return "width must be from 1 to 64 instructions a cycle";
	if (!config->window || config->window > 65536)
		return "window must be from 1 to 65536 instructions";
	if (config->walkers > RETIRE_WALKERS)
		return "there are more than 16 page walkers";
	if (config->memory_latency > LATENCY_MAXIMUM || config->stlb_latency > LATENCY_MAXIMUM ||
		config->walk_latency > LATENCY_MAXIMUM ||
		config->intervention_latency > LATENCY_MAXIMUM)
		return "a memory, TLB or intervention latency is above 1000000 cycles";
	if (config->mispredict_penalty > LATENCY_MAXIMUM ||
		config->divide_latency > LATENCY_MAXIMUM ||
		config->fp_divide_latency > LATENCY_MAXIMUM ||
		config->lock_latency > LATENCY_MAXIMUM ||
		config->store_forward_penalty > LATENCY_MAXIMUM)
		return "a misprediction, divide, lock or store forward penalty is above 1000000 "
		       "cycles";
	if (config->misses > MISSES_MAX)
		return "more than 64 misses under way at once";
	if (config->predictor_kind > MODEL_PREDICTOR_CACHEGRIND)
		return "predictor kind must be 0 (two-bit counters), 1 (tagged, geometric "
		       "histories) or 2 (cachegrind's)";
	if (config->predictor_bits < 4 || config->predictor_bits > 20)
		return "predictor bits must be from 4 to 20";
	if (config->return_stack > RETURN_STACK_MAX)
		return "return stack has more than 256 entries";
	if ((config->btb && config->btb < BTB_WAYS) || config->btb > 1u << 20)
		return "a branch target buffer has from 8 to 1048576 entries, or 0";
	if (config->store_buffer > STORES_MAX)
		return "store buffer has more than 256 entries";
	if (config->clock > MODEL_CLOCK_SAMPLED)
		return "unknown clock";
	if (config->clock && config->flavour == MODEL_CACHEGRIND)
		return "cachegrind has no retirement clock";
	for (i = 0; i < sizeof(config->execution) / sizeof(*execution); i++)
		if (execution[i] > LATENCY_MAXIMUM)
			return "a number of units or a latency of execution is above 1000000";
	return (const char *)0;
}

const char *model_check(const struct model_config *config)
{
	const char *why;

	if (config->version != MODEL_CONFIG_VERSION)
		return "the description has another version";
	if (config->flavour > MODEL_CACHEGRIND)
		return "unknown flavour";
	if (!(config->parts & MODEL_PART_EXECUTION) || config->parts > MODEL_PARTS_ALL)
		return "execution is always a part of the model";
	if (config->parts & MODEL_PART_CLOCK &&
		(config->parts | (config->clock == MODEL_CLOCK_SAMPLED ? MODEL_PART_STORES : 0)) !=
			MODEL_PARTS_ALL)
		return "the clock needs all other parts of the model";
	if (!config->clock_hz)
		return "clock frequency is missing";
	if (!config->cores || config->cores > MODEL_CORES_MAX)
		return "cores must be from 1 to 64";
	if (!power_of_two(config->page_size) || config->page_size < 4096 ||
		config->page_size > SIZE_MAXIMUM)
		return "page size must be a power of two from 4 KiB to 1 GiB";
	why = check_caches(config);
	if (!why)
		why = check_tlbs(config);
	if (!why)
		why = check_large(config);
	if (!why)
		why = check_policies(config);
	if (!why)
		why = check_inclusion(config);
	if (!why)
		why = check_prefetchers(config);
	if (!why)
		why = check_core(config);
	if (!why && model_size(config) > (size_t)SIZE_MAXIMUM)
		why = "the caches of all cores together need more than 1 GiB to model; use fewer "
		      "cores";
	return why;
}

static int has_secondary(const struct model_config *c)
{
	return c->l2.size || c->ll.size;
}

static int has_prefetchers(const struct model_config *c)
{
	return c->l1i_next.lines || c->l1d_next.lines || c->l1d_stride.entries ||
	       c->l1d_stream.entries || (c->l2.size && (c->l2_adjacent || c->l2_stream.entries));
}

int model_counts_event(const struct model_config *c, int event)
{
	switch (event) {
	case EV_L1_WRITEBACK_QUADWORDS:
	case EV_STORES_TO_CLEAN:
		return c->flavour == MODEL_NATIVE;
	case EV_L2_WRITEBACK_QUADWORDS:
		return c->flavour == MODEL_NATIVE && has_secondary(c);
	case EV_INTERVENTIONS:
	case EV_INVALIDATIONS:
	case EV_INTERVENTION_HITS:
	case EV_INVALIDATION_HITS:
	case EV_STORES_TO_SHARED:
		return c->flavour == MODEL_NATIVE && c->cores > 1;
	case EV_L2I_MISSES:
	case EV_L2D_MISSES:
	case EV_L2_REFERENCES:
		return has_secondary(c);
	case EV_LL_DATA_MISSES:
	case EV_LL_INSTRUCTION_MISSES:
	case EV_LL_REFERENCES:
		return c->ll.size != 0;
	case EV_HARDWARE_PREFETCHES:
		return has_prefetchers(c);
	case EV_DTLB_MISSES:
		return c->dtlb.entries != 0;
	case EV_ITLB_MISSES:
		return c->itlb.entries != 0;
	case EV_DTLB_WALKS:
		return c->dtlb.entries || c->stlb.entries;
	case EV_ITLB_WALKS:
		return c->itlb.entries || c->stlb.entries;
	case EV_TLB_MISSES:
	case EV_WALK_CYCLES:
		return c->dtlb.entries || c->itlb.entries || c->stlb.entries;
	case EV_STORE_FORWARD_FAILURES:
	case EV_ALIASES_4K:
		return c->store_buffer != 0;
	/* Of what is speculated, or not modelled. */
	case EV_ISSUED_INSTRUCTIONS:
	case EV_ISSUED_LOADS:
	case EV_ISSUED_STORES:
	case EV_ISSUED_STORE_CONDITIONALS:
	case EV_FAILED_STORE_CONDITIONALS:
	case EV_L2_ECC_ERRORS:
	case EV_I_WAY_MISPREDICTS:
	case EV_VIRTUAL_COHERENCY:
	case EV_D_WAY_MISPREDICTS:
	case EV_MEMORY_ORDER_CLEARS:
		return 0;
	default: /* those after page faults are the kernel's */
		return event >= 0 && event <= EV_PAGE_FAULTS;
	}
}
