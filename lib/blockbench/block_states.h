/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The initial states of registers and memory, in the order in which they are tried. The worker
 * uses the registers (worker_code.c), the bench the names. */
#ifndef BLOCKBENCH_BLOCK_STATES_H
#define BLOCKBENCH_BLOCK_STATES_H

#include <stdbool.h>
#include <stdint.h>

struct state {
	const char *name;
	uint64_t base, step; /* of general registers: base + number * step */
	uint64_t fill;       /* of memory, each eight bytes */
	uint64_t vector;     /* of vector registers, each eight bytes */
	int64_t rcx, rdx;    /* -1: as the others */
	int64_t stack;       /* added to rsp and rbp */
	bool indexes_zero;   /* registers that only scale addresses are 0 */
	bool others_zero;    /* all but rsp and rbp are 0 */
};

/* The states that a block's instructions need, by bits 0 (repeats: a small count) and 1
 * (divides). */
#define STATES_USUAL 4
#define STATE_FLOATS (STATE_COUNT - 1) /* for x87, which is slow on other contents of memory */
#define STATE_COUNT  12

extern const struct state block_states[STATE_COUNT];

#endif
