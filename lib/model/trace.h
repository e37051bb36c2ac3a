/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a program executed, as the Valgrind tool writes it down and the model reads it.
 *
 * A superblock that is executed leaves one record in a buffer of words. Everything about it that is
 * known when it is translated is in descriptors (struct model_block and those it points to), which
 * the record's first word points to; the record has only what is known when it runs:
 *
 *	word 0	the struct model_segment that was begun last, and block->words (model_word)
 *	word 1	the address of the block's first access; 0: a guarded one that did not happen
 *	...	of its second, and so on, in program order: block->access_count words
 *	then	if block->stack: the stack pointer after its last instruction
 *	last	if block->indirect: the target of its last branch
 *
 * A record always has block->words words, also if the block was left early: code beyond the
 * segments up to the one of word 0 was not executed, and its words have no meaning.
 *
 * A segment is the code between two exits of a superblock. Its numbers are sums from the beginning
 * of the block, so that one segment describes a whole record.
 *
 * An address has at most 48 bits.
 *
 * Descriptors belong to the caller and must live as long as a record may name them. They serve one
 * model, which writes only the fields that are marked "the model's".
 */
#ifndef MODEL_TRACE_H
#define MODEL_TRACE_H

#include <stdint.h>

#include "model/model.h"

#define MODEL_NO_BRANCH 0xff
/* In an instruction's class_bits: the model must take its blocks one instruction at a time. */
#define MODEL_STEPPED (1 << 15)

/* Registers in dependences: 0..15 the general ones as encoded, 16 the flags, 17..32 the vector
 * registers, 33 all others but 34..41, those of the x87 stack; from MODEL_RESULT on the results of
 * the block's own instructions, by index. */
enum {
	MODEL_REGISTER_FLAGS = 16,
	MODEL_REGISTER_VECTOR = 17,
	MODEL_REGISTER_OTHER = 33,
	MODEL_REGISTER_X87 = 34,
	MODEL_REGISTERS = 42,
	MODEL_RESULT = 64,
	MODEL_SLOT_SINK = 254, /* as a result: of no use */
	MODEL_SLOT_NONE = 255, /* as a source: needs nothing */
	MODEL_SOURCES_MAX = 4,
	MODEL_RESULTS_MAX = 3,
	/* A block has at most this many instructions. */
	MODEL_BLOCK_INSNS_MAX = 190,
};

struct retire_op;
struct retire_form;

struct model_insn {
	uint64_t address;
	uint16_t class_bits; /* enum model_instruction_class */
	uint8_t length;      /* bytes */
	uint8_t uops, flops;
	uint8_t branch;        /* enum model_branch_kind, or MODEL_NO_BRANCH */
	uint16_t first_access; /* of its accesses, in the block's */
	uint8_t access_count;
	/* For the retirement clock; all MODEL_SLOT_NONE, MODEL_SLOT_SINK and 0 without it. Used
	 * slots come first. */
	uint8_t latency;                   /* enum model_latency */
	uint8_t for_address[2];            /* sources that its accesses' addresses need */
	uint8_t source[MODEL_SOURCES_MAX]; /* registers, or results of this block */
	uint8_t result[MODEL_RESULTS_MAX]; /* registers that leave the block with its result */
	uint8_t traits;                    /* enum model_trait, a bit each */
	uint32_t row;                      /* the model's: where its counts are, 0: nowhere yet */
};

enum model_trait {
	MODEL_TRAIT_SCALED = 1 << 0, /* its memory operand has a scaled index, or three parts */
	MODEL_TRAIT_VECTOR = 1 << 1, /* what it loads or stores is in a vector register */
	/* A conditional branch after what may be one operation with it: enum model_fusion. */
	MODEL_TRAIT_AFTER_COMPARE = 1 << 2,
	MODEL_TRAIT_AFTER_ARITHMETIC = 1 << 3,
	MODEL_TRAIT_COMPARES = 1 << 4, /* it writes flags alone */
	/* Two bits: how much its displacement and immediate take of an entry of the cache of
	 * decoded operations (opcache.h): 1 each, 2 if 64 bits are needed. */
	MODEL_TRAIT_FIELD = 1 << 5,
	MODEL_TRAIT_FIELDS = 3 << 5,
};

struct model_access {
	uint8_t kind; /* enum model_access_kind */
	uint8_t guarded;
	uint16_t size; /* bytes, 1..4096 */
	uint16_t insn; /* index in the block */
	uint8_t way;   /* the model's: how it is run; 0: not known yet */
	uint8_t mask;  /* the model's: bits that its address has only where it spans granules */
};

