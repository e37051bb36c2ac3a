/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The state of the modelled processor, private to lib/model. All of it is in the memory passed to
 * model_init. All-zero memory is nearly a reset processor: model_init sets only the few fields
 * whose reset value is not zero, so memory that a program does not use is never written.
 *
 * Time is kept in slots: a cycle has config.width of them, and an instruction takes one. So nothing
 * is divided until the counts are brought up to date.
 */
#ifndef MODEL_STATE_H
#define MODEL_STATE_H

#include "model/batch.h"
#include "model/btb.h"
#include "model/cache.h"
#include "model/forward.h"
#include "model/lasting.h"
#include "model/model.h"
#include "model/packed.h"
#include "model/retire.h"
#include "model/sampled_clock.h"
#include "model/trace.h"

/* A modern core keeps fewer loads waiting than this. */
#define WAITING_MAX      64
#define INDIRECT_BITS    11
#define INDIRECT_WAYS    4
#define INDIRECT_TABLES  3
#define RETURN_STACK_MAX 256
#define DIRECTORY_BITS   16

#define NEVER UINT64_MAX

/* Caches and TLBs and no others. */
#define MODEL_PARTS_MISSES (MODEL_PART_EXECUTION | MODEL_PART_CACHES | MODEL_PART_TLBS)

#define INLINE static inline __attribute__((always_inline))

/* The suppliers of lines to the private caches of a core. */
/* In the order of enum model_cause; lines from another core arrive like those of LL. */
#define SEEN_BITS 19 /* log2 of how many groups of eight pages are distinguished */
#define HAD_BITS  24 /* log2 of how many lines are distinguished */

enum line_supplier {
	LINE_FROM_L2,
	LINE_FROM_LL,
	LINE_FROM_MEMORY,
	SUPPLIERS,
	LINE_FROM_HOLDER = SUPPLIERS,
};

/* Something that retirement must wait for: no instruction from `order` on retires before time
 * `ready`. */
struct waiting {
	uint64_t order;
	uint64_t ready;
};

#define MISSES_MAX 64

struct clock {
	uint64_t order; /* instructions and repeated iterations so far: the slots of useful work */
	uint64_t front, back; /* slots lost to the front end, to the back end */
	uint64_t next_wait;   /* order of the first entry of the queue, or NEVER */
	uint64_t divider_free;
	uint64_t line_free[SUPPLIERS]; /* when each supplier can send its next line */
	uint64_t taken_free;           /* when fetch can continue after the next taken branch */
	uint64_t stores_ready;         /* when the missing stores in the store buffer are done */
	uint64_t stores_full; /* number of the store that finds the buffer full, or NEVER */
	uint64_t now_done, front_done, back_done; /* slots that are already in the counts of a
						     thread */
	uint64_t
		under_way[MISSES_MAX]; /* ring: when the last config.misses loads have their data */
	uint32_t oldest_miss;
	uint32_t first, count;
	struct waiting queue[WAITING_MAX]; /* ring; orders and times both increase */
};

/*
 * Lines that are certainly in L1D, with their page in the first TLB that data have, by the low bits
 * of their number: an access is one comparison and notes two uses.  A slot may be emptied at any
 * time.  It must be emptied when the line or its page is evicted (also if the page's own slot was
 * taken by another page), or when the line becomes UNSEEN or changes its state.  Results do not
 * depend on the number of slots; changing LINE_SLOT_BITS is a quick test of that.
 */
#define LINE_SLOT_BITS 13
#define LINE_SLOTS     (1 << LINE_SLOT_BITS)
#define LINES_NOTED    2048
#define PAGES_NOTED    512
#define NO_LINE        UINT32_MAX

struct line_slot {
	uint32_t above;      /* the address's bits above those that lead here */
	uint16_t line, page; /* where in the core's line_used, page_used its uses are noted */
};

