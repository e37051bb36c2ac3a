/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names of `perf list` that are not those of a row, because processors differ in what they count by
 * them, with the row that comes nearest.
 */
#include <strings.h>

#include "events/event.h"

#define SAME           "the same"
#define STORES_TOO     "it includes what stores miss"
#define LOADS_TOO      "it includes what loads miss"
#define ALL_REFERENCES "it counts all references: loads, stores and instructions"

static const struct {
	const char *name;
	int number;
	const char *difference;
} perf_names[] = {
	{"cache-references", EV_LL_REFERENCES, "on some processors perf counts another level"},
	{"cache-misses", EV_LL_DATA_MISSES, "without those of instructions"},
	{"bus-cycles", EV_CYCLES, "of the core's clock"},
	{"ref-cycles", EV_CYCLES, "at the clock that the core runs at"},
	{"cpu-clock", EV_TASK_CLOCK, "the same in a command that is alone on its processor"},
	{"minor-faults", EV_PAGE_FAULTS, "it includes major ones"},
	{"L1-dcache-loads", EV_LOADS, "graduated ones"},
	{"L1-dcache-load-misses", EV_L1D_MISSES, STORES_TOO},
	{"L1-dcache-stores", EV_STORES, "graduated ones"},
	{"L1-dcache-store-misses", EV_L1D_MISSES, LOADS_TOO},
	{"L1-dcache-prefetches", EV_HARDWARE_PREFETCHES, "of all levels"},
	{"L1-dcache-prefetch-misses", EV_HARDWARE_PREFETCHES, "of all levels"},
	{"L1-icache-load-misses", EV_L1I_MISSES, SAME},
	{"L1-icache-loads", EV_INSTRUCTIONS, "instructions, not lines that were fetched"},
	{"LLC-loads", EV_LL_REFERENCES, ALL_REFERENCES},
	{"LLC-stores", EV_LL_REFERENCES, ALL_REFERENCES},
	{"LLC-load-misses", EV_LL_DATA_MISSES, STORES_TOO},
	{"LLC-store-misses", EV_LL_DATA_MISSES, LOADS_TOO},
	{"LLC-prefetches", EV_HARDWARE_PREFETCHES, "of all levels"},
	{"LLC-prefetch-misses", EV_HARDWARE_PREFETCHES, "of all levels"},
	{"dTLB-loads", EV_LOADS, "each load asks the TLB"},
	{"dTLB-stores", EV_STORES, "each store asks the TLB"},
	{"dTLB-load-misses", EV_DTLB_WALKS, STORES_TOO},
	{"dTLB-store-misses", EV_DTLB_WALKS, LOADS_TOO},
	{"iTLB-loads", EV_INSTRUCTIONS, "instructions, not what they ask the TLB"},
	{"iTLB-load-misses", EV_ITLB_WALKS, SAME},
	{"branch-loads", EV_BRANCHES, SAME},
	{"branch-load-misses", EV_MISPREDICTED_BRANCHES, "whatever was predicted wrong"},
	{"node-loads", EV_LL_DATA_MISSES, "from whatever memory"},
	{"node-load-misses", EV_LL_DATA_MISSES, "from whatever memory"},
	{"mem-loads", EV_LOADS, "counted, not sampled"},
	{"mem-stores", EV_STORES, "counted, not sampled"},
	{"slots", EV_MICRO_OPS, "those used, not those there were"},
	{"topdown-retiring", EV_MICRO_OPS, "micro-operations, not a share of slots"},
	{"topdown-bad-spec", EV_MISPREDICTED_BRANCHES, "mispredictions, not the slots they lose"},
	{"topdown-fe-bound", EV_FRONTEND_STALLS, "cycles, not slots"},
	{"topdown-be-bound", EV_BACKEND_STALLS, "cycles, not slots"},
	/* Makers' own names, in perf's spelling: AMD, Intel, Arm. */
	{"ex_ret_instr", EV_INSTRUCTIONS, SAME},
	{"ex_ret_ops", EV_MICRO_OPS, SAME},
	{"ex_ret_brn", EV_BRANCHES, SAME},
	{"ex_ret_brn_misp", EV_MISPREDICTED_BRANCHES, SAME},
	{"ex_ret_cond", EV_CONDITIONAL_BRANCHES, SAME},
	{"ls_not_halted_cyc", EV_CYCLES, SAME},
	{"ls_dc_accesses", EV_LOADS, "stores are another event"},
	{"ls_dispatch.ld_dispatch", EV_ISSUED_LOADS, SAME},
	{"ls_dispatch.store_dispatch", EV_ISSUED_STORES, SAME},
	{"l2_cache_req_stat.ls_rd_blk_c", EV_L2D_MISSES, STORES_TOO},
	{"inst_retired.any", EV_INSTRUCTIONS, SAME},
	{"cpu_clk_unhalted.thread", EV_CYCLES, SAME},
	{"cpu_clk_unhalted.core", EV_CYCLES, SAME},
	{"br_inst_retired.all_branches", EV_BRANCHES, SAME},
	{"br_misp_retired.all_branches", EV_MISPREDICTED_BRANCHES, SAME},
	{"mem_inst_retired.all_loads", EV_LOADS, SAME},
	{"mem_inst_retired.all_stores", EV_STORES, SAME},
	{"mem_load_retired.l1_miss", EV_L1D_MISSES, STORES_TOO},
	{"mem_load_retired.l2_miss", EV_L2D_MISSES, STORES_TOO},
	{"mem_load_retired.l3_miss", EV_LL_DATA_MISSES, STORES_TOO},
	{"l1d.replacement", EV_L1D_MISSES, SAME},
	{"l2_rqsts.miss", EV_L2D_MISSES, "without those of instructions"},
	{"l2_rqsts.demand_data_rd_miss", EV_L2D_MISSES, STORES_TOO},
	{"longest_lat_cache.miss", EV_LL_DATA_MISSES, "without those of instructions"},
	{"longest_lat_cache.reference", EV_LL_REFERENCES, SAME},
	{"uops_retired.slots", EV_MICRO_OPS, SAME},
	{"uops_retired.retire_slots", EV_MICRO_OPS, SAME},
	{"dtlb_load_misses.walk_completed", EV_DTLB_WALKS, STORES_TOO},
	{"itlb_misses.walk_completed", EV_ITLB_WALKS, SAME},
	{"inst_retired", EV_INSTRUCTIONS, SAME},
	{"cpu_cycles", EV_CYCLES, SAME},
	{"l1d_cache_refill", EV_L1D_MISSES, SAME},
	{"l1i_cache_refill", EV_L1I_MISSES, SAME},
	{"l2d_cache_refill", EV_L2D_MISSES, "without those of instructions"},
	{"ll_cache_miss_rd", EV_LL_DATA_MISSES, STORES_TOO},
	{"br_retired", EV_BRANCHES, SAME},
	{"br_mis_pred_retired", EV_MISPREDICTED_BRANCHES, SAME},
	{"dtlb_walk", EV_DTLB_WALKS, SAME},
	{"itlb_walk", EV_ITLB_WALKS, SAME},
};

const struct event *event_perf_nearest(const char *name, const char **difference)
{
	for (size_t i = 0; i < sizeof(perf_names) / sizeof(perf_names[0]); i++) {
		if (strcasecmp(perf_names[i].name, name) != 0)
			continue;
		*difference = perf_names[i].difference;
		return event_by_number(perf_names[i].number);
	}
	return NULL;
}
