/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Call paths (model/paths.h) of the program's threads: the tool's input to them, and the nodes in
 * the profile's file. Without stacks_begin all of it is inactive. */
#ifndef VALGRIND_STACKS_H
#define VALGRIND_STACKS_H

#include "model/paths.h"
#include "valgrind/bytes.h"

#include "pub_tool_basics.h"

/* Are they kept?  Then records have stack pointers. */
extern Bool stacks_kept;
void stacks_begin(void);
/* A thread begins; runs from now on; runs the program's code from now on.  By Valgrind's numbers.
 */
void stacks_thread(ThreadId tid);
struct paths *stacks_of(ThreadId tid);
void stacks_enter(ThreadId tid);
/* A signal's handler is about to run; it has returned.  All records have been run. */
void stacks_signal(ThreadId tid);
void stacks_signal_end(ThreadId tid);
/* In the child of a fork: there is this thread alone, and its paths have no nodes yet. */
void stacks_forked(ThreadId tid);
void stacks_gone(Addr a, SizeT length);
/* The section of nodes. */
void stacks_write(struct bytes *to);

#endif