enum model_access_kind {
	MODEL_ACCESS_LOAD,
	MODEL_ACCESS_STORE,
	MODEL_ACCESS_MODIFY, /* a load and a store of the same bytes */
	MODEL_ACCESS_PREFETCH,
};

/* Where fetch crosses to another line of the first-level instruction cache. */
struct model_fetch {
	uint64_t line;
	uint32_t hint;   /* the model's: index of the line's entry at its last use */
	uint16_t insn;   /* which is the first to be fetched from it */
	uint16_t groups; /* the model's: where they begin in it, a bit for each 16th; opcache.h */
};

/* Events of a record that execution alone determines, in model_segment.statics. */
enum model_static {
	MODEL_STATIC_INSTRUCTIONS,
	MODEL_STATIC_MICRO_OPS,
	MODEL_STATIC_LOADS,
	MODEL_STATIC_STORES,
	MODEL_STATIC_FP,
	MODEL_STATIC_VECTOR,
	MODEL_STATIC_FLOPS,
	MODEL_STATIC_BRANCHES,
	MODEL_STATIC_CONDITIONALS,
	MODEL_STATIC_TAKEN,
	MODEL_STATIC_CALLS,
	MODEL_STATIC_INDIRECTS,
	MODEL_STATIC_RETURNS,
	MODEL_STATICS = 16,
};

/* The event that a static is of. */
static inline unsigned model_static_event(unsigned which)
{
	static const uint8_t event[MODEL_STATICS] = {
		[MODEL_STATIC_INSTRUCTIONS] = EV_INSTRUCTIONS,
		[MODEL_STATIC_MICRO_OPS] = EV_MICRO_OPS,
		[MODEL_STATIC_LOADS] = EV_LOADS,
		[MODEL_STATIC_STORES] = EV_STORES,
		[MODEL_STATIC_FP] = EV_FP_INSTRUCTIONS,
		[MODEL_STATIC_VECTOR] = EV_VECTOR_INSTRUCTIONS,
		[MODEL_STATIC_FLOPS] = EV_FP_OPERATIONS,
		[MODEL_STATIC_BRANCHES] = EV_BRANCHES,
		[MODEL_STATIC_CONDITIONALS] = EV_CONDITIONAL_BRANCHES,
		[MODEL_STATIC_TAKEN] = EV_TAKEN_BRANCHES,
		[MODEL_STATIC_CALLS] = EV_CALLS,
		[MODEL_STATIC_INDIRECTS] = EV_INDIRECT_BRANCHES,
		[MODEL_STATIC_RETURNS] = EV_RETURNS,
	};

	return event[which];
}

/* Whether an event is the sum of a static: then what executes decides it, on any machine. */
static inline int model_event_is_static(unsigned event)
{
	unsigned i;

	if (event == EV_INSTRUCTIONS_15 || event == EV_DECODED_BRANCHES)
		return 1;
	for (i = 0; i <= MODEL_STATIC_RETURNS; i++)
		if (model_static_event(i) == event)
			return 1;
	return 0;
}

/* A branch as it went in records that end in, or pass, a segment. */
struct model_outcome {
	uint16_t insn;
	uint8_t taken;
	uint8_t kind;    /* enum model_branch_kind */
	uint64_t target; /* of a direct one */
	uint64_t from;   /* address of the branch */
};

/* What running a record takes of its segment; the model's. */
#define MODEL_RUNNING_SIMPLE 2
#define MODEL_RUNNING_LINES  2
struct model_running {
	struct model_segment *link; /* the one counted before this one; see model/fetched.c */
	const struct model_access *accesses;
	uint64_t stamp; /* the core's, when its lines were last known to be in the first level; 0:
			   never */
	uint64_t from;  /* its branch's address */
	uint32_t count; /* records that are not in the counts yet */
	uint32_t base;  /* its branch, in the predictor's base table */
	/* Where its first lines are in L1I. */
	uint16_t entry[MODEL_RUNNING_LINES];
	uint16_t access_count;
	uint8_t insn_count;
	/* Of its first accesses, where they are simple (see `seen`). */
	uint8_t size[MODEL_RUNNING_SIMPLE], insn[MODEL_RUNNING_SIMPLE];
	uint8_t fetch_count;
	uint8_t length; /* of its branch */
	uint8_t seen;   /* 0: it never was; else the kinds of its accesses (model/run.h), and all
			   of this is valid except for stamp and entry */
	uint8_t way;    /* how to run it */
	uint8_t taken;
	const uint8_t *code; /* while its stamp is the core's: runs its records, or leaves the code
				of segments, if it has none (jit.h) */
};

/* Of a record, the lines of code that fetch takes, and how many operations begin in each. */
#define MODEL_GROUP_LINES 8
struct model_groups {
	uint8_t lines;
	uint8_t first_line, last_line; /* the low bits of their numbers */
	uint8_t ops[MODEL_GROUP_LINES];
	uint8_t more; /* operations of all lines after these */
};

