/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An instruction in the schedule: its micro-operations, its inputs, and its outputs. Made from a
 * decoded instruction and a core's rules, or by hand (tests, machines that lib/isa does not
 * decode).
 */
#ifndef SCHEDULE_OP_H
#define SCHEDULE_OP_H

#include "isa/isa.h"
#include "schedule/core.h"

enum { OP_UOPS_MAX = 24, OP_INPUTS_MAX = 14, OP_OUTPUTS_MAX = 14, OP_ADDRESSES_MAX = 6 };

struct op_uop {
	uint32_t ports; /* never 0 */
	uint8_t busy;
};

/* How a general register's value follows from others', for telling addresses apart. */
enum op_change {
	OP_CHANGE_NEW,  /* anything */
	OP_CHANGE_ADD,  /* the same one plus a constant */
	OP_CHANGE_COPY, /* another one plus a constant */
};

struct op_memory {
	bool there;
	uint8_t base, index, scale; /* REG_NONE: none */
	uint8_t size;               /* bytes, 255 at most */
	int64_t displacement;       /* or address, without base */
};

struct op {
	/* micro-operations, in this order */
	uint8_t loads, executes, addresses, datas; /* how many of each in uops[] */
	uint8_t half_slots;                        /* of renaming */
	uint8_t latency; /* from inputs (or the load's result) to outputs; 0: with the inputs */
	uint8_t flags_latency;
	uint8_t load_latency;
	bool zeroes;     /* outputs depend on nothing */
	bool moves;      /* done in renaming: the output is there when the input is */
	bool locked;     /* alone on the way to memory: core.locked */
	bool serialises; /* begins when all before it is done, and all after it waits */
	bool branch;     /* taken, where it is the last of a loop */
	bool fused;      /* with the instruction before it */
	bool guessed;    /* no rule was made for it */
	bool vector;     /* of stores: the data is a vector */
	uint8_t input_count, output_count, address_count;
	struct op_memory load, store;
	/* the general register it changes predictably */
	uint8_t changed, from; /* REG_NONE: none */
	uint8_t change;        /* enum op_change */
	int64_t constant;
	uint8_t length; /* bytes */
	uint64_t where; /* address: groups of in-order issue are aligned */
	const struct core_rule *rule;
	/* Entries beyond the counts above are undefined. What is used of these is near what is
	 * above, in few lines of the cache. */
	struct {
		uint8_t reg, late; /* late: cycles after the others at which it is needed */
	} input[OP_INPUTS_MAX];
	uint8_t output[OP_OUTPUTS_MAX];
	uint8_t address[OP_ADDRESSES_MAX];
	struct op_uop uops[OP_UOPS_MAX];
};

/* The rule for an instruction, never NULL for a core that core_parse accepted. */
const struct core_rule *op_rule(const struct core *c, const struct insn *i, bool *guessed);

/* Makes count ops of the instructions of a block, fusion and the stack engine considered; loop: the
 * block follows itself. */
void op_make_block(
	const struct core *c, const struct insn *insns, size_t count, bool loop, struct op *ops);

#endif
