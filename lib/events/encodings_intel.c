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
		[EV_CYCLES] = {.event = "UNHALTED_CORE_CYCLES"},
		[EV_ISSUED_INSTRUCTIONS] = {.event = "UOPS_ISSUED:ANY"},
		[EV_ISSUED_STORES] = {.event = "UOPS_DISPATCHED_PORT:PORT_4"},
		[EV_DECODED_BRANCHES] = {.event = "BR_INST_RETIRED:CONDITIONAL"},
		[EV_L1I_MISSES] = {.event = "ICACHE_64B:IFTAG_MISS"},
		[EV_L2I_MISSES] = {.event = "L2_RQSTS:CODE_RD_MISS"},
		[EV_INSTRUCTIONS] = {.event = "INSTRUCTION_RETIRED"},
		[EV_LOADS] = {.event = "MEM_INST_RETIRED:ALL_LOADS"},
		[EV_STORES] = {.event = "MEM_INST_RETIRED:ALL_STORES"},
		[EV_STORE_CONDITIONALS] = {.event = "MEM_INST_RETIRED:LOCK_LOADS"},
		[EV_FP_INSTRUCTIONS] = {"FP_ARITH_INST_RETIRED:SCALAR_DOUBLE:SCALAR_SINGLE:128B_PACKED_DOUBLE"
			":128B_PACKED_SINGLE:256B_PACKED_DOUBLE:256B_PACKED_SINGLE:512B_PACKED_DOUBLE"
			":512B_PACKED_SINGLE", .note = FMA_TWICE},
		[EV_TLB_MISSES] = {"MEM_INST_RETIRED.STLB_MISS_LOADS+STORES", .raw = 0x13d0, .note = LOADS_WALK},
		[EV_MISPREDICTED_BRANCHES] = {.event = "BR_MISP_RETIRED:ALL_BRANCHES"},
		[EV_L1D_MISSES] = {"L1D:REPLACEMENT", .note = L1D_FILLS},
		[EV_L2D_MISSES] = {"L2_RQSTS.DEMAND_DATA_RD_MISS+RFO_MISS", .raw = 0x2324, .note = L2D_DEMAND},
		[EV_LL_DATA_MISSES] = {"OFFCORE_REQUESTS:L3_MISS_DEMAND_DATA_RD", .note = READS},
		[EV_LL_REFERENCES] = {"LONGEST_LAT_CACHE:REFERENCE", .note = PREFETCH_TOO},
		[EV_L2_REFERENCES] = {.event = "L2_RQSTS:ALL_DEMAND_REFERENCES"},
		[EV_DTLB_MISSES] = {"DTLB_LOAD_MISSES.STLB_HIT+WALK_COMPLETED", .raw = 0x2e08, .note = LOADS},
		[EV_DTLB_WALKS] = {"DTLB_LOAD_MISSES:WALK_COMPLETED", .note = LOADS},
		[EV_ITLB_MISSES] = {"ITLB_MISSES.STLB_HIT+WALK_COMPLETED", .raw = 0x2e85},
		[EV_ITLB_WALKS] = {.event = "ITLB_MISSES:WALK_COMPLETED"},
		[EV_WALK_CYCLES] = {"DTLB_LOAD_MISSES:WALK_ACTIVE", .note = LOADS},
		[EV_HARDWARE_PREFETCHES] = {"L2_RQSTS:ALL_PF",
			.note = "requests to L2, prefetch instructions for reading too"},
		[EV_SOFTWARE_PREFETCHES] = {"SW_PREFETCH_ACCESS.ANY", .raw = 0x0f32},
		[EV_FRONTEND_STALLS] = {.event = "IDQ_UOPS_NOT_DELIVERED:CYCLES_0_UOPS_DELIV_CORE"},
		[EV_BACKEND_STALLS] = {.event = "RESOURCE_STALLS:ANY"},
		[EV_DIVIDER_CYCLES] = {.event = "ARITH:DIVIDER_ACTIVE"},
		[EV_VECTOR_INSTRUCTIONS] = {"FP_ARITH_INST_RETIRED:128B_PACKED_DOUBLE:128B_PACKED_SINGLE"
			":256B_PACKED_DOUBLE:256B_PACKED_SINGLE:512B_PACKED_DOUBLE:512B_PACKED_SINGLE", .note = FP_VECTORS},
		[EV_MEMORY_ORDER_CLEARS] = {.event = "MACHINE_CLEARS:MEMORY_ORDERING"},
		[EV_STORE_FORWARD_FAILURES] = {.event = "LD_BLOCKS:STORE_FORWARD"},
		[EV_ALIASES_4K] = {.event = "LD_BLOCKS_PARTIAL:ADDRESS_ALIAS"},
		[EV_MICRO_OPS] = {"UOPS_RETIRED:RETIRE_SLOTS", .note = FUSED},
		[EV_CONDITIONAL_BRANCHES] = {.event = "BR_INST_RETIRED:CONDITIONAL"},
		[EV_MISPREDICTED_CONDITIONALS] = {.event = "BR_MISP_RETIRED:CONDITIONAL"},
		[EV_MISPREDICTED_INDIRECTS] = {"BR_MISP_EXEC:INDIRECT", .note = "executed, on the right path or not"},
		[EV_RETURNS] = {.event = "BR_INST_RETIRED:NEAR_RETURN"},
		[EV_MISPREDICTED_RETURNS] = {.event = "BR_MISP_RETIRED:RET"},
		[EV_CALLS] = {.event = "BR_INST_RETIRED:NEAR_CALL"},
		[EV_TAKEN_BRANCHES] = {.event = "BR_INST_RETIRED:NEAR_TAKEN"},
		[EV_BRANCHES] = {"BR_INST_RETIRED:ALL_BRANCHES", .note = FAR},
		[EV_LOCKED_INSTRUCTIONS] = {.event = "MEM_INST_RETIRED:LOCK_LOADS"},
		[EV_SPLIT_ACCESSES] = {"MEM_INST_RETIRED.SPLIT_LOADS+STORES", .raw = 0x43d0},
	},
};

