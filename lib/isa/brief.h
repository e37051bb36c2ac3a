/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The most frequent instructions of x86-64, in a small part of the time of isa_decode: for code
 * that is copied while a program waits. None of them has a segment, a lock or a repetition prefix,
 * and none is a branch whose target is in a register or memory, returns apart.
 */
#ifndef ISA_BRIEF_H
#define ISA_BRIEF_H

#include "isa/isa.h"

/* Flags, a bit each from REG_CARRY on: those that an instruction reads; those that it always
 * overwrites, as far as known. */
struct insn_flags {
	uint8_t reads, kills;
};

/*
 * false: it is another instruction, is invalid, or does not fit; then *insn is undefined. Else insn
 * has the address, length, target and relative_at, and what kind of branch it is, if it is one.
 * operands_known is true, but nothing is said of operands, memory, registers and other classes.
 */
bool isa_brief(const uint8_t *bytes, size_t size, uint64_t address, struct insn *insn,
	struct insn_flags *flags);

/* Of an instruction, in bytes: all, what is before its displacement and immediate, and the
 * displacement. Those whose beginning is the same differ in numbers only. */
struct insn_shape {
	uint8_t length, head, displacement;
	bool relative; /* the displacement is, to the program counter */
};

/* Of the same instructions; false: it is another. */
bool isa_brief_shape(const uint8_t *bytes, size_t size, struct insn_shape *shape);

/* The number (0 rax, 1 rcx ... 15) of the register that a move between registers, of an immediate
 * or of an address overwrites whole. It reads neither this register nor flags nor memory, so it
 * cannot fault. -1: it is another instruction, writes the stack or the frame pointer (from which a
 * handler of a signal may find callers), or does not fit. */
int isa_brief_overwritten(const uint8_t *bytes, size_t size);

#endif