/* bits: log2 of the line. */
static inline uint32_t line_slot_above(uint64_t address, unsigned bits)
{
	return (uint32_t)(address >> (bits + LINE_SLOT_BITS));
}

struct ways;

struct predictor {
	uint64_t history; /* outcomes of conditional branches, the last one in bit 0 */
	uint8_t *base;    /* states by address; see branch.h */
	uint64_t base_mask;
	uint8_t *streaks;  /* as many; see branch.h */
	uint8_t *counters; /* of kind cachegrind, else null: the same memory */
	uint32_t streak_shift;
	struct ways *sets;   /* entries of the tagged tables; null for kind 0 */
	uint64_t set_mask;   /* bytes */
	uint64_t path;       /* eight bits of each of the last eight indirect targets */
	uint32_t random;     /* deterministic */
	uint32_t varied;     /* the last indirect branch that was right: had it several targets? */
	uint32_t return_top; /* pushes less pops, modulo the stack's size */
	uint32_t return_count;   /* valid entries */
	uint32_t returns_unseen; /* more that may be there; 0 where all calls are modelled */
	uint8_t next[264];       /* how the base steps: by twice its state plus the outcome */
	uint8_t steps[256];      /* how an entry does; see branch.c */
	uint8_t trust[64];       /* in new entries, by address */
	uint8_t next_trust[48];  /* how that steps; see branch.c */
	uint64_t *targets[INDIRECT_TABLES];
	uint64_t returns[RETURN_STACK_MAX];
};

#define ARRIVALS 256

struct stride_entry {
	uint64_t key; /* see prefetch.c */
	uint64_t last;
	int64_t distance;
};

enum { STREAM_LINE_BITS = 6, STREAM_LINES = 1 << STREAM_LINE_BITS }; /* of a page, at most */
#define STREAM_NONE UINT64_MAX                                       /* an order without lines */
struct stream_entry {
	uint64_t page;       /* address | 1 */
	int64_t last, front; /* lines of the page: requested, prefetched */
	int64_t way;         /* 1 ascending, -1 descending, 0: unknown */
	uint64_t used;       /* number of the stream's last request */
	/* With stream_step: its last requests that went the other way; the last eight lines that
	 * were requested, each once: a bit each, and a byte each, the oldest first. */
	uint64_t against, recent, order;
};

/* 64 lines of L1D, by number. */
struct near_entry {
	uint64_t region; /* address / 64 lines, plus 1; 0: none */
	uint64_t loaded; /* which of them were, a bit each */
	uint64_t front;  /* number of the line that was prefetched last */
	int64_t way;     /* 1 ascending, -1 descending, 0: nothing was prefetched */
};

struct arrival {
	uint64_t line; /* address | 1 */
	uint64_t ready;
	uint32_t sender;
};

struct prefetch {
	struct stride_entry strides[PREFETCH_ENTRIES_MAX];
	struct near_entry near[PREFETCH_ENTRIES_MAX];
	struct stream_entry streams[PREFETCH_ENTRIES_MAX];
	struct arrival arrivals[ARRIVALS];
	uint64_t requests; /* to streams */
};

/*
 * For the first TLB of data, if it is fully associative with many entries: which pages are
 * certainly not in it, and which entries were used longest ago. See tlb.c.
 */
#define PAGE_COUNTS   4096
#define OLD_PAGES_MAX 128

struct page_index {
	uint32_t valid;
	uint32_t next, count; /* of `old`: those before next are gone */
	/* Entries in order of their last use when it was made: that time times OLD_PAGES_MAX, plus
	 * the way. */
	uint64_t old[OLD_PAGES_MAX];
	uint8_t pages[PAGE_COUNTS]; /* entries, by the low bits of their page's number */
};

