/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by the files of the interpreter. */
#ifndef VALUES_PRIVATE_H
#define VALUES_PRIVATE_H

#include "base/table.h"
#include "base/vec.h"
#include "isa/isa.h"
#include "values/values.h"

#define GENERALS 16
#define OPERAND  256 /* bytes: no operand is longer */

/* ---- machine.c: instructions executed here, with the thread's registers ---- */

/* The beginning of the memory that machine code uses; machine.c has its offsets. */
struct machine_state {
	uint64_t general[GENERALS];
	uint64_t flags;
	uint64_t host_stack, target;
	uint32_t mask; /* components of extended state that the instruction uses */
	uint32_t host_mxcsr;
	uint16_t host_control;
	uint8_t avx;
	uint8_t padding[5];
	uint64_t fault; /* it did not execute: a signal */
	uint8_t reserved[256 - 176];
	uint8_t operand[OPERAND] __attribute__((aligned(64)));
	uint8_t extended[VALUES_STATE] __attribute__((aligned(4096)));
};

struct machine {
	struct machine_state *state;
	uint8_t *code;  /* executable; after state */
	uint8_t *write; /* the same memory, writable */
	size_t used, first;
	void (*enter)(void);
	uint64_t back, failed; /* addresses */
	uint32_t supported;    /* components */
	uint32_t high_at;      /* of zmm16 to zmm31, in extended */
	bool handling;
};

int machine_init(struct machine *m, struct error *e);
void machine_fini(struct machine *m);
/* Of a thunk: as it was given, but for the displacement. */
void machine_bytes(const struct machine *m, uint64_t thunk, uint8_t *bytes, size_t length);
/* A copy of an instruction that returns; 0: there is no room, machine_clear makes some. Its memory
 * operand begins `shift` bytes after ours. */
uint64_t machine_add(struct machine *m, const uint8_t *bytes, size_t length, size_t displacement,
	unsigned shift);
void machine_clear(struct machine *m);
bool machine_has_room(const struct machine *m);
/* Executes one; false: it faults. mask: enum isa_state. */
bool machine_run(struct machine *m, uint64_t thunk, unsigned state);
/* The lowest 64 bits of a vector register. */
uint64_t machine_vector(const struct machine *m, unsigned number);

/* ---- snapshot.c: the process's memory as it was, with our changes ---- */

#define PAGE 4096u

struct snapshot_page {
	uint64_t number;
	bool refused;
	bool writable;
	bool changed; /* by the window */
	uint8_t bytes[PAGE];
};

/* Of a hash table: pages are taken from the first on, since these are in caches. */
struct snapshot_slot {
	uint64_t number;
	uint32_t epoch, page;
};

#define SNAPSHOT_SLOTS 1024 /* a power of two */
#define SNAPSHOT_PAGES 384  /* of one window */

struct snapshot_area {
	uint64_t begin, end;
	bool writable;
};

struct snapshot_space { /* table entry: what may be read of a process */
	struct {
		uint64_t pid;
	} key;
	VEC(struct snapshot_area) areas;
	uint64_t looked; /* the window in which all its maps were read last; 0: in none */
};

struct snapshot {
	struct snapshot_page *last, *code; /* of the last data and code; NULL: none */
	struct snapshot_slot slots[SNAPSHOT_SLOTS];
	uint32_t epoch, used;
	int memory;
	pid_t pid;
	struct table spaces;
	int maps;     /* /proc/PID/maps, of this window; 0: not open yet */
	bool unasked; /* the kernel does not answer for one address: the list is read */
	bool full;    /* the last failure: too many pages */
	struct snapshot_page pages[SNAPSHOT_PAGES];
};

void snapshot_init(struct snapshot *s);
void snapshot_fini(struct snapshot *s);
void snapshot_begin(struct snapshot *s, pid_t pid, int memory);
void snapshot_forget(struct snapshot *s, pid_t pid);
bool snapshot_read(struct snapshot *s, uint64_t address, void *to, size_t size);
/* Code from an address on, up to the end of its page; *size: how much. NULL: not readable. */
const uint8_t *snapshot_code(struct snapshot *s, uint64_t address, size_t *size);
/* Writes changed pages. */
void snapshot_apply(const struct snapshot *s, int memory);
bool snapshot_write(struct snapshot *s, uint64_t address, const void *from, size_t size);

/* ---- value_steps.c ---- */

