/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Forms: every mnemonic with every signature that can be encoded.  Rows of signatures have one
 * shape: a table.
 */
#include <string.h>

#include "corefit/corefit.h"

struct part {
	uint8_t kind;
	uint16_t bits;
};

#define R64                                                                                        \
	{                                                                                          \
		OPERAND_GENERAL, 64                                                                \
	}
#define R32                                                                                        \
	{                                                                                          \
		OPERAND_GENERAL, 32                                                                \
	}
#define R16                                                                                        \
	{                                                                                          \
		OPERAND_GENERAL, 16                                                                \
	}
#define R8                                                                                         \
	{                                                                                          \
		OPERAND_GENERAL, 8                                                                 \
	}
#define X                                                                                          \
	{                                                                                          \
		OPERAND_VECTOR, 128                                                                \
	}
#define Y                                                                                          \
	{                                                                                          \
		OPERAND_VECTOR, 256                                                                \
	}
#define Z                                                                                          \
	{                                                                                          \
		OPERAND_VECTOR, 512                                                                \
	}
#define K                                                                                          \
	{                                                                                          \
		OPERAND_MASK, 64                                                                   \
	}
#define I                                                                                          \
	{                                                                                          \
		OPERAND_IMMEDIATE, 8                                                               \
	}

static const struct part signatures[][4] = {
	{R64},
	{R32},
	{R16},
	{R8},
	{R64, R64},
	{R32, R32},
	{R16, R16},
	{R8, R8},
	{R64, I},
	{R32, I},
	{R16, I},
	{R8, I},
	{R64, R32},
	{R64, R16},
	{R64, R8},
	{R32, R16},
	{R32, R8},
	{R16, R8},
	{R64, R64, I},
	{R32, R32, I},
	{R16, R16, I},
	{R64, R64, R64},
	{R32, R32, R32},
	{X, X},
	{X, I},
	{X, X, I},
	{X, X, X},
	{X, X, X, I},
	{X, X, X, X},
	{X, R64},
	{X, R32},
	{R64, X},
	{R32, X},
	{X, X, R64},
	{X, X, R32},
	{X, R64, I},
	{X, R32, I},
	{R64, X, I},
	{R32, X, I},
	{Y, Y},
	{Y, Y, I},
	{Y, Y, Y},
	{Y, Y, Y, I},
	{Y, Y, Y, Y},
	{Y, X},
	{X, Y},
	{Y, X, I},
	{X, Y, I},
	{Y, Y, X, I},
	{Y, Y, X},
	{R32, Y},
	{R64, Y},
	{Z, Z},
	{Z, Z, I},
	{Z, Z, Z},
	{Z, Z, Z, I},
	{Z, X},
	{Z, Y},
	{Y, Z},
	{X, Z},
	{K, K},
	{K, K, K},
	{K, R32},
	{K, R64},
	{R32, K},
	{R64, K},
	{K, X, X},
	{K, Y, Y},
	{K, Z, Z},
};

/* Register n of a kind; general ones without rsp, and without rax to rdx first, which are implicit
 * operands of many instructions. */
static uint8_t pick(unsigned kind, unsigned n)
{
	static const uint8_t general[] = {6, 7, 8, 9, 10, 11, 12, 13, 14, 15};

	switch (kind) {
	case OPERAND_GENERAL:
		return (uint8_t)(REG_GENERAL + general[n % sizeof(general)]);
	case OPERAND_VECTOR:
		return (uint8_t)(REG_VECTOR + n % 16);
	case OPERAND_MASK:
		return (uint8_t)(REG_MASK + 1 + n % 7);
	default:
		return REG_NONE;
	}
}

static bool forms_wanted(const struct insn *i)
{
	const uint32_t never = INSN_BAD | INSN_BRANCH | INSN_STOPS | INSN_SYSCALL |
			       INSN_PRIVILEGED | INSN_SERIALISING | INSN_FENCE | INSN_REP |
			       INSN_NOP | INSN_PREFETCH | INSN_LOAD | INSN_STORE | INSN_STACK |
			       INSN_X87 | INSN_LOCK | INSN_GATHER;

	return !(i->classes & never) && !i->memories && !i->more_memory && i->operands_known &&
	       !insn_registers_have(&i->writes, REG_SYSTEM) &&
	       !insn_registers_have(&i->reads, REG_SYSTEM) &&
	       !insn_registers_have(&i->writes, REG_SEGMENT_BASE) &&
	       !insn_registers_have(&i->reads, REG_SEGMENT_BASE);
}

