/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Source: as decode.c; groups of instructions with the same latency: uops.info's tables of Zen 4
 * and Skylake. Variant: the first row that fits decides; without one, it is arithmetic. Cost: some
 * hundred comparisons, once per translated instruction.
 *
 * Rows have one shape: a table of opcodes.
 */
#include "valgrind/latency.h"

#include "model/model.h"
#include "model/retire.h"
#include "valgrind/scan.h"

enum { ANY, REGISTER, MEMORY };

struct row {
	uint8_t map, first, last; /* opcodes */
	uint8_t prefixes;         /* a bit for each that it may have: none, 66, F3, F2 */
	uint8_t form;             /* of its operand by ModRM */
	uint8_t fields;           /* a bit for each that ModRM's middle field may be */
	uint8_t latency;          /* enum model_latency */
};

#define ROW(map, first, last, form, latency)                                                       \
	{                                                                                          \
		map, first, last, 15, form, 255, MODEL_LATENCY_##latency                           \
	}
#define PREFIXED(map, opcode, prefixes, form, latency)                                             \
	{                                                                                          \
		map, opcode, opcode, prefixes, form, 255, MODEL_LATENCY_##latency                  \
	}
#define FIELD(map, first, last, form, fields, latency)                                             \
	{                                                                                          \
		map, first, last, 15, form, fields, MODEL_LATENCY_##latency                        \
	}

