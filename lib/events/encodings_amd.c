/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * AMD's families. Names and codes are libpfm4's; what they count was checked against AMD's
 * Processor Programming References (families 17h models 30h to 7Fh, 19h models 00h to 0Fh and 10h
 * to 1Fh, sections on core performance monitor counters). No event of these processors counts
 * failed store conditionals, ECC, way prediction, incoming snoops, written-back lines, retired
 * (not dispatched) loads and stores, cycles of page walks, calls, memory-order clears, 4 KiB
 * aliases, and divides in floating point.
 */
#include <stddef.h>

#include "events/encodings.h"

#define DISPATCHED  "dispatched, on the right path or not"
#define DATA_WALKS  "data alone; instruction walks are event 39"
#define STLB_HITS   "those found in the second-level TLB; the others are event 39"
#define L1_PREFETCH "requests of the L1 prefetchers are among them"
#define INTEGER     "the integer divider alone"
#define SSE_ALL     "all SSE and AVX instructions, scalar ones too"
#define FAR         "system calls, exceptions and interrupts are among them"
#define RETURNS_TOO "the maker does not say whether returns are among them"

/* Data TLB reloads that missed the second level too: page walks. */
#define L2_DTLB_MISS                                                                               \
	"L1_DTLB_MISS:TLB_RELOAD_4K_L2_MISS:TLB_RELOAD_COALESCED_PAGE_MISS:TLB_RELOAD_2M_L2_MISS:" \
	"TLB_RELOAD_1G_L2_MISS"
#define L1_DTLB_MISS                                                                               \
	L2_DTLB_MISS                                                                               \
	":TLB_RELOAD_4K_L2_HIT:TLB_RELOAD_COALESCED_PAGE_HIT:TLB_RELOAD_2M_L2_HIT:TLB_RELOAD_1G_"  \
	"L2_HIT"
#define IC_WALKS "L1_ITLB_MISS_L2_ITLB_MISS:IF4K:IF2M:IF1G"
#define L2_REQUESTS                                                                                \
	"REQUESTS_TO_L2_GROUP1:RD_BLK_L:RD_BLK_X:LS_RD_BLK_C_S:CACHEABLE_IC_READ:CHANGE_TO_X"