struct core {
	struct cache l1i, l1d, l2, itlb, dtlb, stlb;
	struct cache large_itlb, large_dtlb, large_stlb; /* for pages of 2 MiB alone */
	uint64_t
		fetch_line; /* line of the last fetch, the most recent of its set; NEVER at first */
	uint32_t class_bits; /* of the current instruction */
	unsigned number;
	unsigned thread;  /* that ran here last */
	uint64_t *counts; /* of the thread that ran here last */
	struct clock clock;
	struct retire *clocked;      /* the retirement clock; null: there is none */
	struct retire *retire;       /* the same while it runs, else null */
	struct sampled_core sampled; /* when it runs, if not always */
	struct store_buffer stores;
	struct predictor predictor;
	struct btb btb;
	struct page_slot data_pages[PAGE_SLOTS], fetch_pages[PAGE_SLOTS];
	uint32_t page_bits;
	uint32_t slotted;    /* are line_slots of use? */
	uint32_t usual;      /* is it as hierarchy_usual assumes? */
	uint32_t usual_tlbs; /* is it as translate_usual does? */
	uint32_t imitates;   /* does cachegrind_line serve? */
	/* See fetched.c. */
	uint64_t stamp;             /* of segments whose lines are known to be in L1I */
	uint64_t valid_from;        /* no earlier stamp is of use */
	uint64_t found_from;        /* branches of earlier ones have to be looked for in the BTB */
	uint64_t settled;           /* time up to which uses of lines are noted for their pages */
	uint64_t *changed;          /* of each entry of L1I: stamp from when on it is what it is */
	struct opcache *opcache;    /* null: there is none, or no clock */
	struct model_segment *last; /* the last one that was run, if fetch_line is not its own */
	struct model_segment *fetched; /* those that were run and are not in the counts */
	uint64_t ran[MODEL_STATICS];   /* counts of such, until watch_settle takes them */
	struct line_slot line_slots[LINE_SLOTS];
	uint8_t storable[LINE_SLOTS]; /* of line_slots: a store need not change the line's state */
	/* The `used` of L1D and of the first data TLBs, if they are not larger; page slots name the
	 * last entry if there is no TLB. */
	uint64_t line_used[LINES_NOTED], page_used[PAGES_NOTED];
	/* By entry of that TLB: lines of its page that may have a slot; a bit for each, by the low
	 * bits of its number. */
	uint64_t page_lines[PAGES_NOTED];
	struct page_index page_index;
	uint32_t flush_due; /* of the TLBs: FLUSH_DATA ...; see tlb.c */
	uint32_t refills;   /* walks until the second level is as full as before it was emptied */
	uint32_t near;      /* are entries of the page table in L1D then? */
	uint64_t flushed;   /* misses of L1D when it was emptied */
	struct prefetch prefetch;
};

/* The line must be looked at again. */
static inline void slot_drop(struct core *core, uint64_t address)
{
	core->line_slots[(address >> core->l1d.bits) % LINE_SLOTS].above = NO_LINE;
}

/* So must all lines in these bytes. */
typedef uint64_t __attribute__((may_alias)) slot_word;

static inline void slots_drop(struct core *core, uint64_t address, uint64_t bytes)
{
	slot_word *slots = (slot_word *)core->line_slots;
	uint64_t at = address >> core->l1d.bits, count = bytes >> core->l1d.bits;

	if (count >= LINE_SLOTS)
		count = LINE_SLOTS;
	/* A page, mostly.  A slot is a word: so the host does some at a time. */
	if (at % LINE_SLOTS + count <= LINE_SLOTS) {
		slots += at % LINE_SLOTS;
		for (uint64_t i = 0; i < count; i++)
			slots[i] = NO_LINE;
		return;
	}
	for (uint64_t i = 0; i < count; i++)
		slots[(at + i) % LINE_SLOTS] = NO_LINE;
}

/* The directory's entry of one unit of coherence; see coherence.c. */
struct directory_entry {
	uint64_t unit;    /* address | DIRECTORY_VALID | DIRECTORY_OWNED */
	uint64_t holders; /* a bit for each core */
};

