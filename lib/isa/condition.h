/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The conditions of x86-64's jcc, setcc and cmovcc. */
#ifndef ISA_CONDITION_H
#define ISA_CONDITION_H

#include <stdbool.h>
#include <stdint.h>

enum isa_flag {
	FLAG_CARRY = 1 << 0,
	FLAG_PARITY = 1 << 2,
	FLAG_ADJUST = 1 << 4,
	FLAG_ZERO = 1 << 6,
	FLAG_SIGN = 1 << 7,
	FLAG_DIRECTION = 1 << 10,
	FLAG_OVERFLOW = 1 << 11,
};

/* condition: 0 to 15, the low bits of the opcode.  They come in pairs of opposites. */
static inline bool isa_holds(unsigned condition, uint64_t flags)
{
	bool less = !(flags & FLAG_SIGN) != !(flags & FLAG_OVERFLOW), is = false;

	switch (condition >> 1) {
	case 0:
		is = flags & FLAG_OVERFLOW;
		break;
	case 1:
		is = flags & FLAG_CARRY;
		break;
	case 2:
		is = flags & FLAG_ZERO;
		break;
	case 3:
		is = flags & (FLAG_CARRY | FLAG_ZERO);
		break;
	case 4:
		is = flags & FLAG_SIGN;
		break;
	case 5:
		is = flags & FLAG_PARITY;
		break;
	case 6:
		is = less;
		break;
	default:
		is = less || flags & FLAG_ZERO;
		break;
	}
	return is != (condition & 1);
}

#endif
