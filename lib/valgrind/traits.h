/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the retirement clock needs of an instruction besides its latency, from its bytes. As
 * decode.h. */
#ifndef VALGRIND_TRAITS_H
#define VALGRIND_TRAITS_H

#include <stdint.h>

enum {
	TRAITS_SCALED = 1 << 0, /* its operand in memory has a scaled index, or three parts */
	TRAITS_VECTOR = 1 << 1, /* its operand in memory goes to or comes from a vector register */
	TRAITS_READS_FLAGS = 1 << 2,
	TRAITS_WRITES_FLAGS = 1 << 3, /* at least zero or carry */
	TRAITS_COMPARES = 1 << 4,     /* cmp, test: one operation with a branch that follows */
	TRAITS_ADDS = 1 << 5,  /* add, sub, and, or, xor, inc, dec: the same on some processors */
	TRAITS_JUMPS = 1 << 6, /* a conditional branch that reads the flags */
	TRAITS_KEEPS_FLAGS = 1 << 7, /* inc, dec, shifts by cl, rotations: not all are written */
	/* Two bits: scan_fields. */
	TRAITS_FIELD = 1 << 8,
	TRAITS_FIELDS = 3 << 8,
};

/* A bit each. */
unsigned traits_of(const uint8_t *code, unsigned length);

#endif
