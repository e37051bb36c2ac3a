/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The numbers of the perfex events. 0 to 31 are the R10000's (Zagha et al., appendix A: counter
 * 0's sixteen, then counter 1's); higher numbers are events of today. Numbers are stable: scripts
 * use them. The model and the cost tables have arrays indexed by these, so this header has no
 * other content.
 */
#ifndef EVENTS_NUMBERS_H
#define EVENTS_NUMBERS_H

enum event_number {
	EV_CYCLES = 0,
	EV_ISSUED_INSTRUCTIONS = 1,
	EV_ISSUED_LOADS = 2,
	EV_ISSUED_STORES = 3,
	EV_ISSUED_STORE_CONDITIONALS = 4,
	EV_FAILED_STORE_CONDITIONALS = 5,
	EV_DECODED_BRANCHES = 6,
	EV_L2_WRITEBACK_QUADWORDS = 7, /* 16 bytes each */
	EV_L2_ECC_ERRORS = 8,
	EV_L1I_MISSES = 9,
	EV_L2I_MISSES = 10,
	EV_I_WAY_MISPREDICTS = 11,
	EV_INTERVENTIONS = 12,
	EV_INVALIDATIONS = 13,
	EV_VIRTUAL_COHERENCY = 14,
	EV_INSTRUCTIONS_15 = 15, /* the same as 17, on the R10000's other counter */
	EV_CYCLES_16 = 16,       /* the same as 0, on the R10000's other counter */
	EV_INSTRUCTIONS = 17,
	EV_LOADS = 18,
	EV_STORES = 19,
	EV_STORE_CONDITIONALS = 20, /* today: locked read-modify-writes and exclusive stores */
	EV_FP_INSTRUCTIONS = 21,
	EV_L1_WRITEBACK_QUADWORDS = 22, /* 16 bytes each */
	EV_TLB_MISSES = 23,             /* missed in every TLB: page walks, data and instruction */
	EV_MISPREDICTED_BRANCHES = 24,
	EV_L1D_MISSES = 25,
	EV_L2D_MISSES = 26,
	EV_D_WAY_MISPREDICTS = 27,
	EV_INTERVENTION_HITS = 28,
	EV_INVALIDATION_HITS = 29,
	EV_STORES_TO_CLEAN = 30,
	EV_STORES_TO_SHARED = 31,

	EV_LL_DATA_MISSES = 32,
	EV_LL_INSTRUCTION_MISSES = 33,
	EV_LL_REFERENCES = 34,
	EV_L2_REFERENCES = 35,
	EV_DTLB_MISSES = 36, /* missed the first-level data TLB */
	EV_DTLB_WALKS = 37,
	EV_ITLB_MISSES = 38, /* missed the first-level instruction TLB */
	EV_ITLB_WALKS = 39,
	EV_WALK_CYCLES = 40,
	EV_HARDWARE_PREFETCHES = 41,
	EV_SOFTWARE_PREFETCHES = 42,
	EV_FRONTEND_STALLS = 43, /* cycles */
	EV_BACKEND_STALLS = 44,  /* cycles */
	EV_DIVIDES = 45,
	EV_DIVIDER_CYCLES = 46,
	EV_VECTOR_INSTRUCTIONS = 47,
	EV_FP_OPERATIONS = 48,
	EV_MEMORY_ORDER_CLEARS = 49,
	EV_STORE_FORWARD_FAILURES = 50,
	EV_ALIASES_4K = 51,
	EV_MICRO_OPS = 52,
	EV_CONDITIONAL_BRANCHES = 53,
	EV_MISPREDICTED_CONDITIONALS = 54,
	EV_INDIRECT_BRANCHES = 55, /* jumps and calls through a register or memory, not returns */
	EV_MISPREDICTED_INDIRECTS = 56,
	EV_RETURNS = 57,
	EV_MISPREDICTED_RETURNS = 58,
	EV_CALLS = 59,
	EV_TAKEN_BRANCHES = 60,
	EV_BRANCHES = 61, /* all of them, graduated */
	EV_LOCKED_INSTRUCTIONS = 62,
	EV_SPLIT_ACCESSES = 63, /* loads and stores that cross a cache line */
	EV_SYSTEM_CALLS = 64,
	EV_PAGE_FAULTS = 65,
	EV_MAJOR_FAULTS = 66,
	EV_CONTEXT_SWITCHES = 67,
	EV_CPU_MIGRATIONS = 68,
	EV_TASK_CLOCK = 69,  /* nanoseconds */
	EV_SYSTEM_TIME = 70, /* nanoseconds */
	EV_COUNT,

	EVENT_LIMIT = 96 /* size of arrays indexed by event number, with room to grow */
};

#endif
