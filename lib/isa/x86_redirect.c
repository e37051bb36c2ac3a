/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "isa/redirect.h"
#include "isa/x86.h"

#define MODRM_REG      0x38
#define MODRM_RELATIVE 5 /* mod 0, rm 5: the program counter and four bytes */

/* Instructions of these categories depend on more than registers, flags and one operand. */
static const uint8_t refused_categories[] = {ZYDIS_CATEGORY_CALL, ZYDIS_CATEGORY_RET,
	ZYDIS_CATEGORY_COND_BR, ZYDIS_CATEGORY_UNCOND_BR, ZYDIS_CATEGORY_PUSH, ZYDIS_CATEGORY_POP,
	ZYDIS_CATEGORY_SYSCALL, ZYDIS_CATEGORY_SYSRET, ZYDIS_CATEGORY_INTERRUPT, ZYDIS_CATEGORY_IO,
	ZYDIS_CATEGORY_IOSTRINGOP, ZYDIS_CATEGORY_STRINGOP, ZYDIS_CATEGORY_SYSTEM,
	ZYDIS_CATEGORY_XSAVE, ZYDIS_CATEGORY_XSAVEOPT, ZYDIS_CATEGORY_AVX2GATHER,
	ZYDIS_CATEGORY_GATHER, ZYDIS_CATEGORY_SCATTER, ZYDIS_CATEGORY_CET, ZYDIS_CATEGORY_PKU,
	ZYDIS_CATEGORY_RDWRFSGS, ZYDIS_CATEGORY_SEGOP, ZYDIS_CATEGORY_SGX, ZYDIS_CATEGORY_VTX,
	ZYDIS_CATEGORY_AMX_TILE, ZYDIS_CATEGORY_ENQCMD, ZYDIS_CATEGORY_MOVDIR,
	ZYDIS_CATEGORY_CLZERO, ZYDIS_CATEGORY_WAITPKG, ZYDIS_CATEGORY_UINTR,
	ZYDIS_CATEGORY_KEYLOCKER, ZYDIS_CATEGORY_KEYLOCKER_WIDE, ZYDIS_CATEGORY_SERIALIZE,
	ZYDIS_CATEGORY_PT, ZYDIS_CATEGORY_INVALID, ZYDIS_CATEGORY_PADLOCK, ZYDIS_CATEGORY_XOP};

/* Transactions; what stores addresses of code and data; cpuid, which stops virtual machines. */
static const uint16_t refused_mnemonics[] = {ZYDIS_MNEMONIC_XBEGIN, ZYDIS_MNEMONIC_XEND,
	ZYDIS_MNEMONIC_XABORT, ZYDIS_MNEMONIC_XTEST, ZYDIS_MNEMONIC_FNSTENV, ZYDIS_MNEMONIC_FNSAVE,
	ZYDIS_MNEMONIC_FXSAVE, ZYDIS_MNEMONIC_FXSAVE64, ZYDIS_MNEMONIC_FXRSTOR,
	ZYDIS_MNEMONIC_FXRSTOR64, ZYDIS_MNEMONIC_CPUID, ZYDIS_MNEMONIC_LEAVE, ZYDIS_MNEMONIC_ENTER,
	ZYDIS_MNEMONIC_LEA, ZYDIS_MNEMONIC_XLAT, ZYDIS_MNEMONIC_MASKMOVQ, ZYDIS_MNEMONIC_MASKMOVDQU,
	ZYDIS_MNEMONIC_VMASKMOVDQU, ZYDIS_MNEMONIC_MONITOR, ZYDIS_MNEMONIC_MONITORX,
	ZYDIS_MNEMONIC_MWAIT, ZYDIS_MNEMONIC_MWAITX, ZYDIS_MNEMONIC_SLDT, ZYDIS_MNEMONIC_STR,
	ZYDIS_MNEMONIC_SGDT, ZYDIS_MNEMONIC_SIDT, ZYDIS_MNEMONIC_SMSW, ZYDIS_MNEMONIC_LAR,
	ZYDIS_MNEMONIC_LSL, ZYDIS_MNEMONIC_VERR, ZYDIS_MNEMONIC_VERW, ZYDIS_MNEMONIC_UD0,
	ZYDIS_MNEMONIC_UD1, ZYDIS_MNEMONIC_UD2, ZYDIS_MNEMONIC_INT3, ZYDIS_MNEMONIC_HLT,
	ZYDIS_MNEMONIC_RDPKRU, ZYDIS_MNEMONIC_WRPKRU, ZYDIS_MNEMONIC_LLWPCB, ZYDIS_MNEMONIC_SLWPCB,
	ZYDIS_MNEMONIC_RDPRU, ZYDIS_MNEMONIC_SKINIT, ZYDIS_MNEMONIC_PCONFIG};

static const uint16_t unknown_mnemonics[] = {ZYDIS_MNEMONIC_RDTSC, ZYDIS_MNEMONIC_RDTSCP,
	ZYDIS_MNEMONIC_RDRAND, ZYDIS_MNEMONIC_RDSEED, ZYDIS_MNEMONIC_RDPID, ZYDIS_MNEMONIC_RDPMC};

static bool among_mnemonics(unsigned mnemonic, const uint16_t *list, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (list[i] == mnemonic)
			return true;
	return false;
}

/* Memory that is not what ModRM names. */
static bool has_other_memory(const ZydisDecodedInstruction *z, const ZydisDecodedOperand *o)
{
	for (unsigned i = 0; i < z->operand_count; i++)
		if (o[i].type == ZYDIS_OPERAND_TYPE_MEMORY &&
			o[i].encoding != ZYDIS_OPERAND_ENCODING_MODRM_RM)
			return true;
	return false;
}

