/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which parts of the model each event depends on.
 *
 * - Prefetchers change misses and belong to the caches. They stay within pages and ignore the
 *   clock, so caches, TLBs and predictors do not depend on each other.
 * - Forwarding depends on orders and addresses of accesses only.
 * - Cycles depend on everything.
 * - What execution alone determines needs nothing but the number of times that each superblock ran.
 */
#include "model/state.h"

unsigned model_event_parts(unsigned event)
{
	static const uint8_t parts[EVENT_LIMIT] = {
		[EV_CYCLES] = MODEL_PARTS_ALL,
		[EV_CYCLES_16] = MODEL_PARTS_ALL,
		[EV_FRONTEND_STALLS] = MODEL_PARTS_ALL,
		[EV_BACKEND_STALLS] = MODEL_PARTS_ALL,

		[EV_MISPREDICTED_BRANCHES] = MODEL_PART_PREDICTORS,
		[EV_MISPREDICTED_CONDITIONALS] = MODEL_PART_PREDICTORS,
		[EV_MISPREDICTED_INDIRECTS] = MODEL_PART_PREDICTORS,
		[EV_MISPREDICTED_RETURNS] = MODEL_PART_PREDICTORS,

		[EV_L1I_MISSES] = MODEL_PART_CACHES,
		[EV_L1D_MISSES] = MODEL_PART_CACHES,
		[EV_L2I_MISSES] = MODEL_PART_CACHES,
		[EV_L2D_MISSES] = MODEL_PART_CACHES,
		[EV_L2_REFERENCES] = MODEL_PART_CACHES,
		[EV_LL_INSTRUCTION_MISSES] = MODEL_PART_CACHES,
		[EV_LL_DATA_MISSES] = MODEL_PART_CACHES,
		[EV_LL_REFERENCES] = MODEL_PART_CACHES,
		[EV_L1_WRITEBACK_QUADWORDS] = MODEL_PART_CACHES,
		[EV_L2_WRITEBACK_QUADWORDS] = MODEL_PART_CACHES,
		[EV_INTERVENTIONS] = MODEL_PART_CACHES,
		[EV_INTERVENTION_HITS] = MODEL_PART_CACHES,
		[EV_INVALIDATIONS] = MODEL_PART_CACHES,
		[EV_INVALIDATION_HITS] = MODEL_PART_CACHES,
		[EV_STORES_TO_CLEAN] = MODEL_PART_CACHES,
		[EV_STORES_TO_SHARED] = MODEL_PART_CACHES,
		[EV_HARDWARE_PREFETCHES] = MODEL_PART_CACHES,
		[EV_SPLIT_ACCESSES] = MODEL_PART_CACHES,

		[EV_TLB_MISSES] = MODEL_PART_TLBS,
		[EV_DTLB_MISSES] = MODEL_PART_TLBS,
		[EV_DTLB_WALKS] = MODEL_PART_TLBS,
		[EV_ITLB_MISSES] = MODEL_PART_TLBS,
		[EV_ITLB_WALKS] = MODEL_PART_TLBS,
		[EV_WALK_CYCLES] = MODEL_PART_TLBS,

		[EV_STORE_FORWARD_FAILURES] = MODEL_PART_STORES,
		[EV_ALIASES_4K] = MODEL_PART_STORES,
	};

	return MODEL_PART_EXECUTION | (event < EVENT_LIMIT ? parts[event] : 0u);
}

/* The sampled clock has a store buffer in its windows, where it is filled beforehand. Only events
 * of the store buffer need it everywhere. */
static unsigned parts_needed(const struct model_config *config, unsigned event)
{
	unsigned parts = model_event_parts(event);

	if (config->clock == MODEL_CLOCK_SAMPLED && parts & MODEL_PART_CLOCK)
		parts &= ~(unsigned)MODEL_PART_STORES;
	return parts;
}

void model_ask_little(struct model_config *config)
{
	unsigned i;

	config->parts = MODEL_PART_EXECUTION;
	for (i = 0; i < sizeof(config->events) / sizeof(config->events[0]); i++)
		config->events[i] = 0;
	model_ask(config, EV_INSTRUCTIONS);
}

void model_ask(struct model_config *config, unsigned event)
{
	/* Those that are computed from another. */
	static const uint8_t from[EVENT_LIMIT] = {
		[EV_INSTRUCTIONS_15] = EV_INSTRUCTIONS,
		[EV_DECODED_BRANCHES] = EV_CONDITIONAL_BRANCHES,
		[EV_STORE_CONDITIONALS] = EV_LOCKED_INSTRUCTIONS,
		[EV_DIVIDER_CYCLES] = EV_DIVIDES,
	};

	config->parts |= parts_needed(config, event);
	if (event >= EVENT_LIMIT)
		return;
	config->events[event / 32] |= UINT32_C(1) << event % 32;
	if (from[event])
		config->events[from[event] / 32] |= UINT32_C(1) << from[event] % 32;
}

int model_asked(const struct model_config *config, unsigned event)
{
	if (parts_needed(config, event) & ~config->parts)
		return 0;
	return config->parts != MODEL_PART_EXECUTION ||
	       (event < EVENT_LIMIT && config->events[event / 32] >> event % 32 & 1);
}

struct model_config model_needed(const struct model_config *config)
{
	static const struct model_tlb_config none = {0, 0};
	struct model_config c = *config;

	if (!(c.parts & MODEL_PART_TLBS)) {
		c.itlb = c.dtlb = c.stlb = c.large_itlb = c.large_dtlb = c.large_stlb = none;
		c.large_pages = MODEL_PAGES_SMALL;
	}
	return c;
}
