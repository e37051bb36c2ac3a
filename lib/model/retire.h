/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The retirement clock: a core that takes instructions in in order, executes them as soon as their
 * operands, an execution unit and the memory allow, and retires them in order. So every cycle has
 * one instruction and one cause. It is slower and more accurate than clock.c, which has no
 * instrument_dependences.
 *
 * Its input is records (trace.h) after their events are known: misses and mispredictions of a
 * record are noted first (retire_note), then the record is run (retire_record). Freestanding; the
 * caller owns the memory, which must be zeroed at first.
 *
 * Execution is timed in cycles. Dispatch and retirement, config.width instructions per cycle, are
 * timed in parts of a cycle (RETIRE_CYCLE).
 */
#ifndef MODEL_RETIRE_H
#define MODEL_RETIRE_H

#include "model/cause.h"
#include "model/model.h"
#include "model/rows.h"
#include "model/trace.h"

/* How long an instruction takes from its operands to its result, and where it executes. */
enum model_latency {
	MODEL_LATENCY_NONE, /* no time and no unit: plain loads, moves, instructions without effect
			     */
	MODEL_LATENCY_ALU,
	MODEL_LATENCY_STORE, /* stores alone */
	MODEL_LATENCY_VECTOR_LOAD,
	MODEL_LATENCY_MULTIPLY,
	MODEL_LATENCY_FP_ADD, /* also subtract, compare, minimum, maximum, convert among floats */
	MODEL_LATENCY_FP_MULTIPLY,
	MODEL_LATENCY_FUSED,
	MODEL_LATENCY_CONVERT,    /* floating point to integers */
	MODEL_LATENCY_CONVERT_IN, /* integers to floating point */
	MODEL_LATENCY_COMPARE,    /* of vector registers, into the flags */
	MODEL_LATENCY_X87,        /* arithmetic of the x87 stack */
	MODEL_LATENCY_VECTOR,     /* integer and bitwise */
	MODEL_LATENCY_VECTOR_MULTIPLY,
	MODEL_LATENCY_SHUFFLE, /* also across lanes */
	MODEL_LATENCY_MOVE,    /* from vector to general registers */
	MODEL_LATENCY_MOVE_IN, /* from general to vector registers */
	MODEL_LATENCY_EXTRACT, /* a shuffle, and then a move */
	MODEL_LATENCY_CRYPTO,
	MODEL_LATENCY_LONG_ADDRESS,   /* an address of three parts */
	MODEL_LATENCY_SCALED_ADDRESS, /* of less, with a scaled index */
	MODEL_LATENCY_SHIFT,          /* also rotations, tests of bits, signs for the other half */
	MODEL_LATENCY_FLAGS_MOVE,     /* a move on a condition of two flags */
	MODEL_LATENCY_MULTIPLY_HIGH,  /* of which the upper half is a result, too */
	MODEL_LATENCY_X87_LONG,       /* loads and stores of 80 bits */
	MODEL_LATENCY_MICROCODE,
	/* From here on there is more to them than a latency. */
	MODEL_LATENCY_SPECIAL,
	MODEL_LATENCY_DIVIDE = MODEL_LATENCY_SPECIAL,
	MODEL_LATENCY_FP_DIVIDE,
	MODEL_LATENCY_FP_ROOT,
	MODEL_LATENCY_LOCKED,
	MODEL_LATENCY_SERIALISING,
	MODEL_LATENCY_SYSTEM_CALL, /* serialising, too, if it has a latency */
	MODEL_LATENCY_STRING,      /* a repetition that stores; no class of instructions has it */
	MODEL_LATENCIES,
};

/* The kinds of notes. */
enum retire_what {
	RETIRE_FETCH,      /* the instruction is dispatched late */
	RETIRE_LOAD,       /* it loads late */
	RETIRE_FORWARD,    /* its load cannot be forwarded all its bytes */
	RETIRE_ALIAS,      /* its load looks as if one of the last stores had some of its bytes:
			      address says which, 1 for the last one */
	RETIRE_STORE,      /* its line arrives late */
	RETIRE_PREFETCH,   /* a line was requested for which no instruction waits yet */
	RETIRE_TARGET,     /* a branch's target is found late: by the decoder, that many cycles
			      late, or, if these are 0, by executing it */
	RETIRE_MISPREDICT, /* what follows is fetched anew; the rest of the note does not matter */
};

