/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Two translations of each superblock, one that writes records and one that only counts, and which
 * of them runs.  Valgrind's core keeps translations by the guest's address; functions of it that
 * the linker puts these in front of (--wrap) give those that count a key of their own: the address
 * with a bit that no address of a program has.  Chains between translations then stay within a
 * mode, and what discards code by its place finds both.  A switch costs some microseconds: the
 * cache that indirect jumps look into is emptied, since it knows plain addresses alone.
 */
#ifndef VALGRIND_MODES_H
#define VALGRIND_MODES_H

#include "pub_tool_basics.h"

/* Are translations that only count what runs, and is made, now? */
extern Bool counting;

/* Some will be wanted. */
void modes_begin(void);
/* Has the core been seen to do what this relies on?  Looks at it for as long as records are
 * written, from modes_begin on; False also where it has not done enough yet. */
Bool modes_proven(void);
/* Has it been seen not to? */
Bool modes_refuted(void);
/* Outside the program's code, and with no jump about to be chained. */
void modes_set(Bool to_counting);
/* The key of a translation that is made now; from a key: the program's address. */
Addr modes_key(Addr address);
Bool modes_counts(Addr key);
/* The key of the other translation of the same code. */
Addr modes_other(Addr key);

#endif