/* Where the code of segments is written; see jit.h. */
struct jit_context;
struct jit {
	uint8_t *begin, *at, *end;
	/* What is rarely run, apart from the rest: a host keeps little code in its caches. */
	uint8_t *rare, *rare_end;
	const uint8_t *out;                         /* leaves the code */
	const uint8_t *again;                       /* the next segment has an older stamp */
	void (*enter)(struct jit_context *context); /* runs records from context->at on */
	/* Of batch.h instead: the same, and the code of segments that have none of their own. */
	void (*run)(const uint64_t *at);
	const uint8_t *plain;
	uint32_t epoch; /* of the code that is valid */
};

/* Memory that is mapped with pages of 2 MiB, in those: begin..end. */
#define LARGE_RANGES 4096

struct large_range {
	uint64_t begin, end;
};

struct model {
	struct core *core; /* the current one */
	uint64_t *counts;  /* of the current thread */
	struct core *cores;
	struct cache ll;
	struct packed packed; /* the sets of ll, where that is possible */
	struct lasting lasting;
	struct directory_entry *directory; /* null with one core */
	uint64_t *had;      /* for the retirement clock, else null: lines that came from memory */
	uint64_t active;    /* cores that have run something */
	uint64_t unit;      /* bytes whose ownership moves together, minus one */
	uint64_t data_line; /* bytes, less one */
	uint64_t fetch_line;
	uint64_t page;
	uint32_t least_line; /* cachegrind's limit on the size of an access */
	uint32_t cachegrind;
	uint32_t stored; /* state of a line in L1D that a store need not change */
	/* Latencies in slots. */
	uint64_t line_interval[SUPPLIERS], taken_interval;
	uint64_t window, memory, intervention, second_tlb, walk, mispredict, divide, fp_divide,
		forward, alias, lock;
	/* sender_of the line of the last clock_line. */
	uint32_t sender;
	uint64_t tick;      /* uses of caches so far */
	uint64_t stamp;     /* the last one of any core; see fetched.c */
	uint64_t counted;   /* segments with this stamp, or a later one, are in core->fetched */
	struct core *ran;   /* the core that ran records last */
	uint64_t op_epochs; /* of all cores so far; see opcache.h */
	uint64_t repeating; /* see model_repeating */
	uint32_t page_bits;
	uint32_t stream_page_bits; /* of l2_stream: page_bits, or less */
	uint32_t stream_reach;     /* lines before one in which its stream begins: at most 64 */
	uint64_t stream_page;      /* size - 1 */
	struct large_range *large; /* ascending; see tlb.c */
	uint32_t large_count;
	uint8_t *seen; /* pages that were accessed, a bit each; null: nothing depends on it; see
			  tlb.c */
	uint32_t prefetching;               /* is there any prefetcher? */
	uint32_t parts;                     /* those that the loops run now: see model_parts_run */
	uint32_t parts_away, parts_clocked; /* outside windows of the sampled clock, and inside */
	struct sampled_clock *sampled;      /* null: the clock runs always, or never */
	uint32_t timed;                     /* is there a clock? */
	uint32_t addresses;                 /* see model_needs_addresses */
	uint64_t at;                        /* the instruction's address, where insn is not known */
	uint32_t accessed_size;
	uint64_t accessed;         /* address of the last data access that went here the long way */
	struct model_insn *insn;   /* the instruction being executed, if the caller passes it; else
				      null */
	struct model_watch *watch; /* the watch of single events, or null */
	struct model_clock_sums *clock_sums; /* where cycles by cause go, or null */
	struct jit jit;                      /* all zero: segments have no code */
	struct model_config config;
	struct batch batch;
};

/* Events of the slow paths only: n of them, by the current instruction of the current thread.
 */
