/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The code cache: copies of a program's code that count, in memory that the tracer maps in the
 * program's address space.
 *
 * During a burst, a thread runs copies of the blocks it comes to, and stops only where there is no
 * copy yet. A copy computes the same as the original. The program never sees the address of a copy
 * in registers, on its stack or in its memory: calls push addresses of originals, and returns look
 * up the copy of their target. Its additional instructions use slots of its arena, change no flag
 * and no register that is live, and write nothing at or below the stack pointer. A thread that
 * stops in a copy, for any reason, is moved to the corresponding place in the original
 * (leave_copies), so signals, faults and system calls happen there.
 *
 * An indirect transfer adds its own number to the target, so one table holds the copy and the
 * counter of each (site, target). Before the table, a site compares its target with the first few
 * that it went to, which takes half as long: so calls of tiny functions take about as long as
 * natively. Counters are plain increments where flags are dead; elsewhere they go through a
 * register that the next instruction overwrites. Of a conditional branch, one side is counted
 * besides the block. A copied branch costs 0.5 to 1 ns more than the original; a burst of 10^5
 * branches is therefore limited by translation, some microseconds per block. A timer ends a burst,
 * because a budget would have to be counted as well.
 *
 * An arena is within reach of the originals of its copies: instructions, then slots of eight bytes
 * (counters, constants, scratch), then a table of the copies that are targets of indirect
 * transfers, one of doors to other targets, and a log of the transfers that used doors (doors.c).
 * Children of fork have none of it (MADV_DONTFORK).
 */
#ifndef BRANCHES_CACHE_H
#define BRANCHES_CACHE_H

#include "branches/private.h"

struct insn; /* isa/isa.h, which conflicts with <signal.h> */
struct insn_flags;

#define ARENA_CODE  (16u << 20)                  /* bytes */
#define ARENA_SLOTS (1u << 20)                   /* of 8 bytes */
#define ARENA_HEADS 8192u                        /* of a table of targets */
#define ARENA_TABLE (ARENA_HEADS * 8)            /* bytes */
#define DOOR_LOG    1024u                        /* entries of 8 bytes */
#define ARENA_DOORS (ARENA_TABLE + DOOR_LOG * 8) /* bytes: their table and log */
#define ARENA_LOG   65536u                       /* bytes: of timed loads, a ring */
#define RINGS       64u                          /* of logged values */
#define ARENA_RINGS ((RINGS + 1) * 65536u)       /* bytes; a ring is aligned to its size */
/* after the code */
#define ARENA_DATA (ARENA_SLOTS * 8 + ARENA_TABLE + ARENA_DOORS + ARENA_LOG + ARENA_RINGS)
#define ARENAS_MAX 16
#define SITES_MAX  65535 /* of indirect transfers */

/* The first slots of an arena; 0 means none. */
enum {
	SLOT_RAX = 1,
	SLOT_RCX,
	SLOT_RDX,
	SLOT_BEFORE, /* of timed loads (timing.c) */
	SLOT_AFTER,
	SLOT_LOG,         /* position */
	SLOT_COUNT,       /* of loads up to the next timed one */
	SLOT_FILES,       /* calls.c: descriptors of plain files, */
	SLOT_CALLS = 64,  /* and the kinds of system calls, a byte each */
	SLOT_RINGS = 160, /* of logged values (value_log.c): positions */
	SLOT_WATCHED = 256,
	SLOTS_KEPT = 1024,        /* children of fork have those before; */
	SLOT_TARGET = SLOTS_KEPT, /* of the last indirect transfer, with its site's key; */
	SLOT_TO,                  /* without it */
	SLOT_LEFT,                /* entries that are free in the log of doors */
	SLOTS_FIRST
};

/* The first bytes of the code are stubs (anchors.h), which children of fork have, too, with the
 * first slots. */
#define ARENA_STUBS 16384u
#define ARENA_KEPT  (SLOTS_KEPT * (uint64_t)8) /* bytes of the data */

