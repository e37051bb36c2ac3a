/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which instructions of a procedure compute with an argument: those that a copy of the procedure
 * for one value of the argument could have simpler.
 *
 * An operand is known if the argument and constants alone determine it, on all paths that lead
 * there, as one value of one instruction (binding times of partial evaluation; so what a loop
 * counts is not known). What is loaded from memory is not known, but for words of the frame that
 * only known values were stored to; nor is what a call returns. An address does not count: with a
 * known one a load is no cheaper. So loops that a copy would unroll count with their comparison
 * only.
 */
#ifndef EXPLAIN_DEPENDS_H
#define EXPLAIN_DEPENDS_H

#include "flow/flow.h"

/* depends[i]: of each instruction of f; argument: a register that it is called with. -1: memory is
 * out. */
int explain_depends(const struct flow *f, unsigned argument, bool *depends);

/* The register of an argument by its number in VALUE_ARGUMENT (8 and more: xmm0 ...); REG_NONE: it
 * is in none. */
unsigned explain_argument_register(uint32_t number);

#endif
