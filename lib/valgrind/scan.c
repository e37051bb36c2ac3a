/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Prefixes, opcode map, opcode.  Source: as decode.c. */
#include "valgrind/scan.h"

static unsigned next_byte(struct scan *s)
{
	return s->at < s->length ? s->code[s->at++] : 0;
}

static void scan_prefixes(struct scan *s)
{
	for (;;) {
		unsigned c = s->at < s->length ? s->code[s->at] : 0;

		switch (c) {
		case 0x66:
			s->pp = s->pp ? s->pp : 1;
			break;
		case 0xf2:
			s->pp = 3;
			s->repeat = 1;
			break;
		case 0xf3:
			s->pp = 2;
			s->repeat = 1;
			break;
		case 0xf0:
			s->lock = 1;
			break;
		case 0x26:
		case 0x2e:
		case 0x36:
		case 0x3e:
		case 0x64:
		case 0x65:
		case 0x67:
			break;
		default:
			if ((c & 0xf0) == 0x40) {
				s->rex = c & 15;
				s->at++;
			}
			return;
		}
		s->at++;
	}
}

/* C5 RvvvvLpp, or C4 RXBmmmmm WvvvvLpp, with inverted R X B. */
static void scan_vex(struct scan *s, unsigned first)
{
	unsigned a = next_byte(s), b = a;

	s->vex = 1;
	s->map = 1;
	s->rex = (~a >> 7 & 1) << 2;
	if (first == 0xc4) {
		b = next_byte(s);
		s->map = a & 31;
		s->rex = (b >> 7) << 3 | (~a >> 5 & 7);
	}
	s->pp = b & 3;
	s->bytes = b & 4 ? 32 : 16;
}

void scan(struct scan *s, const uint8_t *code, unsigned length)
{
	*s = (struct scan){.code = code, .length = length, .bytes = 16};
	scan_prefixes(s);
	s->opcode = next_byte(s);
	if (s->opcode == 0xc4 || s->opcode == 0xc5) {
		scan_vex(s, s->opcode);
		s->opcode = next_byte(s);
	} else if (s->opcode == 0x0f) {
		s->map = 1;
		s->opcode = next_byte(s);
		if (s->opcode == 0x38 || s->opcode == 0x3a) {
			s->map = s->opcode == 0x38 ? 2 : 3;
			s->opcode = next_byte(s);
		}
	}
	/* Not all instructions have one; those that do not never look at it. */
	s->modrm = s->at < length ? code[s->at] : 0;
}

/* Is it one of general registers that has an operand byte (ModRM)? */
static int is_general(const struct scan *s)
{
	unsigned c = s->opcode;

	if (s->map > 1 || s->vex)
		return 0;
	if (s->map == 1)
		return (c & 0xf0) == 0x40 || (c & 0xf6) == 0xb6 || c == 0xaf;
	if (c < 0x40)
		return (c & 7) < 4;
	return c == 0x63 || c == 0x69 || c == 0x6b || (c >= 0x80 && c < 0x90) ||
	       (c & 0xfe) == 0xc0 || (c & 0xfe) == 0xc6 || (c >= 0xd0 && c < 0xd4) ||
	       (c & 0xfe) == 0xf6 || c >= 0xfe;
}

/* All of VEX, 0F38 and 0F3A have one; of 0F, calls of the system, conditional branches, registers
 * of the system, push and pop of segments and bswap have none. */
static int scan_has_modrm(const struct scan *s)
{
	unsigned c = s->opcode;

	if (s->map > 1)
		return 1;
	if (s->map == 1)
		return s->vex ? c != 0x77
			      : !(c >= 0x04 && c <= 0x0c) && !(c >= 0x30 && c <= 0x37) &&
					c != 0x77 && (c & 0xf0) != 0x80 && (c & 0xf6) != 0xa0 &&
					c != 0xa2 && c != 0xaa && (c & 0xf8) != 0xc8;
	return is_general(s) || (c >= 0xd8 && c <= 0xdf);
}

int scan_has_memory(const struct scan *s)
{
	return s->at < s->length && s->modrm >> 6 != 3 && scan_has_modrm(s);
}

/* Source: Intel's manual, volume 2, chapter 2: ModRM, SIB, displacements. */
void scan_memory(const struct scan *s, struct scan_memory *m)
{
	unsigned at = s->at + 1, mod = s->modrm >> 6, rm = s->modrm & 7, bytes = 0;
	uint32_t raw = 0;

	m->base = (uint8_t)(rm | (s->rex & 1) << 3);
	m->index = SCAN_NO_REGISTER;
	m->scale = 0;
	bytes = mod == 1 ? 1 : mod == 2 ? 4 : 0;
	if (rm == 4) {
		unsigned sib = at < s->length ? s->code[at] : 0;
		unsigned index = (sib >> 3 & 7) | (s->rex & 2) << 2;

		at++;
		m->base = (uint8_t)((sib & 7) | (s->rex & 1) << 3);
		if (index != 4) {
			m->index = (uint8_t)index;
			m->scale = (uint8_t)(sib >> 6);
		}
		if ((sib & 7) == 5 && mod == 0) {
			m->base = SCAN_NO_REGISTER;
			bytes = 4;
		}
	} else if (rm == 5 && mod == 0) {
		m->base = SCAN_RIP;
		bytes = 4;
	}
	if (at + bytes > s->length)
		bytes = 0;
	for (unsigned i = 0; i < bytes; i++)
		raw |= (uint32_t)s->code[at + i] << 8 * i;
	m->displacement = bytes == 1 ? (int8_t)raw : (int32_t)raw;
	m->bytes = (uint8_t)bytes;
	m->end = (uint8_t)(at + bytes);
}

static int scan_is_branch(const struct scan *s)
{
	unsigned c = s->opcode;

	return s->map == 0 ? (c & 0xf0) == 0x70 || (c & 0xfc) == 0xe0 || (c & 0xfc) == 0xe8
			   : s->map == 1 && !s->vex && (c & 0xf0) == 0x80;
}

unsigned scan_fields(const struct scan *s)
{
	unsigned end = s->at + (unsigned)scan_has_modrm(s), fields = 0;
	struct scan_memory m;

	if (scan_has_memory(s)) {
		scan_memory(s, &m);
		end = m.end;
		fields = m.base == SCAN_RIP ? 2 : m.bytes > 0;
	}
	if (end >= s->length || scan_is_branch(s))
		return fields;
	return fields + (s->length - end > 4 ? 2 : 1);
}

uint32_t scan_address(const uint8_t *code, unsigned length)
{
	struct scan_memory m;
	struct scan s;

	scan(&s, code, length);
	if (!is_general(&s) || !scan_has_memory(&s))
		return 0;
	scan_memory(&s, &m);
	if (m.base > 15 || m.index != SCAN_NO_REGISTER)
		return 0;
	return ((uint32_t)m.displacement * 32 + m.base) | 1u << 31;
}