/* How the original's registers follow from those at an instruction of a copy. */
enum {
	UNDO_RAX = 1, /* its value is in its slot */
	UNDO_RCX = 2,
	UNDO_RDX = 4,
	FORWARD = 8,  /* the transfer is done: SLOT_TARGET is its target */
	COUNTED = 16, /* the block is counted, the transfer at its end is not yet done */
	CALLED = 32   /* a system call is done, and has left its return address in rcx */
};

/* The place of an instruction of a copy, and its original. */
struct place {
	uint32_t at; /* in the arena's code */
	uint32_t copy;
	uint64_t address; /* of the next original instruction */
	uint8_t undo;
	uint32_t turn; /* in an unrolled loop: its block in cache's turns, + 1 */
};

struct patch {
	uint32_t at;
	uint8_t size;
};

/* A word of the tables of an arena. */
struct head {
	uint64_t at, value; /* its address */
};

struct arena {
	uint64_t code, data, table, log, rings; /* addresses */
	uint8_t *mirror;                        /* of the code */
	uint8_t *own; /* the data after ARENA_KEPT, which both processes map; NULL: they do not */
	uint32_t used, sent; /* bytes of it: here; in the process */
	uint32_t slots, slots_sent;
	uint64_t *values;         /* of slots: the values read last */
	VEC(struct place) places; /* ascending */
	VEC(struct patch) patches;
	VEC(struct head) heads;   /* to be sent */
	struct table chains;      /* of the table of targets */
	struct table door_chains; /* struct chain, likewise: the last door */
	uint32_t miss;            /* in the code: where transfers without a pair go */
	uint32_t stop;            /* the exit for those without a door */
	uint64_t files;           /* as sent (calls.c) */
	bool calls;
	uint64_t wrapped; /* rings (value_log.c) with a last entry that is not empty */
};

/* Table entry: a copied block. */
struct copy {
	struct {
		uint64_t address; /* of its first instruction */
		uint64_t begin;   /* of the run that contains it; 0: unknown */
	} key;
	uint64_t end;         /* address of the transfer after it */
	uint64_t taken, next; /* its target */
	uint32_t at;          /* in the arena's code */
	uint8_t arena;
	uint8_t kind; /* enum transfer_kind; TRANSFER_NONE: the block ends otherwise */
	bool side_taken;
	uint8_t head_by, side_by;     /* how they are counted (emit_count) */
	uint32_t head, side;          /* slots: executions, and exits to one side; 0: none */
	uint32_t run_taken, run_next; /* rows of runs, + 1; 0: not yet known */
	bool looped;                  /* it was looked at for an unrolled loop */
	uint64_t now, now_side;       /* executions in the last burst, and exits to its side */
};

/* A block of an unrolled loop (unroll.c). */
struct turn {
	uint32_t copy; /* the copy outside of the loop */
	uint32_t side; /* slot: how often the loop is left there; 0: never */
	uint64_t to;   /* where the loop goes on */
	uint8_t by;    /* how the side is counted */
};

struct loop {
	uint32_t again;        /* slot: how often its first turn follows its last one */
	uint8_t by;            /* how that is counted */
	uint32_t first, count; /* in turns */
};

enum exit_kind {
	EXIT_GO,   /* to a block without a copy */
	EXIT_STEP, /* before an instruction that cannot be copied */
	EXIT_MISS, /* an indirect transfer to an unexpected target */
};

/* Table entry: an int3 of ours. */
struct exit {
	struct {
		uint64_t place; /* its address */
	} key;
	uint8_t kind, arena;
	uint64_t address, begin; /* of the original: the next instruction, as in struct copy */
	uint32_t jump;           /* of the displacement of a branch to it, in the code; 0: none */
	uint32_t next;           /* next exit with the same target, + 1 */
};

/* Table entry: exits that wait for a copy. */
struct waiting {
	struct {
		uint64_t address, begin;
	} key;
	uint32_t first; /* in exits, + 1 */
};

