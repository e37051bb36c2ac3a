/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The parts of an instruction that decode.c and latency.c use; see decode.h. */
#ifndef VALGRIND_SCAN_H
#define VALGRIND_SCAN_H

#include <stdint.h>

struct scan {
	const uint8_t *code;
	unsigned length, at; /* at: the next byte to look at */
	unsigned rex;        /* low nibble: W R X B */
	unsigned pp;         /* mandatory prefix: 0 none, 1 66, 2 F3, 3 F2 */
	unsigned map;        /* 0 one byte, 1 0F, 2 0F38, 3 0F3A */
	unsigned bytes;      /* of a vector register operand: 16, 32 */
	unsigned vex, lock, repeat;
	unsigned opcode, modrm;
};

/* code: `length` readable bytes; they must outlive s. */
void scan(struct scan *s, const uint8_t *code, unsigned length);

/* An operand in memory: its address is base + (index << scale) + displacement. */
#define SCAN_NO_REGISTER 0xff
#define SCAN_RIP         0xfe /* as base: the address of the next instruction */
struct scan_memory {
	uint8_t base, index, scale; /* numbers of registers as encoded: rax 0, rcx 1 ... r15 15 */
	int32_t displacement;
	uint8_t bytes; /* of the displacement */
	uint8_t end;   /* where what follows the operand begins */
};

/* Has it a ModRM byte that says so? */
int scan_has_memory(const struct scan *s);
/* The operand of an instruction with a ModRM byte. */
void scan_memory(const struct scan *s, struct scan_memory *m);

/* What its displacement and immediate take of an entry of a cache of decoded operations: 0 to 3. A
 * displacement or immediate takes 1, an address relative to the instruction or an immediate of 64
 * bits 2; that of a branch takes none. */
unsigned scan_fields(const struct scan *s);

/* A number for the address of its operand in memory, by base register and displacement: equal
 * addresses have equal numbers, and few others do. 0: no such operand, or one with an index,
 * without a register, or without general registers. */
uint32_t scan_address(const uint8_t *code, unsigned length);

#endif
