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
