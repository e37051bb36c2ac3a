/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files of lib/analysis/culprits*.c share. */
#ifndef ANALYSIS_CULPRITS_PRIVATE_H
#define ANALYSIS_CULPRITS_PRIVATE_H

#include "analysis/culprits.h"

enum { ACCESSES_KEPT = 48, GENERALS = 16 };

/* Counted causes outweigh usual ones; but events that few samples missed may be there: the share of
 * a bound that they weigh. */
#define CULPRIT_DOUBT 0.01

/* A general register's value: that of an origin plus an offset. */
struct culprit_value {
	uint32_t origin;
	int64_t offset;
	uint64_t values; /* it is below; 0: not known */
};

/* A piece of memory that was touched before. */
struct culprit_access {
	uint32_t base, index; /* origins; 0: none */
	uint8_t scale, size;
	bool store;
	int64_t at;
	uint32_t insn;
};

/* What a loop does to general registers in one turn. */
struct culprit_loop {
	int64_t step[GENERALS];                     /* the constant that is added */
	uint16_t writes[GENERALS], plain[GENERALS]; /* all, and those that add a constant */
	bool calls;                                 /* or does what the code does not tell */
	double entries; /* executions of edges into it; NAN: not known */
};

/* One cause that a wait may have. */
struct culprit_suspect {
	bool there;
	double high, weight; /* cycles */
	double usual;        /* struct culprit's */
	double spare;        /* beyond high, where nothing else explains the wait */
	uint32_t blame;
};

struct culprit_search {
	const struct culprits_input *in;
	struct culprit_suspect suspect[CULPRITS];
	uint32_t insn;     /* the one that waited */
	double executions; /* of it */
	/* The block at hand. */
	struct op *ops;
	uint32_t block;
	/* What is known before the instruction. */
	struct culprit_value value[GENERALS];
	uint32_t origins, stack; /* origins given out; that of the stack pointer */
	bool framed;             /* rbp holds the frame */
	struct culprit_access access[ACCESSES_KEPT];
	uint32_t accesses; /* so far: the last ACCESSES_KEPT are there */
	uint32_t *writer;  /* instruction that wrote a register last, + 1; [REG_COUNT] */
	struct culprit_loop *loops;
	/* Mispredictions that were counted, in cycles: of each edge, and of jumps to blocks that no
	 * edge leads to, in each cycle that these waited. */
	double *wrong, wrong_unknown;
};

/* likely = min(high, weight * scale) of each, so that they make the whole where that can be, first
 * with `usual` for high where that is less; returns what is left.  At most CULPRITS + 1 of them,
 * weights > 0. */
double culprits_divide(struct culprit *list, const double *weight, uint32_t count, double wait);

/* culprits_suspect.c.  It may have been this cause, `most` times, probably `times`; blame
 * FLOW_NONE: none is known. */
void culprit_suspect(struct culprit_search *s, enum culprit_cause cause, double most, double times,
	uint32_t blame);
/* Likewise, with a bound in cycles. */
void culprit_suspect_cycles(struct culprit_search *s, enum culprit_cause cause, double most,
	double likely, uint32_t blame);

/* culprits_memory.c: what a load or store may have waited for. */
void culprit_memory(struct culprit_search *s, const struct op *op, const struct insn *insn);
/* What is known behind the instruction. */
void culprit_pass(
	struct culprit_search *s, const struct op *op, const struct insn *insn, uint32_t i);
/* Nothing is known. */
void culprit_forget(struct culprit_search *s);

/* Whether a load's address is known long before its turn: a constant step leads to it, less than a
 * page wide. */
bool culprit_runs_ahead(const struct culprit_search *s, const struct op *op);

/* Whether it is the procedure's own stack. */
bool culprit_is_stack(const struct culprit_search *s, const struct op_memory *m);

/* culprits_fetch.c: what comes from how the instruction was reached. */
void culprit_reached(struct culprit_search *s);
void culprit_mispredicted(struct culprit_search *s);
/* Mispredictions that were counted, divided among the ways of their branches: fills s->wrong. */
void culprit_wrong_ways(struct culprit_search *s);
/* Of times that the block at hand is executed, those at most in which its code was not there: loops
 * around it keep it, whose code fits `room` units. */
double culprit_held(const struct culprit_search *s, double times, double room, double unit);

/* They were counted here: what they cost usually and at most. */
void culprit_counted(struct culprit_search *s, enum culprit_cause cause, double usual, double most,
	uint32_t blame);

/* culprits_hidden.c: what is seen of misses that were counted, when the instruction waited `wait`
 * cycles.  Returns what is left of that for its own latency, or -1 where all may be seen. */
double culprit_hidden(struct culprit_search *s, const struct op *op, double wait);

/* culprits_loops.c; NULL when memory is out. */
struct culprit_loop *culprit_loops(const struct culprits_input *in, struct op *ops);
/* Bytes by which an address moves in each turn of the block's innermost loop: 0: it stays; < 0: not
 * known. */
double culprit_stride(const struct culprit_search *s, const struct op_memory *m);

#endif