void watch_count(struct model *m, unsigned event, uint64_t n);
static inline void count(struct model *m, unsigned event, uint64_t n)
{
	m->counts[event] += n;
	if (UNLIKELY(m->watch != 0))
		watch_count(m, event, n);
}
/* An event of a core, which need not be the current one. */
static inline void count_at(struct model *m, struct core *core, unsigned event, uint64_t n)
{
	if (core == m->core)
		count(m, event, n);
	else
		core->counts[event] += n;
}

/* For the retirement clock: why the current instruction is late.  latency in slots. */
static inline void note(struct model *m, struct core *core, enum retire_what what,
	enum model_cause cause, uint64_t latency, uint64_t address)
{
	if (UNLIKELY(core->retire != 0))
		retire_note(core->retire, m->insn, what, cause,
			(uint32_t)(latency / m->config.width), address);
}

/* model_memory.c: m's pointers, into its model_size() bytes. */
void model_lay_out(struct model *m, const struct model_config *config);
/* The flavour of cachegrind has one set of caches for all threads. */
unsigned model_core_count(const struct model_config *config);

/* parts.c: without the parts that are not needed. */
struct model_config model_needed(const struct model_config *config);
/* Does the retirement clock count, always or in windows? */
static inline int model_clock_retires(const struct model_config *config)
{
	return config->clock != MODEL_CLOCK_FIRST_ORDER && config->parts & MODEL_PART_CLOCK;
}

/* model.c: fills in the rows that follow from others. */
void model_derive(const struct model *m, uint64_t *counts);

/* clock.c: see there.  latency in slots. */
static inline uint64_t clock_now(const struct clock *c)
{
	return c->order + c->front + c->back;
}
/* One number: the cause of a line's latency, and the sender whose turn it takes. */
static inline uint32_t sender_of(enum model_cause cause, enum retire_turn turn)
{
	return (uint32_t)cause | (uint32_t)turn << 8;
}
static inline enum model_cause sender_cause(uint32_t sender)
{
	return (enum model_cause)(sender & 255);
}
static inline enum retire_turn sender_turn(uint32_t sender)
{
	return (enum retire_turn)(sender >> 8);
}
/* A line arrives after latency slots if its supplier is free; returns the latency with the wait. */
static inline uint64_t clock_line(
	struct model *m, struct core *core, enum line_supplier supplier, uint64_t latency)
{
	struct clock *c = &core->clock;
	uint64_t now = clock_now(c), begin;

	m->sender = sender_of((enum model_cause)((unsigned)MODEL_CAUSE_L2 + supplier),
		supplier == LINE_FROM_HOLDER ? RETIRE_TURN_LL : (enum retire_turn)supplier);
	if (core->retire) /* keeps account of lines itself */
		return latency;
	if (supplier == LINE_FROM_HOLDER)
		supplier = LINE_FROM_LL;
	begin = c->line_free[supplier];
	if (begin < now)
		begin = now;
	c->line_free[supplier] = begin + m->line_interval[supplier];
	return begin - now + latency;
}
void clock_wait(struct clock *c);
/* Fetch continues after at most one taken branch in taken_interval cycles. */
static inline void clock_taken(struct model *m, struct clock *c)
{
	uint64_t now = clock_now(c);

	if (now < c->taken_free) {
		c->front += c->taken_free - now;
		now = c->taken_free;
	}
	c->taken_free = now + m->taken_interval;
}
void clock_load(struct model *m, struct core *core, uint64_t latency);
void clock_store(struct model *m, struct core *core, uint64_t latency);
void clock_store_full(struct clock *c);
void clock_divide(struct model *m, struct core *core, uint64_t busy);
void clock_drain(struct model *m, struct core *core);
void clock_flush(struct model *m, struct core *core);
/* Of the retirement clock alone. */
void clock_flush_retired(struct model *m, struct core *core);

