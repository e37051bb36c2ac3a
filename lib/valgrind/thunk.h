/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The flags that nothing reads. VEX keeps what the flags follow from, in four words (the thunk: an
 * operation, two operands, the old carry), and stores them at each instruction that sets flags. At
 * the end of a superblock it does not know what follows. Here the program's code that follows is
 * looked at: where it overwrites all flags before it reads any, the four stores are left out, and
 * else the words that the operation does not use.
 */
#ifndef VALGRIND_THUNK_H
#define VALGRIND_THUNK_H

#include "pub_tool_basics.h"

#include "libvex_ir.h"

/* Whether there are such operations as thunk.c has them, in this version of VEX. */
void thunk_begin(void);
/* Looks at a superblock at this address, as VEX gives it to tools. */
void thunk_superblock(const IRSB *in, Addr address);
/* Of that superblock: does its statement store what nothing reads? */
Bool thunk_unused(Int statement);

#endif