enum step_kind {
	STEP_REFUSED,
	STEP_CALLS_KERNEL,
	STEP_EXECUTE,
	STEP_NOTHING,
	STEP_ADDRESS, /* lea */
	STEP_CONDITION,
	STEP_COUNT, /* loopne, loope, loop, jrcxz: condition 0 to 3 */
	STEP_JUMP,
	STEP_CALL,
	STEP_RETURN,
	STEP_PUSH,
	STEP_POP,
	STEP_LEAVE,
	STEP_STRING,
	STEP_BIT, /* bt, bts, btr, btc of memory with a register */
};

enum step_operand { OPERAND_AT_REGISTER, OPERAND_AT_MEMORY, OPERAND_IS_CONSTANT, OPERAND_IS_FLAGS };

/* What of an execution is kept. */
enum step_sees {
	SEES_RESULT = 1 << 0,
	SEES_LOAD = 1 << 1,
	SEES_STORE = 1 << 2,
	SEES_ADDRESS = 1 << 3,
	SEES_DIVIDE = 1 << 4,
	SEES_MULTIPLY = 1 << 5,
	SEES_SHIFT = 1 << 6,
	SEES_ADD = 1 << 7,
	SEES_FLOAT = 1 << 8, /* operands are floating-point numbers */
};

struct step {
	uint64_t pc, next, target;
	uint64_t thunk;
	int64_t displacement, immediate;
	uint32_t epoch;  /* window of its last execution */
	uint32_t after;  /* the step that came after it last: its number in all, and 1; 0: none */
	uint64_t loaded; /* there */
	uint8_t bytes[INSN_LENGTH_MAX], length;
	uint8_t head;            /* bytes before displacement and immediate; 0: not known */
	uint8_t copy, copied_at; /* of its thunk: bytes, and the place of its displacement */
	uint8_t kind, condition;
	uint8_t operand;         /* enum step_operand: of jumps, calls, push and pop */
	uint8_t reg;             /* the register there; of bit tests, the one with the number */
	uint8_t bits;            /* of STEP_ADDRESS, STEP_STRING and STEP_BIT: of operands */
	uint8_t opcode, repeats; /* of strings: 0, 0xf2 or 0xf3 */
	uint8_t state;
	bool memory, reads, writes, narrow, wide, unknown, swaps;
	bool unaligned;                      /* its memory operand may be anywhere */
	uint8_t base, index, scale, segment; /* registers, REG_NONE */
	uint8_t size;                        /* of the memory operand */
	uint16_t sees;                       /* enum step_sees */
	uint8_t result, result_bits, result_class, high;
	uint8_t source, source_bits, source_high; /* register that it reads besides; REG_NONE */
	uint8_t other;                            /* of three operands, another */
	uint8_t element;                          /* bytes of a floating-point element */
	uint8_t latency;                          /* in cycles, without that of a load */
	uint16_t uses, sets;                      /* general registers, as bits */
	uint32_t vector_uses, vector_sets;
};

#define STEPS_ALIKE  4096 /* a power of two */
#define STEPS_MOST   (1u << 17)
#define STEPS_PLACES (2 * STEPS_MOST) /* at most half of them are used */

struct steps {
	uint32_t alike[STEPS_ALIKE]; /* by the bytes of its head: a number, and 1; 0: none */
	uint32_t last;               /* found last, the same */
	uint32_t count;
	uint32_t places[STEPS_PLACES]; /* by pc, the same */
	struct step all[STEPS_MOST];
};

/* The step at an address, decoded if need be; NULL: memory is out or cannot be read. Borrowed until
 * the next call. */
struct step *value_steps_find(struct values *v, uint64_t pc);
/* Whether the step can have its memory operand there: some want it aligned, as ours always is. */
bool value_steps_fits(struct values *v, struct step *s, uint64_t address);

/* ---- access.c: what accesses to memory have to do with earlier ones ---- */

#define ACCESSES       1024 /* stores that are remembered; a power of two, as the next two are */
#define ACCESS_NODES   4096
#define ACCESS_BUCKETS 512 /* words of a page: aliases are in one bucket */

struct access {
	uint64_t address, pc;
	size_t seen;     /* its number among the values seen; SIZE_MAX: it was left out */
	unsigned number; /* of the instruction in the window */
	uint8_t size;    /* 0: all of it was overwritten */
	bool used;       /* a store: bytes of it were read */
};

