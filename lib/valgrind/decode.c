/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Source: the opcode maps of the AMD64 Architecture Programmer's Manual, volumes 3 to 5, and the
 * Intel SDM, volume 2, appendix A. Variant: one pass over prefixes, then a range test per opcode
 * map. Cost: some tens of nanoseconds, once per translated instruction.
 *
 * Known deviations: micro-op counts are one number per kind of instruction, near those of recent
 * AMD and Intel processors and exact for none. EVEX (AVX-512) is not decoded: Valgrind cannot run
 * it.
 */
#include "valgrind/decode.h"

#include "model/model.h"
#include "valgrind/scan.h"

static int is_register(const struct scan *s)
{
	return s->modrm >> 6 == 3;
}

static unsigned reg_field(const struct scan *s)
{
	return s->modrm >> 3 & 7;
}

static int within(unsigned value, unsigned low, unsigned high)
{
	return value - low <= high - low;
}

/* The last `bytes` bytes, as a signed displacement from the end of the instruction. */
static uint64_t relative_target(const struct scan *s, uint64_t address, unsigned bytes)
{
	uint32_t raw = 0;

	if (bytes > s->length)
		return address;
	for (unsigned i = 0; i < bytes; i++)
		raw |= (uint32_t)s->code[s->length - bytes + i] << 8 * i;
	return address + s->length +
	       (uint64_t)(bytes == 1 ? (int64_t)(int8_t)raw : (int64_t)(int32_t)raw);
}

static void direct(struct decoded *d, enum model_branch_kind kind, uint64_t target)
{
	d->branch = (uint8_t)kind;
	d->target = target;
}

static void x87(const struct scan *s, struct decoded *d)
{
	unsigned reg = reg_field(s), low = s->modrm & 0x3f;
	int arithmetic = 0;

	switch (s->opcode) {
	case 0xd8:
	case 0xdc:
	case 0xde:
		arithmetic = 1;
		d->flops = reg != 2 && reg != 3;
		if (reg >= 6)
			d->class_bits |= MODEL_FP_DIVIDE;
		break;
	case 0xd9:
		if (!is_register(s))
			break;
		arithmetic = within(low, 0x20, 0x25) || (low >= 0x30 && low != 0x36 && low != 0x37);
		if (low == 0x3a) {
			d->class_bits |= MODEL_FP_DIVIDE;
			d->flops = 1;
		} else if (low >= 0x30 && low != 0x36 && low != 0x37 && low != 0x3c) {
			d->uops = 50; /* transcendental functions and remainders are microcode */
		}
		break;
	case 0xda:
		arithmetic = !is_register(s) || s->modrm == 0xe9;
		d->flops = !is_register(s) && reg != 2 && reg != 3;
		if (!is_register(s) && reg >= 6)
			d->class_bits |= MODEL_FP_DIVIDE;
		break;
	case 0xdb:
	case 0xdf:
		arithmetic = is_register(s) && (reg == 5 || reg == 6);
		break;
	case 0xdd:
		arithmetic = is_register(s) && (reg == 4 || reg == 5);
		break;
	}
	if (arithmetic)
		d->class_bits |= MODEL_FP;
}

static void one_byte(const struct scan *s, struct decoded *d, uint64_t address)
{
	unsigned op = s->opcode;

	if (within(op, 0x70, 0x7f) || within(op, 0xe0, 0xe3)) {
		direct(d, MODEL_CONDITIONAL, relative_target(s, address, 1));
	} else if (op == 0xeb) {
		direct(d, MODEL_JUMP, relative_target(s, address, 1));
	} else if (op == 0xe9 || op == 0xe8) {
		direct(d, op == 0xe9 ? MODEL_JUMP : MODEL_CALL, relative_target(s, address, 4));
	} else if (op == 0xc2 || op == 0xc3) {
		d->branch = MODEL_RETURN;
	} else if (op == 0xff && (reg_field(s) == 2 || reg_field(s) == 4)) {
		d->branch = reg_field(s) == 2 ? MODEL_INDIRECT_CALL : MODEL_INDIRECT_JUMP;
	} else if ((op == 0xf6 || op == 0xf7) && reg_field(s) >= 6) {
		d->class_bits |= MODEL_DIVIDE;
		d->uops = 4;
	} else if ((op == 0x86 || op == 0x87) && !is_register(s)) {
		d->class_bits |= MODEL_LOCKED; /* xchg with memory needs no prefix */
	} else if (within(op, 0xd8, 0xdf)) {
		x87(s, d);
	} else if (op == 0xcd && s->modrm == 0x80) {
		d->class_bits |= MODEL_SYSCALL;
	} else if (within(op, 0xa4, 0xa7) || within(op, 0xaa, 0xaf) || within(op, 0x6c, 0x6f)) {
		d->repeats = (uint8_t)s->repeat;
	}
}

/* Floating-point operations of one instruction on lanes of 4 or 8 bytes, by its mandatory prefix.
 */
static unsigned lanes(const struct scan *s)
{
	static const uint8_t size[4] = {4, 8, 0, 0};

	return size[s->pp] ? s->bytes / size[s->pp] : 1;
}

static void set_fp(const struct scan *s, struct decoded *d, int counts)
{
	d->class_bits |= MODEL_FP | (s->pp < 2 ? MODEL_VECTOR : 0);
	d->flops = counts ? (uint8_t)lanes(s) : 0;
}