/* Whole lines of the host, of which `run` is one: blocks.c looks at that. */
struct model_segment {
	struct model_running run;
	uint16_t statics[MODEL_STATICS]; /* events of a record that ends here */
	uint64_t ended;                  /* the model's: records that ended here */
	struct model_block *block;
	const struct model_outcome *outcomes; /* of branches, in order */
	uint64_t next;                        /* the block that follows; 0: only in the record */
	uint16_t insn_count, access_count, fetch_count;
	uint8_t outcome_count;
	uint8_t slow;                              /* must go instruction by instruction */
	uint8_t often;                             /* the model's: worth code of its own */
	uint16_t line_groups[MODEL_RUNNING_LINES]; /* the model's: of `lines`, as in model_fetch */
	const uint8_t *code;                       /* the model's */
	struct model_groups groups;                /* the retirement clock's */
	uint32_t code_epoch; /* the model's: which epoch of the code its own is of */
	uint64_t lines[MODEL_RUNNING_LINES]; /* the model's: its first lines of code */
	uint64_t op_epoch; /* the model's: when it was found there last; opcache.h */
};

struct model_block {
	uint64_t address;
	struct model_insn *insns;
	struct model_access *accesses;
	struct model_fetch *fetches;
	struct model_segment *segments;
	uint16_t insn_count, access_count, fetch_count, segment_count;
	uint16_t words; /* of a record */
	uint8_t indirect;
	uint8_t stack; /* 1 + enum model_branch_kind of its last instruction; 0: see above */
	struct retire_op *ops; /* for the retirement clock: one per instruction (retire_prepare) */
	/* Instructions of classes beyond MODEL_FP and MODEL_VECTOR: indices, ascending. */
	uint8_t special_count;
	uint8_t *specials;
};

/* The first word of a record. It has the record's length itself, so that the host need not wait for
 * the segment to be loaded. */
#define MODEL_WORDS_BITS 16

static inline uint64_t model_word(const struct model_segment *s, unsigned words)
{
	return (uint64_t)(uintptr_t)s << MODEL_WORDS_BITS | words;
}

static inline struct model_segment *model_word_segment(uint64_t word)
{
	return (struct model_segment *)(uintptr_t)(word >> MODEL_WORDS_BITS);
}

static inline unsigned model_word_words(uint64_t word)
{
	return (uint16_t)word;
}

/* Adds what a branch alone determines. */
static inline void model_outcome_statics(const struct model_outcome *o, uint16_t *statics)
{
	static const uint8_t also[] = {
		[MODEL_CONDITIONAL] = MODEL_STATIC_CONDITIONALS,
		[MODEL_JUMP] = MODEL_STATICS,
		[MODEL_CALL] = MODEL_STATIC_CALLS,
		[MODEL_INDIRECT_JUMP] = MODEL_STATIC_INDIRECTS,
		[MODEL_INDIRECT_CALL] = MODEL_STATIC_INDIRECTS,
		[MODEL_RETURN] = MODEL_STATIC_RETURNS,
	};

	statics[MODEL_STATIC_BRANCHES]++;
	statics[MODEL_STATIC_TAKEN] += o->taken;
	if (also[o->kind] < MODEL_STATICS)
		statics[also[o->kind]]++;
	statics[MODEL_STATIC_CALLS] += o->kind == MODEL_INDIRECT_CALL;
}

/* Memory for code of the host, which must be readable, writable and executable: at least 128 KiB,
 * aligned to 64, until the model ends; null: none. Makes model_run faster; results are the same. */
void model_set_code(struct model *m, void *memory, size_t bytes);
/* Runs the records in words begin..end (exclusive), all of the current thread. The word at end must
 * be readable. */
void model_run(struct model *m, const uint64_t *begin, const uint64_t *end);
/* Call it before the first record of a block, once its instructions are described: computes the
 * data of the retirement clock (forms, keys: retire.h). Does nothing without that clock. */
void model_describe(struct model *m, struct model_block *block, const struct retire_form *forms,
	const uint32_t *keys);
/* One record, of which only the first insns instructions were executed: the next one failed. */
void model_run_part(struct model *m, const uint64_t *record, unsigned insns);

/* Do records need the addresses of accesses?  If not, their words are read only for guarded ones,
 * and may else be anything. */
int model_needs_addresses(const struct model *m);

/* In the middle of which repeated string instruction the current thread is: its address, or 0.
 * The caller keeps it for a thread that does not run. */
uint64_t model_repeating(const struct model *m);
void model_set_repeating(struct model *m, uint64_t address);

#endif
