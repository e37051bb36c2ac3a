/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The modelled processor: caches, TLBs, branch predictors, coherence and a clock, driven by a
 * stream of executed instructions and their memory accesses, in program order, one thread at a
 * time.  Deterministic: the same calls give the same counts.  Freestanding C with no libc, so that
 * the Valgrind tool can hold it; unit tests run it natively.
 *
 * The caller owns all memory: model_size() bytes hold the whole state.  There is one core per
 * thread up to config.cores, then threads share them round robin.  Counts go into the array of the
 * current thread, indexed by event number (events/numbers.h).
 *
 * Model assumptions are listed at the top of model.c and in docs/man/perfex-model.7.
 */
#ifndef MODEL_MODEL_H
#define MODEL_MODEL_H

#include <stddef.h>
#include <stdint.h>

#include "events/numbers.h"

#define MODEL_CORES_MAX 64

struct model_cache_config {
	uint32_t size;    /* bytes; 0: there is none */
	uint32_t ways;    /* associativity; size / line: fully associative */
	uint32_t line;    /* bytes, a power of two */
	uint32_t latency; /* load to use, cycles */
};

struct model_tlb_config {
	uint32_t entries; /* 0: there is none */
	uint32_t ways;
};

/* Which entry of a full set a new one replaces. */
enum model_policy {
	MODEL_LRU,       /* the least recently used, exactly */
	MODEL_TREE_PLRU, /* a binary tree of bits that point away from the entry used last */
	MODEL_BIT_PLRU, /* a bit an entry, set by use, all others cleared when the last one would be
			 */
	MODEL_RANDOM,   /* pseudo-random; the same sequence in every run */
	MODEL_SRRIP,    /* two-bit ages: 2 when new, 0 when used again; the first of age 3 is
			   replaced */
	MODEL_QLRU,     /* likewise, but of age 1 when new (Intel's L2 and L3: QLRU_H00_M1_R0_U1) */
	MODEL_POLICIES
};

/* The state of a set, for all except lru and random, is one word. */
#define MODEL_WAYS_MAX(policy)                                                                     \
	((policy) == MODEL_LRU || (policy) == MODEL_RANDOM                  ? 4096u                \
		: (policy) == MODEL_TREE_PLRU || (policy) == MODEL_BIT_PLRU ? 64u                  \
									    : 32u)

/* What replaces by a policy: config.policy[]. */
enum model_level {
	MODEL_L1I,
	MODEL_L1D,
	MODEL_L2,
	MODEL_LL,
	MODEL_ITLB,
	MODEL_DTLB,
	MODEL_STLB,
	MODEL_LEVELS
};

/* The relation of a cache to those nearer to the core. */
enum model_inclusion {
	MODEL_NEITHER,   /* lines that came through it; each leaves independently */
	MODEL_INCLUSIVE, /* everything: what leaves it leaves those too */
	MODEL_EXCLUSIVE, /* exclusive: filled with lines that leave them, and gives up lines that
			    they fetch */
	MODEL_INCLUSIONS
};

/* Which pages of 2 MiB there are. */
enum model_pages {
	MODEL_PAGES_SMALL,  /* none */
	MODEL_PAGES_KERNEL, /* those given by model_map */
	MODEL_PAGES_MODES
};

/* Entries of 2 MiB pages in a TLB. */
enum {
	/* With entries 0, ways is one of these: */
	MODEL_LARGE_SHARED = 0, /* a 2 MiB page takes one of the entries for 4 KiB pages */
	MODEL_LARGE_SPLIT = 1,  /* one entry for each 4 KiB of it that is used */
};

/* A hardware prefetcher; all zero: there is none.  What else is zero depends on its kind. */
#define PREFETCH_ENTRIES_MAX 256
#define PREFETCH_AHEAD_MAX   64
#define PREFETCH_LINES_MAX   16
struct model_prefetcher {
	uint32_t entries; /* streams, or instructions, that it follows at once */
	uint32_t ahead;   /* how far it keeps ahead, in strides or lines */
	uint32_t lines;   /* that one access sets off at most */
};

/* Is the way back to L2 the one by which lines come? */
enum model_way { MODEL_WAY_SHARED, MODEL_WAY_OWN, MODEL_WAYS };

