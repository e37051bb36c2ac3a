/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sampled simulation: when records are written and when superblocks only count (modes.h), as
 * lib/model/fast.h plans it. */
#ifndef VALGRIND_SAMPLED_H
#define VALGRIND_SAMPLED_H

#include "pub_tool_basics.h"

/* Before anything is translated: some of the run is to be sampled. */
void sampled_begin(void);
/* In the child of a fork. */
void sampled_forked(void);
/* Records with this number of instructions were run. */
void sampled_modelled(ULong instructions);
/* A superblock is being translated; new: none with its address is there. */
void sampled_translated(Bool new);
/* A thread's code is about to run until `counter`, decremented by each superblock or more often, is
 * 0; and has stopped. sampled_leave returns True if a jump that is about to be chained must not be.
 */
void sampled_enter(volatile UInt *counter);
Bool sampled_leave(void);
/* A thread is current, and continues. */
void sampled_resume(void);
/* Adds all counts to those of the current thread. */
void sampled_sync(void);

#endif
