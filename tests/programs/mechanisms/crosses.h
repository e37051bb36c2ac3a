/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Chains of instructions that pass a value between general registers, vector registers, flags,
 * memory and the x87 stack: how long each way takes. */
#ifndef MECHANISMS_CROSSES_H
#define MECHANISMS_CROSSES_H

#include "code.h"

enum { CROSSES = 400 };

static turn crosses(const char *bytes, size_t size)
{
	/* rcx goes on from turn to turn, and so does what is on the stack. */
	PUT("\xdd\x43\x08"); /* fldl 8(%rbx) */
	for (units = 0; units < CROSSES; units++)
		put_bytes(bytes, size);
	PUT("\xdd\x5b\x08"); /* fstpl 8(%rbx) */
	RETURN;
	return (turn)(void *)code;
}

#define CROSS(name, text)                                                                          \
	static turn cross_##name(const size_t *n)                                                  \
	{                                                                                          \
		(void)n;                                                                           \
		return crosses(text, sizeof(text) - 1);                                            \
	}

#define INTO   "\x66\x0f\x6e\xc1" /* movd %ecx, %xmm0 */
#define OUT_OF "\x66\x0f\x7e\xc1" /* movd %xmm0, %ecx */

CROSS(move, INTO OUT_OF)
CROSS(compare, INTO "\x66\x0f\x2f\xd0\x0f\x92\xc1")          /* comisd %xmm0, %xmm2; setc %cl */
CROSS(convert, INTO "\xf2\x48\x0f\x2c\xc8")                  /* cvttsd2si %xmm0, %rcx */
CROSS(convert_in, "\x0f\x57\xc0\xf2\x48\x0f\x2a\xc1" OUT_OF) /* xorps; cvtsi2sd %rcx, %xmm0 */
CROSS(extract, INTO "\x66\x0f\xc5\xc8\x00")                  /* pextrw $0, %xmm0, %ecx */
CROSS(multiply,
	"\x48\x89\xc8\x48\xf7\xe6\x48\x89\xd1") /* mov %rcx, %rax; mul %rsi; mov %rdx, %rcx */
CROSS(memory_in, "\x48\x89\x4b\x40\xf2\x0f\x10\x43\x40" OUT_OF) /* mov to 64(%rbx); movsd */
CROSS(memory_out, INTO "\xf2\x0f\x11\x43\x40\x48\x8b\x4b\x40")  /* movsd to 64(%rbx); mov */
CROSS(x87, "\xd8\xc0")                                          /* fadd %st, %st */
CROSS(x87_long, "\xdb\x6b\x40\xdd\xd8")                         /* fldt 64(%rbx); fstp %st(0) */

#endif