/* Bit tests with a register address bits beyond their operand. */
static bool reaches_beyond(const ZydisDecodedInstruction *z, const ZydisDecodedOperand *o)
{
	return (z->mnemonic == ZYDIS_MNEMONIC_BT || z->mnemonic == ZYDIS_MNEMONIC_BTS ||
		       z->mnemonic == ZYDIS_MNEMONIC_BTR || z->mnemonic == ZYDIS_MNEMONIC_BTC) &&
	       o[0].type == ZYDIS_OPERAND_TYPE_MEMORY && o[1].type == ZYDIS_OPERAND_TYPE_REGISTER;
}

static bool must_refuse(
	const ZydisDecodedInstruction *z, const ZydisDecodedOperand *o, const struct insn *insn)
{
	if (memchr(refused_categories, (int)z->meta.category, sizeof(refused_categories)) ||
		among_mnemonics(z->mnemonic, refused_mnemonics, COUNT(refused_mnemonics)))
		return !among_mnemonics(z->mnemonic, unknown_mnemonics, COUNT(unknown_mnemonics));
	return insn->classes & (INSN_PRIVILEGED | INSN_SEGMENT | INSN_SYSCALL | INSN_BRANCH) ||
	       (!(insn->classes & INSN_X87) && /* whose control words are among these */
		       insn_registers_have(&insn->writes, REG_SYSTEM)) ||
	       has_other_memory(z, o) || reaches_beyond(z, o);
}

static uint8_t state_of(const ZydisDecodedInstruction *z, const struct insn *insn)
{
	uint8_t state = 0;

	if (insn->classes & INSN_X87 || insn_registers_have(&insn->reads, REG_X87_STATE) ||
		insn_registers_have(&insn->writes, REG_X87_STATE))
		state |= STATE_X87;
	for (unsigned reg = REG_X87; reg < REG_X87 + 8; reg++)
		if (insn_registers_have(&insn->reads, reg) ||
			insn_registers_have(&insn->writes, reg))
			state |= STATE_X87;
	if (insn->classes & INSN_VECTOR || z->mnemonic == ZYDIS_MNEMONIC_VZEROUPPER ||
		z->mnemonic == ZYDIS_MNEMONIC_VZEROALL || z->meta.category == ZYDIS_CATEGORY_KMASK)
		state |= STATE_VECTOR;
	for (unsigned reg = REG_VECTOR; reg < REG_X87; reg++)
		if (insn_registers_have(&insn->reads, reg) ||
			insn_registers_have(&insn->writes, reg))
			state |= STATE_VECTOR;
	if (insn_registers_have(&insn->reads, REG_MXCSR) ||
		insn_registers_have(&insn->writes, REG_MXCSR))
		state |= STATE_VECTOR;
	return state;
}

/* Without prefixes that change its address; ModRM, SIB and displacement become a relative one. */
static bool rewrite(const ZydisDecodedInstruction *z, const uint8_t *bytes, struct isa_redirect *r)
{
	unsigned modrm = z->raw.modrm.offset,
		 behind = modrm + 1 + (z->raw.sib.offset ? 1 : 0) + z->raw.disp.size / 8u, n = 0;

	for (unsigned i = 0; i < modrm; i++)
		if (i >= z->raw.prefix_count ||
			(bytes[i] != 0x64 && bytes[i] != 0x65 && bytes[i] != 0x67))
			r->bytes[n++] = bytes[i];
	r->bytes[n++] = (uint8_t)((bytes[modrm] & MODRM_REG) | MODRM_RELATIVE);
	if (n + 4u + (z->length - behind) > 15)
		return false;
	r->displacement = (uint8_t)n;
	n += 4;
	for (unsigned i = behind; i < z->length; i++)
		r->bytes[n++] = bytes[i];
	r->length = (uint8_t)n;
	return true;
}

static bool has_memory(const ZydisDecodedInstruction *z)
{
	return z->attributes & ZYDIS_ATTRIB_HAS_MODRM && z->raw.modrm.mod != 3 &&
	       z->meta.category != ZYDIS_CATEGORY_INVALID;
}

bool isa_redirect(const uint8_t *bytes, size_t size, uint64_t address, struct insn *insn,
	struct isa_redirect *r)
{
	ZydisDecodedInstruction z;
	ZydisDecodedOperand o[ZYDIS_MAX_OPERAND_COUNT];

	memset(r, 0, sizeof(*r));
	memset(insn, 0, sizeof(*insn));
	insn->address = address;
	if (x86_decode_whole(bytes, size, &z, o))
		return false;
	x86_describe(&z, o, insn);
	r->opcode = z.opcode;
	r->narrow = z.address_width == 32;
	r->string = z.meta.category == ZYDIS_CATEGORY_STRINGOP;
	r->unknown = among_mnemonics(z.mnemonic, unknown_mnemonics, COUNT(unknown_mnemonics));
	if (insn->memories && insn->memory[0].segment)
		r->segment = z.attributes & ZYDIS_ATTRIB_HAS_SEGMENT_FS ? 0x64 : 0x65;
	r->refused = must_refuse(&z, o, insn);
	r->state = state_of(&z, insn);
	memcpy(r->bytes, bytes, z.length);
	r->length = z.length;
	if (!r->refused && has_memory(&z) && !rewrite(&z, bytes, r))
		r->refused = true;
	return true;
}
