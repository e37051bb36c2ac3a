/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Intel's families. Where libpfm4 has a string it is used; its tables let unit masks be combined
 * only where one string covers the combination, so some rows are raw codes, event in bits 0 to 7
 * and unit mask in 8 to 15, put together from the masks of Intel's published event lists (perfmon:
 * skylake, icelakex, sapphirerapids), in which these masks are bits: STLB_MISS_LOADS 11h is bits 0
 * (loads) and 4, ALL_DEMAND_MISS 27h is the union of 21h, 22h and 24h, WALK_COMPLETED 0Eh that of
 * the page sizes. No single event of these processors counts issued loads, failed store
 * conditionals, ECC, way prediction, incoming snoops (documented on some models only),
 * written-back quadwords, divides, floating-point operations (a weighted sum of eight events).
 */
#include <stddef.h>

#include "events/encodings.h"

#define LOADS_WALK   "retired loads and stores; instruction walks are event 39"
#define LOADS        "loads alone"
#define L1D_FILLS    "lines brought into L1, by its prefetchers too"
#define L2D_DEMAND   "requests of the L1 prefetcher may be among them"
#define FMA_TWICE    "a multiply-add counts twice, and x87 is not counted"
#define FP_VECTORS   "floating-point vectors alone"
#define FUSED        "fused pairs count once"
#define READS        "reads alone; stores that miss are not among them"
#define FAR          "far branches (system calls, interrupts) are among them"
#define PREFETCH_TOO "requests of the L1 and L2 prefetchers are among them"

/* clang-format off */
const struct encoding_family encodings_skl = {
	.name = "skl",
	.prefix = "skl::",
	.rows = {
		[EV_CYCLES] = {"UNHALTED_CORE_CYCLES", 0, NULL},
		[EV_ISSUED_INSTRUCTIONS] = {"UOPS_ISSUED:ANY", 0, NULL},
		[EV_ISSUED_STORES] = {"UOPS_DISPATCHED_PORT:PORT_4", 0, NULL},
		[EV_DECODED_BRANCHES] = {"BR_INST_RETIRED:CONDITIONAL", 0, NULL},
		[EV_L1I_MISSES] = {"ICACHE_64B:IFTAG_MISS", 0, NULL},
		[EV_L2I_MISSES] = {"L2_RQSTS:CODE_RD_MISS", 0, NULL},
		[EV_INSTRUCTIONS] = {"INSTRUCTION_RETIRED", 0, NULL},
		[EV_LOADS] = {"MEM_INST_RETIRED:ALL_LOADS", 0, NULL},
		[EV_STORES] = {"MEM_INST_RETIRED:ALL_STORES", 0, NULL},
		[EV_STORE_CONDITIONALS] = {"MEM_INST_RETIRED:LOCK_LOADS", 0, NULL},
		[EV_FP_INSTRUCTIONS] = {"FP_ARITH_INST_RETIRED:SCALAR_DOUBLE:SCALAR_SINGLE:128B_PACKED_DOUBLE"
			":128B_PACKED_SINGLE:256B_PACKED_DOUBLE:256B_PACKED_SINGLE:512B_PACKED_DOUBLE"
			":512B_PACKED_SINGLE", 0, FMA_TWICE},
		[EV_TLB_MISSES] = {"MEM_INST_RETIRED.STLB_MISS_LOADS+STORES", 0x13d0, LOADS_WALK},
		[EV_MISPREDICTED_BRANCHES] = {"BR_MISP_RETIRED:ALL_BRANCHES", 0, NULL},
		[EV_L1D_MISSES] = {"L1D:REPLACEMENT", 0, L1D_FILLS},
		[EV_L2D_MISSES] = {"L2_RQSTS.DEMAND_DATA_RD_MISS+RFO_MISS", 0x2324, L2D_DEMAND},
		[EV_LL_DATA_MISSES] = {"OFFCORE_REQUESTS:L3_MISS_DEMAND_DATA_RD", 0, READS},
		[EV_LL_REFERENCES] = {"LONGEST_LAT_CACHE:REFERENCE", 0, PREFETCH_TOO},
		[EV_L2_REFERENCES] = {"L2_RQSTS:ALL_DEMAND_REFERENCES", 0, NULL},
		[EV_DTLB_MISSES] = {"DTLB_LOAD_MISSES.STLB_HIT+WALK_COMPLETED", 0x2e08, LOADS},
		[EV_DTLB_WALKS] = {"DTLB_LOAD_MISSES:WALK_COMPLETED", 0, LOADS},
		[EV_ITLB_MISSES] = {"ITLB_MISSES.STLB_HIT+WALK_COMPLETED", 0x2e85, NULL},
		[EV_ITLB_WALKS] = {"ITLB_MISSES:WALK_COMPLETED", 0, NULL},
		[EV_WALK_CYCLES] = {"DTLB_LOAD_MISSES:WALK_ACTIVE", 0, LOADS},
		[EV_HARDWARE_PREFETCHES] = {"L2_RQSTS:ALL_PF", 0, "requests to L2, prefetch instructions for reading too"},
		[EV_SOFTWARE_PREFETCHES] = {"SW_PREFETCH_ACCESS.ANY", 0x0f32, NULL},
		[EV_FRONTEND_STALLS] = {"IDQ_UOPS_NOT_DELIVERED:CYCLES_0_UOPS_DELIV_CORE", 0, NULL},
		[EV_BACKEND_STALLS] = {"RESOURCE_STALLS:ANY", 0, NULL},
		[EV_DIVIDER_CYCLES] = {"ARITH:DIVIDER_ACTIVE", 0, NULL},
		[EV_VECTOR_INSTRUCTIONS] = {"FP_ARITH_INST_RETIRED:128B_PACKED_DOUBLE:128B_PACKED_SINGLE"
			":256B_PACKED_DOUBLE:256B_PACKED_SINGLE:512B_PACKED_DOUBLE:512B_PACKED_SINGLE", 0,
			FP_VECTORS},
		[EV_MEMORY_ORDER_CLEARS] = {"MACHINE_CLEARS:MEMORY_ORDERING", 0, NULL},
		[EV_STORE_FORWARD_FAILURES] = {"LD_BLOCKS:STORE_FORWARD", 0, NULL},
		[EV_ALIASES_4K] = {"LD_BLOCKS_PARTIAL:ADDRESS_ALIAS", 0, NULL},
		[EV_MICRO_OPS] = {"UOPS_RETIRED:RETIRE_SLOTS", 0, FUSED},
		[EV_CONDITIONAL_BRANCHES] = {"BR_INST_RETIRED:CONDITIONAL", 0, NULL},
		[EV_MISPREDICTED_CONDITIONALS] = {"BR_MISP_RETIRED:CONDITIONAL", 0, NULL},
		[EV_MISPREDICTED_INDIRECTS] = {"BR_MISP_EXEC:INDIRECT", 0, "executed, on the right path or not"},
		[EV_RETURNS] = {"BR_INST_RETIRED:NEAR_RETURN", 0, NULL},
		[EV_MISPREDICTED_RETURNS] = {"BR_MISP_RETIRED:RET", 0, NULL},
		[EV_CALLS] = {"BR_INST_RETIRED:NEAR_CALL", 0, NULL},
		[EV_TAKEN_BRANCHES] = {"BR_INST_RETIRED:NEAR_TAKEN", 0, NULL},
		[EV_BRANCHES] = {"BR_INST_RETIRED:ALL_BRANCHES", 0, FAR},
		[EV_LOCKED_INSTRUCTIONS] = {"MEM_INST_RETIRED:LOCK_LOADS", 0, NULL},
		[EV_SPLIT_ACCESSES] = {"MEM_INST_RETIRED.SPLIT_LOADS+STORES", 0x43d0, NULL},
	},
};

