/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Two translations of each superblock, one that writes records and one that only counts segments,
 * and the choice which of them runs (-fast). Valgrind's core keeps translations by the guest's
 * address. Functions that replace the core's (--wrap of the linker) give those that count a key of
 * their own: the address with a bit that no address of a program has. Chains between translations
 * then stay within a mode, and code that is discarded by address is found in both. A switch costs
 * some microseconds, because the core's cache for indirect jumps has only plain addresses and must
 * be emptied.
 *
 * While the tool only counts, the caches of the model are not updated, and the stretches after a
 * switch show how stale they became (sources/windows.h). Writing records for them and filtering
 * these took more time than modelling all.
 */
#ifndef VALGRIND_MODES_H
#define VALGRIND_MODES_H

#include "pub_tool_basics.h"

/* Are translations that only count what runs, and is made, now? */
extern Bool modes_counting;

/* Both modes will be used. */
void modes_begin(void);
/* Has the core shown the behaviour that this code relies on? Checked while records are written,
 * from modes_begin on; False also until there is enough evidence. */
Bool modes_proven(void);
/* Has it shown a different one? */
Bool modes_refuted(void);
/* Outside the program's code, and with no jump about to be chained. */
void modes_set(Bool to_counting);
/* Some translation was discarded, of either mode. */
void modes_discarded(void);
/* The key of a translation that is made now; from a key: the program's address. */
Addr modes_key(Addr address);
Bool modes_counts(Addr key);
/* The key of the other translation of the same code. */
Addr modes_other(Addr key);

#endif