/* An indirect transfer; its key and a target make one number. */
struct site_key {
	uint64_t key;
	uint32_t copy;
	uint16_t drop;  /* as in struct transfer */
	uint8_t near;   /* targets that it compares with by itself; */
	uint64_t last;  /* the last of them */
	uint32_t at;    /* in its arena's code: where it has its target; */
	uint32_t leads; /* the displacement to where the next target is compared with */
};

/* Table entry: one target of an indirect transfer. */
struct pair {
	struct {
		uint64_t sum; /* site's key + target */
	} key;
	uint64_t to;
	uint32_t copy; /* its site */
	uint32_t at;   /* in the code of that copy's arena */
	uint32_t miss; /* there: the displacement to the check of the next pair */
	uint32_t counter;
	uint32_t run; /* + 1 */
	bool near;    /* its site compares with it by itself */
};

/* Table entry by a hash of a sum: the last pair in the chain of checks. */
struct chain {
	struct {
		uint32_t hash, zero;
	} key;
	uint32_t last;
};

/* Table entry: the way of an arena's code to the copy of a target. */
struct door {
	struct {
		uint64_t to;
		uint32_t arena, zero;
	} key;
	uint32_t next; /* in that arena's code: the displacement to the next door */
};

/* Table entry: a run in bursts. */
struct met {
	struct {
		uint64_t begin, end, to;
	} key;
	uint32_t id;
	uint64_t now;           /* executions in this burst */
	uint64_t count, bursts; /* not yet recorded */
	double rate, squares;
};

/* Table entry: whether flags are written before they are read from this address on. */
struct flags_at {
	struct {
		uint64_t address;
	} key;
	bool dead;
};

/* A load with a timed copy. */
struct timed_load {
	uint64_t address;
	uint8_t form; /* of struct branch_record, with what follows */
	uint8_t bytes[16], length, size, result, result_bits;
};

/* What copies log (value_log.c); as in struct branch_value_place. */
struct logged_place {
	uint64_t pc;
	uint8_t kind, operand, bits, class;
	uint8_t shift; /* of the register */
};

struct log_entry {
	uint64_t value;
	uint32_t number, reserved; /* in logged, + 1; of a ring's last entry: 0 before the burst */
};

/* What a ring has: entries up to its end, older ones, and then from its beginning. */
struct log_ring {
	uint64_t at;
	uint32_t old, count;
};

#define CODE_PAGE 4096u

/* Table entry: a page of the program's code, without our breakpoints. */
struct code_page {
	struct {
		uint64_t number;
	} key;
	uint32_t have; /* bytes of it */
	uint8_t bytes[CODE_PAGE];
};

struct cache {
	struct branches *b;
	struct followed *process;
	pid_t pid;
	bool refused;
	uint64_t call; /* address of a system call instruction */
	struct arena arenas[ARENAS_MAX];
	unsigned arena_count;
	bool full;
	struct table copies, exits, waiting, pairs, doors, met, flags, pages;
	VEC(uint64_t) page_numbers;
	bool pages_sorted;
	int pagemap;             /* of /proc/PID/pagemap; -1 */
	struct anchors *anchors; /* NULL: none yet */
	bool locked;             /* its stubs count for several threads */
	struct native *native;
	VEC(struct site_key) sites;
	VEC(uint32_t) touched;           /* in met: of this burst */
	double sure_ns, sure_bytes;      /* of code in bursts, as far as their time is known well */
	double work;                     /* cost of counting in this burst, in plain increments; */
	double plain;                    /* of it, without that of indirect transfers */
	unsigned interrupts;             /* stops in this burst that we have caused */
	uint64_t setup_ns, setup_stops;  /* CPU time and stops of its thread to make arenas */
	struct translation *translation; /* of copy.c, kept: clearing its memory takes long */
	bool logs;                       /* values */
	bool callers;                    /* were copied ahead in this burst */
	VEC(struct timed_load) loads;
	VEC(struct logged_place) logged;
	VEC(struct log_ring) rings; /* of this burst */
	VEC(uint32_t) goes;         /* of this burst: time stamps at which it went on */
	VEC(struct loop) loops;
	VEC(struct turn) turns;   /* of loops */
	uint32_t unfinished;      /* copy, + 1, that was counted and left before its end; */
	uint32_t unfinished_turn; /* or turn, + 1 */
	uint64_t files; /* descriptors below 64 that are plain files, seen in this burst */
};

