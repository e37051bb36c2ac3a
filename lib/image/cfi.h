/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Call frame rules of an image in a form that is quick to apply. libdw finds and runs the programs
 * of .eh_frame and .debug_frame; the unwinder keeps the results.
 */
#ifndef IMAGE_CFI_H
#define IMAGE_CFI_H

#include <elfutils/libdw.h>

#include "base/vec.h"
#include "image/image.h"

struct cfi;
void cfi_free(struct cfi *c);

/* How to compute a caller's register. */
enum cfi_how {
	CFI_MEMORY,     /* it is saved at CFA + offset */
	CFI_VALUE,      /* it is CFA + offset */
	CFI_REGISTER,   /* it is in register number offset */
	CFI_UNDEFINED,  /* it is lost */
	CFI_EXPRESSION, /* by expression number offset */
};

struct cfi_save {
	uint8_t number, how;
	int32_t offset;
};

struct cfi_rule {
	uint8_t cfa_register;
	bool cfa_expression; /* then cfa_offset is the expression's number */
	bool signal;         /* the caller was interrupted, it did not call */
	bool outermost;      /* there is no caller */
	uint8_t count;
	uint8_t return_register;
	int32_t cfa_offset;
	uint32_t first; /* of saves */
};

struct cfi_expression {
	Dwarf_Op *ops; /* ours */
	size_t count;
};

/* Storage of rules. */
struct cfi_pool {
	VEC(struct cfi_save) saves;
	VEC(struct cfi_expression) expressions;
};

/* The rule at an address of the image, with its saves added to the pool. kept: bit n is set for a
 * register that functions preserve; for the others, "lost" is not stored. -1: there is none. */
int cfi_rule_at(struct image *image, uint64_t address, uint64_t kept, struct cfi_pool *pool,
	struct cfi_rule *rule);
void cfi_pool_fini(struct cfi_pool *pool);

#endif