/* The supplier whose interval a line occupies. */
enum retire_turn {
	RETIRE_TURN_L2,
	RETIRE_TURN_LL, /* also other cores' */
	RETIRE_TURN_MEMORY,
	RETIRE_TURN_NONE, /* it is on its way */
};

struct retire_note {
	const struct model_insn *insn;
	uint64_t address; /* of the access */
	/* Cycles. Of causes L2 to INTERVENTION and FETCH_L2 to FETCH_INTERVENTION: load to use; of
	 * the others: the additional cycles. */
	uint32_t latency;
	uint8_t what;  /* enum retire_what */
	uint8_t cause; /* enum model_cause */
	uint8_t turn;  /* enum retire_turn, of a line */
};

enum {
	RETIRE_CYCLE_BITS = 12,
	RETIRE_CYCLE = 1 << RETIRE_CYCLE_BITS, /* parts of a cycle */
	RETIRE_LEAVES = 10 * RETIRE_CYCLE, /* from when a store leaves until loads do not see it */
	RETIRE_NOTES_MAX = 1024,
	RETIRE_WINDOW_MAX = 4096, /* a power of two; windows beyond are as long */
	RETIRE_RETIRED_MIN = 256, /* more than a block has */
	RETIRE_CALENDAR = 1024,   /* cycles, a power of two */
	RETIRE_LINES = 256,       /* lines on their way that are remembered, a power of two */
	RETIRE_STORED = 256,      /* stores that loads find the data of, a power of two */
	RETIRE_RENAMED = 16,      /* the last stores, whose data memory renaming has */
	RETIRE_WHOLE = 4,         /* bytes that are a whole register, at least */
	RETIRE_SURE = 15,         /* times that a link held, before it is relied on */
	RETIRE_LINKS = 1024,      /* loads, and stores, whose links are known; a power of two */
	RETIRE_REQUESTS = 64,
	RETIRE_WALKERS = 16,
	RETIRE_SETS = 64, /* of L1D, a power of two; sets beyond share */
	RETIRE_GAPS = 8,  /* of a divider that are remembered */
	RETIRE_INTERVALS = 1024,
	RETIRE_STORES_MAX = 256,
	RETIRE_FULL_BITS = 5,
	RETIRE_MORE = 3, /* micro-operations of an instruction beyond the first that need a port */
	RETIRE_FETCHES = 16,
};

/* What no port is needed for takes this one, which is never busy. */
#define RETIRE_NO_PORT (UINT32_C(1) << 31)

/* How a core executes an instruction. Ports are bits; the lowest free port is taken, so the lowest
 * bits should be the ports that few other instructions use. */
struct retire_form {
	uint32_t ports;      /* of its first micro-operation, or RETIRE_NO_PORT */
	uint32_t load_ports; /* likewise, of loads */
	uint32_t more[RETIRE_MORE];
	uint32_t latency; /* cycles from operands to result */
	uint32_t load;    /* cycles from address to data */
	uint32_t busy;    /* cycles for which the divider is kept */
	uint8_t special;  /* enum model_latency, or 0 for all that are not */
	uint8_t more_count;
	uint8_t half_slots; /* dispatch and retirement time of its turn: 2 for an instruction, 0 if
			       it has none of its own */
};

/* An instruction of a block in the form for the loop; filled by retire_prepare. */
struct retire_op {
	uint8_t way;  /* how to run it */
	uint8_t many; /* sources, more than two */
	uint8_t source[MODEL_SOURCES_MAX], for_address[2], result[2];
	uint8_t special, more_count;
	uint16_t first_access, size;
	uint16_t link; /* retire_link */
	uint32_t cost; /* parts of a cycle */
	uint32_t ports, load_ports, latency, load, busy;
	uint32_t forward, renamed; /* cycles from its data to a load; see model.h */
	uint32_t into_vector;      /* of a load, how much later vector registers have its data */
	uint32_t key;              /* of its address: base register and displacement; 0: none */
	uint32_t more[RETIRE_MORE];
	/* Places: until it begins; until an access begins; until it retires; those of the block's
	 * instructions up to this one. */
	uint64_t waits, addresses, renames, places;
};

