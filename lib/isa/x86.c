/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * x86-64 by Zydis, which is visible here, in x86_text.c and encode.c only. The class of an
 * instruction comes from tables over Zydis' categories and mnemonics; operands come from its
 * decoded operands, hidden ones included.
 */
#include <stdio.h>
#include <string.h>

#include "isa/x86.h"

struct class_row {
	unsigned key; /* of Zydis */
	uint32_t classes;
};

static const struct class_row by_category[] = {
	{ZYDIS_CATEGORY_CALL, INSN_BRANCH | INSN_CALL | INSN_STACK},
	{ZYDIS_CATEGORY_RET, INSN_BRANCH | INSN_RETURN | INSN_STACK},
	{ZYDIS_CATEGORY_COND_BR, INSN_BRANCH | INSN_CONDITIONAL},
	{ZYDIS_CATEGORY_UNCOND_BR, INSN_BRANCH},
	{ZYDIS_CATEGORY_PUSH, INSN_STACK},
	{ZYDIS_CATEGORY_POP, INSN_STACK},
	{ZYDIS_CATEGORY_NOP, INSN_NOP},
	{ZYDIS_CATEGORY_WIDENOP, INSN_NOP},
	{ZYDIS_CATEGORY_PREFETCH, INSN_PREFETCH},
	{ZYDIS_CATEGORY_PREFETCHWT1, INSN_PREFETCH},
	{ZYDIS_CATEGORY_SYSCALL, INSN_SYSCALL},
	{ZYDIS_CATEGORY_SYSRET, INSN_BRANCH | INSN_RETURN | INSN_PRIVILEGED},
	{ZYDIS_CATEGORY_SERIALIZE, INSN_SERIALISING},
	{ZYDIS_CATEGORY_X87_ALU, INSN_X87},
	{ZYDIS_CATEGORY_FCMOV, INSN_X87},
	{ZYDIS_CATEGORY_MMX, INSN_X87},
	{ZYDIS_CATEGORY_AMD3DNOW, INSN_X87},
	{ZYDIS_CATEGORY_AVX2GATHER, INSN_GATHER},
	{ZYDIS_CATEGORY_GATHER, INSN_GATHER},
	{ZYDIS_CATEGORY_SCATTER, INSN_GATHER},
};

/* Classes that the category does not determine. */
static const struct class_row by_mnemonic[] = {
	{ZYDIS_MNEMONIC_HLT, INSN_STOPS | INSN_PRIVILEGED},
	{ZYDIS_MNEMONIC_UD0, INSN_STOPS},
	{ZYDIS_MNEMONIC_UD1, INSN_STOPS},
	{ZYDIS_MNEMONIC_UD2, INSN_STOPS},
	{ZYDIS_MNEMONIC_INT3, INSN_STOPS},
	{ZYDIS_MNEMONIC_INT, INSN_SYSCALL},
	{ZYDIS_MNEMONIC_IRET, INSN_BRANCH | INSN_RETURN},
	{ZYDIS_MNEMONIC_IRETD, INSN_BRANCH | INSN_RETURN},
	{ZYDIS_MNEMONIC_IRETQ, INSN_BRANCH | INSN_RETURN},
	{ZYDIS_MNEMONIC_XABORT, 0},
	{ZYDIS_MNEMONIC_ENDBR64, INSN_NOP},
	{ZYDIS_MNEMONIC_ENDBR32, INSN_NOP},
	{ZYDIS_MNEMONIC_PAUSE, INSN_NOP},
	{ZYDIS_MNEMONIC_LEAVE, INSN_STACK},
	{ZYDIS_MNEMONIC_ENTER, INSN_STACK},
	{ZYDIS_MNEMONIC_LEA, INSN_ADDRESS},
	{ZYDIS_MNEMONIC_WRFSBASE, INSN_SEGMENT},
	{ZYDIS_MNEMONIC_WRGSBASE, INSN_SEGMENT},
	{ZYDIS_MNEMONIC_MFENCE, INSN_FENCE},
	{ZYDIS_MNEMONIC_LFENCE, INSN_FENCE},
	{ZYDIS_MNEMONIC_SFENCE, INSN_FENCE},
	{ZYDIS_MNEMONIC_CPUID, INSN_SERIALISING},
	{ZYDIS_MNEMONIC_IMUL, INSN_MULTIPLY},
	{ZYDIS_MNEMONIC_MUL, INSN_MULTIPLY},
	{ZYDIS_MNEMONIC_MULX, INSN_MULTIPLY},
	{ZYDIS_MNEMONIC_DIV, INSN_DIVIDE},
	{ZYDIS_MNEMONIC_IDIV, INSN_DIVIDE},
};

