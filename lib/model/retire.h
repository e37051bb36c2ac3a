/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The retirement clock: a core that takes instructions in in order, executes them as soon as their
 * operands, an execution unit and the memory allow, and retires them in order, so that every cycle
 * has one instruction and one cause.  Slower and truer than clock.c, which knows no dependences.
 *
 * Fed with records (trace.h) after their events are known: what went wrong in a record is noted
 * first (retire_note), then the record is run (retire_record).  Freestanding; the caller owns the
 * memory, which begins zeroed.
 *
 * Time is kept in slots: a cycle has config.width of them, and an instruction takes one to come and
 * one to go.
 */
#ifndef MODEL_RETIRE_H
#define MODEL_RETIRE_H

#include "model/model.h"
#include "model/rows.h"
#include "model/trace.h"

/* Why a slot passed. */
enum model_cause {
	MODEL_CAUSE_BASE,       /* it retired an instruction */
	MODEL_CAUSE_DEPENDENCY, /* an operand, or the instruction's own latency */
	MODEL_CAUSE_UNIT,       /* all execution units of its kind were busy */
	MODEL_CAUSE_DIVIDER,
	MODEL_CAUSE_L2, /* data: a load from there; the next four in the order of distance */
	MODEL_CAUSE_LL,
	MODEL_CAUSE_MEMORY,
	MODEL_CAUSE_INTERVENTION,
	MODEL_CAUSE_DTLB,
	MODEL_CAUSE_FORWARD,      /* store forwarding failed */
	MODEL_CAUSE_STORE_BUFFER, /* it was full */
	MODEL_CAUSE_LOCKED,
	MODEL_CAUSE_SERIALISING,
	/* The front end had nothing to give. */
	MODEL_CAUSE_FETCH_L2,
	MODEL_CAUSE_FETCH_LL,
	MODEL_CAUSE_FETCH_MEMORY,
	MODEL_CAUSE_FETCH_INTERVENTION,
	MODEL_CAUSE_ITLB,
	MODEL_CAUSE_TAKEN, /* taken branches follow each other too closely */
	MODEL_CAUSE_MISPREDICT,
	MODEL_CAUSES,
};

/* How long an instruction takes from its operands to its result, and where it executes. */
enum model_latency {
	MODEL_LATENCY_NONE, /* no time and no unit: loads alone, moves, what does nothing */
	MODEL_LATENCY_ALU,
	MODEL_LATENCY_STORE, /* stores alone */
	MODEL_LATENCY_VECTOR_LOAD,
	MODEL_LATENCY_MULTIPLY,
	MODEL_LATENCY_FP_ADD, /* also subtract, compare, minimum, maximum, convert among floats */
	MODEL_LATENCY_FP_MULTIPLY,
	MODEL_LATENCY_FUSED,
	MODEL_LATENCY_CONVERT, /* floating point to and from integers */
	MODEL_LATENCY_VECTOR,  /* integer and bitwise */
	MODEL_LATENCY_VECTOR_MULTIPLY,
	MODEL_LATENCY_SHUFFLE, /* also across lanes */
	MODEL_LATENCY_MOVE,    /* between general and vector registers */
	MODEL_LATENCY_CRYPTO,
	MODEL_LATENCY_MICROCODE,
	/* From here on there is more to them than a latency. */
	MODEL_LATENCY_SPECIAL,
	MODEL_LATENCY_DIVIDE = MODEL_LATENCY_SPECIAL,
	MODEL_LATENCY_FP_DIVIDE,
	MODEL_LATENCY_LOCKED,
	MODEL_LATENCY_SERIALISING,
	MODEL_LATENCIES,
};

/* What a note is about. */
enum retire_what {
	RETIRE_FETCH,      /* the instruction comes late */
	RETIRE_LOAD,       /* it loads late */
	RETIRE_FORWARD,    /* its load cannot be forwarded all its bytes */
	RETIRE_STORE,      /* its line comes late */
	RETIRE_PREFETCH,   /* a line has been asked for that nobody waits for yet */
	RETIRE_MISPREDICT, /* what follows is fetched anew; the rest of the note does not matter */
};

struct retire_note {
	const struct model_insn *insn;
	uint64_t address; /* of the access */
	/* Cycles.  Of causes L2 to INTERVENTION and FETCH_L2 to FETCH_INTERVENTION: load to use; of
	 * the others: what comes on top. */
	uint32_t latency;
	uint8_t what;  /* enum retire_what */
	uint8_t cause; /* enum model_cause */
};

