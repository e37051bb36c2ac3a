/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The operations of an instruction set, for isa.c. */
#ifndef ISA_PRIVATE_H
#define ISA_PRIVATE_H

#include "isa/isa.h"

struct isa_ops {
	size_t unit; /* bytes of the smallest instruction */
	/* 0, or -1 for invalid instructions. insn is zeroed except for its address. */
	int (*decode)(const uint8_t *bytes, size_t size, struct insn *insn);
	size_t (*length)(const uint8_t *bytes, size_t size); /* 0: none */
	/* 0, or -1 where it has none */
	int (*text)(const uint8_t *bytes, size_t size, uint64_t address, enum isa_style style,
		char *text);
	const char *(*mnemonic)(unsigned mnemonic);
	bool (*fuses)(const struct insn *first, const struct insn *branch); /* NULL: never */
	const char *(*register_name)(unsigned reg);
};

extern const struct isa_ops isa_x86, isa_aarch64;

#endif