/* cache.c */
/* NULL: this process cannot have one. */
struct cache *cache_of(struct held *f);
/* The one that logs values. */
struct cache *cache_logging(struct held *f);

/* arena.c */
/* The arena for code at this address; NULL: none. */
struct arena *arena_for(struct cache *c, struct held *f, uint64_t address);
/* The index of the arena that has this address of a copy; -1. */
int arena_at(const struct cache *c, uint64_t address);
/* Whether there is room for another block. */
bool arena_room(const struct arena *a);
/* A new slot with this value; 0: full. */
uint32_t arena_slot(struct arena *a, uint64_t value);
/* Resets everything. */
void arena_reset(struct arena *a);
void arena_fini(struct arena *a);
/* Sets a word of a table of targets when the arena is sent. -1: memory is out. */
int arena_head(struct arena *a, uint64_t at, uint64_t value);
/* Writes the new parts to the process. -1: failed. */
int arena_send(struct arena *a, const struct followed *p);
/* Of its data: as process_read and process_write. */
bool arena_read(const struct cache *c, const struct arena *a, uint64_t from, void *to, size_t size);
bool arena_write(
	const struct cache *c, const struct arena *a, uint64_t to, const void *from, size_t size);
static inline uint64_t arena_slot_address(const struct arena *a, uint32_t slot)
{
	return a->data + slot * (uint64_t)8;
}

/* fresh.c */
/* Whether the originals are unchanged. */
bool fresh_originals(struct cache *c);
/* Whether the thread may be in a critical section of rseq. */
bool fresh_critical(const struct held *f);

/* inject.c: lets the held thread do a system call for us. Its result, negative: an error. */
long inject_call(struct cache *c, struct held *f, long number, const uint64_t arguments[6]);

/* copy.c: translates the block at this address, and likely successors. NULL: not possible. */
struct copy *copy_get(struct cache *c, struct held *f, uint64_t address, uint64_t begin);
/* The site that is part of a sum, which the program may have changed; NULL: none. */
struct site_key *copy_site(const struct cache *c, uint64_t sum);
/* A transfer of the site that is part of a sum, to this target, without a counter. */
void copy_meet(struct cache *c, uint64_t sum, uint64_t to);
/* To be called when an indirect transfer of site went to a copy. */
int copy_pair(struct cache *c, uint64_t sum, uint64_t to, const struct copy *copy);

/* Whether its addresses have 32 bits. */
bool copy_has_narrow_address(const uint8_t *bytes);
/* Original bytes: each page is read only once. Returns how many there are. */
size_t copy_read(struct cache *c, uint64_t address, uint8_t *bytes, size_t size);
/* The length of an instruction that a single step can carry out in the original; 0: not possible.
 * *enters: whether it is a system call. */
size_t copy_single(const struct cache *c, uint64_t address, bool *enters);

/* emit.c: bytes of copies. */
struct out {
	struct cache *cache;
	struct arena *arena;
	unsigned arena_index;
	uint32_t copy;
	uint64_t address; /* of the next original instruction */
	uint8_t undo;
	uint32_t turn;
};

void emit(struct out *o, const void *bytes, size_t size);
/* Three bytes of an instruction, and the displacement to a slot. */
void emit_slot(struct out *o, const char *bytes, uint32_t slot);
void emit_wide(struct out *o, const char *bytes, uint64_t immediate);
/* A copied instruction. */
void emit_copy(struct out *o, const uint8_t *bytes, const struct insn *insn);
/* A counter is incremented by one instruction where flags are dead; else through the register of
 * this number, which is dead, or by a detour over rax. */