/* The SSE part of the 0F map, legacy or VEX encoded. */
static void sse(const struct scan *s, struct decoded *d)
{
	unsigned op = s->opcode;

	switch (op) {
	case 0x51:
	case 0x5e:
		d->class_bits |= MODEL_FP_DIVIDE;
		/* fall through */
	case 0x52:
	case 0x53:
	case 0x58:
	case 0x59:
	case 0x5c:
	case 0x5d:
	case 0x5f:
		set_fp(s, d, 1);
		return;
	case 0x2a:
	case 0x2c:
	case 0x2d:
	case 0x5a:
	case 0xc2:
		set_fp(s, d, 0);
		return;
	case 0x2e:
	case 0x2f:
		d->class_bits |= MODEL_FP;
		return;
	case 0x5b:
	case 0xe6:
		d->class_bits |= MODEL_FP | MODEL_VECTOR;
		return;
	case 0x7c:
	case 0x7d:
	case 0xd0:
		d->class_bits |= MODEL_FP | MODEL_VECTOR;
		d->flops = (uint8_t)(s->bytes / (s->pp == 1 ? 8 : 4));
		return;
	case 0x10:
	case 0x11:
		if (s->pp < 2)
			d->class_bits |= MODEL_VECTOR;
		return;
	case 0x6e:
	case 0x77:
	case 0x7e:
	case 0xd6:
	case 0xff:
		return;
	default:
		if (within(op, 0x12, 0x17) || within(op, 0x28, 0x2b) || op == 0x50 ||
			within(op, 0x54, 0x57) || within(op, 0x60, 0x6f) ||
			within(op, 0x70, 0x76) || op == 0x7f || within(op, 0xc4, 0xc6) ||
			op >= 0xd1)
			d->class_bits |= MODEL_VECTOR;
	}
}

static void two_byte(const struct scan *s, struct decoded *d, uint64_t address)
{
	unsigned op = s->opcode;

	if (within(op, 0x80, 0x8f)) {
		direct(d, MODEL_CONDITIONAL, relative_target(s, address, 4));
	} else if (op == 0x05 || op == 0x34) {
		d->class_bits |= MODEL_SYSCALL;
	} else if (op == 0xa2) {
		d->class_bits |= MODEL_SERIALISING;
		d->uops = 50;
	} else if (op == 0x01 && (s->modrm == 0xf9 || s->modrm == 0xe8)) {
		d->class_bits |= MODEL_SERIALISING; /* rdtscp, serialize */
		d->uops = 20;
	} else if (op == 0xae && is_register(s) && !s->pp &&
		   (reg_field(s) == 5 || reg_field(s) == 6)) {
		d->class_bits |= MODEL_SERIALISING; /* lfence, mfence */
	} else if ((op == 0x18 && reg_field(s) < 4 && !is_register(s)) ||
		   (op == 0x0d && !is_register(s))) {
		if (s->length > s->at + (unsigned)((s->modrm & 7) == 4)) {
			d->class_bits |= MODEL_PREFETCH;
			scan_memory(s, &d->operand);
		}
	} else if (within(op, 0x10, 0x17) || within(op, 0x28, 0x2f) || within(op, 0x50, 0x7f) ||
		   op == 0xc2 || within(op, 0xc4, 0xc6) || op >= 0xd0) {
		sse(s, d);
	}
}

static void map_0f38(const struct scan *s, struct decoded *d)
{
	unsigned op = s->opcode, low = op & 15, high = op >> 4;

	if (s->vex && high >= 9 && high <= 11 && low >= 6) { /* fused multiply-add */
		unsigned size = s->rex & 8 ? 8 : 4, scalar = low >= 8 && (low & 1);

		d->class_bits |= MODEL_FP | (scalar ? 0 : MODEL_VECTOR);
		d->flops = (uint8_t)(2 * (scalar ? 1 : s->bytes / size));
	} else if (s->vex && op == 0x13) {
		d->class_bits |= MODEL_FP | MODEL_VECTOR;
	} else if (op < 0xf0) {
		d->class_bits |= MODEL_VECTOR; /* from F0 on: crc32, movbe, bit manipulation */
	}
}

static void map_0f3a(const struct scan *s, struct decoded *d)
{
	unsigned op = s->opcode;

	if (op < 0xf0)
		d->class_bits |= MODEL_VECTOR;
	if (op == 0x0a || op == 0x0b)
		d->class_bits = (uint16_t)((d->class_bits & ~MODEL_VECTOR) | MODEL_FP);
	if (op == 0x08 || op == 0x09 || op == 0x1d)
		d->class_bits |= MODEL_FP;
	if (op == 0x40 || op == 0x41) { /* dot products: multiplications and additions */
		d->class_bits |= MODEL_FP;
		d->flops = op == 0x40 ? (uint8_t)(7 * (s->bytes / 16)) : 3;
		d->uops = 4;
	}
}

void decode(const uint8_t *code, unsigned length, uint64_t address, struct decoded *out)
{
	struct scan s;

	scan(&s, code, length);
	*out = (struct decoded){.length = (uint8_t)length,
		.branch = DECODE_NO_BRANCH,
		.operand = {.base = SCAN_NO_REGISTER, .index = SCAN_NO_REGISTER},
		.uops = 1};
	switch (s.map) {
	case 0:
		one_byte(&s, out, address);
		break;
	case 1:
		two_byte(&s, out, address);
		break;
	case 2:
		map_0f38(&s, out);
		break;
	case 3:
		map_0f3a(&s, out);
		break;
	}
	if (s.lock)
		out->class_bits |= MODEL_LOCKED;
	if (out->class_bits & MODEL_LOCKED)
		out->uops = 6;
}
