/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs that ask only for what execution alone determines: nothing is modelled and nothing recorded.
 * Before each exit, the translated code adds what its segment executed to sums of its thread. These
 * are in the thread's first shadow registers, which Valgrind keeps for tools: an addition there is
 * three short instructions, needs no address, and stays with its thread.
 *
 * Only sums of requested events are kept. The segment in which a fault happens was not added yet;
 * for faults, there is a table of what the instructions of a superblock had executed before each
 * access. Which superblock it was follows from where the host's code faulted (faults.h). Where the
 * fault may be in a function that the code calls, the code stores the superblock's number.
 */
#ifndef VALGRIND_EXECUTED_H
#define VALGRIND_EXECUTED_H

#include "model/trace.h"

#include "pub_tool_basics.h"
#include "pub_tool_tooliface.h"

/* Is it such a run? */
extern Bool executed_only;

/* At the start, if this is such a run: the events are config's. */
void executed_begin(const struct model_config *config);

/* ---- translation: the calls follow the superblock, in this order ---- */

/* A superblock at this address; in: as VEX gives it to tools. */
void executed_superblock(const IRSB *in, IRSB *out, Addr address, const struct model_block *block);
/* An instruction begins; statics, passed: of all before it. */
void executed_instruction(
	const uint16_t *statics, const struct model_outcome *passed, UInt passed_count);
/* It accesses memory or divides. */
void executed_may_fault(void);
/* It loads or stores if guard is true. */
void executed_guarded(enum model_access_kind kind, IRExpr *guard);
/* A segment ends here, if guard (an atom) is true; NULL: in any case. */
void executed_segment(const struct model_segment *s, IRExpr *guard);
void executed_ready(void);

/* ---- at run time ---- */

/* The thread has stopped, at this address: its sums go into the counts. faulted: in the middle of a
 * superblock. */
void executed_stop(ThreadId tid, Addr address, Bool faulted);
/* A signal interrupts the thread: a repeated instruction that continues afterwards counts again. */
void executed_interrupted(ThreadId tid);

#endif