/* Ports that are busy; loads of eight banks, four bits each; places that are free after it. */
struct retire_cycle {
	uint32_t busy, banks;
	uint64_t leaving;
};

/* Places that instructions take when they are dispatched, 16 bits a kind. The highest bit of each
 * kind is for comparisons. */
#define RETIRE_PLACE_ALU      (UINT64_C(1) << 0)  /* in schedulers, until it begins */
#define RETIRE_PLACE_ADDRESS  (UINT64_C(1) << 16) /* loads and addresses of stores */
#define RETIRE_PLACE_VECTOR   (UINT64_C(1) << 32) /* before the vector scheduler */
#define RETIRE_PLACE_REGISTER (UINT64_C(1) << 48) /* a general register, until it retires */
#define RETIRE_PLACES_FREE    UINT64_C(0x8000800080008000)

/* A line that was requested. */
struct retire_line {
	uint64_t line, ready;
	uint32_t cause;
};

struct retire_stored {
	uint64_t address, ready; /* its first byte in this granule; when a load can have it */
	uint64_t data;           /* when one has it that is known to need this store's */
	uint32_t name, number;   /* retire_name; which store it was */
	uint16_t link;           /* RETIRE_LINKS: it is no store of a whole register */
	uint8_t size;            /* bytes, also beyond this granule */
};

/* Cycles from..until - 1 in which all of some ports are busy. */
struct retire_full {
	uint64_t from, until, ports;
};

/* It is free from `end` on, and in the gaps that it left last. */
struct retire_divider {
	struct retire_gap {
		uint64_t from, until;
	} gap[RETIRE_GAPS];
	uint64_t end;
	uint32_t gaps; /* so far */
};

/* A request for a line, or a page walker: kept until `end`, and free from gap to gap_end before
 * that. */
struct retire_request {
	uint64_t gap, gap_end, end;
};

struct retire {
	/* The machine; times in cycles unless marked as parts. */
	uint32_t width, window, misses, store_buffer, fetches, jump_fetches;
	uint32_t miss_hold;
	uint32_t walkers, second_tlb; /* what takes longer than second_tlb needs a walker */
	uint32_t slot;                /* parts: of one instruction */
	struct retire_form form[MODEL_LATENCIES];
	uint32_t forward, renamed, vector_forward, mispredict;
	uint32_t links; /* is memory renamed by links? */
	uint32_t scaled_load, vector_load;
	uint64_t places;        /* that there are of each kind, and RETIRE_PLACES_FREE */
	uint64_t limited;       /* the kinds that have a limit, a bit each */
	uint32_t place_hold;    /* cycles for which schedulers keep a place after that */
	uint32_t vector_places; /* of the vector scheduler, which a queue is before */
	uint32_t store_ports;   /* of their addresses */
	uint32_t branch_ports;  /* 0: those of arithmetic */
	uint32_t fused_ports;   /* of what is one operation with a branch; 0: its own */
	uint32_t fusion;      /* enum model_trait: what makes a branch one operation with another */
	uint32_t fetch_group; /* operations; 0: no limit */
	uint32_t group_time;  /* parts: from group to group */
	uint64_t fetch_line;  /* bytes, of which a group can be */
	uint64_t fetch_ahead; /* parts: how long what is fetched ahead lasts */
	uint32_t taken;       /* parts: from one taken branch to the next; see model.h */
	uint32_t fetch_across; /* may groups go on in the next line? */
	uint32_t long_groups;  /* of a line in a cycle; each further cycle needs long_time more */
	uint32_t long_time;    /* parts */
	uint32_t single_time;  /* parts: likewise, a line of one group */
	uint32_t op_cache, decode, decode_change; /* groups; operations; parts */
	uint32_t op_cache_fields;                 /* of a group there; 0: any number */
	uint32_t decodes; /* the caller's: no groups of the next record are in the op cache */
	uint32_t taken_return, taken_indirect; /* parts: more than that */
	uint32_t btb_second;  /* parts: likewise, after a branch of the BTB's second level */
	uint32_t from_second; /* the caller's: branches of the next record that are found there */
	uint32_t
		varied; /* the caller's: indirect branches of the record that had several targets */
	uint32_t between;   /* other taken branches since the last of these */
	uint32_t add_chain; /* from addition to addition */
	uint32_t string_start, string_bytes;
	uint32_t write_back_own;    /* have modified lines a way of their own to L2? */
	uint32_t drain, drain_line; /* parts: from store to store, in the same line, in another */
	uint32_t interval[3];       /* between lines of L2, LL, memory */
	uint32_t conflict;          /* between lines that replace modified ones of a set */
	uint32_t line_bits;         /* log2 bytes of a line of L1D */
	uint32_t code_bits;         /* the same of L1I */
	uint32_t bank_loads;        /* of a bank per cycle, as a bit mask; 0: any number */

