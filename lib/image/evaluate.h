/* SPDX-License-Identifier: GPL-2.0-or-later */
/* DWARF expressions as used in call frame rules: of the PLT, signal frames, realigned stacks. */
#ifndef IMAGE_EVALUATE_H
#define IMAGE_EVALUATE_H

#include "image/cfi.h"
#include "image/unwind.h"

/* 8 bytes of the copied stack; false if they are not in the copy. */
bool evaluate_memory(const struct unwind_state *s, uint64_t address, uint64_t *value);

/* The same, if the value is kept in a register for now: where it is from. */
bool evaluate_word(const struct unwind_state *s, uint64_t address, uint64_t *value, uint16_t *from);

/* cfa is the value of DW_OP_call_frame_cfa. *is_value: the result is the value itself, else its
 * address. false: an unknown operation, register or memory. */
bool evaluate(const struct cfi_expression *x, const struct unwind_state *s, uint64_t cfa,
	uint64_t *result, bool *is_value);

#endif
