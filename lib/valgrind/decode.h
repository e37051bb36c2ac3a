/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Properties of an x86-64 instruction, from its bytes: those that the model needs and VEX's
 * intermediate representation lacks (prefetches, repeat and lock prefixes, kinds of branches,
 * floating point). Not a disassembler: the length is known beforehand, and an unknown instruction
 * is treated as a plain one.
 *
 * Pure C without libc: it is in the Valgrind tool, and unit tests run it natively. Owns nothing.
 */
#ifndef VALGRIND_DECODE_H
#define VALGRIND_DECODE_H

#include "valgrind/scan.h"

#define DECODE_NO_BRANCH 0xff

struct decoded {
	uint16_t class_bits; /* enum model_instruction_class; never MODEL_REPEATED */
	uint8_t uops;        /* micro-ops, an estimate that leaves memory out: see instrument.c */
	uint8_t flops;       /* floating-point operations; a fused multiply-add is two */
	uint8_t branch;      /* enum model_branch_kind, or DECODE_NO_BRANCH */
	uint8_t length;
	uint8_t repeats;            /* a string instruction with a repeat prefix */
	struct scan_memory operand; /* of a prefetch */
	uint64_t target;            /* of a direct branch */
};

/* code: `length` readable bytes (1..15), executed at `address`. */
void decode(const uint8_t *code, unsigned length, uint64_t address, struct decoded *out);

#endif
