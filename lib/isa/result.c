/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What an instruction has values of. */
#include <string.h>

#include "isa/isa.h"

/* Its text says which value that is. */
static bool is_constant(const struct insn *i)
{
	if (i->classes & INSN_ZEROES || (i->classes & INSN_ADDRESS && i->memory[0].absolute))
		return true;
	return i->has_immediate && !i->memories &&
	       strncmp(isa_mnemonic(ISA_X86_64, i->mnemonic), "mov", 3) == 0;
}

/* Not written in its text: of multiplications and divisions. */
static bool find_implicit(const struct insn *i, struct insn_operand *result)
{
	uint32_t sets = (uint32_t)i->writes.word[0] & 0xffff & ~(1u << REG_RSP);

	for (unsigned k = 0; k < i->memories; k++)
		if (i->memory[k].writes)
			return false;
	if (!sets)
		return false;
	*result = (struct insn_operand){.kind = OPERAND_GENERAL,
		.reg = (uint8_t)__builtin_ctz(sets),
		.writes = true,
		.bits = i->operands && i->operand[0].bits >= 16 ? i->operand[0].bits : 64};
	return true;
}

bool isa_result(const struct insn *i, struct insn_operand *result)
{
	const struct insn_operand *o = NULL;

	if (is_constant(i))
		return false;
	for (unsigned k = 0; !o && k < i->operands; k++)
		if (i->operand[k].writes && (i->operand[k].kind == OPERAND_GENERAL ||
						    i->operand[k].kind == OPERAND_VECTOR))
			o = &i->operand[k];
	if (!o)
		return find_implicit(i, result);
	if (o->reg == REG_RSP && o->kind == OPERAND_GENERAL)
		return false;
	*result = *o;
	return true;
}

/* Mnemonics end with it. */
unsigned isa_element(const struct insn *i)
{
	const char *name = isa_mnemonic(ISA_X86_64, i->mnemonic);
	size_t length = strlen(name);

	if (!(i->classes & INSN_VECTOR) || length < 2)
		return 0;
	name += length - 2;
	if (strcmp(name, "ss") == 0 || strcmp(name, "ps") == 0)
		return 4;
	return strcmp(name, "sd") == 0 || strcmp(name, "pd") == 0 ? 8 : 0;
}