/* hierarchy.c. The purpose of an access. */
enum purpose { FETCH, LOAD, STORE, PREFETCH, AHEAD, FETCH_AHEAD };
static inline int is_demand(enum purpose p)
{
	return p < PREFETCH;
}
static inline int is_code(enum purpose p)
{
	return p == FETCH || p == FETCH_AHEAD;
}
/* One access within one first-level line; the latency beyond the first level, in slots. */
uint64_t hierarchy_data(struct model *m, struct core *core, uint64_t address, enum purpose purpose);
uint64_t hierarchy_fetch(struct model *m, struct core *core, uint64_t address);
/*
 * The same as hierarchy_data for loads, stores and prefetches, faster, on the machines of today:
 * lines of 64 bytes, powers of two of sets, L1D is LRU and slotted, L2 not exclusive.  *entry
 * becomes where L1D has the line then.
 */
uint64_t hierarchy_usual(
	struct model *m, struct core *core, uint64_t line, enum purpose purpose, uint64_t **entry);
int hierarchy_is_usual(const struct model *m, const struct core *core);
/* Translations of one page; the latency beyond a hit, in slots. */
uint64_t tlb_translate_data(struct model *m, struct core *core, uint64_t address);
uint64_t tlb_translate_fetch(struct model *m, struct core *core, uint64_t address);
int tlb_is_usual(const struct model *m, const struct core *core);
/* Empties the TLBs of data, and the second level; those of instructions; because of a page fault.
 */
enum { FLUSH_DATA = 1, FLUSH_FETCH = 2, FLUSH_FAULT = 4 };
void tlb_flush(struct model *m, struct core *core, uint32_t what);
/* To be called before records are run. */
static inline void tlb_flush_due(struct model *m, struct core *core)
{
	if (UNLIKELY(core->flush_due))
		tlb_flush(m, core, core->flush_due);
}
/* Drops these bytes from all private caches of the core; returns whether a line was modified. */
int hierarchy_recall(struct model *m, struct core *core, uint64_t address, uint64_t bytes);
/* L1I loses these bytes. */
void hierarchy_forget_code(struct model *m, struct core *core, uint64_t address, uint64_t bytes);

/* coherence.c. */
enum supplier { FROM_OUTSIDE, FROM_OUTSIDE_SHARED, FROM_MODIFIED };
enum supplier coherence_fetch(
	struct model *m, struct core *core, uint64_t address, enum purpose purpose);
void coherence_upgrade(struct model *m, struct core *core, uint64_t address);
/* Prefetches what is known of the unit on the host. */
void coherence_come_near(struct model *m, uint64_t address);
void coherence_gone(struct model *m, struct core *core, uint64_t address);
/* No core has these bytes now. */
void coherence_forget(struct model *m, uint64_t address, uint64_t bytes);

/* outside.c.  Gets a line: the latency. */
uint64_t outside_fetch(struct model *m, struct core *core, uint64_t address, enum purpose purpose,
	enum supplier supplier);
/* A line arrives from the private caches of the core. */
void outside_write_back(struct model *m, struct core *core, uint64_t address, int dirty);
/* Prefetches the line's set on the host, where it is seldom in a cache. */
void outside_come_near(const struct model *m, uint64_t address, int replaces);

/* model.c: fetches from a line, unless it is that of the last fetch. */
void model_fetch_line(struct model *m, struct core *core, uint64_t line);
/* Accesses that the fast paths do not handle; the instruction is already set. */
void model_load_slowly(struct model *m, struct core *core, uint64_t address, unsigned size);
void model_store_slowly(struct model *m, struct core *core, uint64_t address, unsigned size);
/* The slot of a page. */
static inline struct page_slot *page_slot(struct page_slot *slots, uint64_t page)
{
	return &slots[page % PAGE_SLOTS];
}
/* An instruction of classes beyond MODEL_FP and MODEL_VECTOR; counts those and their cost. */
void model_classify_special(struct model *m, struct core *core, unsigned class_bits);
/* Prefetches of a line, unless the level has it. For L1D: was the line not in L2? */
void hierarchy_ahead_l1i(struct model *m, struct core *core, uint64_t line);
int hierarchy_ahead_l1d(struct model *m, struct core *core, uint64_t line);
void hierarchy_ahead_l2(struct model *m, struct core *core, uint64_t line);

