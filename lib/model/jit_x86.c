/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/jit_x86.h"

int jit_has_room(const struct jit *e, size_t bytes)
{
	return (size_t)(e->end - e->at) >= bytes && (size_t)(e->rare_end - e->rare) >= bytes;
}

void jit_turn(struct jit *e)
{
	uint8_t *at = e->at;

	e->at = e->rare;
	e->rare = at;
}

void jit_byte(struct jit *e, unsigned byte)
{
	*e->at++ = (uint8_t)byte;
}

void jit_word(struct jit *e, uint32_t word)
{
	for (unsigned i = 0; i < 32; i += 8)
		jit_byte(e, word >> i);
}

static void jit_prefix(struct jit *e, unsigned op, unsigned reg, unsigned base, unsigned index)
{
	unsigned rex = (op & WIDE ? 8u : 0) | (reg & 8) >> 1 | (index & 8) >> 2 | (base & 8) >> 3;

	if (rex)
		jit_byte(e, 0x40 | rex);
	if ((op & 0xff00) != 0)
		jit_byte(e, op >> 8 & 0xff);
	jit_byte(e, op & 0xff);
}

/* An instruction with an operand in memory. */
void jit_memory(struct jit *e, unsigned op, unsigned reg, struct jit_memory m)
{
	int sib = m.index != NO_INDEX || (m.base & 7) == RSP,
	    near = (int8_t)m.displacement == m.displacement;

	if (m.base == NO_BASE) {
		jit_prefix(e, op, reg, 0, m.index);
		jit_byte(e, (reg & 7) << 3 | 4);
		jit_byte(e, (unsigned)m.scale << 6 | (m.index & 7u) << 3 | 5);
		jit_word(e, (uint32_t)m.displacement);
		return;
	}
	jit_prefix(e, op, reg, m.base, m.index == NO_INDEX ? 0 : m.index);
	jit_byte(e, (near ? 0x40u : 0x80u) | (reg & 7) << 3 | (sib ? 4u : m.base & 7u));
	if (sib)
		jit_byte(e, (unsigned)m.scale << 6 |
				    (m.index == NO_INDEX ? 4u : m.index & 7u) << 3 | (m.base & 7u));
	if (near)
		jit_byte(e, (uint8_t)m.displacement);
	else
		jit_word(e, (uint32_t)m.displacement);
}

/* One with two registers. */
void jit_registers(struct jit *e, unsigned op, unsigned reg, unsigned other)
{
	jit_prefix(e, op, reg, other, 0);
	jit_byte(e, 0xc0 | (reg & 7) << 3 | (other & 7));
}

void jit_constant(struct jit *e, unsigned which, unsigned wide, unsigned reg, int32_t value)
{
	int near = (int8_t)value == value;

	jit_prefix(e, (near ? 0x83u : 0x81u) | wide, 0, reg, 0);
	jit_byte(e, 0xc0 | which << 3 | (reg & 7));
	if (near)
		jit_byte(e, (uint8_t)value);
	else
		jit_word(e, (uint32_t)value);
}

void jit_byte_constant(struct jit *e, unsigned which, unsigned reg, unsigned value)
{
	jit_registers(e, 0x80, which, reg);
	jit_byte(e, value);
}

void jit_carry(struct jit *e, unsigned which, struct jit_memory at, unsigned value)
{
	jit_memory(e, 0x83 | WIDE, which, at);
	jit_byte(e, value);
}

void jit_set_not_equal(struct jit *e, unsigned reg)
{
	jit_registers(e, 0x0f95, 0, reg);
}

void jit_shift_right(struct jit *e, unsigned wide, unsigned reg, unsigned bits)
{
	jit_prefix(e, 0xc1 | wide, 0, reg, 0);
	jit_byte(e, 0xc0 | 5 << 3 | (reg & 7));
	jit_byte(e, bits);
}

void jit_move_constant(struct jit *e, unsigned reg, uint32_t value)
{
	jit_byte(e, 0xb8 | reg);
	jit_word(e, value);
}

/* mov reg, value */
void jit_move_wide(struct jit *e, unsigned reg, uint64_t value)
{
	jit_byte(e, 0x48);
	jit_byte(e, 0xb8 | reg);
	jit_word(e, (uint32_t)value);
	jit_word(e, (uint32_t)(value >> 32));
}

void jit_push(struct jit *e, unsigned reg, unsigned op)
{
	if (reg & 8)
		jit_byte(e, 0x41);
	jit_byte(e, op | (reg & 7));
}

void jit_relative(struct jit *e, const uint8_t *to)
{
	jit_word(e, (uint32_t)(to - (e->at + 4)));
}

void jit_jump(struct jit *e, const uint8_t *to)
{
	jit_byte(e, 0xe9);
	jit_relative(e, to);
}

void jit_jump_if(struct jit *e, unsigned condition, const uint8_t *to)
{
	jit_byte(e, 0x0f);
	jit_byte(e, 0x80 | condition);
	jit_relative(e, to);
}

/* A jump forward, to where jit_land is called with what this returns. */
uint8_t *jit_jump_ahead(struct jit *e, unsigned condition)
{
	jit_jump_if(e, condition, e->at);
	return e->at;
}

uint8_t *jit_jump_always_ahead(struct jit *e)
{
	jit_jump(e, e->at);
	return e->at;
}

void jit_land(const struct jit *e, uint8_t *behind_jump)
{
	uint32_t distance = (uint32_t)(e->at - behind_jump);

	for (unsigned i = 0; i < 4; i++)
		behind_jump[(int)i - 4] = (uint8_t)(distance >> 8 * i);
}
