/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The fewest cycles that a block needs under ideal conditions: every load hits the first level,
 * every branch is predicted, and no other thread runs on the core. Mi, the head-of-queue time of
 * each instruction (Anderson et al., SOSP'97, section 6.1): on a core that executes out of order
 * this is the gap that it adds at retirement, because samples show the instruction for which
 * retirement waits.
 *
 * The block is followed through renaming, issue, completion and retirement, again and again until
 * its timing repeats itself, as if it followed itself (unrolled, or as a loop). Cost: a few tens of
 * nanoseconds per instruction and repetition.
 */
#ifndef SCHEDULE_SCHEDULE_H
#define SCHEDULE_SCHEDULE_H

#include "schedule/op.h"

enum schedule_cause {
	SCHEDULE_NONE,       /* it does not wait */
	SCHEDULE_FRONT_END,  /* for its turn to be renamed */
	SCHEDULE_FETCH,      /* for its bytes */
	SCHEDULE_WINDOW,     /* for room in the window */
	SCHEDULE_INPUT,      /* for a result: blame */
	SCHEDULE_MEMORY,     /* for data of a store: blame */
	SCHEDULE_PORT,       /* for a port: ports */
	SCHEDULE_STORES,     /* stores leave the store buffer no faster */
	SCHEDULE_RETIREMENT, /* for its turn to retire */
	SCHEDULE_LATENCY,    /* for its own result: nothing can hide it */
	SCHEDULE_SERIAL,     /* it, or the one before, is executed alone */
	SCHEDULE_CAUSES
};

/* "front end", "result of", "port" ...  Static. */
const char *schedule_cause_name(enum schedule_cause cause);

struct schedule_row {
	double mi;                      /* cycles, >= 0; their sum is that of the block */
	double issue, complete, retire; /* cycles after the block's first instruction is renamed, in
					   its last repetition */
	enum schedule_cause cause;      /* what most of mi is for */
	int blame;                      /* index of the instruction it waits for; -1: none */
	uint32_t ports;                 /* of SCHEDULE_PORT */
};

struct schedule {
	double cycles;                   /* a repetition, in the steady state */
	double slots;                    /* a repetition */
	double port_use[CORE_PORTS_MAX]; /* micro-operations a repetition */
	enum schedule_cause bound;       /* what holds the whole block up */
	uint32_t bound_ports;
	int chain; /* the instruction whose result is waited for longest; -1: none, or without rows
		    */
	unsigned guessed; /* instructions without a rule of their own */
};

struct schedule_options {
	bool loop; /* the last instruction branches to the first; else copies follow one another */
	/* Registers had all the same value before (the block profiler's state): addresses through
	 * different ones may then be the same. */
	bool same_values;
	bool in_order;
};

struct schedule_work; /* memory for one block at a time; not for two threads at once */
struct schedule_work *schedule_work_new(struct error *e);
void schedule_work_free(struct schedule_work *w);

#define SCHEDULE_BLOCK_MAX 4096 /* instructions */

/*
 * rows (NULL: not needed) has room for count. ERR_RANGE for an empty or too long block, ERR_PARSE
 * for an invalid instruction.
 */
int schedule_block(struct schedule_work *w, const struct core *c, const struct insn *insns,
	size_t count, const struct schedule_options *options, struct schedule *s,
	struct schedule_row *rows, struct error *e);

/*
 * Blocks in sequence, as a program executes them: the cycles that a block adds at retirement depend
 * on the blocks before it. A path is followed block by block; ops are those of a whole procedure or
 * of any other code that contains the path, made by op_make_block for each block. Out of order
 * only.
 */
struct schedule_path;
struct schedule_paths; /* memory for paths, which is used again; for any number of threads */
/* NULL with *e set when memory is out. c must outlive it. */
struct schedule_paths *schedule_paths_new(const struct core *c, struct error *e);
void schedule_paths_free(struct schedule_paths *all);
/* A path without a block; NULL with *e set when memory is out. To be ended before all is freed. */
struct schedule_path *schedule_path_begin(struct schedule_paths *all, struct error *e);
void schedule_path_end(struct schedule_paths *all, struct schedule_path *p);
/* Its memory, for schedule_block: then it follows no blocks until the next begin. */
struct schedule_work *schedule_path_work(struct schedule_path *p);
/* What follows begins where all before has retired: it is another part of the path. */
void schedule_path_drain(struct schedule_path *p);
/* The block ops[first..first + count), at most SCHEDULE_BLOCK_MAX; taken: its last instruction
 * branches away. Adds to rows[first..), if not NULL: mi the cycles that each delayed retirement
 * this time; blame is an index in ops. vote[first..) is the weight of `cause` so far, 0 at the
 * beginning. */
void schedule_path_block(struct schedule_path *p, const struct op *ops, uint32_t first,
	uint32_t count, bool taken, struct schedule_row *rows, float *vote);

/* As schedule_block, for ops made by hand. */
int schedule_ops(struct schedule_work *w, const struct core *c, const struct op *ops, size_t count,
	const struct schedule_options *options, struct schedule *s, struct schedule_row *rows,
	struct error *e);

#endif