/* Classes by family: the beginning of the name, after an AVX 'v'. */
struct prefix_row {
	const char *prefix;
	uint32_t classes;
	bool fp_only; /* of those on floating-point numbers */
};

static const struct prefix_row by_prefix[] = {
	{"div", INSN_DIVIDE, true},
	{"sqrt", INSN_DIVIDE, true},
	{"fdiv", INSN_DIVIDE, false},
	{"fidiv", INSN_DIVIDE, false},
	{"fsqrt", INSN_DIVIDE, false},
	{"mul", INSN_MULTIPLY, true},
	{"fmul", INSN_MULTIPLY, false},
	{"fimul", INSN_MULTIPLY, false},
	{"pmul", INSN_MULTIPLY, false},
	{"pmadd", INSN_MULTIPLY, false},
	{"fmadd", INSN_MULTIPLY, true},
	{"fmsub", INSN_MULTIPLY, true},
	{"fnmadd", INSN_MULTIPLY, true},
	{"fnmsub", INSN_MULTIPLY, true},
};

/* Legacy SSE scalars that leave the rest of the register as it was, though they do not read it. */
static const ZydisMnemonic merging[] = {ZYDIS_MNEMONIC_CVTSI2SD, ZYDIS_MNEMONIC_CVTSI2SS,
	ZYDIS_MNEMONIC_CVTSD2SS, ZYDIS_MNEMONIC_CVTSS2SD, ZYDIS_MNEMONIC_SQRTSD,
	ZYDIS_MNEMONIC_SQRTSS, ZYDIS_MNEMONIC_RCPSS, ZYDIS_MNEMONIC_RSQRTSS, ZYDIS_MNEMONIC_ROUNDSD,
	ZYDIS_MNEMONIC_ROUNDSS, ZYDIS_MNEMONIC_MOVHPS, ZYDIS_MNEMONIC_MOVHPD, ZYDIS_MNEMONIC_MOVLPS,
	ZYDIS_MNEMONIC_MOVLPD, ZYDIS_MNEMONIC_MOVHLPS, ZYDIS_MNEMONIC_MOVLHPS};

/* Zero when both sources are the same register. */
static const ZydisMnemonic zeroing[] = {ZYDIS_MNEMONIC_XOR, ZYDIS_MNEMONIC_SUB, ZYDIS_MNEMONIC_PXOR,
	ZYDIS_MNEMONIC_XORPS, ZYDIS_MNEMONIC_XORPD, ZYDIS_MNEMONIC_VPXOR, ZYDIS_MNEMONIC_VPXORD,
	ZYDIS_MNEMONIC_VPXORQ, ZYDIS_MNEMONIC_VXORPS, ZYDIS_MNEMONIC_VXORPD, ZYDIS_MNEMONIC_PSUBB,
	ZYDIS_MNEMONIC_PSUBW, ZYDIS_MNEMONIC_PSUBD, ZYDIS_MNEMONIC_PSUBQ, ZYDIS_MNEMONIC_VPSUBB,
	ZYDIS_MNEMONIC_VPSUBW, ZYDIS_MNEMONIC_VPSUBD, ZYDIS_MNEMONIC_VPSUBQ, ZYDIS_MNEMONIC_PCMPGTB,
	ZYDIS_MNEMONIC_PCMPGTW, ZYDIS_MNEMONIC_PCMPGTD, ZYDIS_MNEMONIC_PCMPGTQ};