/* Stores of a bucket, the youngest first: one node for each word of a store. */
struct access_node {
	uint32_t store, before; /* their numbers, the node's from 1 on; 0: none */
};

struct accesses {
	uint32_t epoch;
	struct access stores[ACCESSES];
	uint32_t stored, noded;
	struct access_node nodes[ACCESS_NODES];
	struct {
		uint32_t epoch, node;
	} buckets[ACCESS_BUCKETS];
	struct { /* by address and size */
		uint64_t address, value;
		uint32_t epoch;
		uint8_t size;
	} loads[2 * ACCESSES];
};

void access_begin(struct accesses *a);

/* ---- value_seen.c: what is kept of an execution ---- */

struct execution {
	const struct step *step;
	uint64_t address;          /* of its memory operand */
	uint64_t read, written;    /* the operand before and after, its lowest 64 bits */
	bool silent;               /* written, and all of it unchanged */
	uint64_t before[GENERALS]; /* registers */
	bool taken;
	uint64_t to; /* a branch's target */
};

/* Arguments and results of functions whose first use is not seen yet. */
struct passed {
	uint64_t pc;
	uint64_t general[GENERALS], vector[8];
	uint16_t pending, vector_pending;
};

/* ---- value_clock.c: how long they take ---- */

#define VALUE_CLOCK_CYCLE  48u
#define VALUE_CLOCK_TABLE  16384u /* entries of predictors */
#define VALUE_CLOCK_WINDOW 256u   /* instructions in flight */
#define VALUE_CLOCK_MEMORY 256u   /* a power of two */

struct value_clock {
	uint64_t fetch, retired; /* times, VALUE_CLOCK_CYCLE a cycle */
	/* When registers and words of memory are ready. */
	uint64_t general[GENERALS], vector[32], flags, memory[VALUE_CLOCK_MEMORY];
	uint64_t retire[VALUE_CLOCK_WINDOW];
	unsigned number;
	uint32_t history; /* of branches: taken or not, the last one in the lowest bit */
	/* These remain from window to window. */
	uint8_t own[VALUE_CLOCK_TABLE], along[VALUE_CLOCK_TABLE], choice[VALUE_CLOCK_TABLE];
	uint32_t target[VALUE_CLOCK_TABLE];
};

void value_clock_begin(struct value_clock *c);
void value_clock_decode(struct step *s, const struct insn *i);
void value_clock_step(struct value_clock *c, const struct step *s, const struct execution *x);

struct values {
	struct values_config config;
	struct value_clock clock;
	struct machine machine;
	struct accesses accesses;
	struct passed arguments, results;
	struct value_window *window;
	uint64_t pc, fs, gs;
	uint32_t epoch;
	uint64_t chance; /* the state of draws */
	/* What is kept of this window: by the clock if windows are equally long in time, by
	 * instructions otherwise. */
	uint64_t begins, ends;
	unsigned most;           /* instructions, however fast they are */
	bool left_out;           /* the instruction is before that */
	unsigned number;         /* of the instruction in the window */
	uint8_t before[OPERAND]; /* the memory operand, of floating-point operations */
	/* At the end, as not all of it is used. */
	struct snapshot snapshot;
	struct steps steps;
};

static inline void value_seen_add(struct values *v, uint64_t pc, unsigned kind, unsigned operand,
	unsigned bits, unsigned class, uint64_t value)
{
	struct value_seen *to = v->left_out ? NULL : vec_push(&v->window->seen);

	if (to)
		*to = (struct value_seen){
			pc, value, (uint8_t)kind, (uint8_t)operand, (uint8_t)bits, (uint8_t) class};
}

/* Before and after a step is executed. */
void value_seen_uses(struct values *v, const struct step *s);
void value_seen_execution(struct values *v, struct step *s, const struct execution *x);
/* Bits of enum experiment_value_operation, before it is executed; x->address and v->before are
 * known. */
unsigned value_seen_operation(struct values *v, const struct step *s, const struct execution *x);
/* Bits of enum experiment_value_access. */
void access_see(struct values *v, struct step *s, const struct execution *x);

/* interpret.c: a bit mask of this many bits. */
static inline uint64_t low_bits(unsigned bits)
{
	return bits >= 64 ? UINT64_MAX : (1ull << bits) - 1;
}

/* string.c: one iteration of a string instruction. */
enum value_end string_step(struct values *v, struct step *s, struct execution *x);

#endif
