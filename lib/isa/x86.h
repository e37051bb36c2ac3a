/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by the files of x86-64. */
#ifndef ISA_X86_H
#define ISA_X86_H

#include <Zydis/Zydis.h>

#include "isa/private.h"

#define COUNT(a) (sizeof(a) / sizeof(*(a)))

/* 0, or -1 for invalid instructions. operands: ZYDIS_MAX_OPERAND_COUNT. */
int x86_decode_whole(const uint8_t *bytes, size_t size, ZydisDecodedInstruction *z,
	ZydisDecodedOperand *operands);

/* insn is zeroed except for its address. */
void x86_describe(
	const ZydisDecodedInstruction *z, const ZydisDecodedOperand *operands, struct insn *insn);

static inline bool x86_is_float(const ZydisDecodedOperand *o)
{
	return o->element_type >= ZYDIS_ELEMENT_TYPE_FLOAT16 &&
	       o->element_type <= ZYDIS_ELEMENT_TYPE_FLOAT80;
}

/* x86_text.c, of struct isa_ops. */
int x86_text(const uint8_t *bytes, size_t size, uint64_t address, enum isa_style style, char *text);
const char *x86_mnemonic(unsigned mnemonic);
const char *x86_register_name(unsigned reg);

#endif