/* Copies of whole registers: candidates for elimination when both operands are registers. */
static const ZydisMnemonic moving[] = {ZYDIS_MNEMONIC_MOV, ZYDIS_MNEMONIC_MOVAPS,
	ZYDIS_MNEMONIC_MOVAPD, ZYDIS_MNEMONIC_MOVUPS, ZYDIS_MNEMONIC_MOVUPD, ZYDIS_MNEMONIC_MOVDQA,
	ZYDIS_MNEMONIC_MOVDQU, ZYDIS_MNEMONIC_VMOVAPS, ZYDIS_MNEMONIC_VMOVAPD,
	ZYDIS_MNEMONIC_VMOVUPS, ZYDIS_MNEMONIC_VMOVUPD, ZYDIS_MNEMONIC_VMOVDQA,
	ZYDIS_MNEMONIC_VMOVDQU};

static bool among(ZydisMnemonic mnemonic, const ZydisMnemonic *list, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (list[i] == mnemonic)
			return true;
	return false;
}

static unsigned register_number(ZydisRegister reg)
{
	static const uint8_t first[ZYDIS_REGCLASS_MAX_VALUE + 1] = {
		[ZYDIS_REGCLASS_GPR64] = REG_GENERAL + 1,
		[ZYDIS_REGCLASS_ZMM] = REG_VECTOR + 1,
		[ZYDIS_REGCLASS_MASK] = REG_MASK + 1,
		[ZYDIS_REGCLASS_X87] = REG_X87 + 1,
		[ZYDIS_REGCLASS_MMX] = REG_X87 + 1,
	};
	ZydisRegister whole = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, reg);
	ZydisRegisterClass class;

	if (whole == ZYDIS_REGISTER_NONE)
		whole = reg;
	class = ZydisRegisterGetClass(whole);
	if (first[class])
		return first[class] - 1u + (unsigned)ZydisRegisterGetId(whole);
	if (whole == ZYDIS_REGISTER_MXCSR)
		return REG_MXCSR;
	if (reg == ZYDIS_REGISTER_FS || reg == ZYDIS_REGISTER_GS)
		return REG_SEGMENT_BASE;
	if (class == ZYDIS_REGCLASS_SEGMENT || class == ZYDIS_REGCLASS_IP ||
		class == ZYDIS_REGCLASS_FLAGS || whole == ZYDIS_REGISTER_NONE)
		return REG_NONE; /* flags come from their own masks */
	return REG_SYSTEM;
}

static bool is_vector(ZydisRegister reg)
{
	ZydisRegisterClass class = ZydisRegisterGetClass(reg);

	return class == ZYDIS_REGCLASS_XMM || class == ZYDIS_REGCLASS_YMM ||
	       class == ZYDIS_REGCLASS_ZMM;
}

static void add_register(const ZydisDecodedInstruction *z, const ZydisDecodedOperand *o,
	struct insn *insn, bool merges_mask)
{
	unsigned reg = register_number(o->reg.value);
	ZydisRegisterClass class = ZydisRegisterGetClass(o->reg.value);

	if (o->encoding == ZYDIS_OPERAND_ENCODING_MASK && o->reg.value == ZYDIS_REGISTER_K0)
		return; /* no mask */
	if (o->actions & ZYDIS_OPERAND_ACTION_MASK_READ)
		insn_registers_add(&insn->reads, reg);
	if (o->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE && class == ZYDIS_REGCLASS_SEGMENT)
		insn->classes |= INSN_SEGMENT;
	if (o->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) {
		bool part = class == ZYDIS_REGCLASS_GPR8 || class == ZYDIS_REGCLASS_GPR16;

		insn_registers_add(&insn->writes, reg);
		if (part || o->actions & ZYDIS_OPERAND_ACTION_CONDWRITE ||
			(is_vector(o->reg.value) &&
				(merges_mask || among(z->mnemonic, merging, COUNT(merging)))))
			insn_registers_add(&insn->merges, reg);
	}
	if (is_vector(o->reg.value)) {
		unsigned used =
			o->element_count == 1 && o->element_size ? o->element_size : o->size;

		insn->classes |= INSN_VECTOR;
		if (used > insn->vector_bits)
			insn->vector_bits = (uint16_t)used;
	}
}

