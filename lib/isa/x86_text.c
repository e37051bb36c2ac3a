/* SPDX-License-Identifier: GPL-2.0-or-later */
/* x86-64 instructions and registers as text, by Zydis' formatter. */
#include <Zycore/Format.h>
#include <stdio.h>

#include "isa/x86.h"

/* Assemblers' names for mnemonics that Zydis names differently. */
static const char *text_plain_name(ZydisMnemonic mnemonic)
{
	static const char *const names[ZYDIS_MNEMONIC_MAX_VALUE + 1] = {
		[ZYDIS_MNEMONIC_JZ] = "je",
		[ZYDIS_MNEMONIC_JNZ] = "jne",
		[ZYDIS_MNEMONIC_JNB] = "jae",
		[ZYDIS_MNEMONIC_JNBE] = "ja",
		[ZYDIS_MNEMONIC_JNL] = "jge",
		[ZYDIS_MNEMONIC_JNLE] = "jg",
		[ZYDIS_MNEMONIC_SETZ] = "sete",
		[ZYDIS_MNEMONIC_SETNZ] = "setne",
		[ZYDIS_MNEMONIC_SETNB] = "setae",
		[ZYDIS_MNEMONIC_SETNBE] = "seta",
		[ZYDIS_MNEMONIC_SETNL] = "setge",
		[ZYDIS_MNEMONIC_SETNLE] = "setg",
		[ZYDIS_MNEMONIC_CMOVZ] = "cmove",
		[ZYDIS_MNEMONIC_CMOVNZ] = "cmovne",
		[ZYDIS_MNEMONIC_CMOVNB] = "cmovae",
		[ZYDIS_MNEMONIC_CMOVNBE] = "cmova",
		[ZYDIS_MNEMONIC_CMOVNL] = "cmovge",
		[ZYDIS_MNEMONIC_CMOVNLE] = "cmovg",
	};

	return names[mnemonic] ?: ZydisMnemonicGetString(mnemonic);
}

static char size_letter(unsigned bits)
{
	return bits == 8 ? 'b' : bits == 16 ? 'w' : bits == 32 ? 'l' : bits == 64 ? 'q' : '\0';
}

/* AT&T's names where Intel's syntax has operands for the same; NULL: no such. */
static const char *att_name(const ZydisDecodedInstruction *z, const ZydisDecodedOperand *o,
	char name[INSN_MNEMONIC_MAX])
{
	switch (z->mnemonic) {
	case ZYDIS_MNEMONIC_CBW:
		return "cbtw";
	case ZYDIS_MNEMONIC_CWDE:
		return "cwtl";
	case ZYDIS_MNEMONIC_CDQE:
		return "cltq";
	case ZYDIS_MNEMONIC_CWD:
		return "cwtd";
	case ZYDIS_MNEMONIC_CDQ:
		return "cltd";
	case ZYDIS_MNEMONIC_CQO:
		return "cqto";
	case ZYDIS_MNEMONIC_MOVSXD:
	case ZYDIS_MNEMONIC_MOVSX:
	case ZYDIS_MNEMONIC_MOVZX:
		snprintf(name, INSN_MNEMONIC_MAX, "mov%c%c%c",
			z->mnemonic == ZYDIS_MNEMONIC_MOVZX ? 'z' : 's', size_letter(o[1].size),
			size_letter(o[0].size));
		return name;
	default:
		return NULL;
	}
}

/* The size, if no register gives it. */
static char att_suffix(const ZydisDecodedInstruction *z, const ZydisDecodedOperand *o)
{
	const ZydisDecodedOperand *memory = NULL;

	if (z->meta.category == ZYDIS_CATEGORY_WIDENOP)
		return size_letter(o[0].size);
	if (z->meta.branch_type != ZYDIS_BRANCH_TYPE_NONE || z->avx.vector_length ||
		z->meta.category == ZYDIS_CATEGORY_PUSH || z->meta.category == ZYDIS_CATEGORY_POP ||
		z->meta.category == ZYDIS_CATEGORY_PREFETCH ||
		z->meta.category == ZYDIS_CATEGORY_SETCC)
		return '\0';
	for (unsigned i = 0; i < z->operand_count_visible; i++) {
		if (o[i].type == ZYDIS_OPERAND_TYPE_MEMORY)
			memory = &o[i];
		else if (o[i].type == ZYDIS_OPERAND_TYPE_REGISTER &&
			 z->meta.category != ZYDIS_CATEGORY_SHIFT &&
			 z->meta.category != ZYDIS_CATEGORY_ROTATE &&
			 z->meta.category != ZYDIS_CATEGORY_CONVERT)
			return '\0';
	}
	if (!memory)
		return '\0';
	if (x86_is_float(memory))
		return z->meta.category != ZYDIS_CATEGORY_X87_ALU ? '\0'
		       : memory->size == 32                       ? 's'
		       : memory->size == 64                       ? 'l'
								  : 't';
	return size_letter(memory->size);
}

