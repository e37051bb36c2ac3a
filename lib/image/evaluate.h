/* SPDX-License-Identifier: GPL-2.0-or-later */
/* DWARF expressions as call frame rules use them: the PLT's, signal frames', realigned stacks'. */
#ifndef IMAGE_EVALUATE_H
#define IMAGE_EVALUATE_H

#include "image/cfi.h"
#include "image/unwind.h"

/* 8 bytes of the copied stack; false where the copy does not have them. */
bool unwind_memory(const struct unwind_state *s, uint64_t address, uint64_t *value);

/* cfa is what DW_OP_call_frame_cfa gives.  *is_value: the result is the value itself, else the
 * address where it lies.  false: an operation that is not known here, a register or memory that is
 * not. */
bool evaluate(const struct cfi_expression *x, const struct unwind_state *s, uint64_t cfa,
	uint64_t *result, bool *is_value);

#endif