static void add_memory(const ZydisDecodedInstruction *z, const ZydisDecodedOperand *o,
	uint64_t address, struct insn *insn)
{
	bool touches = o->mem.type == ZYDIS_MEMOP_TYPE_MEM || o->mem.type == ZYDIS_MEMOP_TYPE_VSIB;
	bool nothing = insn->classes & (INSN_NOP | INSN_PREFETCH);
	struct insn_memory *m;

	insn_registers_add(&insn->reads, register_number(o->mem.base));
	insn_registers_add(&insn->reads, register_number(o->mem.index));
	if (o->mem.segment == ZYDIS_REGISTER_FS || o->mem.segment == ZYDIS_REGISTER_GS)
		insn_registers_add(&insn->reads, REG_SEGMENT_BASE);
	if (touches && !nothing) {
		if (o->actions & ZYDIS_OPERAND_ACTION_MASK_READ)
			insn->classes |= INSN_LOAD;
		if (o->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE)
			insn->classes |= INSN_STORE;
	}
	if (insn->memories == INSN_MEMORY_MAX) {
		insn->more_memory = true;
		return;
	}
	m = &insn->memory[insn->memories++];
	m->base = (uint8_t)register_number(o->mem.base);
	m->index = (uint8_t)register_number(o->mem.index);
	m->scale = o->mem.index == ZYDIS_REGISTER_NONE ? 0 : o->mem.scale;
	m->displacement = o->mem.disp.has_displacement ? o->mem.disp.value : 0;
	m->segment = o->mem.segment == ZYDIS_REGISTER_FS || o->mem.segment == ZYDIS_REGISTER_GS;
	m->size = o->size / 8;
	m->reads = touches && !nothing && o->actions & ZYDIS_OPERAND_ACTION_MASK_READ;
	m->writes = touches && !nothing && o->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE;
	m->absolute = o->mem.index == ZYDIS_REGISTER_NONE && !m->segment && m->base == REG_NONE;
	if (m->absolute) {
		m->address = (uint64_t)m->displacement;
		if (o->mem.base != ZYDIS_REGISTER_NONE) /* the program counter */
			m->address += address + z->length;
	}
}

static uint8_t encoding_of(const ZydisDecodedInstruction *z)
{
	switch (z->encoding) {
	case ZYDIS_INSTRUCTION_ENCODING_LEGACY:
		return ENCODING_PLAIN;
	case ZYDIS_INSTRUCTION_ENCODING_VEX:
		return ENCODING_VEX;
	case ZYDIS_INSTRUCTION_ENCODING_EVEX:
		return ENCODING_EVEX;
	default:
		return ENCODING_OTHER;
	}
}

static void add_flags(const ZydisDecodedInstruction *z, struct insn *insn)
{
	static const struct {
		uint32_t bit;
		uint8_t reg;
	} flags[] = {
		{ZYDIS_CPUFLAG_CF, REG_CARRY},
		{ZYDIS_CPUFLAG_PF, REG_PARITY},
		{ZYDIS_CPUFLAG_AF, REG_ADJUST},
		{ZYDIS_CPUFLAG_ZF, REG_ZERO},
		{ZYDIS_CPUFLAG_SF, REG_SIGN},
		{ZYDIS_CPUFLAG_OF, REG_OVERFLOW},
		{ZYDIS_CPUFLAG_DF, REG_DIRECTION},
		{ZYDIS_CPUFLAG_TF | ZYDIS_CPUFLAG_IF | ZYDIS_CPUFLAG_AC, REG_OTHER_FLAGS},
	};
	const ZydisAccessedFlags *f = z->cpu_flags;

	if (!f)
		return;
	for (size_t i = 0; i < COUNT(flags); i++) {
		if (f->tested & flags[i].bit)
			insn_registers_add(&insn->reads, flags[i].reg);
		if ((f->modified | f->set_0 | f->set_1 | f->undefined) & flags[i].bit)
			insn_registers_add(&insn->writes, flags[i].reg);
	}
}

static uint32_t x86_look_up(const struct class_row *rows, size_t count, unsigned key)
{
	uint32_t classes = 0;

	for (size_t i = 0; i < count; i++)
		if (rows[i].key == key)
			classes |= rows[i].classes;
	return classes;
}

