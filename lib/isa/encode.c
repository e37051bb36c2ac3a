/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Instructions from mnemonics and registers, by Zydis' encoder. */
#include <Zydis/Zydis.h>
#include <string.h>

#include "isa/isa.h"

static ZydisRegister zydis_register(const struct insn_operand *o)
{
	static const ZydisRegisterClass by_bits[] = {ZYDIS_REGCLASS_GPR8, ZYDIS_REGCLASS_GPR16,
		ZYDIS_REGCLASS_GPR32, ZYDIS_REGCLASS_GPR64};
	ZydisRegisterClass class;
	unsigned id;

	switch (o->kind) {
	case OPERAND_GENERAL:
		class = by_bits[o->bits == 8 ? 0 : o->bits == 16 ? 1 : o->bits == 32 ? 2 : 3];
		id = o->reg - REG_GENERAL;
		/* After al, cl, dl and bl come the high bytes. */
		if (o->bits == 8 && id >= 4)
			id += 4;
		return ZydisRegisterEncode(class, (ZyanU8)id);
	case OPERAND_VECTOR:
		class = o->bits == 512   ? ZYDIS_REGCLASS_ZMM
			: o->bits == 256 ? ZYDIS_REGCLASS_YMM
					 : ZYDIS_REGCLASS_XMM;
		return ZydisRegisterEncode(class, (ZyanU8)(o->reg - REG_VECTOR));
	case OPERAND_MASK:
		return ZydisRegisterEncode(ZYDIS_REGCLASS_MASK, (ZyanU8)(o->reg - REG_MASK));
	case OPERAND_MMX:
		return ZydisRegisterEncode(ZYDIS_REGCLASS_MMX, (ZyanU8)(o->reg - REG_X87));
	default:
		return ZYDIS_REGISTER_NONE;
	}
}

size_t isa_encode(unsigned mnemonic, const struct insn_operand *operands, size_t count,
	int64_t immediate, uint8_t bytes[INSN_LENGTH_MAX])
{
	ZydisEncoderRequest request;
	ZyanUSize length = INSN_LENGTH_MAX;

	if (count > ZYDIS_ENCODER_MAX_OPERANDS || mnemonic > ZYDIS_MNEMONIC_MAX_VALUE)
		return 0;
	memset(&request, 0, sizeof(request));
	request.machine_mode = ZYDIS_MACHINE_MODE_LONG_64;
	request.mnemonic = (ZydisMnemonic)mnemonic;
	request.operand_count = (ZyanU8)count;
	for (size_t i = 0; i < count; i++) {
		if (operands[i].kind == OPERAND_IMMEDIATE) {
			request.operands[i].type = ZYDIS_OPERAND_TYPE_IMMEDIATE;
			request.operands[i].imm.s = immediate;
			continue;
		}
		request.operands[i].type = ZYDIS_OPERAND_TYPE_REGISTER;
		request.operands[i].reg.value = zydis_register(&operands[i]);
		if (request.operands[i].reg.value == ZYDIS_REGISTER_NONE)
			return 0;
	}
	return ZYAN_SUCCESS(ZydisEncoderEncodeInstruction(&request, bytes, &length)) ? length : 0;
}
