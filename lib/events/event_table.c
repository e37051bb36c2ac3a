/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The perfex events.  Numbers 0 to 31 and their names are the R10000's (Zagha, Larson, Turner,
 * Itzkowitz: Performance Analysis Using the MIPS R10000 Performance Counters, appendix A); short
 * names that SpeedShop had (cy gi ic isc dc dsc tlb gfp fsc br) are kept.  perfex-events(7) is this
 * table, for readers.
 *
 * One file: a table of one row shape, in the order of the event numbers.
 *
 * EVENT_REDUNDANT prevents charging time twice. Of two rows for the same time, the R10000's has
 * the cost and the other does not: page walks are charged as 23 and not as 37, 39 or 40,
 * mispredicted branches as 24 and not as 54, 56 or 58, locked instructions as 20 and not as 62.
 * Loads, stores and floating-point instructions are charged for their latency, beyond 17's charge
 * for their slots.
 */
#include "events/event.h"

#define OVERLAPS    EVENT_OVERLAPS
#define REDUNDANT   EVENT_REDUNDANT
#define MODEL       EVENT_MODEL
#define OS          EVENT_OS
#define PROVOKED    EVENT_PROVOKED
#define KERNEL_SIDE EVENT_KERNEL_SIDE

/* clang-format off */
static const struct event event_rows[EV_COUNT] = {
	[EV_CYCLES] = {
		.number = 0,
		.name = "Cycles",
		.short_name = "cy",
		.unit = "cycles",
		.today = "core clock cycles, not halted",
		.meaning = "Clock cycles during which the processor worked for the program.",
		.pitfall = "The clock rate changes with load and heat, so equal cycles need not be"
		           " equal time.",
		.flags = MODEL | PROVOKED,
	},
	[EV_ISSUED_INSTRUCTIONS] = {
		.number = 1,
		.name = "Issued instructions",
		.short_name = "ii",
		.unit = "instructions",
		.today = "micro-operations issued, on the right path or not",
		.meaning = "Instructions sent to an execution unit, including those that were "
		           "later thrown away.",
		.pitfall = "Processors of today count micro-operations here, so the excess over "
		           "graduated instructions is not waste alone.",
		.flags = REDUNDANT | PROVOKED,
	},
	[EV_ISSUED_LOADS] = {
		.number = 2,
		.name = "Issued loads",
		.short_name = "il",
		.unit = "loads",
		.today = "load micro-operations dispatched, on the right path or not",
		.meaning = "Loads sent to the memory pipeline, including those that were later "
		           "thrown away.",
		.pitfall = "A load that is replayed may count several times, and a load wider than"
		           " the pipeline counts once for each part.",
		.flags = REDUNDANT | PROVOKED,
	},
	[EV_ISSUED_STORES] = {
		.number = 3,
		.name = "Issued stores",
		.short_name = "is",
		.unit = "stores",
		.today = "store micro-operations dispatched, on the right path or not",
		.meaning = "Stores sent to the memory pipeline, including those that were later "
		           "thrown away.",
		.pitfall = "Some processors count the address and the data of one store apart.",
		.flags = REDUNDANT | PROVOKED,
	},
	[EV_ISSUED_STORE_CONDITIONALS] = {
		.number = 4,
		.name = "Issued store conditionals",
		.short_name = "isct",
		.unit = "stores",
		.today = "exclusive stores executed (Arm); not available on x86",
		.meaning = "Store-conditional instructions sent to the memory pipeline, including "
		           "those thrown away.",
		.pitfall = "Atomic instructions that need no loop, x86's and newer Arm's, are not "
		           "store conditionals and do not count.",
		.flags = REDUNDANT,
	},
	[EV_FAILED_STORE_CONDITIONALS] = {
		.number = 5,
		.name = "Failed store conditionals",
		.short_name = "fsc",
		.unit = "failures",
		.today = "exclusive stores that failed (Arm); not available on x86",
		.meaning = "Store conditionals that did not store because another processor had "
		           "touched the line.",
		.pitfall = "A failure is followed by a retry, whose instructions count as work "
		           "everywhere else.",
		.flags = OVERLAPS,
	},
	[EV_DECODED_BRANCHES] = {
		.number = 6,
		.name = "Decoded branches",
		.short_name = "db",
		.unit = "branches",
		.today = "conditional branches retired",
		.meaning = "Conditional branches decoded and later resolved.",
		.pitfall = "The R10000 counted branches on wrong paths too, processors of today "
		           "mostly those that retired.",
		.flags = REDUNDANT | MODEL | PROVOKED,
	},
	[EV_L2_WRITEBACK_QUADWORDS] = {
		.number = 7,
		.name = "Quadwords written back from secondary cache",
		.short_name = "wbsc",
		.unit = "quadwords",
		.today = "modified lines that leave the L2 cache, in units of 16 bytes",
		.meaning = "Modified data moved from the L2 cache to the next level, 16 bytes a "
		           "count.",
		.pitfall = "A line leaves long after it was written to, so where this happens is "
		           "not where it was written.",
		.flags = OVERLAPS | MODEL,
	},
	[EV_L2_ECC_ERRORS] = {
		.number = 8,
		.name = "Correctable secondary cache data array ECC errors",
		.short_name = "ecc",
		.unit = "errors",
		.today = "not available",
		.meaning = "Single-bit errors in the secondary cache that the hardware corrected.",
		.pitfall = "Processors of today report these to the kernel as machine checks, "
		           "never to a program.",
		.flags = 0,
	},
	[EV_L1I_MISSES] = {
		.number = 9,
		.name = "Primary instruction cache misses",
		.short_name = "ic",
		.unit = "misses",
		.today = "L1 instruction cache misses",
		.meaning = "Instruction fetches that did not find their line in the L1 instruction"
		           " cache.",
		.pitfall = "Where decoded instructions are cached too, code can miss here and "
		           "never wait for it.",
		.flags = OVERLAPS | MODEL,
	},
	[EV_L2I_MISSES] = {
		.number = 10,
		.name = "Secondary instruction cache misses",
		.short_name = "isc",
		.unit = "misses",
		.today = "L2 cache misses by instruction fetches",
		.meaning = "Instruction fetches that found their line neither in L1 nor in L2.",
		.pitfall = "Some processors count lines that were fetched ahead and never "
		           "executed.",
		.flags = OVERLAPS | MODEL,
	},
	[EV_I_WAY_MISPREDICTS] = {
		.number = 11,
		.name = "Instruction misprediction from secondary cache way prediction table",
		.short_name = "iwp",
		.unit = "mispredictions",
		.today = "not available",
		.meaning = "Instruction fetches from the secondary cache that first looked in the "
		           "wrong way.",
		.pitfall = "Processors of today predict ways in L1 only, and do not count it.",
		.flags = OVERLAPS,
	},
	[EV_INTERVENTIONS] = {
		.number = 12,
		.name = "External interventions",
		.short_name = "ei",
		.unit = "requests",
		.today = "snoops from other cores that ask for a copy",
		.meaning = "Requests from other processors for a copy of a line.",
		.pitfall = "The core that is asked counts it, but the core that asks waits.",
		.flags = REDUNDANT | MODEL,
	},
	[EV_INVALIDATIONS] = {
		.number = 13,
		.name = "External invalidations",
		.short_name = "ev",
		.unit = "requests",
		.today = "snoops from other cores that take a line away",
		.meaning = "Requests from other processors to give up a line because they want to "
		           "write it.",
		.pitfall = "The core that loses the line counts it; the time goes by later, in "
		           "misses on that line.",
		.flags = REDUNDANT | MODEL,
	},
	[EV_VIRTUAL_COHERENCY] = {
		.number = 14,
		.name = "Virtual coherency conditions",
		.short_name = "vc",
		.unit = "conditions",
		.today = "not available",
		.meaning = "Primary cache misses that found the line in L1 under another virtual "
		           "address.",
		.pitfall = "Later R10000s count cycles of arithmetic progress under this number.",
		.flags = 0,
	},
	[EV_INSTRUCTIONS_15] = {
		.number = 15,
		.name = "Graduated instructions",
		.short_name = "gi1",
		.unit = "instructions",
		.today = "instructions retired",
		.meaning = "The same as event 17, which the R10000 could count on either of its "
		           "two counters.",
		.pitfall = "Multiplexed, it can differ from 17 by the error of the estimate, and "
		           "by nothing else.",
		.flags = REDUNDANT | MODEL | PROVOKED,
	},
	[EV_CYCLES_16] = {
		.number = 16,
		.name = "Cycles",
		.short_name = "cy1",
		.unit = "cycles",
		.today = "core clock cycles, not halted",
		.meaning = "The same as event 0, which the R10000 could count on either of its two"
		           " counters.",
		.pitfall = "Multiplexed, it can differ from 0 by the error of the estimate, and by"
		           " nothing else.",
		.flags = REDUNDANT | MODEL | PROVOKED,
	},
	[EV_INSTRUCTIONS] = {
		.number = 17,
		.name = "Graduated instructions",
		.short_name = "gi",
		.unit = "instructions",
		.today = "instructions retired",
		.meaning = "Instructions that completed in program order and took effect.",
		.pitfall = "A vector instruction, or a whole string copy, counts as one like any "
		           "other.",
		.flags = MODEL | PROVOKED,
	},
	[EV_LOADS] = {
		.number = 18,
		.name = "Graduated loads",
		.short_name = "gl",
		.unit = "loads",
		.today = "load instructions retired",
		.meaning = "Instructions that read memory and took effect.",
		.pitfall = "Some processors count speculative loads, or micro-operations, under "
		           "this name.",
		.flags = OVERLAPS | MODEL | PROVOKED,
	},
	[EV_STORES] = {
		.number = 19,
		.name = "Graduated stores",
		.short_name = "gs",
		.unit = "stores",
		.today = "store instructions retired",
		.meaning = "Instructions that wrote memory and took effect.",
		.pitfall = "A store retires before its data reaches the cache, so its cost shows "
		           "up elsewhere.",
		.flags = OVERLAPS | MODEL | PROVOKED,
	},
	[EV_STORE_CONDITIONALS] = {
		.number = 20,
		.name = "Graduated store conditionals",
		.short_name = "gsc",
		.unit = "stores",
		.today = "locked read-modify-writes, or exclusive stores",
		.meaning = "Atomic updates of memory that took effect.",
		.pitfall = "What it costs depends on whether another core had the line, which this"
		           " does not say.",
		.flags = OVERLAPS | MODEL,
	},
	[EV_FP_INSTRUCTIONS] = {
		.number = 21,
		.name = "Graduated floating point instructions",
		.short_name = "gfp",
		.unit = "instructions",
		.today = "floating-point arithmetic instructions retired",
		.meaning = "Floating-point arithmetic instructions that took effect, scalar or "
		           "vector.",
		.pitfall = "A vector instruction or a multiply-add counts once but does several "
		           "operations.",
		.flags = OVERLAPS | MODEL | PROVOKED,
	},
	[EV_L1_WRITEBACK_QUADWORDS] = {
		.number = 22,
		.name = "Quadwords written back from primary data cache",
		.short_name = "wbdc",
		.unit = "quadwords",
		.today = "modified lines that leave the L1 data cache, in units of 16 bytes",
		.meaning = "Modified data moved from the L1 data cache to L2, 16 bytes a count.",
		.pitfall = "A line goes back whole even if one byte of it was changed.",
		.flags = OVERLAPS | MODEL,
	},
	[EV_TLB_MISSES] = {
		.number = 23,
		.name = "TLB misses",
		.short_name = "tlb",
		.unit = "misses",
		.today = "page walks, for data and instructions",
		.meaning = "Address translations found in no TLB, for which the page table was "
		           "walked.",
		.pitfall = "The R10000 walked in software; hardware walks in tens of cycles, "
		           "several at once, and on wrong paths too.",
		.flags = OVERLAPS | MODEL | PROVOKED,
	},
	[EV_MISPREDICTED_BRANCHES] = {
		.number = 24,
		.name = "Mispredicted branches",
		.short_name = "br",
		.unit = "branches",
		.today = "mispredicted branches retired, of all kinds",
		.meaning = "Branches that went another way, or elsewhere, than predicted.",
		.pitfall = "A branch that waits for a missing load costs far more than the "
		           "pipeline's penalty.",
		.flags = OVERLAPS | MODEL | PROVOKED,
	},
	[EV_L1D_MISSES] = {
		.number = 25,
		.name = "Primary data cache misses",
		.short_name = "dc",
		.unit = "misses",
		.today = "L1 data cache misses",
		.meaning = "Loads and stores that did not find their line in the L1 data cache.",
		.pitfall = "Processors differ in whether a second access to a line on its way is a"
		           " miss, and whether prefetches count.",
		.flags = OVERLAPS | MODEL | PROVOKED,
	},
	[EV_L2D_MISSES] = {
		.number = 26,
		.name = "Secondary data cache misses",
		.short_name = "dsc",
		.unit = "misses",
		.today = "L2 cache misses by data accesses",
		.meaning = "Loads and stores that found their line neither in L1 nor in L2.",
		.pitfall = "Lines that a prefetcher brought in time do not count, though they used"
		           " the same bandwidth.",
		.flags = OVERLAPS | MODEL | PROVOKED,
	},
	[EV_D_WAY_MISPREDICTS] = {
		.number = 27,
		.name = "Data misprediction from secondary cache way prediction table",
		.short_name = "dwp",
		.unit = "mispredictions",
		.today = "not available",
		.meaning = "Data accesses to the secondary cache that first looked in the wrong "
		           "way.",
		.pitfall = "Processors of today predict ways in L1 only, and do not count it.",
		.flags = OVERLAPS,
	},
	[EV_INTERVENTION_HITS] = {
		.number = 28,
		.name = "External intervention hits in secondary cache",
		.short_name = "eih",
		.unit = "hits",
		.today = "snoops answered with a copy of a line held here",
		.meaning = "Requests from other processors for a line that this one really had.",
		.pitfall = "Shared data that is only read also hits, and does no harm.",
		.flags = OVERLAPS | MODEL,
	},
	[EV_INVALIDATION_HITS] = {
		.number = 29,
		.name = "External invalidation hits in secondary cache",
		.short_name = "evh",
		.unit = "hits",
		.today = "lines lost to writes of other cores",
		.meaning = "Lines that this processor had and gave up because another wanted to "
		           "write them.",
		.pitfall = "Two variables that share a line by accident look exactly like true "
		           "sharing.",
		.flags = REDUNDANT | MODEL,
	},
	[EV_STORES_TO_CLEAN] = {
		.number = 30,
		.name = "Store or prefetch exclusive to clean block in secondary cache",
		.short_name = "sclean",
		.unit = "stores",
		.today = "first writes to lines that this core holds alone and unmodified",
		.meaning = "Stores to lines that only this processor had and that were not modified.",
		.pitfall = "It measures data read before it is written, and is no sign of sharing.",
		.flags = OVERLAPS | MODEL,
	},
	[EV_STORES_TO_SHARED] = {
		.number = 31,
		.name = "Store or prefetch exclusive to shared block in secondary cache",
		.short_name = "sshared",
		.unit = "stores",
		.today = "writes to lines that other cores also hold",
		.meaning = "Stores that had to take a line away from other processors first.",
		.pitfall = "The line may be marked shared long after the others stopped using it.",
		.flags = OVERLAPS | MODEL,
	},
	[EV_LL_DATA_MISSES] = {
		.number = 32,
		.name = "Last-level cache data misses",
		.short_name = "lld",
		.unit = "misses",
		.meaning = "Loads and stores that found their line in no cache on the way, so that"
		           " it came from memory or from far away.",
		.pitfall = "Where the last level is shared, neighbours' programs change this "
		           "count.",
		.flags = OVERLAPS | MODEL | PROVOKED,
	},
	[EV_LL_INSTRUCTION_MISSES] = {
		.number = 33,
		.name = "Last-level cache instruction misses",
		.short_name = "lli",
		.unit = "misses",
		.meaning = "Instruction fetches that found their line in no cache of this "
		           "processor.",
		.pitfall = "Nearly all of them are first executions, so short runs look worse than"
		           " long ones.",
		.flags = OVERLAPS | MODEL,
	},
	[EV_LL_REFERENCES] = {
		.number = 34,
		.name = "Last-level cache references",
		.short_name = "llr",
		.unit = "references",
		.meaning = "Requests that reached the last level, for data and instructions.",
		.pitfall = "Some processors include what prefetchers ask for.",
		.flags = REDUNDANT | MODEL | PROVOKED,
	},
	[EV_L2_REFERENCES] = {
		.number = 35,
		.name = "Secondary cache references",
		.short_name = "l2r",
		.unit = "references",
		.meaning = "Requests that reached the L2 cache, for data and instructions.",
		.pitfall = "Some processors include what L1 prefetchers ask for, so hit rates come"
		           " out too good.",
		.flags = REDUNDANT | MODEL | PROVOKED,
	},
	[EV_DTLB_MISSES] = {
		.number = 36,
		.name = "First-level data TLB misses",
		.short_name = "dtlb",
		.unit = "misses",
		.meaning = "Data accesses whose translation was not in the first-level TLB.",
		.pitfall = "Most are found in the second-level TLB for a few cycles, so a large "
		           "count may be harmless.",
		.flags = OVERLAPS | MODEL | PROVOKED,
	},
	[EV_DTLB_WALKS] = {
		.number = 37,
		.name = "Data page walks",
		.short_name = "dwalk",
		.unit = "walks",
		.meaning = "Data accesses whose translation was in no TLB.",
		.pitfall = "Walks are part of event 23, so do not add the two.",
		.flags = REDUNDANT | MODEL | PROVOKED,
	},
	[EV_ITLB_MISSES] = {
		.number = 38,
		.name = "First-level instruction TLB misses",
		.short_name = "itlb",
		.unit = "misses",
		.meaning = "Instruction fetches whose translation was not in the first-level TLB.",
		.pitfall = "Fetching ahead hides many of them while earlier instructions are executed.",
		.flags = OVERLAPS | MODEL,
	},
	[EV_ITLB_WALKS] = {
		.number = 39,
		.name = "Instruction page walks",
		.short_name = "iwalk",
		.unit = "walks",
		.meaning = "Instruction fetches whose translation was in no TLB.",
		.pitfall = "Walks are part of event 23, so do not add the two.",
		.flags = REDUNDANT | MODEL,
	},
	[EV_WALK_CYCLES] = {
		.number = 40,
		.name = "Page walk cycles",
		.short_name = "wcy",
		.unit = "cycles",
		.meaning = "Cycles during which the page table was walked.",
		.pitfall = "The program runs on during a walk as far as it can, so not all of them"
		           " are lost.",
		.flags = REDUNDANT | MODEL | PROVOKED,
	},
	[EV_HARDWARE_PREFETCHES] = {
		.number = 41,
		.name = "Hardware prefetches",
		.short_name = "hpf",
		.unit = "prefetches",
		.meaning = "Lines that the hardware fetched because it expected them to be needed.",
		.pitfall = "It does not say how many were used, nor how many came in time.",
		.flags = OVERLAPS | MODEL,
	},
	[EV_SOFTWARE_PREFETCHES] = {
		.number = 42,
		.name = "Software prefetches",
		.short_name = "spf",
		.unit = "prefetches",
		.meaning = "Prefetch instructions in the program that were executed.",
		.pitfall = "Most count even if the line was in the cache already.",
		.flags = OVERLAPS | MODEL,
	},
	[EV_FRONTEND_STALLS] = {
		.number = 43,
		.name = "Front-end stall cycles",
		.short_name = "fes",
		.unit = "cycles",
		.meaning = "Cycles in which no instruction came from the front end though there "
		           "was room for it.",
		.pitfall = "Processors draw the line between front end and back end differently: "
		           "compare runs, not makes.",
		.flags = REDUNDANT | MODEL,
	},
	[EV_BACKEND_STALLS] = {
		.number = 44,
		.name = "Back-end stall cycles",
		.short_name = "bes",
		.unit = "cycles",
		.meaning = "Cycles in which instructions were ready to go on but the back end had "
		           "no room or no data.",
		.pitfall = "These cycles are the same ones that cache misses and dividers are "
		           "charged for.",
		.flags = REDUNDANT | MODEL | PROVOKED,
	},
	[EV_DIVIDES] = {
		.number = 45,
		.name = "Divides",
		.short_name = "div",
		.unit = "divides",
		.meaning = "Divide and square root instructions, integer and floating-point.",
		.pitfall = "Their cost varies several times over with operands and width, and some"
		           " processors count the integer ones alone.",
		.flags = OVERLAPS | MODEL | PROVOKED,
	},
	[EV_DIVIDER_CYCLES] = {
		.number = 46,
		.name = "Divider busy cycles",
		.short_name = "divcy",
		.unit = "cycles",
		.meaning = "Cycles during which a divider was busy.",
		.pitfall = "Other units go on meanwhile, so this is a bound on the loss and not "
		           "the loss.",
		.flags = REDUNDANT | MODEL | PROVOKED,
	},
	[EV_VECTOR_INSTRUCTIONS] = {
		.number = 47,
		.name = "Vector instructions",
		.short_name = "vec",
		.unit = "instructions",
		.meaning = "SIMD instructions that took effect, integer or floating-point.",
		.pitfall = "Scalar floating-point code uses the same registers on x86, and some "
		           "processors count it too.",
		.flags = REDUNDANT | MODEL | PROVOKED,
	},
	[EV_FP_OPERATIONS] = {
		.number = 48,
		.name = "Floating-point operations",
		.short_name = "flops",
		.unit = "operations",
		.meaning = "Floating-point operations that took effect, each element of a vector "
		           "counted, a multiply-add as two.",
		.pitfall = "Compilers compute unused elements and repeat work, so it is not the "
		           "algorithm's count.",
		.flags = REDUNDANT | MODEL | PROVOKED,
	},
	[EV_MEMORY_ORDER_CLEARS] = {
		.number = 49,
		.name = "Memory order machine clears",
		.short_name = "moc",
		.unit = "clears",
		.meaning = "Pipeline flushes because another core wrote what a load here had read "
		           "too early.",
		.pitfall = "Each costs tens of cycles and is charged nowhere else, so small counts"
		           " matter.",
		.flags = OVERLAPS,
	},
	[EV_STORE_FORWARD_FAILURES] = {
		.number = 50,
		.name = "Store forwarding failures",
		.short_name = "sff",
		.unit = "failures",
		.meaning = "Loads that had to wait because they overlap an earlier store in a way "
		           "that cannot be forwarded.",
		.pitfall = "Some processors count each retry of the same load.",
		.flags = OVERLAPS | MODEL,
	},
	[EV_ALIASES_4K] = {
		.number = 51,
		.name = "4 KiB aliases",
		.short_name = "alias",
		.unit = "loads",
		.meaning = "Loads held up by an earlier store to another address with the same low"
		           " twelve bits.",
		.pitfall = "It comes and goes with where the allocator and the linker happen to "
		           "put things.",
		.flags = OVERLAPS | MODEL,
	},
	[EV_MICRO_OPS] = {
		.number = 52,
		.name = "Micro-operations retired",
		.short_name = "uops",
		.unit = "micro-operations",
		.meaning = "Pieces into which the processor split the instructions that took "
		           "effect.",
		.pitfall = "Fused pairs count as one on some processors and as two on others.",
		.flags = REDUNDANT | MODEL | PROVOKED,
	},
	[EV_CONDITIONAL_BRANCHES] = {
		.number = 53,
		.name = "Conditional branches",
		.short_name = "cbr",
		.unit = "branches",
		.meaning = "Conditional branches that took effect, taken or not.",
		.pitfall = "Compilers turn many into conditional moves, which wait for their data "
		           "but do not count.",
		.flags = REDUNDANT | MODEL | PROVOKED,
	},
	[EV_MISPREDICTED_CONDITIONALS] = {
		.number = 54,
		.name = "Mispredicted conditional branches",
		.short_name = "brc",
		.unit = "branches",
		.meaning = "Conditional branches that went the other way than predicted.",
		.pitfall = "They are part of event 24, so do not add the two.",
		.flags = REDUNDANT | MODEL | PROVOKED,
	},
	[EV_INDIRECT_BRANCHES] = {
		.number = 55,
		.name = "Indirect branches",
		.short_name = "ibr",
		.unit = "branches",
		.meaning = "Jumps and calls through a register or memory, without returns.",
		.pitfall = "Calls into shared libraries are among them, through the linkage table.",
		.flags = REDUNDANT | MODEL,
	},
	[EV_MISPREDICTED_INDIRECTS] = {
		.number = 56,
		.name = "Mispredicted indirect branches",
		.short_name = "bri",
		.unit = "branches",
		.meaning = "Indirect jumps and calls that went elsewhere than predicted.",
		.pitfall = "They are part of event 24, so do not add the two.",
		.flags = REDUNDANT | MODEL,
	},
	[EV_RETURNS] = {
		.number = 57,
		.name = "Returns",
		.short_name = "ret",
		.unit = "returns",
		.meaning = "Returns from functions.",
		.pitfall = "Inlined and tail-called functions do not return.",
		.flags = REDUNDANT | MODEL | PROVOKED,
	},
	[EV_MISPREDICTED_RETURNS] = {
		.number = 58,
		.name = "Mispredicted returns",
		.short_name = "brr",
		.unit = "returns",
		.meaning = "Returns that went elsewhere than the return stack said.",
		.pitfall = "They are part of event 24; mitigations in kernel and compiler can "
		           "force them.",
		.flags = REDUNDANT | MODEL,
	},
	[EV_CALLS] = {
		.number = 59,
		.name = "Calls",
		.short_name = "call",
		.unit = "calls",
		.meaning = "Function calls, direct and indirect.",
		.pitfall = "Inlined and tail-called functions do not count.",
		.flags = REDUNDANT | MODEL | PROVOKED,
	},
	[EV_TAKEN_BRANCHES] = {
		.number = 60,
		.name = "Taken branches",
		.short_name = "tbr",
		.unit = "branches",
		.meaning = "Branches, jumps, calls and returns that left the straight line.",
		.pitfall = "Each limits how much is fetched in its cycle even when it is well "
		           "predicted.",
		.flags = OVERLAPS | MODEL | PROVOKED,
	},
	[EV_BRANCHES] = {
		.number = 61,
		.name = "Branches",
		.short_name = "bra",
		.unit = "branches",
		.meaning = "Branches, jumps, calls and returns that took effect, taken or not.",
		.pitfall = "Interrupts, system calls and returns from them count too on some "
		           "processors.",
		.flags = REDUNDANT | MODEL | PROVOKED,
	},
	[EV_LOCKED_INSTRUCTIONS] = {
		.number = 62,
		.name = "Locked instructions",
		.short_name = "lock",
		.unit = "instructions",
		.meaning = "Atomic read-modify-write instructions that took effect.",
		.pitfall = "On x86 an exchange with memory is locked even without the prefix.",
		.flags = REDUNDANT | MODEL | PROVOKED,
	},
	[EV_SPLIT_ACCESSES] = {
		.number = 63,
		.name = "Accesses that cross a cache line",
		.short_name = "split",
		.unit = "accesses",
		.meaning = "Loads and stores of which one part lies in one cache line and the rest"
		           " in the next.",
		.pitfall = "Each is two accesses to the cache; those that cross a page also are, "
		           "at far higher cost.",
		.flags = OVERLAPS | MODEL,
	},
	[EV_SYSTEM_CALLS] = {
		.number = 64,
		.name = "System calls",
		.short_name = "sys",
		.unit = "calls",
		.meaning = "Calls into the kernel by the program.",
		.pitfall = "Clock readings mostly go through the vDSO and never enter the kernel.",
		.flags = OVERLAPS | MODEL,
	},
	[EV_PAGE_FAULTS] = {
		.number = 65,
		.name = "Page faults",
		.short_name = "pf",
		.unit = "faults",
		.meaning = "Accesses to pages that the kernel had to provide first, minor and "
		           "major.",
		.pitfall = "Most are first touches of fresh memory, and their cost is the kernel's"
		           " clearing of the page.",
		.flags = OVERLAPS | OS | MODEL,
	},
	[EV_MAJOR_FAULTS] = {
		.number = 66,
		.name = "Major page faults",
		.short_name = "maj",
		.unit = "faults",
		.meaning = "Page faults that had to wait for a disk or the network.",
		.pitfall = "The second run of a program has none, because the first filled the "
		           "page cache.",
		.flags = OVERLAPS | OS,
	},
	[EV_CONTEXT_SWITCHES] = {
		.number = 67,
		.name = "Context switches",
		.short_name = "csw",
		.unit = "switches",
		.meaning = "Times the processor was given to another thread.",
		.pitfall = "Waiting and being preempted count alike.",
		.flags = OVERLAPS | OS | KERNEL_SIDE,
	},
	[EV_CPU_MIGRATIONS] = {
		.number = 68,
		.name = "CPU migrations",
		.short_name = "mig",
		.unit = "migrations",
		.meaning = "Times a thread went on on another processor than before.",
		.pitfall = "The cost is cold caches afterwards, and is charged as misses.",
		.flags = OVERLAPS | OS | KERNEL_SIDE,
	},
	[EV_TASK_CLOCK] = {
		.number = 69,
		.name = "Task clock",
		.short_name = "tclk",
		.unit = "ns",
		.meaning = "Time that the program's threads spent on processors, in user mode and "
		           "in the kernel.",
		.pitfall = "It counts all levels whatever levels were asked for, and adds up over "
		           "threads that ran at once.",
		.flags = REDUNDANT | OS,
	},
	[EV_SYSTEM_TIME] = {
		.number = 70,
		.name = "System time",
		.short_name = "stime",
		.unit = "ns",
		.meaning = "The part of the task clock that the kernel worked for the program: system "
		           "calls, page faults, starting and ending.",
		.pitfall = "The kernel reports it for whole runs only, to its own precision, and the model "
		           "has no part of it, so that beside modelled counts it takes -passes and a "
		           "run of its own.",
		.flags = REDUNDANT | OS,
	},
};
/* clang-format on */

const struct event *event_table(size_t *count)
{
	*count = EV_COUNT;
	return event_rows;
}

const struct event *event_by_number(int number)
{
	return number >= 0 && number < EV_COUNT ? &event_rows[number] : NULL;
}