static uint32_t look_up_name(ZydisMnemonic mnemonic, bool fp)
{
	const char *name = ZydisMnemonicGetString(mnemonic);
	uint32_t classes = x86_look_up(by_mnemonic, COUNT(by_mnemonic), mnemonic);

	if (!name)
		return classes;
	name += name[0] == 'v';
	for (size_t i = 0; i < COUNT(by_prefix); i++)
		if (strncmp(name, by_prefix[i].prefix, strlen(by_prefix[i].prefix)) == 0 &&
			(fp || !by_prefix[i].fp_only))
			classes |= by_prefix[i].classes;
	return classes;
}

#define KNOWN (1u << 31) /* no class: a table has it */

/* Tables are filled on first use: a concurrent second writer writes the same values. */
static uint32_t classes_by_name(const ZydisDecodedInstruction *z, bool fp)
{
	static uint32_t table[ZYDIS_MNEMONIC_MAX_VALUE + 1][2];
	uint32_t classes = __atomic_load_n(&table[z->mnemonic][fp], __ATOMIC_RELAXED);

	if (!classes) {
		classes = KNOWN | look_up_name(z->mnemonic, fp);
		__atomic_store_n(&table[z->mnemonic][fp], classes, __ATOMIC_RELAXED);
	}
	return classes & ~KNOWN;
}

static uint32_t classes_by_category(const ZydisDecodedInstruction *z)
{
	static uint32_t table[ZYDIS_CATEGORY_MAX_VALUE + 1];
	uint32_t classes;

	classes = __atomic_load_n(&table[z->meta.category], __ATOMIC_RELAXED);
	if (!classes) {
		classes = KNOWN | x86_look_up(by_category, COUNT(by_category), z->meta.category);
		__atomic_store_n(&table[z->meta.category], classes, __ATOMIC_RELAXED);
	}
	return classes & ~KNOWN;
}

/* Moves and bitwise operations have floating-point operands, too, but compute nothing. */
static bool x86_computes(const ZydisDecodedInstruction *z)
{
	switch (z->meta.category) {
	case ZYDIS_CATEGORY_DATAXFER:
	case ZYDIS_CATEGORY_LOGICAL_FP:
	case ZYDIS_CATEGORY_BROADCAST:
	case ZYDIS_CATEGORY_BLEND:
	case ZYDIS_CATEGORY_GATHER:
	case ZYDIS_CATEGORY_SCATTER:
	case ZYDIS_CATEGORY_AVX2GATHER:
	case ZYDIS_CATEGORY_COMPRESS:
	case ZYDIS_CATEGORY_EXPAND:
		return false;
	default:
		return true;
	}
}

static bool same_register(const ZydisDecodedOperand *a, const ZydisDecodedOperand *b)
{
	return a->type == ZYDIS_OPERAND_TYPE_REGISTER && b->type == ZYDIS_OPERAND_TYPE_REGISTER &&
	       a->reg.value == b->reg.value;
}

static void add_idioms(
	const ZydisDecodedInstruction *z, const ZydisDecodedOperand *o, struct insn *insn)
{
	unsigned n = z->operand_count_visible;

	if (n >= 2 && among(z->mnemonic, zeroing, COUNT(zeroing)) &&
		same_register(&o[n - 2], &o[n - 1]) && o[n - 1].size >= 32)
		insn->classes |= INSN_ZEROES;
	if (n == 2 && o[0].type == ZYDIS_OPERAND_TYPE_REGISTER &&
		o[1].type == ZYDIS_OPERAND_TYPE_REGISTER && o[0].size >= 32 &&
		register_number(o[0].reg.value) < REG_MASK &&
		register_number(o[1].reg.value) < REG_MASK) {
		if (among(z->mnemonic, moving, COUNT(moving)))
			insn->classes |= INSN_MOVE;
		else if (z->mnemonic == ZYDIS_MNEMONIC_MOVSD || z->mnemonic == ZYDIS_MNEMONIC_MOVSS)
			insn_registers_add(&insn->merges, register_number(o[0].reg.value));
	}
	/* movsd (%rdi),%xmm0 clears the rest of the register, but moves 64 bits */
	if (n == 2 && z->meta.category == ZYDIS_CATEGORY_DATAXFER && insn->classes & INSN_VECTOR)
		for (unsigned i = 0; i < n; i++)
			if (o[i].type == ZYDIS_OPERAND_TYPE_MEMORY && o[i].size < insn->vector_bits)
				insn->vector_bits = o[i].size;
}

