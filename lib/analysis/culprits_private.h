/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by the files lib/analysis/culprits*.c. */
#ifndef ANALYSIS_CULPRITS_PRIVATE_H
#define ANALYSIS_CULPRITS_PRIVATE_H

#include "analysis/culprits.h"

enum { ACCESSES_KEPT = 48, GENERALS = 16 };

/* Counted causes outweigh usual ones, but a few events may have escaped the samples: the share of
 * a bound that such events weigh. */
#define CULPRIT_DOUBT 0.01

/* A general register's value: that of an origin plus an offset. Addresses wrap, as those of the
 * processor do. */
struct culprit_value {
	uint32_t origin;
	uint64_t offset;
	uint64_t values; /* exclusive upper bound of its value; 0: unknown */
};

/* Memory that was accessed before. */
struct culprit_access {
	uint32_t base, index; /* origins; 0: none */
	uint8_t scale, size;
	bool store;
	uint64_t at;
	uint32_t insn;
};

/* The effect of one iteration of a loop on general registers. */
struct culprit_loop {
	uint64_t step[GENERALS];                    /* the constant that is added */
	uint16_t writes[GENERALS], plain[GENERALS]; /* all, and additions of a constant */
	bool calls;                                 /* or its effect is unknown */
	double entries;                             /* executions of edges into it; NAN: unknown */
};

/* One cause that a wait may have. */
struct culprit_suspect {
	bool there;
	double high, weight; /* cycles */
	double usual;        /* struct culprit's */
	double spare;        /* beyond high, if nothing else explains the wait */
	uint32_t blame;
};

struct culprit_search {
	const struct culprits_input *in;
	struct culprit_suspect suspect[CULPRITS];
	uint32_t insn;     /* the instruction that waited */
	double executions; /* of it */
	/* The current block. */
	struct op *ops;
	uint32_t block;
	/* State before the instruction. */
	struct culprit_value value[GENERALS];
	uint32_t origins, stack; /* origins given out; that of the stack pointer */
	bool framed;             /* rbp is the frame pointer */
	struct culprit_access access[ACCESSES_KEPT];
	uint32_t accesses; /* so far: the last ACCESSES_KEPT are kept */
	uint32_t *writer;  /* instruction that wrote a register last, + 1; [REG_COUNT] */
	struct culprit_loop *loops;
	/* Counted mispredictions, in cycles: of each edge, and of jumps to blocks without a known
	 * edge, per cycle that these waited. */
	double *wrong, wrong_unknown;
};

/* likely = min(high, weight * scale) of each, so that the sum is the whole if possible. First with
 * `usual` for high where that is less. Returns the rest. At most CULPRITS + 1 elements, weights >
 * 0. */
double culprits_divide(struct culprit *list, const double *weight, uint32_t count, double wait);

/* culprits_suspect.c. Adds this cause with at most `most` occurrences, probably `times`; blame
 * FLOW_NONE: unknown. */
void culprit_suspect(struct culprit_search *s, enum culprit_cause cause, double most, double times,
	uint32_t blame);
/* Likewise, with a bound in cycles. */
void culprit_suspect_cycles(struct culprit_search *s, enum culprit_cause cause, double most,
	double likely, uint32_t blame);

/* culprits_memory.c: what a load or store may have waited for. */
void culprit_memory(struct culprit_search *s, const struct op *op, const struct insn *insn);
/* Updates the state after the instruction. */
void culprit_pass(
	struct culprit_search *s, const struct op *op, const struct insn *insn, uint32_t i);
/* Clears the state. */
void culprit_clear(struct culprit_search *s);

/* Whether a load's address is known long before its turn: it grows by a constant of less than a
 * page. */
bool culprit_runs_ahead(const struct culprit_search *s, const struct op *op);

/* Whether it is on the procedure's own stack. */
bool culprit_is_stack(const struct culprit_search *s, const struct op_memory *m);

/* culprits_fetch.c: causes that depend on how the instruction was reached. */
void culprit_reached(struct culprit_search *s);
void culprit_mispredicted(struct culprit_search *s);
/* Divides counted mispredictions among the edges of their branches: fills s->wrong. */
void culprit_wrong_ways(struct culprit_search *s);
/* Of the executions of the current block, the greatest number in which its code was missing: loops
 * around it whose code fits `room` units keep it. */
double culprit_held(const struct culprit_search *s, double times, double room, double unit);

/* culprits_net.c: charges waits beyond the schedule to what neighbours lack of the schedule's. */
void culprit_net(struct culprits *c, const struct culprits_input *in);

/* Counted events at this instruction: their usual and greatest cost. */
void culprit_counted(struct culprit_search *s, enum culprit_cause cause, double usual, double most,
	uint32_t blame);

/* culprits_hidden.c: the visible part of counted misses, if the instruction waited `wait` cycles.
 * Returns the rest for its own latency, or -1 if all of a miss may be visible. */
double culprit_hidden(struct culprit_search *s, const struct op *op, double wait);

/* culprits_loops.c; NULL when memory is out. Room for the ops of any part of a block that is
 * looked at together, and of the first instructions: */
enum { FRAME_INSNS = 8 };
struct op *culprit_ops(const struct flow *f);
struct culprit_loop *culprit_loops(const struct culprits_input *in, struct op *ops);
/* Bytes by which an address changes per iteration of the block's innermost loop: 0: constant; < 0:
 * unknown. */
double culprit_stride(const struct culprit_search *s, const struct op_memory *m);

#endif