static size_t forms_encode(const struct form *f, const uint8_t *regs, uint8_t *bytes)
{
	struct insn_operand operands[INSN_OPERANDS_MAX];

	memcpy(operands, f->operand, sizeof(operands));
	for (unsigned n = 0; n < f->operands; n++)
		operands[n].reg = regs[n];
	return isa_encode(f->mnemonic, operands, f->operands, 3, bytes);
}

/* Whether one instruction can depend on the last: the first operand is also read, or has the kind
 * of another one. */
static void make_chain(struct form *f, const struct insn *first)
{
	uint8_t regs[INSN_OPERANDS_MAX];
	unsigned last = 0;

	if (!first->operand[0].writes)
		return;
	for (unsigned n = 0; n < f->operands; n++)
		regs[n] = pick(f->operand[n].kind, n ? 1 : 0);
	if (!first->operand[0].reads) {
		for (unsigned n = 1; n < f->operands; n++)
			if (f->operand[n].kind == f->operand[0].kind)
				last = n;
		if (!last)
			return;
		regs[last] = regs[0];
	}
	f->chain_length = (uint8_t)forms_encode(f, regs, f->chain);
}

static void make_many(struct form *f)
{
	unsigned copies = f->operand[0].kind == OPERAND_MASK ? 5 : 8;

	for (unsigned copy = 0; copy < copies; copy++) {
		uint8_t regs[INSN_OPERANDS_MAX], bytes[INSN_LENGTH_MAX];
		size_t n;

		for (unsigned k = 0; k < f->operands; k++)
			regs[k] = pick(f->operand[k].kind, k ? copies + k % 2 : copy);
		n = forms_encode(f, regs, bytes);
		if (!n || f->many_length + n > FORM_BYTES_MAX)
			break;
		memcpy(f->many + f->many_length, bytes, n);
		f->many_length = (uint8_t)(f->many_length + n);
		f->many_count++;
	}
}

static int try_form(form_list *forms, unsigned mnemonic, const struct part *parts, struct error *e)
{
	struct form f = {.mnemonic = (uint16_t)mnemonic, .latency = -1, .throughput = -1}, *own;
	uint8_t regs[INSN_OPERANDS_MAX], bytes[INSN_LENGTH_MAX];
	struct insn first;
	size_t length;

	for (; f.operands < 4 && parts[f.operands].kind; f.operands++) {
		f.operand[f.operands].kind = parts[f.operands].kind;
		f.operand[f.operands].bits = parts[f.operands].bits;
		regs[f.operands] = pick(parts[f.operands].kind, f.operands);
	}
	length = forms_encode(&f, regs, bytes);
	if (!length)
		return 0;
	isa_decode(ISA_X86_64, bytes, length, 0, &first);
	/* Whether the encoder's result is the requested form: some signatures are encoded with
	 * other sizes. */
	if (first.mnemonic != mnemonic || !forms_wanted(&first) || first.operands != f.operands)
		return 0;
	for (unsigned n = 0; n < f.operands; n++)
		if (first.operand[n].kind != f.operand[n].kind ||
			(f.operand[n].kind != OPERAND_IMMEDIATE &&
				f.operand[n].kind != OPERAND_MASK &&
				first.operand[n].bits != f.operand[n].bits))
			return 0;
	make_chain(&f, &first);
	make_many(&f);
	own = vec_push(forms);
	if (!own)
		return error_nomem(e);
	*own = f;
	return 0;
}

int forms_make(form_list *forms, struct error *e)
{
	for (unsigned m = 1; m < CORE_MNEMONICS_MAX; m++) {
		if (!isa_mnemonic(ISA_X86_64, m))
			continue;
		for (size_t s = 0; s < sizeof(signatures) / sizeof(signatures[0]); s++)
			if (try_form(forms, m, signatures[s], e))
				return -1;
	}
	return 0;
}