/* clang-format off */
static const struct row rows[] = {
	/* One byte. */
	ROW(0, 0x50, 0x57, ANY, STORE),                   /* push */
	ROW(0, 0x58, 0x5f, ANY, NONE),                    /* pop */
	ROW(0, 0x63, 0x63, MEMORY, NONE),                 /* movsxd */
	ROW(0, 0x68, 0x68, ANY, STORE),
	ROW(0, 0x69, 0x69, ANY, MULTIPLY),
	ROW(0, 0x6a, 0x6a, ANY, STORE),
	ROW(0, 0x6b, 0x6b, ANY, MULTIPLY),
	ROW(0, 0x88, 0x89, MEMORY, STORE),
	ROW(0, 0x88, 0x88, ANY, ALU),                     /* mov to a part of a register */
	ROW(0, 0x8a, 0x8a, ANY, ALU),
	ROW(0, 0x89, 0x8b, ANY, NONE),                    /* mov: loads, and between registers */
	ROW(0, 0x8f, 0x90, ANY, NONE),                    /* pop, nop */
	ROW(0, 0x98, 0x99, ANY, SHIFT),                   /* cdqe, cqo */
	ROW(0, 0xa0, 0xa1, ANY, NONE),
	ROW(0, 0xa2, 0xa5, ANY, STORE),                   /* mov, movs */
	ROW(0, 0xaa, 0xab, ANY, STORE),
	ROW(0, 0xac, 0xad, ANY, NONE),
	FIELD(0, 0xc0, 0xc1, ANY, 0xf3, SHIFT),           /* not rcl and rcr */
	ROW(0, 0xc2, 0xc3, ANY, NONE),                    /* ret: its load is predicted */
	ROW(0, 0xc6, 0xc7, MEMORY, STORE),
	ROW(0, 0xc9, 0xc9, ANY, NONE),
	FIELD(0, 0xd0, 0xd3, ANY, 0xf3, SHIFT),
	ROW(0, 0xe8, 0xe8, ANY, STORE),                   /* call */
	ROW(0, 0xe9, 0xe9, ANY, NONE),
	ROW(0, 0xeb, 0xeb, ANY, NONE),
	FIELD(0, 0xf6, 0xf6, ANY, 1 << 4 | 1 << 5, MULTIPLY),
	FIELD(0, 0xf7, 0xf7, ANY, 1 << 4 | 1 << 5, MULTIPLY_HIGH),
	FIELD(0, 0xff, 0xff, ANY, 1 << 2 | 1 << 3 | 1 << 6, STORE),
	FIELD(0, 0xff, 0xff, ANY, 1 << 4 | 1 << 5, NONE),
	/* x87: arithmetic, with memory or the stack; then microcode; others are moves. */
	ROW(0, 0xd8, 0xd8, ANY, X87),
	FIELD(0, 0xd9, 0xd9, REGISTER, 1 << 6 | 1 << 7, MICROCODE),
	FIELD(0, 0xd9, 0xd9, REGISTER, 1 << 0 | 1 << 4, VECTOR), /* from the stack; fchs, fabs */
	FIELD(0, 0xd9, 0xd9, MEMORY, 1 << 0, VECTOR_LOAD),
	FIELD(0, 0xd9, 0xd9, MEMORY, 1 << 2 | 1 << 3, STORE),
	FIELD(0, 0xd9, 0xd9, MEMORY, 1 << 4 | 1 << 6, MICROCODE),
	ROW(0, 0xd9, 0xd9, ANY, NONE),
	FIELD(0, 0xda, 0xda, REGISTER, 0x0f, MOVE_IN),    /* moves on flags */
	ROW(0, 0xda, 0xda, ANY, X87),
	FIELD(0, 0xdb, 0xdb, MEMORY, 0x0f, CONVERT),
	FIELD(0, 0xdb, 0xdb, MEMORY, 1 << 5 | 1 << 7, X87_LONG),
	FIELD(0, 0xdb, 0xdb, REGISTER, 1 << 5 | 1 << 6, COMPARE),
	FIELD(0, 0xdb, 0xdb, REGISTER, 0x0f, MOVE_IN),
	ROW(0, 0xdb, 0xdb, ANY, X87),
	ROW(0, 0xdc, 0xdc, ANY, X87),
	FIELD(0, 0xdd, 0xdd, MEMORY, 1 << 0, VECTOR_LOAD),
	FIELD(0, 0xdd, 0xdd, MEMORY, 1 << 1 | 1 << 2 | 1 << 3, STORE),
	FIELD(0, 0xdd, 0xdd, REGISTER, 1 << 2 | 1 << 3, VECTOR),
	FIELD(0, 0xdd, 0xdd, REGISTER, 1 << 4 | 1 << 5, X87),
	ROW(0, 0xdd, 0xdd, ANY, NONE),
	ROW(0, 0xde, 0xde, ANY, X87),
	ROW(0, 0xdf, 0xdf, MEMORY, CONVERT),
	FIELD(0, 0xdf, 0xdf, REGISTER, 1 << 5 | 1 << 6, COMPARE),
	ROW(0, 0xdf, 0xdf, ANY, X87),

	/* 0F.  mov of vectors. */
	PREFIXED(1, 0x10, 3, REGISTER, NONE),
	ROW(1, 0x10, 0x10, MEMORY, VECTOR_LOAD),
	ROW(1, 0x10, 0x10, ANY, VECTOR),
	PREFIXED(1, 0x11, 3, REGISTER, NONE),
	ROW(1, 0x11, 0x11, MEMORY, STORE),
	ROW(1, 0x11, 0x11, ANY, VECTOR),
	ROW(1, 0x13, 0x13, ANY, STORE),
	ROW(1, 0x17, 0x17, ANY, STORE),
	ROW(1, 0x12, 0x16, ANY, SHUFFLE),
	ROW(1, 0x18, 0x1f, ANY, NONE),                    /* prefetches, nop */
	ROW(1, 0x0d, 0x0d, ANY, NONE),
	ROW(1, 0x28, 0x28, MEMORY, VECTOR_LOAD),
	ROW(1, 0x28, 0x28, ANY, NONE),
	ROW(1, 0x29, 0x29, MEMORY, STORE),
	ROW(1, 0x29, 0x29, ANY, NONE),
	ROW(1, 0x2b, 0x2b, ANY, STORE),
	PREFIXED(1, 0x2a, 12, REGISTER, CONVERT_IN),
	PREFIXED(1, 0x2a, 12, ANY, FP_ADD),
	PREFIXED(1, 0x2c, 12, ANY, CONVERT),
	PREFIXED(1, 0x2d, 12, ANY, CONVERT),
	ROW(1, 0x2a, 0x2d, ANY, FP_ADD),
	ROW(1, 0x2e, 0x2f, ANY, COMPARE),
	ROW(1, 0x46, 0x47, ANY, FLAGS_MOVE),              /* cmovbe, cmova */
	ROW(1, 0x4c, 0x4f, ANY, FLAGS_MOVE),              /* cmovl to cmovg */
	ROW(1, 0x50, 0x50, ANY, MOVE),
	ROW(1, 0x52, 0x53, ANY, FP_MULTIPLY),
	ROW(1, 0x54, 0x57, ANY, VECTOR),
	ROW(1, 0x58, 0x58, ANY, FP_ADD),
	ROW(1, 0x59, 0x59, ANY, FP_MULTIPLY),
	ROW(1, 0x5e, 0x5e, ANY, FP_DIVIDE),
	ROW(1, 0x5a, 0x5f, ANY, FP_ADD),
	ROW(1, 0x64, 0x66, ANY, VECTOR),
	ROW(1, 0x6e, 0x6e, MEMORY, VECTOR_LOAD),
	ROW(1, 0x6e, 0x6e, ANY, MOVE_IN),
	ROW(1, 0x6f, 0x6f, MEMORY, VECTOR_LOAD),
	ROW(1, 0x6f, 0x6f, ANY, NONE),
	ROW(1, 0x60, 0x6f, ANY, SHUFFLE),                 /* unpack, pack */
	ROW(1, 0x70, 0x70, ANY, SHUFFLE),
	FIELD(1, 0x73, 0x73, ANY, 1 << 3 | 1 << 7, SHUFFLE),
	ROW(1, 0x71, 0x76, ANY, VECTOR),
	ROW(1, 0x77, 0x77, ANY, NONE),
	ROW(1, 0x7c, 0x7d, ANY, FP_ADD),
	PREFIXED(1, 0x7e, 4, MEMORY, VECTOR_LOAD),
	PREFIXED(1, 0x7e, 4, ANY, VECTOR),
	ROW(1, 0x7e, 0x7e, MEMORY, STORE),
	ROW(1, 0x7e, 0x7e, ANY, MOVE),
	ROW(1, 0x7f, 0x7f, MEMORY, STORE),
	ROW(1, 0x7f, 0x7f, ANY, NONE),
	ROW(1, 0xa3, 0xa3, REGISTER, SHIFT),              /* bt */
	ROW(1, 0xaf, 0xaf, ANY, MULTIPLY),
	ROW(1, 0xb6, 0xb7, MEMORY, NONE),
	FIELD(1, 0xba, 0xba, ANY, 1 << 4, SHIFT),
	ROW(1, 0xbe, 0xbf, MEMORY, NONE),
	ROW(1, 0xc2, 0xc2, ANY, FP_ADD),
	ROW(1, 0xc3, 0xc3, ANY, STORE),
	ROW(1, 0xc4, 0xc4, MEMORY, SHUFFLE),
	ROW(1, 0xc4, 0xc4, ANY, MOVE_IN),
	ROW(1, 0xc5, 0xc5, ANY, EXTRACT),
	ROW(1, 0xc6, 0xc6, ANY, SHUFFLE),
	ROW(1, 0xd0, 0xd0, ANY, FP_ADD),
	ROW(1, 0xd5, 0xd5, ANY, VECTOR_MULTIPLY),
	ROW(1, 0xd6, 0xd6, MEMORY, STORE),
	ROW(1, 0xd7, 0xd7, ANY, MOVE),
	ROW(1, 0xe4, 0xe5, ANY, VECTOR_MULTIPLY),
	ROW(1, 0xe6, 0xe6, ANY, FP_ADD),
	ROW(1, 0xe7, 0xe7, ANY, STORE),
	ROW(1, 0xf0, 0xf0, ANY, VECTOR_LOAD),
	ROW(1, 0xf4, 0xf6, ANY, VECTOR_MULTIPLY),
	ROW(1, 0xf7, 0xf7, ANY, STORE),
	ROW(1, 0xd1, 0xfe, ANY, VECTOR),

	/* 0F 38. */
	ROW(2, 0x00, 0x00, ANY, SHUFFLE),
	ROW(2, 0x04, 0x04, ANY, VECTOR_MULTIPLY),
	ROW(2, 0x0b, 0x0b, ANY, VECTOR_MULTIPLY),
	ROW(2, 0x0c, 0x0d, ANY, SHUFFLE),
	ROW(2, 0x13, 0x13, ANY, FP_ADD),
	ROW(2, 0x16, 0x16, ANY, SHUFFLE),
	ROW(2, 0x17, 0x17, ANY, COMPARE),
	ROW(2, 0x18, 0x1a, MEMORY, VECTOR_LOAD),
	ROW(2, 0x18, 0x1a, ANY, SHUFFLE),
	ROW(2, 0x28, 0x28, ANY, VECTOR_MULTIPLY),
	ROW(2, 0x2a, 0x2a, ANY, VECTOR_LOAD),
	ROW(2, 0x2e, 0x2f, ANY, STORE),
	ROW(2, 0x20, 0x25, ANY, SHUFFLE),
	ROW(2, 0x30, 0x36, ANY, SHUFFLE),
	ROW(2, 0x40, 0x41, ANY, VECTOR_MULTIPLY),
	ROW(2, 0x58, 0x5a, MEMORY, VECTOR_LOAD),
	ROW(2, 0x58, 0x5a, ANY, SHUFFLE),
	ROW(2, 0x78, 0x79, MEMORY, VECTOR_LOAD),
	ROW(2, 0x78, 0x79, ANY, SHUFFLE),
	ROW(2, 0x90, 0x93, ANY, MICROCODE),               /* gather */
	ROW(2, 0x96, 0xbf, ANY, FUSED),
	ROW(2, 0xc8, 0xdf, ANY, CRYPTO),
	PREFIXED(2, 0xf0, 8, ANY, MULTIPLY),              /* crc32 */
	PREFIXED(2, 0xf1, 8, ANY, MULTIPLY),
	PREFIXED(2, 0xf5, 12, ANY, MULTIPLY),             /* pdep, pext */
	PREFIXED(2, 0xf6, 8, ANY, MULTIPLY_HIGH),         /* mulx */
	PREFIXED(2, 0xf7, 14, ANY, SHIFT),                /* shlx, sarx, shrx */
	ROW(2, 0xf0, 0xff, ANY, ALU),
	ROW(2, 0x00, 0xff, ANY, VECTOR),

	/* 0F 3A. */
	ROW(3, 0x00, 0x01, ANY, SHUFFLE),
	ROW(3, 0x04, 0x06, ANY, SHUFFLE),
	ROW(3, 0x08, 0x0b, ANY, FP_ADD),
	ROW(3, 0x0f, 0x0f, ANY, SHUFFLE),
	ROW(3, 0x14, 0x17, MEMORY, STORE),
	ROW(3, 0x14, 0x17, ANY, EXTRACT),
	ROW(3, 0x18, 0x19, ANY, SHUFFLE),
	ROW(3, 0x1d, 0x1d, ANY, FP_ADD),
	ROW(3, 0x20, 0x20, MEMORY, SHUFFLE),
	ROW(3, 0x20, 0x20, ANY, MOVE_IN),
	ROW(3, 0x21, 0x21, ANY, SHUFFLE),
	ROW(3, 0x22, 0x22, MEMORY, SHUFFLE),
	ROW(3, 0x22, 0x22, ANY, MOVE_IN),
	ROW(3, 0x38, 0x39, ANY, SHUFFLE),
	ROW(3, 0x40, 0x41, ANY, MICROCODE),
	ROW(3, 0x42, 0x42, ANY, VECTOR_MULTIPLY),
	ROW(3, 0x44, 0x44, ANY, CRYPTO),
	ROW(3, 0x46, 0x46, ANY, SHUFFLE),
	ROW(3, 0x60, 0x63, ANY, MICROCODE),               /* string compares */
	ROW(3, 0xcc, 0xdf, ANY, CRYPTO),
	PREFIXED(3, 0xf0, 8, ANY, SHIFT),                 /* rorx */
	ROW(3, 0xf0, 0xff, ANY, ALU),
	ROW(3, 0x00, 0xff, ANY, VECTOR),
};
/* clang-format on */

