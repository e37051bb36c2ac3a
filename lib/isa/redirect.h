/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An x86-64 instruction rewritten so that its memory operand is at a place of the caller's choice:
 * relative to the program counter. Registers, immediates and all else stay, so the processor that
 * executes it does exactly what the original does with the same registers, flags and bytes of
 * memory, whatever the instruction is. No semantics of instructions are needed.
 */
#ifndef ISA_REDIRECT_H
#define ISA_REDIRECT_H

#include "isa/isa.h"

enum isa_state { /* what it uses besides general registers and flags */
	STATE_VECTOR = 1 << 0,
	STATE_X87 = 1 << 1, /* x87 or MMX */
};

struct isa_redirect {
	uint8_t bytes[INSN_LENGTH_MAX];
	uint8_t length;
	uint8_t displacement; /* place of four bytes in `bytes` that give the operand, relative to
				 their end and that of the instruction; 0: no memory operand */
	uint8_t state;        /* enum isa_state */
	bool refused;         /* it must not be executed elsewhere: it transfers control, uses
				 memory that has no place in its encoding (push, string
				 instructions), enters the kernel, is privileged, or depends on the
				 process, the processor's identity or its own address */
	/* Of all instructions, refused ones as well: */
	uint8_t opcode;  /* its last byte before ModRM */
	uint8_t segment; /* of its memory operand: 0x64 (fs), 0x65 (gs), 0 */
	bool string;     /* movs, cmps, stos, lods, scas: others share their last opcode bytes */
	bool narrow;     /* addresses are computed in 32 bits */
	bool unknown;    /* its result differs from one execution to the next: rdtsc, rdrand */
};

/* Decodes the first instruction of bytes, as isa_decode does, and rewrites it. False: not x86-64,
 * or not valid. */
bool isa_redirect(const uint8_t *bytes, size_t size, uint64_t address, struct insn *insn,
	struct isa_redirect *r);

#endif