	/* Counts: parts by cause; their sum is the time of the last retirement. */
	uint64_t slots[MODEL_CAUSES];
	uint64_t instructions; /* walked */
	uint64_t
		counted[MODEL_CAUSES]; /* the caller's: cycles that are in the counts of a thread */

	struct model_rows *rows; /* parts are added here by instruction; null: not needed */
	uint64_t row_weight;     /* how often each counts there */
	uint64_t came, gone;     /* parts: when the last instruction was dispatched, and retired */
	uint64_t taken_last;     /* parts: when fetch continued after the last taken branch */
	uint64_t predicted;      /* parts: when that was predicted */
	uint32_t fetching;       /* parts that fetch took since then */
	uint32_t fetched_lines;  /* since then */
	uint32_t decoded;        /* groups that were decoded instead */
	uint32_t changes;        /* from one to the other */
	uint32_t decoding, decoded_filled; /* was the last record? operations of its last group */
	uint32_t group_filled;             /* operations of the last group so far */
	uint32_t line_groups;              /* that begin in the last line so far; */
	uint32_t line_before;              /* in the line before; */
	uint8_t group_line;                /* that line */
	uint8_t jumped;                    /* is what follows jumped to? */
	uint8_t line_hidden;               /* see line_time */
	uint64_t arrival;                  /* of the last of all requested lines */
	uint64_t barrier;                  /* no load before that */
	struct retire_divider divider[2];  /* of integers, and of others */
	uint64_t stores,
		drained;      /* number of stores so far; parts: when the last leaves the buffer */
	uint64_t stored_line; /* of the last store */
	/* The string instruction that ran last, and the number of the instruction after it. */
	const struct model_insn *string;
	uint64_t string_number;
	uint64_t redirected;    /* parts: dispatch waits until then; 0: it does not wait */
	uint32_t redirected_by; /* enum model_cause */
	uint32_t restarts;      /* nothing after it is fetched yet */
	uint32_t notes;
	uint64_t fetched_line;               /* that was missed last */
	uint64_t restarted;                  /* parts: when fetching began anew */
	uint64_t fetch_count;                /* lines missed in a row */
	uint64_t fetch_came[RETIRE_FETCHES]; /* parts: when the line of each was used */