/* From where on is code that the cache of decoded operations has taken from there again? */
enum model_decode_until { MODEL_DECODE_UNTIL_ANY, MODEL_DECODE_UNTIL_BRANCH };
enum model_stream_pages { MODEL_STREAM_STOPS, MODEL_STREAM_CROSSES, MODEL_STREAM_PAGES };

enum model_flavour {
	MODEL_NATIVE = 0,
	/* Exactly cachegrind's semantics: L1 and LL only, an access that straddles two lines counts
	 * one miss, accesses larger than a line are cut, no prefetch, no coherence. */
	MODEL_CACHEGRIND = 1,
};

enum model_clock {
	MODEL_CLOCK_FIRST_ORDER = 0, /* clock.c */
	MODEL_CLOCK_RETIREMENT = 1,  /* retire.c: needs dependences */
	MODEL_CLOCK_SAMPLED = 2,     /* the same in random windows: sampled_clock.h */
};

/* Parts of the model.  A run needs those on which its events depend (parts.c). */
enum model_part {
	MODEL_PART_EXECUTION = 1 << 0, /* what execution alone determines; always needed */
	MODEL_PART_PREDICTORS = 1 << 1,
	MODEL_PART_CACHES = 1 << 2, /* with prefetchers and coherence */
	MODEL_PART_TLBS = 1 << 3,
	MODEL_PART_STORES = 1 << 4, /* the store buffer */
	MODEL_PART_CLOCK = 1 << 5,  /* needs all others */
	MODEL_PARTS_ALL = (1 << 6) - 1,
};

/* What executes conditional branches: the units of `branches`, or those that shift. */
enum model_branch_units { MODEL_BRANCHES_OWN, MODEL_BRANCHES_BY_SHIFTERS };
/* Do stores compute their addresses in units of their own, or in those of loads? */
enum model_store_address { MODEL_ADDRESS_OWN, MODEL_ADDRESS_SHARED, MODEL_STORE_ADDRESSES };
/* By what a core that renames memory knows which store has a load's data; see retire_pass. */
enum model_renaming { MODEL_RENAMING_ADDRESSES, MODEL_RENAMING_STORES, MODEL_RENAMINGS };

/* Instructions that are one operation with a conditional branch that follows them. */
enum model_fusion {
	MODEL_FUSION_COMPARE,    /* comparisons and tests */
	MODEL_FUSION_ARITHMETIC, /* also additions, subtractions, and, or */
	MODEL_FUSION_NONE,
	MODEL_FUSIONS
};

/* What the retirement clock needs to know of execution. */
struct model_execution_config {
	/* Units, 1 to 15: instructions of a kind that begin in a cycle at best.  0: no limit; of
	 * fp_adders: the multipliers add. */
	uint32_t loads, stores, alus, multipliers, fp_adders, fp_multipliers, vectors, shuffles,
		branches;
	/* Of alus, those that do long addresses, shifts, and moves on conditions of two flags; 0:
	 * all. See enum model_latency. */
	uint32_t long_addresses, shifters, flags_moves;
	uint32_t branch_units; /* enum model_branch_units */
	/* Instructions that wait for operands: integer operations and data of stores, addresses of
	 * loads and stores, vector operations; of these, those that wait in order before; cycles
	 * until the place of one that has begun is free; general registers for results of what has
	 * not retired. 0: no limit; vector_scheduler has none without vector_queue. */
	uint32_t alu_scheduler, address_scheduler, vector_scheduler, vector_queue, scheduler_hold,
		registers;
	/* Latencies, cycles; see enum model_latency.  0 is 1. */
	uint32_t multiply, fp_add, fp_multiply, fused, convert, vector, vector_multiply, shuffle,
		move, crypto, microcode, divide, fp_divide, fp_root, long_address;
	/* Likewise; 0: as multiply, convert, move, move, fp_add. */
	uint32_t multiply_high, convert_in, compare, move_in, x87;
	uint32_t scaled_address; /* likewise; 0: as long_address */
	uint32_t x87_long;     /* cycles of dispatch for a load or store of 80 bits; 0: as others */
	uint32_t fp_root_busy; /* as fp_divide_latency, of a square root; 0: as that */
	uint32_t vector_load;  /* cycles more than any other load */
	uint32_t vector_loads; /* of vectors, in a cycle; 0: as many as of others */
	uint32_t scaled_load; /* cycles more where the address has a scaled index, or three parts */
	uint32_t store_address;  /* enum model_store_address: where stores get their addresses */
	uint32_t fusion;         /* enum model_fusion */
	uint32_t forward;        /* from a store's data to the load that gets them */
	uint32_t vector_forward; /* the same of vector registers; 0: as forward */
	/* The same where it is known which store it is, see retire_pass; at most forward. */
	uint32_t forward_renamed;
	uint32_t renaming; /* enum model_renaming */
	/* Cycles more of a load that looks, by the low 12 bits of addresses, as if a store that is
	 * in the buffer had some of its bytes but not all. */
	uint32_t alias;
	/* Loads per cycle from one of the eight banks of a line (8 bytes each), 1 to 3; others:
	 * any.
	 */
	uint32_t bank_loads;
	/* Lines to which stores go in a cycle; 0: as many as stores. */
	uint32_t store_lines;
	/* From a floating-point addition to one that needs its result; 0: as fp_add. */
	uint32_t fp_add_chain;
	/* Of a system call at user level: the way to the kernel and back, until the next
	 * instruction; 0: none. */
	uint32_t system_call;
	/* At user level, of a page's first access: a hypervisor's work that the kernel does not
	 * see; 0: none. It is added to the run's cycles, not to an instruction's. */
	uint32_t page_fault;
	/* Cycles that a page's first translation was seen to take longer after a system call; 0:
	 * the kernel leaves all. Else system calls and page faults leave none in the TLBs. */
	uint32_t kernel_flush;
	/* Of a thousand cycles, those that a hypervisor takes, unseen by the kernel. They are added
	 * to the run's. */
	uint32_t steal;
	/* Repeated string instructions that store: cycles before the first bytes; bytes per cycle
	 * then, 0: each repetition is as an instruction of its own. */
	uint32_t string_start, string_bytes;
};

