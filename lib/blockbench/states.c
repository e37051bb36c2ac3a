/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "blockbench/states.h"

/* In the middle of a page, so that displacements of either sign stay in it; each register has a
 * page and lines of its own, memory points to another one.  Products of two are canonical. */
#define BASE 0x2324800
#define STEP 0x20040
#define FILL 0x2644800
/* 1.01 as two floats, 0.0084 as a double: neither grows nor shrinks fast. */
#define FLOATS 0x3f8147ae3f8147aeull

const struct state block_states[STATE_COUNT] = {
	{"pointers", BASE, STEP, FILL, FLOATS, -1, -1, 0},
	{"pointers, rcx 4", BASE, STEP, FILL, FLOATS, 4, -1, 0},
	{"pointers, rdx 0", BASE, STEP, FILL, FLOATS, -1, 0, 0},
	{"pointers, rcx 4, rdx 0", BASE, STEP, FILL, FLOATS, 4, 0, 0},
	{"pointers, stack at odd multiple of 8", BASE, STEP, FILL, FLOATS, -1, -1, 8},
	{"pointers, vectors of pointers", BASE, STEP, FILL, FILL, -1, -1, 0},
	{"pointers to zeroes, rcx and rdx 0", BASE, STEP, 0, 0, 0, 0, 0},
	{"small pointers", 0x18800, 0x40, 0x18800, FLOATS, -1, 0, 0},
	{"one pointer", BASE, 0, BASE, FLOATS, -1, -1, 0},
	{"pointers to floating-point numbers", BASE, STEP, FLOATS, FLOATS, -1, -1, 0},
};