static void note_operand(const ZydisDecodedOperand *o, struct insn *insn)
{
	static const uint8_t kinds[ZYDIS_REGCLASS_MAX_VALUE + 1] = {
		[ZYDIS_REGCLASS_GPR8] = OPERAND_GENERAL,
		[ZYDIS_REGCLASS_GPR16] = OPERAND_GENERAL,
		[ZYDIS_REGCLASS_GPR32] = OPERAND_GENERAL,
		[ZYDIS_REGCLASS_GPR64] = OPERAND_GENERAL,
		[ZYDIS_REGCLASS_XMM] = OPERAND_VECTOR,
		[ZYDIS_REGCLASS_YMM] = OPERAND_VECTOR,
		[ZYDIS_REGCLASS_ZMM] = OPERAND_VECTOR,
		[ZYDIS_REGCLASS_MASK] = OPERAND_MASK,
		[ZYDIS_REGCLASS_MMX] = OPERAND_MMX,
		[ZYDIS_REGCLASS_X87] = OPERAND_X87,
	};
	struct insn_operand *own = &insn->operand[insn->operands];

	if (o->visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN ||
		insn->operands == INSN_OPERANDS_MAX || o->encoding == ZYDIS_OPERAND_ENCODING_MASK)
		return;
	own->bits = o->size;
	own->reg = REG_NONE;
	own->reads = o->actions & ZYDIS_OPERAND_ACTION_MASK_READ;
	own->writes = o->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE;
	if (o->type == ZYDIS_OPERAND_TYPE_REGISTER) {
		own->reg = (uint8_t)register_number(o->reg.value);
		own->kind = kinds[ZydisRegisterGetClass(o->reg.value)];
		own->high = o->reg.value >= ZYDIS_REGISTER_AH && o->reg.value <= ZYDIS_REGISTER_BH;
		if (!own->kind)
			own->kind = OPERAND_OTHER;
	} else {
		own->kind =
			o->type == ZYDIS_OPERAND_TYPE_MEMORY ? OPERAND_MEMORY : OPERAND_IMMEDIATE;
	}
	insn->operands++;
}

static void add_operand(
	const ZydisDecodedInstruction *z, const ZydisDecodedOperand *o, struct insn *insn)
{
	bool merges_mask = z->avx.mask.mode == ZYDIS_MASK_MODE_MERGING &&
			   z->avx.mask.reg != ZYDIS_REGISTER_NONE &&
			   z->avx.mask.reg != ZYDIS_REGISTER_K0;
	ZyanU64 target;

	switch (o->type) {
	case ZYDIS_OPERAND_TYPE_REGISTER:
		add_register(z, o, insn, merges_mask);
		break;
	case ZYDIS_OPERAND_TYPE_MEMORY:
		add_memory(z, o, insn->address, insn);
		break;
	case ZYDIS_OPERAND_TYPE_IMMEDIATE:
		insn->has_immediate = true;
		insn->immediate = o->imm.value.s;
		if (insn->classes & INSN_BRANCH && o->imm.is_relative &&
			ZYAN_SUCCESS(ZydisCalcAbsoluteAddress(z, o, insn->address, &target))) {
			insn->has_target = true;
			insn->target = target;
			insn->has_immediate = false;
		}
		break;
	default:
		break;
	}
}

/* An indirect branch takes its target from a register or memory: it has no relative operand. */
static void add_branch(const ZydisDecodedInstruction *z, struct insn *insn)
{
	if (z->mnemonic == ZYDIS_MNEMONIC_XBEGIN)
		insn->classes |= INSN_BRANCH | INSN_CONDITIONAL;
	if (z->mnemonic == ZYDIS_MNEMONIC_XABORT)
		insn->classes &= ~(uint32_t)(INSN_BRANCH | INSN_CONDITIONAL);
	if (insn->classes & INSN_BRANCH && !(insn->classes & (INSN_RETURN | INSN_CONDITIONAL)) &&
		!insn->has_target)
		insn->classes |= INSN_INDIRECT;
}