/* How branches are predicted: branch.c. */
enum model_predictor {
	MODEL_PREDICTOR_TWO_BIT,    /* two-bit counters by address (R10000) */
	MODEL_PREDICTOR_TAGGED,     /* tagged tables of geometric histories */
	MODEL_PREDICTOR_CACHEGRIND, /* as cachegrind does */
};

/* What several targets of an indirect branch are distinguished by. */
enum model_indirect_history {
	MODEL_INDIRECT_BY_TARGETS,  /* outcomes of conditional branches, and the last targets */
	MODEL_INDIRECT_BY_OUTCOMES, /* outcomes alone */
};

/* Plain data: travels to the Valgrind tool byte for byte.  Bump MODEL_CONFIG_VERSION with any
 * change. */
#define MODEL_CONFIG_VERSION 19
struct model_config {
	uint32_t version;
	uint32_t flavour; /* enum model_flavour */
	uint64_t clock_hz;
	uint32_t cores;     /* cores to model, 1..MODEL_CORES_MAX */
	uint32_t page_size; /* bytes */
	struct model_cache_config l1i, l1d, l2,
		ll; /* l2: per core, unified; ll: shared; either may be absent */
	struct model_tlb_config itlb, dtlb, stlb; /* stlb: second level, unified */
	uint32_t memory_latency;                  /* cycles, load to use from memory */
	/* As ll.latency, of a line that was last used 5 ms before; 0: it is still there. See
	 * lasting.h. */
	uint32_t ll_later;
	uint32_t stlb_latency; /* cycles added by a first-level TLB miss that hits the second level
				*/
	uint32_t walk_latency; /* cycles added by a page walk */
	uint32_t walkers;      /* walks at once, of the retirement clock; 0: no limit */
	uint32_t width;        /* instructions retired per cycle at best */
	uint32_t window;       /* instructions in flight: misses nearer than this overlap */
	uint32_t mispredict_penalty;    /* cycles */
	uint32_t divide_latency;        /* cycles the divider is busy, integer */
	uint32_t fp_divide_latency;     /* likewise, floating-point divide and square root */
	uint32_t store_forward_penalty; /* cycles that a load waits when forwarding fails */
	uint32_t intervention_latency; /* cycles to fetch a line that another core holds modified */
	uint32_t lock_latency;         /* cycles of a locked read-modify-write that hits L1 */
	uint32_t predictor_bits;       /* log2 entries of the conditional predictor's tables */
	uint32_t predictor_kind;       /* enum model_predictor */
	uint32_t indirect_history;     /* enum model_indirect_history, of a tagged predictor */
	uint32_t return_stack;         /* entries */
	uint32_t store_buffer;         /* entries */
	uint32_t misses; /* loads that may wait for a line at once: beyond, they take turns; 0: no
			    limit */
	uint32_t
		miss_hold; /* cycles that the place of a load stays taken after its line has come */
	/* Cycles from one line to the next that a core gets from there at best; 0: no limit. */
	uint32_t l2_interval, ll_interval, memory_interval;
	/* Likewise of lines that replace modified ones of the same set of L1D; 0: no limit. */
	uint32_t l1d_conflict;
	uint32_t taken_interval; /* cycles from one taken branch to the next at best */
	/* Likewise from a return, and from an indirect jump that had several targets, to the next;
	 * 0: as taken_interval. */
	uint32_t return_interval, indirect_interval;
	uint32_t policy[MODEL_LEVELS];       /* enum model_policy */
	uint32_t l2_inclusion, ll_inclusion; /* enum model_inclusion: L2 to L1I and L1D; LL to all
						private caches */
	uint32_t large_pages;                /* enum model_pages */
	struct model_tlb_config large_itlb, large_dtlb, large_stlb; /* for pages of 2 MiB */
	/* A miss of L1I, L1D fetches the next lines too. */
	struct model_prefetcher l1i_next, l1d_next; /* lines */
	struct model_prefetcher l1d_stride;         /* loads at a constant stride: entries, ahead */
	struct model_prefetcher l1d_stream; /* loads near each other: entries, ahead, lines */
	struct model_prefetcher l2_stream;  /* misses of L1 in ascending or descending lines:
					      entries, ahead, lines */
	uint32_t l2_adjacent; /* a miss of L2 fetches the other half of its pair of lines too */
	uint32_t clock;       /* enum model_clock */
	/* Fetch: operations of a group, up to a taken branch (0: any number); groups in a cycle,
	 * and taken branches in taken_interval (0: one); bytes of the line that a group is of (0:
	 * of any); operations ahead of dispatch at most. */
	uint32_t fetch_group, fetch_groups, fetch_line, fetch_queue;
	uint32_t fetch_single; /* hundredths of a cycle: of a line of one group; 0: as any group */
	uint32_t fetch_long; /* cycles more that a line needs for each cycle of groups but the first
			      */
	uint32_t fetch_across; /* 1: a group may go on in the next line; 0: it ends there */
	/* Groups that the cache of decoded operations has (0: all); displacements and immediates of
	 * one (0: any number). Of other groups decoders make `decode` operations in a cycle;
	 * cycles that it takes to change between both. */
	uint32_t op_cache, op_cache_fields, decode, decode_change;
	uint32_t decode_until; /* enum model_decode_until */
	uint32_t fetches;      /* sequential lines of code requested at once; 0, 1: one */
	uint32_t jump_fetches; /* likewise, of those that are jumped to as predicted */
	/* The branch target buffer: entries, 0: it knows all branches; those of its first level;
	 * cycles that fetch loses at a taken branch that only the second knows, and that the
	 * decoder finds. */
	uint32_t btb, btb_first, btb_second, btb_miss;
	uint32_t l2_write_back; /* enum model_way: of modified lines back to L2 */
	uint32_t stream_step;   /* lines from request to request that l2_stream follows; 0: any */
	uint32_t stream_pages; /* enum model_stream_pages: does L2-stream go on in the next page? */
	uint32_t parts;        /* enum model_part: those that the run needs */
	uint32_t events[EVENT_LIMIT / 32]; /* without other parts than execution, a bit for each
					      that is counted */
	struct model_execution_config execution;
};