static int latency_fits(const struct row *r, const struct scan *s)
{
	int is_register = s->modrm >> 6 == 3;

	return r->map == s->map && s->opcode >= r->first && s->opcode <= r->last &&
	       (r->prefixes >> s->pp & 1) && (r->fields >> (s->modrm >> 3 & 7) & 1) &&
	       (r->form == ANY || (r->form == REGISTER) == is_register);
}

static unsigned latency_of_address(const struct scan *s)
{
	struct scan_memory m;

	scan_memory(s, &m);
	if (m.index == SCAN_NO_REGISTER)
		return MODEL_LATENCY_ALU;
	/* With rbp or r13 as its base it has a displacement even if that is 0. */
	if (m.base != SCAN_NO_REGISTER && s->modrm >> 6)
		return MODEL_LATENCY_LONG_ADDRESS;
	return m.scale ? MODEL_LATENCY_SCALED_ADDRESS : MODEL_LATENCY_ALU;
}

unsigned latency_of(const uint8_t *code, unsigned length, unsigned class_bits)
{
	struct scan s;
	unsigned i;

	if (class_bits & MODEL_SERIALISING)
		return MODEL_LATENCY_SERIALISING;
	if (class_bits & MODEL_SYSCALL)
		return MODEL_LATENCY_SYSTEM_CALL;
	if (class_bits & MODEL_LOCKED)
		return MODEL_LATENCY_LOCKED;
	if (class_bits & MODEL_DIVIDE)
		return MODEL_LATENCY_DIVIDE;
	scan(&s, code, length);
	if (class_bits & MODEL_FP_DIVIDE)
		return s.opcode == 0x51 || s.opcode == 0xd9 ? MODEL_LATENCY_FP_ROOT
							    : MODEL_LATENCY_FP_DIVIDE;
	if (s.map == 0 && s.opcode == 0x8d)
		return latency_of_address(&s);
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (latency_fits(&rows[i], &s))
			return rows[i].latency;
	return MODEL_LATENCY_ALU;
}
