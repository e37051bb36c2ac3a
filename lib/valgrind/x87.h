/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which registers of the x87 stack a superblock reads and writes. The instructions name them by
 * their distance from the top of the stack, the intermediate representation by a temporary.
 */
#ifndef VALGRIND_X87_H
#define VALGRIND_X87_H

#include "pub_tool_basics.h"
#include "pub_tool_tooliface.h"

/* The top of the running thread's stack: the number of a register, of which the lowest three bits
 * count. */
UInt x87_top(void);
/* Begins a superblock; then x87_see gets its statements in order. */
void x87_begin(const IRSB *in, UInt top);
void x87_see(const IRStmt *st);
/* The slot (trace.h) of an element of an array of registers; MODEL_REGISTER_OTHER if it is not
 * known, MODEL_SLOT_NONE of all other arrays. */
UInt x87_register(const IRRegArray *array, const IRExpr *index, Int bias);

#endif
