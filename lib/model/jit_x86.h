/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The instructions of x86-64 that the code of segments consists of, as bytes at e->at. The caller
 * knows that there is room. Registers are numbers as encoded.
 */
#ifndef MODEL_JIT_X86_H
#define MODEL_JIT_X86_H

#include "model/jit.h"

enum { RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI, R8, R12 = 12, R13, R14, R15, NO_INDEX, NO_BASE };

struct jit_memory {
	uint8_t base, index, scale; /* log2 */
	int32_t displacement;
};

static inline struct jit_memory jit_at(unsigned base, size_t displacement)
{
	return (struct jit_memory){(uint8_t)base, NO_INDEX, 0, (int32_t)displacement};
}

static inline struct jit_memory jit_indexed(
	unsigned base, unsigned index, unsigned scale, size_t displacement)
{
	return (struct jit_memory){
		(uint8_t)base, (uint8_t)index, (uint8_t)scale, (int32_t)displacement};
}

/* Opcodes: one byte, or two that begin with 0x0f. */
enum {
	OP_ADD_TO = 0x01,
	OP_CMP = 0x3b,
	OP_XOR = 0x33,
	OP_SUB = 0x2b,
	OP_MOV_TO = 0x89,
	OP_MOV = 0x8b,
	OP_LEA = 0x8d,
	OP_TEST = 0x85,
	OP_MOVZX_BYTE = 0x0fb6,
	OP_MOVZX_WORD = 0x0fb7,
	OP_PREFETCH = 0x0f18,        /* /1 */
	OP_CMP_BYTE = 0x80,          /* /7, with a constant */
	OP_MOV_CONSTANT = 0xc7,      /* /0 */
	OP_MOV_BYTE_CONSTANT = 0xc6, /* /0 */
	OP_MOV_BYTE_TO = 0x88,
	OP_CMP_CONSTANT = 0x81, /* /7 */
	OP_OR = 0x0b,
	OP_INC = 0xff,      /* /0; /2 is call, /4 jmp */
	WIDE = 1 << 16,     /* of 64 bits */
	OPERANDS_16 = 0x66, /* before an instruction: its operands have 16 bits */
};

/* Of a register and a constant: which of these. */
enum { IMM_ADD = 0, IMM_ADC = 2, IMM_SBB = 3, IMM_AND = 4, IMM_SUB = 5, IMM_CMP = 7 };
/* Conditions of jumps. */
enum {
	BELOW = 2,
	NOT_BELOW = 3,
	EQUAL = 4,
	NOT_EQUAL = 5,
	NOT_ABOVE = 6,
	ABOVE = 7,
	NOT_GREATER = 14
};

/* Is there room for these bytes in both places? */
int jit_has_room(const struct jit *e, size_t bytes);
/* What is written next is rarely run, or, the second time, often again. */
void jit_turn(struct jit *e);

void jit_byte(struct jit *e, unsigned byte);
void jit_word(struct jit *e, uint32_t word);
/* An instruction with an operand in memory. */
void jit_memory(struct jit *e, unsigned op, unsigned reg, struct jit_memory m);
/* One with two registers. */
void jit_registers(struct jit *e, unsigned op, unsigned reg, unsigned other);
void jit_constant(struct jit *e, unsigned which, unsigned wide, unsigned reg, int32_t value);
/* The same of a register's low byte: one of the first four. */
void jit_byte_constant(struct jit *e, unsigned which, unsigned reg, unsigned value);
/* A word of memory and the carry: IMM_ADC or IMM_SBB, with a byte that is extended. */
void jit_carry(struct jit *e, unsigned which, struct jit_memory at, unsigned value);
/* The low byte of one of the first four registers becomes 1 or 0. */
void jit_set_not_equal(struct jit *e, unsigned reg);
void jit_shift_right(struct jit *e, unsigned wide, unsigned reg, unsigned bits);
void jit_move_constant(struct jit *e, unsigned reg, uint32_t value);
/* reg: one of the first eight. */
void jit_move_wide(struct jit *e, unsigned reg, uint64_t value);
/* op: 0x50 to push, 0x58 to pop. */
void jit_push(struct jit *e, unsigned reg, unsigned op);
void jit_relative(struct jit *e, const uint8_t *to);
void jit_jump(struct jit *e, const uint8_t *to);
void jit_jump_if(struct jit *e, unsigned condition, const uint8_t *to);
/* A jump forward, to where jit_land is called with what this returns. */
uint8_t *jit_jump_ahead(struct jit *e, unsigned condition);
uint8_t *jit_jump_always_ahead(struct jit *e);
void jit_land(const struct jit *e, uint8_t *behind_jump);

/* jit.c: the host fetches what the next record needs of its segment. After the last record, the
 * word that is read may be anything. */
void jit_look_at_next(struct jit *e, const struct model_segment *s);

#endif