enum { BY_RAX, BY_RCX, BY_FLAGS = 16, BY_DETOUR };
void emit_count(struct out *o, uint32_t slot, int by);
double cache_count_cost(int by); /* in plain increments */
/* An opcode, and the displacement to an address near the code, or a number. */
void emit_address(struct out *o, const char *bytes, uint64_t to);
void emit_word(struct out *o, const char *bytes, uint32_t word);
/* opcode (1 or 2 bytes) and a displacement to place `to` in the code; returns the displacement's
 * place. */
uint32_t emit_jump(struct out *o, const char *opcode, uint32_t to);
void emit_patch(struct arena *a, uint32_t at, uint32_t to);
/* An instruction of JUMP_BYTES or more becomes a jump to place `to`. */
#define JUMP_BYTES 5u
void emit_redirect(struct arena *a, uint32_t at, uint32_t to);
/* An int3 with room for a jump. */
int emit_exit(struct out *o, enum exit_kind kind, uint64_t address, uint64_t begin, uint32_t jump);
/* The site of an indirect transfer. */
int emit_indirect(
	struct out *o, const struct transfer *t, const uint8_t *bytes, const struct insn *insn);
/* Opcodes with the displacement to a slot that follows. */
#define MOV_TO_RAX   "\x48\x8b\x05"
#define MOV_FROM_RAX "\x48\x89\x05"
#define MOV_TO_RCX   "\x48\x8b\x0d"
#define MOV_FROM_RCX "\x48\x89\x0d"
#define MOV_TO_RDX   "\x48\x8b\x15"
#define MOV_FROM_RDX "\x48\x89\x15"
#define WIDE_RDX     "\x48\xba"
/* Goes where the entry by rcx, modulo ARENA_HEADS, of a table leads; on, if that is 0. */
void emit_look_up(struct out *o, uint64_t table);
/* Registers as they were before the transfer, and the jump to a copy. */
void emit_go(struct out *o, uint64_t address, const struct copy *to);
/* Code that checks for a pair. */
void emit_pair(struct out *o, struct pair *p, uint64_t key, const struct copy *to);
/* Code that checks for it before tables are looked up. */
void emit_near(struct out *o, struct pair *p, struct site_key *site, const struct copy *from,
	const struct copy *to);

/* ahead.c: places that execution probably comes to. */
#define AHEAD_MAX 256

struct ahead {
	uint64_t address;
	bool door; /* an indirect transfer goes there */
};

struct ahead_list {
	struct ahead list[AHEAD_MAX];
	unsigned count, taken;
};

/* Nothing, if the list is full. */
void ahead_add(struct ahead_list *l, uint64_t address, bool door);
/* The target of a jump or call by a word of memory at a constant address, as to functions of other
 * images: what is there now will probably be there when it is executed. */
void ahead_add_target(struct ahead_list *l, const struct cache *c, const struct transfer *x);
/* Callers that are on the stack of the thread. */
void ahead_add_callers(struct ahead_list *l, struct cache *c, const struct held *f);

/* doors.c: see there. */
/* The code that looks for doors, once in an arena. */
void doors_emit_way(struct out *o);
/* Makes doors to the copy of this address, if there is one, for the code of all arenas. */
void doors_add(struct cache *c, uint64_t to);
/* The code of doors is about to go. */
void doors_clear(struct cache *c, const struct arena *a);
/* Counts the transfers in the logs, and empties these. */
void doors_read(struct cache *c);

/* Costs of the methods to count, in plain increments: through a register, by a detour, of an
 * indirect transfer, of one that its site compares with by itself. */
#define COUNT_THROUGH  1.5
#define COUNT_DETOUR   2.5
#define COUNT_INDIRECT 5.0
#define COUNT_NEAR     2.0

/* flags.c */
#define FLAGS_ALL 0x3f
/* Flags that an instruction reads, and flags that it always writes. */
struct insn_flags flags_of(const uint8_t *bytes, const struct insn *insn);

/* calls.c */
#define CALL_BYTES "\x0f\x05"
#define CALL_SIZE  2
/* A copy of the system call instruction at an address, where flags are dead after it. It exits
 * to the original (begin: of the run) where the call is not to be done in copies. -1: memory is
 * out. */
