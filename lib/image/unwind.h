/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Call stacks from a copy of registers and of the top of the stack, by the call frame rules of the
 * images (.eh_frame, .debug_frame) or by frame pointers, chosen for each image; x86-64 and AArch64.
 * Rules are cached by address, so that a hot path costs some hundred nanoseconds; and whole paths,
 * by what they depend on (unwind_memo.h).
 */
#ifndef IMAGE_UNWIND_H
#define IMAGE_UNWIND_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "image/image.h"

/* In DWARF's numbers of the machine: x86-64 has 0..16 (16: pc), AArch64 0..32 (31: sp, 32: pc). */
enum { UNWIND_REGISTERS = 33 };

/* Copies code of the process at pc; the number of bytes. Context: that of unwind_find. */
typedef size_t unwind_code(void *context, uint64_t pc, uint8_t *bytes, size_t size);

struct unwind_trace; /* the unwinder's */

struct unwind_state {
	/* Of the process's mappings: another one after each change, so that a path which depends on
	 * the same registers and words of the stack as an earlier one is not sought again; 0:
	 * unknown. */
	uint64_t space;
	enum image_machine machine; /* IMAGE_OTHER: this host's */
	uint64_t registers[UNWIND_REGISTERS];
	uint64_t known;         /* bit n: registers[n] is known */
	const uint8_t *stack;   /* copy of memory */
	uint64_t stack_address; /* its address */
	size_t stack_size;
	unwind_code *code; /* of places without an image; NULL: cannot be read */
	/* The unwinder's own: */
	struct unwind_trace *trace;
	uint16_t from[UNWIND_REGISTERS]; /* where each register's value is from */
};

/* DWARF's number of a register that perf_event_open numbers (asm/perf_regs.h of x86), -1: none. On
 * AArch64 the numbers are the same. */
enum { UNWIND_PERF_X86 = 24 };
extern const signed char unwind_from_perf_x86[UNWIND_PERF_X86];
/* Sets machine, registers and known from a sample: mask is the sample_regs_user of the event,
 * values has one for each bit of it, from the lowest. */
void unwind_from_perf(struct unwind_state *state, enum image_machine machine, uint64_t mask,
	const uint64_t *values);

/* Maps a pc of the process to an image: NULL if there is none; *bias is the difference to the
 * image's addresses. The caller keeps the image. */
typedef struct image *unwind_find(void *context, uint64_t pc, uint64_t *bias);

struct unwinder;
struct unwinder *unwind_new(struct error *e);
/* Images are closed after it. */
void unwind_free(struct unwinder *u);

/*
 * The pcs of the call stack, innermost first, callers as return addresses; returns their number,
 * at least 1 (0 if the pc is unknown or depth is 0). *complete: the outermost frame was reached
 * (else the copy of the stack ended, a rule was missing or depth was reached). A frame that a
 * signal interrupted has its own pc, not a return address: *interrupted (may be NULL) has bit n
 * set for such frames among the first 64.
 */
size_t unwind(struct unwinder *u, const struct unwind_state *state, unwind_find *find,
	void *context, uint64_t *pcs, size_t depth, int *complete, uint64_t *interrupted);

#endif