/* Back-end stalls: from Ice Lake on they are counted in slots of the pipeline, not in cycles. */
const struct encoding_family encodings_icx = {
	.name = "icx",
	.prefix = "icx::",
	.base = &encodings_skl,
	.rows = {
		[EV_ISSUED_STORES] = {.event = "UOPS_DISPATCHED:PORT_4_9"},
		[EV_DECODED_BRANCHES] = {.event = "BR_INST_RETIRED:COND"},
		[EV_FP_INSTRUCTIONS] = {"FP_ARITH_INST_RETIRED.SCALAR+VECTOR", .raw = 0xffc7, .note = FMA_TWICE},
		[EV_LL_INSTRUCTION_MISSES] = {.event = "OCR:DEMAND_CODE_RD_L3_MISS"},
		[EV_LL_REFERENCES] = {"LONGEST_LAT_CACHE:REFERENCES", .note = PREFETCH_TOO},
		[EV_HARDWARE_PREFETCHES] = {"OCR:HWPF_L2_ANY_RESPONSE", .note = "those into L2 that leave the core"},
		[EV_VECTOR_INSTRUCTIONS] = {"FP_ARITH_INST_RETIRED:VECTOR", .note = FP_VECTORS},
		[EV_MICRO_OPS] = {"UOPS_RETIRED:SLOTS", .note = FUSED},
		[EV_CONDITIONAL_BRANCHES] = {.event = "BR_INST_RETIRED:COND"},
		[EV_MISPREDICTED_CONDITIONALS] = {.event = "BR_MISP_RETIRED:COND"},
		[EV_INDIRECT_BRANCHES] = {.event = "BR_INST_RETIRED:INDIRECT"},
		[EV_MISPREDICTED_INDIRECTS] = {.event = "BR_MISP_RETIRED:INDIRECT"},
		/* In Intel's list of events for icelakex; libpfm4 has it only for the others. */
		[EV_MISPREDICTED_RETURNS] = {"BR_MISP_RETIRED.RET", .raw = 0x08c5},
		[EV_BACKEND_STALLS] = {.event = ""},
	},
};

const struct encoding_family encodings_spr = {
	.name = "spr",
	.prefix = "spr::",
	.base = &encodings_icx,
	.rows = {
		[EV_L1I_MISSES] = {"L2_RQSTS:ALL_CODE_RD", .note = "lines asked of L2, those fetched ahead too"},
		[EV_LL_DATA_MISSES] = {"OCR:DEMAND_DATA_RD_L3_MISS", .note = READS},
		[EV_LL_REFERENCES] = {"LONGEST_LAT_CACHE:REFERENCE", .note = PREFETCH_TOO},
		[EV_DTLB_MISSES] = {"DTLB_LOAD_MISSES.STLB_HIT+WALK_COMPLETED", .raw = 0x2e12, .note = LOADS},
		[EV_ITLB_MISSES] = {"ITLB_MISSES.STLB_HIT+WALK_COMPLETED", .raw = 0x2e11},
		[EV_SOFTWARE_PREFETCHES] = {"SW_PREFETCH_ACCESS.ANY", .raw = 0x0f40},
		[EV_DIVIDER_CYCLES] = {.event = "ARITH:DIV_ACTIVE"},
		[EV_ALIASES_4K] = {.event = "LD_BLOCKS:ADDRESS_ALIAS"},
		[EV_MISPREDICTED_RETURNS] = {.event = "BR_MISP_RETIRED:RET"},
	},
};
/* clang-format on */