/* clang-format off */
const struct encoding_family encodings_zen2 = {
	.name = "zen2",
	.prefix = "amd64_fam17h_zen2::",
	.rows = {
		[EV_CYCLES] = {.event = "CYCLES_NOT_IN_HALT"},
		[EV_ISSUED_INSTRUCTIONS] = {.event = "UOPS_DISPATCHED_FROM_DECODER:DECODER_DISPATCHED:OPCACHE_DISPATCHED"},
		[EV_ISSUED_LOADS] = {.event = "LS_DISPATCH:LD_DISPATCH:LD_ST_DISPATCH"},
		[EV_ISSUED_STORES] = {.event = "LS_DISPATCH:STORE_DISPATCH:LD_ST_DISPATCH"},
		[EV_DECODED_BRANCHES] = {.event = "RETIRED_CONDITIONAL_BRANCH_INSTRUCTIONS"},
		[EV_L1I_MISSES] = {"REQUESTS_TO_L2_GROUP1:CACHEABLE_IC_READ",
			.note = "lines fetched ahead are among them"},
		[EV_L2I_MISSES] = {.event = "CORE_TO_L2_CACHEABLE_REQUEST_ACCESS_STATUS:IC_FILL_MISS"},
		[EV_INSTRUCTIONS] = {.event = "RETIRED_INSTRUCTIONS"},
		[EV_LOADS] = {"LS_DISPATCH:LD_DISPATCH:LD_ST_DISPATCH", .note = DISPATCHED},
		[EV_STORES] = {"LS_DISPATCH:STORE_DISPATCH:LD_ST_DISPATCH", .note = DISPATCHED},
		[EV_STORE_CONDITIONALS] = {.event = "RETIRED_LOCK_INSTRUCTIONS:CACHEABLE_LOCKS:BUS_LOCK"},
		[EV_TLB_MISSES] = {L2_DTLB_MISS, .note = DATA_WALKS},
		[EV_MISPREDICTED_BRANCHES] = {"RETIRED_BRANCH_INSTRUCTIONS_MISPREDICTED", .note = FAR},
		/* Bit 1 of the source is any other cache of the home node, the L3 first of all. */
		[EV_L1D_MISSES] = {.event = "DATA_CACHE_REFILLS_FROM_SYSTEM:MABRESP_LCL_L2:LS_MABRESP_LCL_CACHE:LS_MABRESP_LCL_DRAM"
			":LS_MABRESP_RMT_CACHE:LS_MABRESP_RMT_DRAM"},
		[EV_L2D_MISSES] = {.event = "DATA_CACHE_REFILLS_FROM_SYSTEM:LS_MABRESP_LCL_CACHE:LS_MABRESP_LCL_DRAM"
			":LS_MABRESP_RMT_CACHE:LS_MABRESP_RMT_DRAM"},
		[EV_STORES_TO_SHARED] = {"REQUESTS_TO_L2_GROUP1:CHANGE_TO_X",
			.note = "lines that L1 may not write, whether others hold them or not"},
		[EV_LL_DATA_MISSES] = {"DATA_CACHE_REFILLS_FROM_SYSTEM:LS_MABRESP_LCL_DRAM:LS_MABRESP_RMT_CACHE"
			":LS_MABRESP_RMT_DRAM", .note = "lines from another L3 of the same node are not among them"},
		[EV_L2_REFERENCES] = {L2_REQUESTS, .note = L1_PREFETCH},
		[EV_DTLB_MISSES] = {.event = L1_DTLB_MISS},
		[EV_DTLB_WALKS] = {.event = L2_DTLB_MISS},
		[EV_ITLB_MISSES] = {"L1_ITLB_MISS_L2_ITLB_HIT", .note = STLB_HITS},
		[EV_ITLB_WALKS] = {.event = IC_WALKS},
		[EV_HARDWARE_PREFETCHES] = {"HARDWARE_PREFETCH_DATA_CACHE_FILLS:MABRESP_LCL_L2:LS_MABRESP_LCL_CACHE"
			":LS_MABRESP_LCL_DRAM:LS_MABRESP_RMT_CACHE:LS_MABRESP_RMT_DRAM", .note = "those into L1 alone"},
		[EV_SOFTWARE_PREFETCHES] = {"PREFETCH_INSTRUCTIONS_DISPATCHED:ANY", .note = DISPATCHED},
		[EV_FRONTEND_STALLS] = {.event = "UOPS_QUEUE_EMPTY"},
		[EV_DIVIDES] = {"DIV_OP_COUNT", .note = INTEGER},
		[EV_DIVIDER_CYCLES] = {"DIV_CYCLES_BUSY_COUNT", .note = INTEGER},
		[EV_VECTOR_INSTRUCTIONS] = {"RETIRED_MMX_FP_INSTRUCTIONS:SSE_INSTR:MMX_INSTR", .note = SSE_ALL},
		[EV_FP_OPERATIONS] = {"RETIRED_SSE_AVX_FLOPS:ANY", .note = "without x87"},
		[EV_STORE_FORWARD_FAILURES] = {.event = "BAD_STATUS_2:STLI_OTHER"},
		[EV_MICRO_OPS] = {.event = "RETIRED_UOPS"},
		[EV_CONDITIONAL_BRANCHES] = {.event = "RETIRED_CONDITIONAL_BRANCH_INSTRUCTIONS"},
		[EV_MISPREDICTED_CONDITIONALS] = {.event = "RETIRED_BRANCH_MISPREDICTED_DIRECTION_MISMATCH"},
		[EV_MISPREDICTED_INDIRECTS] = {"RETIRED_INDIRECT_BRANCH_INSTRUCTIONS_MISPREDICTED",
			.note = RETURNS_TOO},
		[EV_RETURNS] = {.event = "RETIRED_NEAR_RETURNS"},
		[EV_MISPREDICTED_RETURNS] = {.event = "RETIRED_NEAR_RETURNS_MISPREDICTED"},
		[EV_TAKEN_BRANCHES] = {"RETIRED_TAKEN_BRANCH_INSTRUCTIONS", .note = FAR},
		[EV_BRANCHES] = {"RETIRED_BRANCH_INSTRUCTIONS", .note = FAR},
		[EV_LOCKED_INSTRUCTIONS] = {.event = "RETIRED_LOCK_INSTRUCTIONS:CACHEABLE_LOCKS:BUS_LOCK"},
	},
};

