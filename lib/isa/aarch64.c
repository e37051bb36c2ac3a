/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * AArch64: control flow and classes only. Encodings: Arm Architecture Reference Manual, C4.1 ("A64
 * instruction set encoding").
 */
#include <stdio.h>

#include "isa/private.h"

enum offset_kind { NO_OFFSET, OFFSET_26, OFFSET_19, OFFSET_14 };

struct row {
	uint32_t mask, value;
	const char *mnemonic;
	uint32_t classes;
	enum offset_kind offset;
};

/* The first that fits; the last few are the wide kinds. */
static const struct row rows[] = {
	{0, 0, "(bad)", 0, NO_OFFSET}, /* 0: invalid */
	{0xfc000000, 0x14000000, "b", INSN_BRANCH, OFFSET_26},
	{0xfc000000, 0x94000000, "bl", INSN_BRANCH | INSN_CALL, OFFSET_26},
	{0xff000000, 0x54000000, "b.", INSN_BRANCH | INSN_CONDITIONAL, OFFSET_19},
	{0x7f000000, 0x34000000, "cbz", INSN_BRANCH | INSN_CONDITIONAL, OFFSET_19},
	{0x7f000000, 0x35000000, "cbnz", INSN_BRANCH | INSN_CONDITIONAL, OFFSET_19},
	{0x7f000000, 0x36000000, "tbz", INSN_BRANCH | INSN_CONDITIONAL, OFFSET_14},
	{0x7f000000, 0x37000000, "tbnz", INSN_BRANCH | INSN_CONDITIONAL, OFFSET_14},
	{0xfffffc1f, 0xd61f0000, "br", INSN_BRANCH | INSN_INDIRECT, NO_OFFSET},
	{0xfffff800, 0xd61f0800, "bra", INSN_BRANCH | INSN_INDIRECT, NO_OFFSET},
	{0xfffff800, 0xd71f0800, "bra", INSN_BRANCH | INSN_INDIRECT, NO_OFFSET},
	{0xfffffc1f, 0xd63f0000, "blr", INSN_BRANCH | INSN_INDIRECT | INSN_CALL, NO_OFFSET},
	{0xfffff800, 0xd63f0800, "blra", INSN_BRANCH | INSN_INDIRECT | INSN_CALL, NO_OFFSET},
	{0xfffff800, 0xd73f0800, "blra", INSN_BRANCH | INSN_INDIRECT | INSN_CALL, NO_OFFSET},
	{0xfffffc1f, 0xd65f0000, "ret", INSN_BRANCH | INSN_RETURN, NO_OFFSET},
	{0xfffffbff, 0xd65f0bff, "reta", INSN_BRANCH | INSN_RETURN, NO_OFFSET},
	{0xffffffff, 0xd69f03e0, "eret", INSN_BRANCH | INSN_RETURN | INSN_PRIVILEGED, NO_OFFSET},
	{0xffe0001f, 0xd4000001, "svc", INSN_SYSCALL, NO_OFFSET},
	{0xffe0001f, 0xd4200000, "brk", INSN_STOPS, NO_OFFSET},
	{0xffff0000, 0x00000000, "udf", INSN_STOPS, NO_OFFSET},
	{0xfffff01f, 0xd503201f, "nop", INSN_NOP,
		NO_OFFSET}, /* hints, bti and paciasp among them */
	{0xfffff0ff, 0xd50330df, "isb", INSN_SERIALISING, NO_OFFSET},
	{0xffffd09f, 0xd503109f, "dmb", INSN_FENCE, NO_OFFSET},
	{0x7fe0fc00, 0x1ac00800, "udiv", INSN_DIVIDE, NO_OFFSET},
	{0x7fe0fc00, 0x1ac00c00, "sdiv", INSN_DIVIDE, NO_OFFSET},
	{0x7f000000, 0x1b000000, "madd", INSN_MULTIPLY, NO_OFFSET},
	{0xff20fc00, 0x1e201800, "fdiv", INSN_DIVIDE | INSN_FP | INSN_VECTOR, NO_OFFSET},
	{0xffc00000, 0xf9800000, "prfm", INSN_PREFETCH, NO_OFFSET},
	{0x3f400000, 0x08400000, "load exclusive", INSN_LOAD, NO_OFFSET},
	{0x3f400000, 0x08000000, "store exclusive", INSN_STORE, NO_OFFSET},
	{0x3b000000, 0x18000000, "load literal", INSN_LOAD, NO_OFFSET},
	{0x3a400000, 0x28400000, "load pair", INSN_LOAD, NO_OFFSET},
	{0x3a400000, 0x28000000, "store pair", INSN_STORE, NO_OFFSET},
	{0x3b200c00, 0x38200000, "atomic", INSN_LOAD | INSN_STORE | INSN_LOCK, NO_OFFSET},
	{0xbe400000, 0x0c400000, "load vectors", INSN_LOAD | INSN_VECTOR, NO_OFFSET},
	{0xbe400000, 0x0c000000, "store vectors", INSN_STORE | INSN_VECTOR, NO_OFFSET},
	/* register loads: opc 00 stores, but 10 of vector registers stores 128 bits */
	{0xffc00000, 0x3d800000, "store", INSN_STORE | INSN_VECTOR, NO_OFFSET},
	{0xffe00c00, 0x3ca00800, "store", INSN_STORE | INSN_VECTOR, NO_OFFSET},
	{0xffe00000, 0x3c800000, "store", INSN_STORE | INSN_VECTOR, NO_OFFSET},
	{0x3ac00000, 0x38000000, "store", INSN_STORE, NO_OFFSET},
	{0x3a000000, 0x38000000, "load", INSN_LOAD, NO_OFFSET},
	{0xff000000, 0xd9000000, "memory tags", INSN_LOAD | INSN_STORE, NO_OFFSET},
	{0x3fc00000, 0x19000000, "store release", INSN_STORE, NO_OFFSET},
	{0x3f000000, 0x19000000, "load acquire", INSN_LOAD, NO_OFFSET},
	{0x1c000000, 0x10000000, "integer", 0, NO_OFFSET},
	{0x0e000000, 0x0a000000, "integer", 0, NO_OFFSET},
	{0x0e000000, 0x0e000000, "vector", INSN_VECTOR, NO_OFFSET},
	{0x1c000000, 0x14000000, "system", 0, NO_OFFSET},
	{0xfe000000, 0xe4000000, "store scalable vectors", INSN_STORE | INSN_VECTOR, NO_OFFSET},
	{0x9e000000, 0x84000000, "load scalable vectors", INSN_LOAD | INSN_VECTOR, NO_OFFSET},
	{0x1e000000, 0x04000000, "scalable vector", INSN_VECTOR, NO_OFFSET},
};

static uint32_t word_of(const uint8_t *b)
{
	return (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

static unsigned aarch64_row_of(uint32_t word)
{
	for (unsigned i = 1; i < sizeof(rows) / sizeof(*rows); i++)
		if ((word & rows[i].mask) == rows[i].value)
			return i;
	return 0;
}

/* Sign-extends the field of `bits` bits at `low`, in words. */
static int64_t offset_of(uint32_t word, enum offset_kind kind)
{
	static const struct {
		unsigned low, bits;
	} fields[] = {[OFFSET_26] = {0, 26}, [OFFSET_19] = {5, 19}, [OFFSET_14] = {5, 14}};
	unsigned bits = fields[kind].bits;
	int64_t field = word >> fields[kind].low & ((1u << bits) - 1);

	if (field >> (bits - 1))
		field -= (int64_t)1 << bits;
	return field * 4;
}

static int aarch64_decode(const uint8_t *bytes, size_t size, struct insn *insn)
{
	uint32_t word;
	unsigned row;

	if (size < 4)
		return -1;
	word = word_of(bytes);
	row = aarch64_row_of(word);
	if (!row)
		return -1;
	insn->length = 4;
	insn->mnemonic = (uint16_t)row;
	insn->classes = rows[row].classes;
	if (rows[row].classes & (INSN_LOAD | INSN_STORE) && word & 1u << 26)
		insn->classes |= INSN_VECTOR;
	if (rows[row].offset != NO_OFFSET) {
		insn->has_target = true;
		insn->target = insn->address + (uint64_t)offset_of(word, rows[row].offset);
	}
	/* always and (in name) never: both are always */
	if (rows[row].offset == OFFSET_19 && (word & 0xff00000e) == 0x5400000e)
		insn->classes &= ~(uint32_t)INSN_CONDITIONAL;
	return 0;
}

static size_t aarch64_length(const uint8_t *bytes, size_t size)
{
	return size >= 4 && aarch64_row_of(word_of(bytes)) ? 4 : 0;
}

/* Of branches, and instructions without operands; the text of all others is the word. */
static int aarch64_text(
	const uint8_t *bytes, size_t size, uint64_t address, enum isa_style style, char *text)
{
	static const char *const conditions[] = {"eq", "ne", "hs", "lo", "mi", "pl", "vs", "vc",
		"hi", "ls", "ge", "lt", "gt", "le", "al", "nv"};
	const struct row *r;
	uint32_t word;
	uint64_t target;

	(void)style;
	if (size < 4)
		return -1;
	word = word_of(bytes);
	r = &rows[aarch64_row_of(word)];
	if (!(r->classes & INSN_BRANCH)) {
		if (word != 0xd503201f)
			return -1;
		snprintf(text, INSN_TEXT_MAX, "nop");
		return 0;
	}
	if (r->offset == NO_OFFSET) {
		if ((word & 0xfffffc1f) == 0xd65f0000 && (word >> 5 & 31) == 30)
			snprintf(text, INSN_TEXT_MAX, "ret");
		else
			snprintf(text, INSN_TEXT_MAX, "%s x%u", r->mnemonic, word >> 5 & 31);
		return 0;
	}
	target = address + (uint64_t)offset_of(word, r->offset);
	if (r->offset == OFFSET_26)
		snprintf(text, INSN_TEXT_MAX, "%s 0x%llx", r->mnemonic, (unsigned long long)target);
	else if (r->offset == OFFSET_14)
		snprintf(text, INSN_TEXT_MAX, "%s %c%u, #%u, 0x%llx", r->mnemonic,
			word >> 31 ? 'x' : 'w', word & 31, (word >> 31) << 5 | (word >> 19 & 31),
			(unsigned long long)target);
	else if (r->mnemonic[1] == '.')
		snprintf(text, INSN_TEXT_MAX, "b.%s 0x%llx", conditions[word & 15],
			(unsigned long long)target);
	else
		snprintf(text, INSN_TEXT_MAX, "%s %c%u, 0x%llx", r->mnemonic,
			word >> 31 ? 'x' : 'w', word & 31, (unsigned long long)target);
	return 0;
}

static const char *aarch64_mnemonic(unsigned mnemonic)
{
	return mnemonic < sizeof(rows) / sizeof(*rows) ? rows[mnemonic].mnemonic : NULL;
}

static const char *aarch64_register_name(unsigned reg)
{
	static const char names[32][4] = {"x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8",
		"x9", "x10", "x11", "x12", "x13", "x14", "x15", "x16", "x17", "x18", "x19", "x20",
		"x21", "x22", "x23", "x24", "x25", "x26", "x27", "x28", "x29", "x30", "sp"};

	return reg < 32 ? names[reg] : NULL;
}

const struct isa_ops isa_aarch64 = {
	.unit = 4,
	.decode = aarch64_decode,
	.length = aarch64_length,
	.text = aarch64_text,
	.mnemonic = aarch64_mnemonic,
	.register_name = aarch64_register_name,
};
