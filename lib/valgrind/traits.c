/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Source: Intel's manual, volume 2, appendix A (opcode maps), and the flags affected by each
 * instruction there. Cost: as latency.c, once per translated instruction.
 *
 * Known deviations: flags are one value, so that inc and dec write carry, and a shift by zero
 * writes.
 */
#include "valgrind/traits.h"

#include "valgrind/scan.h"

struct opcodes {
	uint8_t map, first, last;
	uint8_t fields; /* a bit for each that ModRM's middle field may be */
	uint8_t traits;
};

enum {
	READS = TRAITS_READS_FLAGS,
	WRITES = TRAITS_WRITES_FLAGS,
	BOTH = READS | WRITES,
	ADDS = WRITES | TRAITS_ADDS,
	COMPARES = WRITES | TRAITS_COMPARES,
	ALL = 255, /* fields */
};

/* Instructions of general registers; the first row that fits decides. 0x00 to 0x3d, eight groups
 * of six, are in arithmetic. */
static const struct opcodes traits_general[] = {
	{0, 0x69, 0x6b, ALL, WRITES}, /* imul; 6a is push */
	{0, 0x70, 0x7f, ALL, READS | TRAITS_JUMPS}, {0, 0x84, 0x85, ALL, COMPARES}, /* test */
	{0, 0x9f, 0x9f, ALL, READS},                                                /* lahf */
	{0, 0x9e, 0x9e, ALL, WRITES},                                               /* sahf */
	{0, 0xa6, 0xa7, ALL, WRITES},                                               /* cmps */
	{0, 0xa8, 0xa9, ALL, COMPARES},                                             /* test */
	{0, 0xae, 0xaf, ALL, WRITES},                                               /* scas */
	{0, 0xc0, 0xc1, 1 << 2 | 1 << 3, BOTH},                                     /* rcl, rcr */
	{0, 0xc0, 0xc1, ALL, WRITES},                                               /* shifts */
	{0, 0xd0, 0xd3, 1 << 2 | 1 << 3, BOTH}, {0, 0xd0, 0xd3, ALL, WRITES},
	{0, 0xf5, 0xf5, ALL, BOTH},                                              /* cmc */
	{0, 0xf6, 0xf7, 1 << 0 | 1 << 1, COMPARES}, {0, 0xf6, 0xf7, 1 << 2, 0},  /* not */
	{0, 0xf6, 0xf7, ALL, WRITES}, {0, 0xf8, 0xf9, ALL, WRITES},              /* clc, stc */
	{0, 0xfe, 0xff, 1 << 0 | 1 << 1, ADDS},                                  /* inc, dec */
	{1, 0x2e, 0x2f, ALL, WRITES},                                            /* comis */
	{1, 0x40, 0x4f, ALL, READS},                                             /* cmov */
	{1, 0x80, 0x8f, ALL, READS | TRAITS_JUMPS}, {1, 0x90, 0x9f, ALL, READS}, /* set */
	{1, 0xa3, 0xa5, ALL, WRITES},                                            /* bt, shld */
	{1, 0xab, 0xad, ALL, WRITES},                                            /* bts, shrd */
	{1, 0xaf, 0xb1, ALL, WRITES},                                            /* imul, cmpxchg */
	{1, 0xb3, 0xb3, ALL, WRITES}, {1, 0xb8, 0xb8, ALL, WRITES},              /* popcnt */
	{1, 0xba, 0xbd, ALL, WRITES}, /* bt, btc, bsf, bsr */
	{1, 0xc0, 0xc1, ALL, WRITES}, /* xadd */
	{2, 0x17, 0x17, ALL, WRITES}, /* ptest */
	{2, 0xf2, 0xf3, ALL, WRITES}, /* andn, bls */
	{3, 0x60, 0x63, ALL, WRITES}, /* string compares */
};

/* VEX has them need flags, which processors rename apart, or merge later. */
static int traits_keeps_flags(const struct scan *s)
{
	unsigned field = s->modrm >> 3 & 7;

	if (s->map != 0 || s->vex)
		return 0;
	return ((s->opcode & 0xfe) == 0xfe && field < 2) ||
	       ((s->opcode & 0xfe) == 0xd2 && field != 2 && field != 3) ||
	       (((s->opcode & 0xfe) == 0xc0 || (s->opcode & 0xfe) == 0xd0) && field < 2);
}

/* add, or, adc, sbb, and, sub, xor, cmp */
static unsigned traits_arithmetic(unsigned which)
{
	return which == 7 ? COMPARES : which == 2 || which == 3 ? BOTH : ADDS;
}

static unsigned traits_of_flags(const struct scan *s)
{
	unsigned field = s->modrm >> 3 & 7;

	if (s->map == 0 && s->opcode < 0x40 && (s->opcode & 7) < 6)
		return traits_arithmetic(s->opcode >> 3);
	if (s->map == 0 && s->opcode >= 0x80 && s->opcode <= 0x83)
		return traits_arithmetic(field);
	if (s->map == 0 && s->opcode == 0x6a)
		return 0;
	for (unsigned i = 0; i < sizeof(traits_general) / sizeof(traits_general[0]); i++) {
		const struct opcodes *o = &traits_general[i];

		if (o->map == s->map && s->opcode >= o->first && s->opcode <= o->last &&
			(o->fields >> field & 1))
			return o->traits;
	}
	return 0;
}

/* Does its operand in memory belong to a vector register? */
static int traits_in_vector(const struct scan *s)
{
	unsigned c = s->opcode;

	if (s->map == 0)
		return !s->vex && c >= 0xd8 && c <= 0xdf;
	if (s->map == 1)
		return (c >= 0x10 && c <= 0x17) || (c >= 0x28 && c <= 0x2f) ||
		       (c >= 0x50 && c <= 0x7f) || c == 0xc2 || c == 0xc6 || c >= 0xd0;
	return s->map == 2 ? c < 0xf0 : s->map == 3 && c < 0xf0;
}

unsigned traits_of(const uint8_t *code, unsigned length)
{
	struct scan_memory m;
	struct scan s;
	unsigned traits;

	scan(&s, code, length);
	traits = traits_of_flags(&s);
	if (traits_keeps_flags(&s))
		traits |= TRAITS_KEEPS_FLAGS;
	if (traits_in_vector(&s))
		traits |= TRAITS_VECTOR;
	if (scan_has_memory(&s)) {
		scan_memory(&s, &m);
		if (m.scale ||
			(m.bytes && m.index != SCAN_NO_REGISTER && m.base != SCAN_NO_REGISTER))
			traits |= TRAITS_SCALED;
	}
	return traits | scan_fields(&s) * TRAITS_FIELD;
}
