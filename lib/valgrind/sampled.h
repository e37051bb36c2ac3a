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
/* Records were run, with so many instructions. */
void sampled_modelled(ULong instructions);
/* A superblock is being translated; new: none with its address is there. */
void sampled_translated(Bool new);
/* A thread's code is about to run, until `counter`, a superblock or more each, is down; and has
 * stopped.  Returns True where a jump that is about to be chained must not be. */
void sampled_enter(volatile UInt *counter);
Bool sampled_leave(void);
/* A thread is current, and goes on. */
void sampled_resume(void);
/* All that was counted goes to the current thread. */
void sampled_sync(void);

#endif
