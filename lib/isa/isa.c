/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>
#include <string.h>

#include "isa/private.h"

static const struct isa_ops *const machines[] = {
	[ISA_X86_64] = &isa_x86,
	[ISA_AARCH64] = &isa_aarch64,
};

static const struct isa_ops *ops_of(enum isa_machine machine)
{
	return (unsigned)machine < sizeof(machines) / sizeof(*machines) ? machines[machine] : NULL;
}

/* How far a sweep skips over bytes that are not an instruction. */
static size_t skipped(const struct isa_ops *ops, size_t size)
{
	size_t unit = ops ? ops->unit : 1;

	return size < unit ? size : unit;
}

size_t isa_decode(enum isa_machine machine, const void *bytes, size_t size, uint64_t address,
	struct insn *insn)
{
	const struct isa_ops *ops = ops_of(machine);

	memset(insn, 0, sizeof(*insn));
	insn->address = address;
	if (!size)
		return 0;
	if (!ops || ops->decode(bytes, size, insn)) {
		memset(insn, 0, sizeof(*insn));
		insn->address = address;
		insn->classes = INSN_BAD;
		insn->length = (uint8_t)skipped(ops, size);
	}
	return insn->length;
}

size_t isa_length(enum isa_machine machine, const void *bytes, size_t size, bool *bad)
{
	const struct isa_ops *ops = ops_of(machine);
	size_t length = ops && size ? ops->length(bytes, size) : 0;

	if (bad)
		*bad = !length;
	return length ? length : skipped(ops, size);
}

char *isa_text(enum isa_machine machine, const void *bytes, size_t size, uint64_t address,
	enum isa_style style, char text[INSN_TEXT_MAX])
{
	const struct isa_ops *ops = ops_of(machine);
	const uint8_t *b = bytes;

	text[0] = '\0';
	if (!size || (ops && ops->text(b, size, address, style, text) == 0))
		return text;
	if (ops && ops->unit == 4 && size >= 4)
		snprintf(text, INSN_TEXT_MAX, ".inst 0x%02x%02x%02x%02x", b[3], b[2], b[1], b[0]);
	else
		snprintf(text, INSN_TEXT_MAX, ".byte 0x%02x", b[0]);
	return text;
}

bool isa_fuses(enum isa_machine machine, const struct insn *first, const struct insn *branch)
{
	const struct isa_ops *ops = ops_of(machine);

	return ops && ops->fuses && ops->fuses(first, branch);
}

const char *isa_mnemonic(enum isa_machine machine, unsigned mnemonic)
{
	const struct isa_ops *ops = ops_of(machine);
	const char *name = ops ? ops->mnemonic(mnemonic) : NULL;

	return name ? name : "(bad)";
}

const char *isa_register_name(enum isa_machine machine, unsigned reg)
{
	const struct isa_ops *ops = ops_of(machine);

	return ops ? ops->register_name(reg) : NULL;
}

const char *isa_class_name(unsigned bit)
{
	static const char *const names[INSN_CLASSES] = {"undecodable", "load", "store", "branch",
		"conditional", "indirect", "call", "return", "stop", "system call", "privileged",
		"locked", "fence", "serialising", "repeated", "nop", "prefetch", "divide",
		"multiply", "floating point", "vector", "x87 or MMX", "register move", "zero idiom",
		"address", "stack", "gather or scatter", "segment write"};

	return bit < INSN_CLASSES ? names[bit] : "";
}
