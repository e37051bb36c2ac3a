/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Arm's families: raw codes, because libpfm4 has Arm's tables only on Arm. Numbers are PMUv3's
 * common events (Arm Architecture Reference Manual, D11), those that the Neoverse N1 Technical
 * Reference Manual lists as implemented. Events whose names end in SPEC count instructions on
 * wrong paths too. N1 does not count caches in quadwords, instruction fetches apart from data
 * beyond L1, conditional branches apart, incoming snoops, the divider, prefetches, floating-point
 * operations, micro-operations, calls.
 */
#include <stddef.h>

#include "events/encodings.h"

#define SPECULATIVE "executed, on the right path or not"
#define UNIFIED     "instruction lines are among them"

/* clang-format off */
const struct encoding_family encodings_neoverse_n1 = {
	.name = "neoverse-n1",
	.rows = {
		[EV_CYCLES] = {"CPU_CYCLES", .raw = 0x11},
		[EV_ISSUED_INSTRUCTIONS] = {"INST_SPEC", .raw = 0x1b},
		[EV_ISSUED_LOADS] = {"LD_SPEC", .raw = 0x70},
		[EV_ISSUED_STORES] = {"ST_SPEC", .raw = 0x71},
		[EV_ISSUED_STORE_CONDITIONALS] = {"STREX_SPEC", .raw = 0x6f},
		[EV_FAILED_STORE_CONDITIONALS] = {"STREX_FAIL_SPEC", .raw = 0x6e},
		[EV_DECODED_BRANCHES] = {"BR_PRED",
			.raw = 0x12, .note = "all branches that are predicted, conditional or not"},
		[EV_L1I_MISSES] = {"L1I_CACHE_REFILL", .raw = 0x01},
		[EV_INSTRUCTIONS] = {"INST_RETIRED", .raw = 0x08},
		[EV_LOADS] = {"LD_SPEC", .raw = 0x70, .note = SPECULATIVE},
		[EV_STORES] = {"ST_SPEC", .raw = 0x71, .note = SPECULATIVE},
		[EV_STORE_CONDITIONALS] = {"STREX_PASS_SPEC",
			.raw = 0x6d, .note = "atomics of one instruction are not among them"},
		[EV_FP_INSTRUCTIONS] = {"VFP_SPEC", .raw = 0x75, .note = "scalar ones, on the right path or not"},
		/* The second-level TLB is shared by data and instructions. */
		[EV_TLB_MISSES] = {"L2D_TLB_REFILL", .raw = 0x2d},
		[EV_MISPREDICTED_BRANCHES] = {"BR_MIS_PRED_RETIRED", .raw = 0x22},
		[EV_L1D_MISSES] = {"L1D_CACHE_REFILL", .raw = 0x03},
		[EV_L2D_MISSES] = {"L2D_CACHE_REFILL", .raw = 0x17, .note = UNIFIED},
		[EV_INVALIDATION_HITS] = {"L2D_CACHE_INVAL",
			.raw = 0x58, .note = "cache maintenance instructions cause some too"},
		[EV_LL_DATA_MISSES] = {"LL_CACHE_MISS_RD", .raw = 0x37, .note = "reads alone, of instructions too"},
		[EV_LL_REFERENCES] = {"LL_CACHE_RD", .raw = 0x36, .note = "reads alone"},
		[EV_L2_REFERENCES] = {"L2D_CACHE", .raw = 0x16},
		[EV_DTLB_MISSES] = {"L1D_TLB_REFILL", .raw = 0x05},
		[EV_DTLB_WALKS] = {"DTLB_WALK", .raw = 0x34},
		[EV_ITLB_MISSES] = {"L1I_TLB_REFILL", .raw = 0x02},
		[EV_ITLB_WALKS] = {"ITLB_WALK", .raw = 0x35},
		[EV_FRONTEND_STALLS] = {"STALL_FRONTEND", .raw = 0x23},
		[EV_BACKEND_STALLS] = {"STALL_BACKEND", .raw = 0x24},
		[EV_VECTOR_INSTRUCTIONS] = {"ASE_SPEC", .raw = 0x74, .note = SPECULATIVE},
		[EV_INDIRECT_BRANCHES] = {"BR_INDIRECT_SPEC",
			.raw = 0x7a, .note = "returns are among them, and wrong paths"},
		[EV_RETURNS] = {"BR_RETURN_SPEC", .raw = 0x79, .note = SPECULATIVE},
		[EV_BRANCHES] = {"BR_RETIRED", .raw = 0x21},
	},
};
/* clang-format on */