enum {
	RETIRE_NOTES_MAX = 1024,
	RETIRE_WINDOW_MAX = 4096, /* a power of two; windows beyond are as long */
	RETIRE_CALENDAR = 512,    /* cycles, a power of two */
	RETIRE_LINES = 64,        /* lines on their way that are remembered, a power of two */
	RETIRE_STORED = 256,      /* stores that loads find the data of, a power of two */
	RETIRE_REQUESTS = 64,
	RETIRE_INTERVALS = 1024,
	RETIRE_STORES_MAX = 256,
	RETIRE_UNITS = 8,
};

/* A line that was asked for. */
struct retire_line {
	uint64_t line, ready;
	uint32_t cause;
};

struct retire_stored {
	uint64_t granule, ready; /* address / 8; when a load can have it */
};

/* What one of enum model_latency takes. */
struct retire_kind {
	uint32_t latency; /* slots */
	uint32_t mask;    /* of its unit's count in an entry of the calendar */
	uint32_t limit;   /* that count when all are busy */
	uint32_t one;     /* one more; 0: it needs no unit */
};

/* Cycles from..until - 1 in which all units of a kind are busy. */
struct retire_full {
	uint64_t from, until;
};

/* A request for a line: kept until `end`, and free from gap to gap_end before that. */
struct retire_request {
	uint64_t gap, gap_end, end;
};

struct retire {
	/* The machine; times in slots. */
	uint32_t width, window, misses, store_buffer;
	uint64_t reciprocal; /* 2^64 / width, rounded up */
	struct retire_kind kind[MODEL_LATENCIES], load;
	uint32_t forward, mispredict, taken, drain;
	uint32_t divide, fp_divide; /* how long the divider is kept */
	uint32_t interval[3];       /* between lines of L2, LL, memory */
	uint32_t line_bits;         /* log2 bytes of a line of L1D */

	/* Counts: slots by cause; their sum is the time of the last retirement. */
	uint64_t slots[MODEL_CAUSES];
	uint64_t instructions;          /* walked: slots of cause BASE */
	uint64_t counted[MODEL_CAUSES]; /* the caller's: cycles that are in somebody's counts */

	struct model_rows *rows; /* slots by instruction go there; null: nobody wants them */
	uint64_t came, gone;     /* when the last instruction came, and retired */
	uint64_t taken_last;     /* when the last taken branch was fetched behind */
	uint64_t arrival;        /* of the last of all lines asked for */
	uint64_t barrier;        /* no load before that */
	uint64_t divider_free;
	uint64_t stores, drained; /* number of stores so far; when the last leaves the buffer */
	uint64_t redirected;      /* nothing comes before; 0: nothing is held */
	uint32_t redirected_by;   /* enum model_cause */
	uint32_t notes;

	uint64_t ready[256]; /* by slot of trace.h: when the result is there.  Of MODEL_SLOT_NONE
				always 0 */
	uint64_t calendar[RETIRE_CALENDAR]; /* cycle << 32 | counts of four bits by unit */
	struct retire_full full[RETIRE_UNITS];
	uint64_t retired[RETIRE_WINDOW_MAX];
	uint64_t store_left[RETIRE_STORES_MAX];
	struct retire_line lines[RETIRE_LINES];
	struct retire_stored stored[RETIRE_STORED];
	struct retire_request request[RETIRE_REQUESTS];
	uint64_t sent[3]
		     [RETIRE_INTERVALS]; /* number of the interval in which a line came, plus 1 */
	struct retire_note note[RETIRE_NOTES_MAX + 1];
};

/* t: zeroed. */
void retire_init(struct retire *t, const struct model_config *config);
/* Something happened to an instruction of the record that is run next.  In any order, but those
 * of one instruction and kind in theirs. */
void retire_note(struct retire *t, const struct model_insn *insn, enum retire_what what,
	enum model_cause cause, uint32_t latency, uint64_t address);
/* The first `insns` instructions of a record that ended in s.  record: its words. */
void retire_record(
	struct retire *t, const struct model_segment *s, const uint64_t *record, unsigned insns);
/* Whole cycles so far by cause into cycles[MODEL_CAUSES]; returns their sum, which lags behind by
 * less than MODEL_CAUSES cycles. */
uint64_t retire_cycles(const struct retire *t, uint64_t *cycles);

/* Into the instruction's row. */
void retire_tell(
	struct retire *t, const struct model_insn *insn, enum model_cause cause, uint64_t slots);

/* Every slot but those of cause BASE passes here, or through retire_tell. */
static inline void retire_charge(
	struct retire *t, const struct model_insn *insn, enum model_cause cause, uint64_t slots)
{
	t->slots[cause] += slots;
	if (t->rows)
		retire_tell(t, insn, cause, slots);
}

#endif