int calls_emit(struct out *o, uint64_t address, uint64_t begin);
/* Lets the copies of an arena do calls, or none. -1: failed. */
int calls_send(struct cache *c, struct arena *a, bool allowed);
/* The original has done a call. */
void calls_done(struct cache *c, uint64_t number, uint64_t descriptor);

/* unroll.c: unrolls loops that the last burst, of this length in ns, has spent its time in. Returns
 * how many. */
unsigned unroll_loops(struct cache *c, struct held *f, double ns);
/* Adds what loops have counted; values: of the slots of each arena. */
void unroll_count(struct cache *c, uint64_t *const *values);

/* leave.c: the registers as if the original had run. -1: not within copies. */
int leave_copies(struct cache *c, struct user_regs_struct *r, struct place *at);

/* timing.c: whether a load is to be timed; its copies, in place of emit_copy. */
bool timing_wants(const struct cache *c, const struct insn *insn);
void timing_emit(struct out *o, const uint8_t *bytes, const struct insn *insn);
/* A burst begins; the thread goes on in it; it is over: records its loads, returns how many. */
void timing_begin(struct cache *c);
/* The log of an arena is to be made ready, once. -1: failed. */
int timing_prepare(struct cache *c, const struct arena *a);
void timing_go(struct cache *c);
uint64_t timing_end(struct cache *c);

/* value_log.c: of an instruction, before its copy and after it; of a call, before it. */
void value_log_before(struct out *o, const uint8_t *bytes, const struct insn *i);
void value_log_after(struct out *o, const struct insn *i);
void value_log_call(struct out *o, uint64_t entry);
/* The rings of an arena are empty: when it is made, also in the middle of a burst. */
void value_log_arena(struct cache *c, struct arena *a);
/* A burst begins; it is over: records its values, by a thread that is alive. */
void value_log_begin(struct cache *c);
void value_log_end(struct cache *c, pid_t tid);

/* Adds executions of a run of a block to a row that remembers it. */
void cache_add_run(
	struct cache *c, uint32_t *row, const struct copy *copy, uint64_t to, uint64_t times);
/* Reads the counters of a burst that has ended: returns the number of transfers, adds them to
 * met. */
uint64_t cache_count(struct cache *c);
/* The burst took this native time; 0: unknown. */
void cache_rate(struct cache *c, double seconds);
/* anchors.c */
/* Where a thread that is interrupted in a stub continues; the address itself: it is in none. */
uint64_t anchors_step_out(const struct cache *c, uint64_t address);
/* native.c: what is counted between bursts. */
/* A burst is over; the only thread is held. */
void native_resume(struct cache *c, struct held *f);
/* Notes a burst (not yet taken out of touched) of this length. doubt: the deviation of the
 * logarithm of seconds, alike for all bursts in the same code. */
void native_note(struct cache *c, double seconds, double doubt);
void native_free(struct cache *c);
/* copy.c: the first instruction of the block at an address that has this many bytes or more, and
 * dead flags; bytes[INSN_LENGTH_MAX]: its. false: there is none. */
bool copy_find_long(struct cache *c, struct held *f, uint64_t address, unsigned least,
	struct insn *insn, uint8_t *bytes);
/* flags.c: whether flags are dead at an address. */
bool flags_dead_at(struct cache *c, uint64_t address);
/* How to count right before the instruction there. */
int flags_count_by(struct cache *c, uint64_t address);

/* Adds a run that no counter has counted. */
void cache_met(struct cache *c, uint64_t begin, uint64_t end, uint64_t to, uint64_t times);

/* CPU time that a stop takes from a thread in code that it has just come to, ns. */
static inline double cache_stop_cost(const struct branches *b)
{
	return 2.5 * b->costs.stopped;
}

/* cached.c: follows a thread in copies for a time in ns. Not 0: the thread is no longer held, and
 * c may be freed. */
int cached_follow(struct cache *c, struct held *f, uint64_t length);

#endif