	uint64_t ready[256]; /* by slot of trace.h: when the result is there.  Of MODEL_SLOT_NONE
				always 0 */
	/* By cycle, from `cleared` on. */
	struct retire_cycle calendar[RETIRE_CALENDAR];
	uint64_t cleared;
	uint64_t places_held; /* by the instructions so far */
	/* The vector scheduler's places when the last instruction came there, and by cycle how many
	 * are free after it. */
	uint64_t vectors_came, vectors_held;
	uint8_t vectors_leaving[RETIRE_CALENDAR];
	struct retire_full full[1 << RETIRE_FULL_BITS];
	uint64_t store_left[RETIRE_STORES_MAX]; /* parts */
	/* Parts; by number of instruction. Only as much as the window needs is used, so that the
	 * host's cache has it. */
	uint64_t retired[RETIRE_WINDOW_MAX];
	uint32_t retired_mask;
	struct retire_line lines[RETIRE_LINES];
	/* By set of L1D: when the next line can be requested; modified lines that leave for the
	 * next. */
	uint64_t set_free[RETIRE_SETS];
	uint32_t leaving[RETIRE_SETS];
	/* The last store to each granule, and one before it that has other bytes. */
	struct retire_stored stored[RETIRE_STORED], stored_before[RETIRE_STORED];
	/* By link: of a load, that of the store whose data it got last, and how often that had not
	 * stored again since; of a store, the number of its last one. */
	uint16_t linked[RETIRE_LINKS];
	uint8_t held[RETIRE_LINKS];
	uint32_t last_of[RETIRE_LINKS];
	struct retire_request request[RETIRE_REQUESTS], walker[RETIRE_WALKERS];
	uint64_t sent[3]
		     [RETIRE_INTERVALS]; /* number of the interval in which a line came, plus 1 */
	struct retire_note note[RETIRE_NOTES_MAX + 1];
};

/* The place of an instruction in tables of links. */
static inline uint16_t retire_link(uint64_t address)
{
	return (uint16_t)((address * UINT64_C(0x9e3779b97f4a7c15) >> 32) % RETIRE_LINKS);
}

/* t: zeroed. */
void retire_init(struct retire *t, const struct model_config *config);
/* Fills block->ops, which has room, from its instructions and accesses. forms: how the core
 * executes each; null: by its class. keys: as in struct retire_op; null: none. */
void retire_prepare(const struct retire *t, struct model_block *block,
	const struct retire_form *forms, const uint32_t *keys);
/* A line that is prefetched takes its turn with its sender now: the cycles until it arrives. */
uint64_t retire_ahead(struct retire *t, enum retire_turn turn, uint64_t latency);
/* An event of an instruction of the record that is run next. In any order, except that events of
 * one instruction and kind must be in their order. */
void retire_note(struct retire *t, const struct model_insn *insn, enum retire_what what,
	enum model_cause cause, uint32_t latency, uint64_t address);
/* Of the line that was noted last, where it is not its cause's. */
static inline void retire_note_turn(struct retire *t, enum retire_turn turn)
{
	if (t->notes)
		t->note[t->notes - 1].turn = (uint8_t)turn;
}
/* A modified line leaves L1D, before the line is noted that replaces it. */
static inline void retire_leaves(struct retire *t, uint64_t address)
{
	t->leaving[(address >> t->line_bits) % RETIRE_SETS]++;
}
/* The first `insns` instructions of a record that ended in s, whose block is prepared. record: its
 * words. */
void retire_record(
	struct retire *t, const struct model_segment *s, const uint64_t *record, unsigned insns);
/* Stores whole cycles so far by cause in cycles[MODEL_CAUSES]; returns their sum, which lags by
 * less than MODEL_CAUSES cycles. */
uint64_t retire_cycles(const struct retire *t, uint64_t *cycles);
/* Of by_cause[MODEL_CAUSES], the causes of stalls of the front end, or of the back end. */
static inline uint64_t retire_stalls(const uint64_t *by_cause, int is(unsigned cause))
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < MODEL_CAUSES; i++)
		sum += is(i) ? by_cause[i] : 0;
	return sum;
}

/* Into the instruction's row. */
void retire_tell(
	struct retire *t, const struct model_insn *insn, enum model_cause cause, uint64_t parts);

/* Every part of a cycle but those of cause BASE passes here, or through retire_tell. */
static inline void retire_charge(
	struct retire *t, const struct model_insn *insn, enum model_cause cause, uint64_t parts)
{
	t->slots[cause] += parts;
	if (t->rows)
		retire_tell(t, insn, cause, parts);
}

#endif