/* What kind of instruction is executed; several bits may be set. */
enum model_instruction_class {
	MODEL_FP = 1 << 0,        /* floating point arithmetic */
	MODEL_VECTOR = 1 << 1,    /* SIMD, integer or floating */
	MODEL_DIVIDE = 1 << 2,    /* integer divide */
	MODEL_FP_DIVIDE = 1 << 3, /* floating divide or square root */
	MODEL_LOCKED = 1 << 4,    /* atomic read-modify-write */
	MODEL_PREFETCH = 1 << 5,  /* software prefetch */
	MODEL_SYSCALL = 1 << 6,
	MODEL_SERIALISING = 1 << 7,
	MODEL_REPEATED = 1 << 8, /* a further iteration of the same rep instruction: not an
				    instruction of its own */
};

enum model_branch_kind {
	MODEL_CONDITIONAL,
	MODEL_JUMP, /* direct, unconditional */
	MODEL_CALL, /* direct */
	MODEL_INDIRECT_JUMP,
	MODEL_INDIRECT_CALL,
	MODEL_RETURN,
};

struct model; /* opaque; is in the caller's memory */

/*
 * NULL if the model supports config, else the reason (static text). Checked limits: powers of two
 * where needed, ways * line divides size, sizes up to 1 GiB, cores up to MODEL_CORES_MAX ...
 */