/* prefetch.c: what prefetchers do after a miss of L1D or L1I, after the first use of a line that
 * was prefetched, and after a request to L2, with whether that missed. */
void prefetch_data(struct model *m, struct core *core, uint64_t line, enum purpose purpose);
void prefetch_code(struct model *m, struct core *core, uint64_t line);
void prefetch_behind_l1(struct model *m, struct core *core, uint64_t address, int missed);
/* A prefetched line was requested and takes latency slots; returns the rest of them. */
void prefetch_init(struct model *m);
void prefetch_sent(struct model *m, struct core *core, uint64_t line, uint64_t latency);
uint64_t prefetch_rest(struct model *m, struct core *core, uint64_t line);
/* The address of the instruction that is executed; 0: unknown. */
static inline uint64_t model_at(const struct model *m)
{
	return m->insn ? m->insn->address : m->at;
}

/* cachegrind.c. */
/* The last level is asked for a line that the first does not have: was it not there? */
int cachegrind_misses_last(struct model *m, struct core *core, uint64_t address, unsigned size);
uint64_t cachegrind_data(struct model *m, struct core *core, uint64_t address, unsigned size);
uint64_t cachegrind_fetch(struct model *m, struct core *core, uint64_t address, unsigned size);
/* The same as cachegrind_data for one line, where there is no clock, if cachegrind_is_usual.
 * Returns where L1D has it: the index of its entry. */
uint64_t cachegrind_line(struct model *m, struct core *core, uint64_t line);
int cachegrind_is_usual(const struct model *m, const struct core *core);

/* forward.c. */
void forward_load(struct model *m, struct core *core, uint64_t address, unsigned size);

/* The youngest store in the buffer that overlaps bits 11..0 of the load. */
static inline struct buffered_store forward_from(const struct model *m, const struct core *core,
	uint64_t address, unsigned size, uint64_t order)
{
	if (LIKELY(!forward_is_near(&core->stores, address, size, order)))
		return (struct buffered_store){0, 0};
	if (LIKELY(address % STORE_GRANULE + size <= STORE_GRANULE))
		return forward_search_granule(
			&core->stores, m->config.store_buffer, address, size, order);
	return forward_search(&core->stores, m->config.store_buffer, address, size, order);
}

/* Does the load overlap such a store, except by getting all of its bytes from it? */
static inline int forward_meets(const struct model *m, const struct core *core, uint64_t address,
	unsigned size, uint64_t order)
{
	struct buffered_store s = forward_from(m, core, address, size, order);

	return UNLIKELY(s.size != 0) && !forward_covers(s, address, size);
}

/* Does the alias with this store take time? */
static inline int forward_delays(const struct model *m, const struct core *core,
	struct buffered_store s, uint64_t address, unsigned size)
{
	s.address %= STORE_BYTES;
	return UNLIKELY(core->retire != 0) && m->alias &&
	       !forward_covers(s, address % STORE_BYTES, size);
}

/* fetched.c: notes the last fetch, and the uses of pages of code, which were put off.  Before
 * anything looks at them. */
void fetched_settle(struct core *core);
/* Before the line of address is used in L1I, which may replace another. */
void fetched_replace(struct model *m, struct core *core, uint64_t address);
/* Before this entry of L1I is emptied. */
void fetched_forget(struct model *m, struct core *core, const uint64_t *entry);
/* After settling: what is known of lines of this page (its number, from 1 on) is no longer true. */
void fetched_lose_page(struct model *m, struct core *core, uint64_t page);
/* The same for all pages. */
void fetched_lose(struct model *m, struct core *core);

/* branch.c. */
size_t branch_predictor_size(const struct model_config *config);
void branch_predictor_init(struct predictor *p, const struct model_config *config, void *memory);

#endif
