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
		[EV_CYCLES] = {"CPU_CYCLES", 0x11, NULL},
		[EV_ISSUED_INSTRUCTIONS] = {"INST_SPEC", 0x1b, NULL},
		[EV_ISSUED_LOADS] = {"LD_SPEC", 0x70, NULL},
		[EV_ISSUED_STORES] = {"ST_SPEC", 0x71, NULL},
		[EV_ISSUED_STORE_CONDITIONALS] = {"STREX_SPEC", 0x6f, NULL},
		[EV_FAILED_STORE_CONDITIONALS] = {"STREX_FAIL_SPEC", 0x6e, NULL},
		[EV_DECODED_BRANCHES] = {"BR_PRED", 0x12, "all branches that are predicted, conditional or not"},
		[EV_L1I_MISSES] = {"L1I_CACHE_REFILL", 0x01, NULL},
		[EV_INSTRUCTIONS] = {"INST_RETIRED", 0x08, NULL},
		[EV_LOADS] = {"LD_SPEC", 0x70, SPECULATIVE},
		[EV_STORES] = {"ST_SPEC", 0x71, SPECULATIVE},
		[EV_STORE_CONDITIONALS] = {"STREX_PASS_SPEC", 0x6d, "atomics of one instruction are not among them"},
		[EV_FP_INSTRUCTIONS] = {"VFP_SPEC", 0x75, "scalar ones, on the right path or not"},
		/* The second-level TLB is shared by data and instructions. */
		[EV_TLB_MISSES] = {"L2D_TLB_REFILL", 0x2d, NULL},
		[EV_MISPREDICTED_BRANCHES] = {"BR_MIS_PRED_RETIRED", 0x22, NULL},
		[EV_L1D_MISSES] = {"L1D_CACHE_REFILL", 0x03, NULL},
		[EV_L2D_MISSES] = {"L2D_CACHE_REFILL", 0x17, UNIFIED},
		[EV_INVALIDATION_HITS] = {"L2D_CACHE_INVAL", 0x58, "cache maintenance instructions cause some too"},
		[EV_LL_DATA_MISSES] = {"LL_CACHE_MISS_RD", 0x37, "reads alone, of instructions too"},
		[EV_LL_REFERENCES] = {"LL_CACHE_RD", 0x36, "reads alone"},
		[EV_L2_REFERENCES] = {"L2D_CACHE", 0x16, NULL},
		[EV_DTLB_MISSES] = {"L1D_TLB_REFILL", 0x05, NULL},
		[EV_DTLB_WALKS] = {"DTLB_WALK", 0x34, NULL},
		[EV_ITLB_MISSES] = {"L1I_TLB_REFILL", 0x02, NULL},
		[EV_ITLB_WALKS] = {"ITLB_WALK", 0x35, NULL},
		[EV_FRONTEND_STALLS] = {"STALL_FRONTEND", 0x23, NULL},
		[EV_BACKEND_STALLS] = {"STALL_BACKEND", 0x24, NULL},
		[EV_VECTOR_INSTRUCTIONS] = {"ASE_SPEC", 0x74, SPECULATIVE},
		[EV_INDIRECT_BRANCHES] = {"BR_INDIRECT_SPEC", 0x7a, "returns are among them, and wrong paths"},
		[EV_RETURNS] = {"BR_RETURN_SPEC", 0x79, SPECULATIVE},
		[EV_BRANCHES] = {"BR_RETIRED", 0x21, NULL},
	},
};
/* clang-format on */