const char *model_check(const struct model_config *config);
/* The parts that the event's count depends on (enum model_part). With these alone, the count is the
 * same as with all. */
unsigned model_event_parts(unsigned event);
/* A run that counts only instructions; then the other events that it counts as well. */
void model_ask_little(struct model_config *config);
void model_ask(struct model_config *config, unsigned event);
/* Does such a run count this event, which model_counts_event says it can? */
int model_asked(const struct model_config *config, unsigned event);
/* Does the model count this event on this machine?  Events that it does not count stay 0 and must
 * not be shown. */
int model_counts_event(const struct model_config *config, int event);
/* Bytes that model_init needs for a checked config. */
size_t model_size(const struct model_config *config);
/* memory: model_size() bytes, 64-byte aligned, zeroed.  Returns the model, which is the same
 * address. */
struct model *model_init(void *memory, const struct model_config *config);

/* The thread that executes from here on: thread (0, 1, ... in order of creation) chooses the core,
 * counts is its array of EVENT_LIMIT counters. May be called at any time, and must be called before
 * the first instruction. Brings the array of the previous thread up to date (model_sync). An array
 * must outlive the model, even if its thread ends: requests from other cores are charged to the
 * thread that ran last on the core. After a model_sync the caller may set the whole array to zero;
 * otherwise only the model changes it, because some counts are derived from others. */
void model_switch_thread(struct model *m, unsigned thread, uint64_t *counts);

/* One instruction begins: its fetch of `length` bytes at `address`; class is a set of
 * enum model_instruction_class; uops an estimate of its micro-ops; flops its floating-point
 * operations. */
void model_instruction(struct model *m, uint64_t address, unsigned length, unsigned class_bits,
	unsigned uops, unsigned flops);
/* Its memory accesses, in order, and its branch, last.  size in bytes (1..4096). */
void model_load(struct model *m, uint64_t address, unsigned size);
void model_store(struct model *m, uint64_t address, unsigned size);
void model_prefetch(struct model *m, uint64_t address);
/* from: address of the branch; next: address of the instruction after it; to: its target if taken.
 */
void model_branch(struct model *m, enum model_branch_kind kind, uint64_t from, uint64_t next,
	uint64_t to, int taken);

/* From here on length bytes at address are mapped with pages of 1 << page_bits bytes: 21 or more
 * for those of 2 MiB, else small ones (also if unmapped). Only whole large pages become large.
 * Without effect if the machine has none (config.large_pages). */
void model_map(struct model *m, uint64_t address, uint64_t length, unsigned page_bits);

/* The current thread returns from a system call: see execution.kernel_flush. */
void model_system_call(struct model *m);
/* The next access to each of these pages is a page fault, as the first one to any page is. */
void model_unmap(struct model *m, uint64_t address, uint64_t length);

/* The part of the model's memory that is read in no order, if it is too large for the first TLBs of
 * a host with small pages, else null; *bytes becomes its size. */
void *model_scattered(const struct model *m, size_t *bytes);

/* In the child of a fork, whose counts are all 0: what was clocked before is the parent's. */
void model_clock_forked(struct model *m);

/* Brings counts that are kept elsewhere until needed (cycles ...) up to date in the current
 * thread's array. */
void model_sync(struct model *m);

/* Computes the estimates of the sampled clock, which model_sync does from time to time only. */
void model_clock_finish(struct model *m);

/* Where the retirement clock's cycles by cause are added whenever a thread's counts are brought up
 * to date, of all threads; null: nowhere. Must outlive the model. */
struct model_clock_sums;
void model_set_clock_sums(struct model *m, struct model_clock_sums *sums);

#endif