static int x86_decode(const uint8_t *bytes, size_t size, struct insn *insn)
{
	ZydisDecodedInstruction z;
	ZydisDecodedOperand o[ZYDIS_MAX_OPERAND_COUNT];

	if (x86_decode_whole(bytes, size, &z, o))
		return -1;
	x86_describe(&z, o, insn);
	return 0;
}

void x86_describe(const ZydisDecodedInstruction *z, const ZydisDecodedOperand *o, struct insn *insn)
{
	bool fp = false;

	for (unsigned i = 0; i < z->operand_count && !fp; i++)
		fp = x86_is_float(&o[i]) && x86_computes(z) && o[i].actions;
	insn->length = z->length;
	insn->mnemonic = (uint16_t)z->mnemonic;
	insn->encoding = encoding_of(z);
	if (z->attributes & ZYDIS_ATTRIB_IS_RELATIVE && z->attributes & ZYDIS_ATTRIB_HAS_MODRM)
		insn->relative_at = z->raw.disp.offset;
	insn->classes = classes_by_category(z) | classes_by_name(z, fp) | (fp ? INSN_FP : 0);
	if (z->attributes & ZYDIS_ATTRIB_IS_PRIVILEGED)
		insn->classes |= INSN_PRIVILEGED;
	if (z->attributes & (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE))
		insn->classes |= INSN_REP;
	if (z->attributes & ZYDIS_ATTRIB_HAS_LOCK ||
		(z->mnemonic == ZYDIS_MNEMONIC_XCHG && z->raw.modrm.mod != 3 &&
			z->attributes & ZYDIS_ATTRIB_HAS_MODRM))
		insn->classes |= INSN_LOCK;
	insn->operands_known = true;
	for (unsigned i = 0; i < z->operand_count; i++) {
		note_operand(&o[i], insn);
		add_operand(z, &o[i], insn);
	}
	add_flags(z, insn);
	if (insn->classes & INSN_X87 && z->fpu_flags)
		insn_registers_add(&insn->writes, REG_X87_STATE);
	add_branch(z, insn);
	/* System calls and far branches load the code segment by the way. */
	if (insn->classes & (INSN_SYSCALL | INSN_BRANCH))
		insn->classes &= ~(uint32_t)INSN_SEGMENT;
	add_idioms(z, o, insn);
}

static size_t x86_length(const uint8_t *bytes, size_t size)
{
	ZydisDecodedInstruction z;
	ZydisDecoder decoder;

	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	if (!ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&decoder, NULL, bytes, size, &z)))
		return 0;
	return z.length;
}

static bool x86_fuses(const struct insn *first, const struct insn *branch)
{
	static const ZydisMnemonic pairs[] = {ZYDIS_MNEMONIC_CMP, ZYDIS_MNEMONIC_TEST,
		ZYDIS_MNEMONIC_ADD, ZYDIS_MNEMONIC_SUB, ZYDIS_MNEMONIC_AND, ZYDIS_MNEMONIC_INC,
		ZYDIS_MNEMONIC_DEC};

	return branch->classes & INSN_CONDITIONAL && branch->has_target &&
	       first->writes.word[1] & branch->reads.word[1] && !branch->reads.word[0] &&
	       !(first->classes & (INSN_STORE | INSN_LOCK)) &&
	       !(first->memories && first->has_immediate) &&
	       among((ZydisMnemonic)first->mnemonic, pairs, COUNT(pairs));
}

const struct isa_ops isa_x86 = {
	.unit = 1,
	.decode = x86_decode,
	.length = x86_length,
	.text = x86_text,
	.mnemonic = x86_mnemonic,
	.fuses = x86_fuses,
	.register_name = x86_register_name,
};

const char *isa_library(void)
{
	static char text[48];
	ZyanU64 version = ZydisGetVersion();

	snprintf(text, sizeof(text), "Zydis %u.%u.%u", (unsigned)ZYDIS_VERSION_MAJOR(version),
		(unsigned)ZYDIS_VERSION_MINOR(version), (unsigned)ZYDIS_VERSION_PATCH(version));
	return text;
}