static ZyanStatus print_mnemonic(const ZydisFormatter *formatter, ZydisFormatterBuffer *buffer,
	ZydisFormatterContext *context)
{
	bool att = formatter->style == ZYDIS_FORMATTER_STYLE_ATT;
	char name[INSN_MNEMONIC_MAX], full[INSN_MNEMONIC_MAX + 1];
	const char *special = att ? att_name(context->instruction, context->operands, name) : NULL;
	char suffix = att && !special ? att_suffix(context->instruction, context->operands) : '\0';
	ZyanString *string;

	snprintf(full, sizeof(full), "%s%c",
		special ? special : text_plain_name(context->instruction->mnemonic), suffix);
	ZYAN_CHECK(ZydisFormatterBufferAppend(buffer, ZYDIS_TOKEN_MNEMONIC));
	ZYAN_CHECK(ZydisFormatterBufferGetString(buffer, &string));
	return ZyanStringAppendFormat(string, "%s", full);
}

int x86_text(const uint8_t *bytes, size_t size, uint64_t address, enum isa_style style, char *text)
{
	ZydisDecodedInstruction z;
	ZydisDecodedOperand o[ZYDIS_MAX_OPERAND_COUNT];
	ZydisFormatter formatter;
	ZydisFormatterFunc mnemonic = &print_mnemonic;

	if (x86_decode_whole(bytes, size, &z, o))
		return -1;
	ZydisFormatterInit(&formatter,
		style == ISA_INTEL ? ZYDIS_FORMATTER_STYLE_INTEL : ZYDIS_FORMATTER_STYLE_ATT);
	ZydisFormatterSetHook(
		&formatter, ZYDIS_FORMATTER_FUNC_PRINT_MNEMONIC, (const void **)&mnemonic);
	ZydisFormatterSetProperty(
		&formatter, ZYDIS_FORMATTER_PROP_ADDR_PADDING_ABSOLUTE, ZYDIS_PADDING_DISABLED);
	ZydisFormatterSetProperty(
		&formatter, ZYDIS_FORMATTER_PROP_DISP_PADDING, ZYDIS_PADDING_DISABLED);
	ZydisFormatterSetProperty(
		&formatter, ZYDIS_FORMATTER_PROP_IMM_PADDING, ZYDIS_PADDING_DISABLED);
	ZydisFormatterSetProperty(&formatter, ZYDIS_FORMATTER_PROP_FORCE_RELATIVE_RIPREL, 1);
	ZydisFormatterSetProperty(&formatter, ZYDIS_FORMATTER_PROP_HEX_UPPERCASE, 0);
	ZydisFormatterSetProperty(&formatter, ZYDIS_FORMATTER_PROP_FORCE_SIZE, style == ISA_INTEL);
	if (z.meta.category == ZYDIS_CATEGORY_WIDENOP)
		z.operand_count_visible = 1; /* nopl (%rax): assemblers do not accept its register
					      */
	return ZYAN_SUCCESS(ZydisFormatterFormatInstruction(&formatter, &z, o,
		       z.operand_count_visible, text, INSN_TEXT_MAX, address, NULL))
		       ? 0
		       : -1;
}

const char *x86_mnemonic(unsigned mnemonic)
{
	return mnemonic && mnemonic <= ZYDIS_MNEMONIC_MAX_VALUE
		       ? text_plain_name((ZydisMnemonic)mnemonic)
		       : NULL;
}

const char *x86_register_name(unsigned reg)
{
	static const char *const rest[] = {"cf", "pf", "af", "zf", "sf", "of", "df", "other flags",
		"mxcsr", "x87 state", "fs/gs base", "system"};
	static const struct {
		unsigned first, count;
		ZydisRegisterClass class;
	} classes[] = {
		{REG_GENERAL, 16, ZYDIS_REGCLASS_GPR64},
		{REG_VECTOR, 32, ZYDIS_REGCLASS_ZMM},
		{REG_MASK, 8, ZYDIS_REGCLASS_MASK},
		{REG_X87, 8, ZYDIS_REGCLASS_X87},
	};

	for (size_t i = 0; i < COUNT(classes); i++)
		if (reg - classes[i].first < classes[i].count)
			return ZydisRegisterGetString(ZydisRegisterEncode(
				classes[i].class, (ZyanU8)(reg - classes[i].first)));
	return reg >= REG_CARRY && reg < REG_COUNT ? rest[reg - REG_CARRY] : NULL;
}

int x86_decode_whole(const uint8_t *bytes, size_t size, ZydisDecodedInstruction *z,
	ZydisDecodedOperand *operands)
{
	ZydisDecoder decoder;

	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	return ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, bytes, size, z, operands)) ? 0 : -1;
}
