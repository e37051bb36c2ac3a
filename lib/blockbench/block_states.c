/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "blockbench/block_states.h"

/* In the middle of a page, so that displacements of either sign remain in it; each register has a
 * page and lines of its own, memory points to another one. Products of two are canonical. */
#define BASE 0x2324800
#define STEP 0x20040
#define FILL 0x2644800
/* 1.01 as two floats, 0.0084 as a double: products grow and shrink slowly. */
#define FLOATS 0x3f8147ae3f8147aeull

#define USUAL(rcx, rdx) BASE, STEP, FILL, FLOATS, rcx, rdx

const struct state block_states[STATE_COUNT] = {
	{"pointers", USUAL(-1, -1), 0, false, false},
	{"pointers, rcx 4", USUAL(4, -1), 0, false, false},
	{"pointers, rdx 0", USUAL(-1, 0), 0, false, false},
	{"pointers, rcx 4, rdx 0", USUAL(4, 0), 0, false, false},
	{"pointers, stack at odd multiple of 8", USUAL(-1, -1), 8, false, false},
	{"pointers, indexes 0", USUAL(-1, -1), 0, true, false},
	{"pointers, vectors of pointers", BASE, STEP, FILL, FILL, -1, -1, 0, true, false},
	{"pointers to zeroes, rcx and rdx 0", BASE, STEP, 0, 0, 0, 0, 0, true, false},
	{"small pointers", 0x18800, 0x40, 0x18800, FLOATS, -1, 0, 0, false, false},
	{"one pointer", BASE, 0, BASE, FLOATS, -1, -1, 0, false, false},
	{"zeroes, the stack apart", BASE, STEP, 0, 0, 0, 0, 0, true, true},
	{"pointers to floating-point numbers", BASE, STEP, FLOATS, FLOATS, -1, -1, 0, false, false},
};