/* Locks: from Zen 3 on only bus locks are documented, which are different. */
const struct encoding_family encodings_zen3 = {
	.name = "zen3",
	.prefix = "amd64_fam19h_zen3::",
	.base = &encodings_zen2,
	.rows = {
		[EV_ISSUED_INSTRUCTIONS] = {.event = "OPS_SOURCE_DISPATCHED_FROM_DECODER:X86DECODER_DISPATCHED:OPCACHE_DISPATCHED"},
		[EV_L1I_MISSES] = {.event = "IC_TAG_HIT_MISS:IC_MISS"},
		[EV_MISPREDICTED_BRANCHES] = {.event = "RETIRED_BRANCH_INSTRUCTIONS_MISPREDICTED"},
		[EV_L1D_MISSES] = {.event = "DEMAND_DATA_CACHE_FILLS_FROM_SYSTEM:LCL_L2:INT_CACHE:EXT_CACHE_LCL:MEM_IO_LCL"
			":EXT_CACHE_RMT:MEM_IO_RMT"},
		[EV_L2D_MISSES] = {.event = "DEMAND_DATA_CACHE_FILLS_FROM_SYSTEM:INT_CACHE:EXT_CACHE_LCL:MEM_IO_LCL:EXT_CACHE_RMT"
			":MEM_IO_RMT"},
		[EV_LL_DATA_MISSES] = {.event = "DEMAND_DATA_CACHE_FILLS_FROM_SYSTEM:EXT_CACHE_LCL:MEM_IO_LCL:EXT_CACHE_RMT:MEM_IO_RMT"},
		[EV_ITLB_WALKS] = {.event = IC_WALKS ":COALESCED4K"},
		[EV_HARDWARE_PREFETCHES] = {"HARDWARE_PREFETCH_DATA_CACHE_FILLS:LCL_L2:INT_CACHE:EXT_CACHE_LCL:MEM_IO_LCL"
			":EXT_CACHE_RMT:MEM_IO_RMT", .note = "those into L1 alone"},
		[EV_MICRO_OPS] = {"RETIRED_OPS", .note = "macro-operations"},
		[EV_INDIRECT_BRANCHES] = {"RETIRED_INDIRECT_BRANCH_INSTRUCTIONS", .note = RETURNS_TOO},
		[EV_SPLIT_ACCESSES] = {"MISALIGNED_LOADS:MA64", .note = "loads alone"},
		[EV_STORE_CONDITIONALS] = {.event = ""},
		[EV_LOCKED_INSTRUCTIONS] = {.event = ""},
	},
};

const struct encoding_family encodings_zen4 = {
	.name = "zen4",
	.prefix = "amd64_fam19h_zen4::",
	.base = &encodings_zen3,
	.rows = {
		[EV_ISSUED_INSTRUCTIONS] = {.event = "OPS_SOURCE_DISPATCHED_FROM_DECODER:DECODER:OPCACHE:LOOP_BUFFER"},
		[EV_L1D_MISSES] = {.event = "DEMAND_DATA_CACHE_FILLS_FROM_SYSTEM:LCL_L2:LOCAL_CCX:NEAR_CACHE_NEAR_FAR:DRAM_IO_NEAR"
			":FAR_CACHE_NEAR_FAR:DRAM_IO_FAR:ALT_MEM_NEAR_FAR"},
		[EV_L2D_MISSES] = {.event = "DEMAND_DATA_CACHE_FILLS_FROM_SYSTEM:LOCAL_CCX:NEAR_CACHE_NEAR_FAR:DRAM_IO_NEAR"
			":FAR_CACHE_NEAR_FAR:DRAM_IO_FAR:ALT_MEM_NEAR_FAR"},
		[EV_LL_DATA_MISSES] = {.event = "DEMAND_DATA_CACHE_FILLS_FROM_SYSTEM:NEAR_CACHE_NEAR_FAR:DRAM_IO_NEAR"
			":FAR_CACHE_NEAR_FAR:DRAM_IO_FAR:ALT_MEM_NEAR_FAR"},
		[EV_HARDWARE_PREFETCHES] = {"HARDWARE_PREFETCH_DATA_CACHE_FILLS:LCL_L2:LOCAL_CCX:NEAR_CACHE_NEAR_FAR"
			":DRAM_IO_NEAR:FAR_CACHE_NEAR_FAR:DRAM_IO_FAR:ALT_MEM_NEAR_FAR", .note = "those into L1 alone"},
		[EV_FRONTEND_STALLS] = {.event = "OPS_QUEUE_EMPTY"},
		[EV_BACKEND_STALLS] = {"CYCLES_NO_RETIRE:NOT_COMPLETE_LOAD_AND_ALU",
			.note = "cycles in which the oldest instruction was not yet done and nothing retired"},
	},
};
/* clang-format on */