/* Back-end stalls: from Ice Lake on they are counted in slots of the pipeline, not in cycles. */
const struct encoding_family encodings_icx = {
	.name = "icx",
	.prefix = "icx::",
	.base = &encodings_skl,
	.rows = {
		[EV_ISSUED_STORES] = {"UOPS_DISPATCHED:PORT_4_9", 0, NULL},
		[EV_DECODED_BRANCHES] = {"BR_INST_RETIRED:COND", 0, NULL},
		[EV_FP_INSTRUCTIONS] = {"FP_ARITH_INST_RETIRED.SCALAR+VECTOR", 0xffc7, FMA_TWICE},
		[EV_LL_INSTRUCTION_MISSES] = {"OCR:DEMAND_CODE_RD_L3_MISS", 0, NULL},
		[EV_LL_REFERENCES] = {"LONGEST_LAT_CACHE:REFERENCES", 0, PREFETCH_TOO},
		[EV_HARDWARE_PREFETCHES] = {"OCR:HWPF_L2_ANY_RESPONSE", 0, "those into L2 that leave the core"},
		[EV_VECTOR_INSTRUCTIONS] = {"FP_ARITH_INST_RETIRED:VECTOR", 0, FP_VECTORS},
		[EV_MICRO_OPS] = {"UOPS_RETIRED:SLOTS", 0, FUSED},
		[EV_CONDITIONAL_BRANCHES] = {"BR_INST_RETIRED:COND", 0, NULL},
		[EV_MISPREDICTED_CONDITIONALS] = {"BR_MISP_RETIRED:COND", 0, NULL},
		[EV_INDIRECT_BRANCHES] = {"BR_INST_RETIRED:INDIRECT", 0, NULL},
		[EV_MISPREDICTED_INDIRECTS] = {"BR_MISP_RETIRED:INDIRECT", 0, NULL},
		/* In Intel's list of events for icelakex; libpfm4 has it only for the others. */
		[EV_MISPREDICTED_RETURNS] = {"BR_MISP_RETIRED.RET", 0x08c5, NULL},
		[EV_BACKEND_STALLS] = {"", 0, NULL},
	},
};

const struct encoding_family encodings_spr = {
	.name = "spr",
	.prefix = "spr::",
	.base = &encodings_icx,
	.rows = {
		[EV_L1I_MISSES] = {"L2_RQSTS:ALL_CODE_RD", 0, "lines asked of L2, those fetched ahead too"},
		[EV_LL_DATA_MISSES] = {"OCR:DEMAND_DATA_RD_L3_MISS", 0, READS},
		[EV_LL_REFERENCES] = {"LONGEST_LAT_CACHE:REFERENCE", 0, PREFETCH_TOO},
		[EV_DTLB_MISSES] = {"DTLB_LOAD_MISSES.STLB_HIT+WALK_COMPLETED", 0x2e12, LOADS},
		[EV_ITLB_MISSES] = {"ITLB_MISSES.STLB_HIT+WALK_COMPLETED", 0x2e11, NULL},
		[EV_SOFTWARE_PREFETCHES] = {"SW_PREFETCH_ACCESS.ANY", 0x0f40, NULL},
		[EV_DIVIDER_CYCLES] = {"ARITH:DIV_ACTIVE", 0, NULL},
		[EV_ALIASES_4K] = {"LD_BLOCKS:ADDRESS_ALIAS", 0, NULL},
		[EV_MISPREDICTED_RETURNS] = {"BR_MISP_RETIRED:RET", 0, NULL},
	},
};
/* clang-format on */
