/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Data-space profiling in the tool: which object is at which address of the program (for
 * model/objects.h).
 *   dataspace.c           objects and their numbers, stacks, mappings; the sections of the profile
 *   heap.c                blocks of the heap, and their allocation sites
 *   valgrind_variables.c  variables of ELF files
 * Without --model-dataspace all of it is inactive.
 */
#ifndef VALGRIND_DATASPACE_H
#define VALGRIND_DATASPACE_H

#include "model/objects.h"
#include "model/wire/profile.h"
#include "valgrind/bytes.h"

#include "pub_tool_basics.h"
#include "pub_tool_tooliface.h"

extern Bool dataspace_kept;
void dataspace_begin(void);
struct objects *dataspace_objects(void);
/* A thread, by its number in order of creation, runs from now on. */
void dataspace_thread(ThreadId tid, UInt number);
void dataspace_thread_ended(ThreadId tid);
/* Around code: what begins a superblock at this address. */
void dataspace_see(Addr code);
void dataspace_system_call(ThreadId tid, UInt number, const UWord *arguments, SysRes result);
void dataspace_unmapped(Addr a, SizeT length);
void dataspace_reset(void);
/* In the child of a fork. */
void dataspace_forked(ThreadId tid);

/* The object of that kind; node: of stacks.h, PATH_ROOT: none.  name is copied. */
UInt dataspace_object(enum model_object_kind kind, UInt image, Addr address, ULong size,
	UInt thread, UInt node, const HChar *name);
/* One more block of it, of that size, begins at a. */
void dataspace_add_block(UInt object, Addr a, SizeT size);

void dataspace_write_objects(struct bytes *to);
void dataspace_write_places(struct bytes *to);
void dataspace_write_touches(struct bytes *to);
void dataspace_write_lines(struct bytes *to);
ULong dataspace_lost(void);

/* ---- heap.c ---- */
/* The stack pointer of the running thread at which its allocator has returned; a value that is no
 * stack pointer if none runs. */
extern Addr heap_due;
void heap_begin(void);
/* An allocator begins to run (enum allocator), with these arguments; it has returned, at that
 * address, this value.  Called by the program's code. */
void heap_enter(UWord kind, UWord a, UWord b, UWord c, UWord sp);
void heap_return(UWord code, UWord value);
/* Code for the superblock at this address: an allocator begins here, or has returned. */
void heap_instrument(IRSB *out, Addr at);
void heap_thread(ThreadId tid);
/* The block that has the byte: its object, and where it begins.  0: none. */
UInt heap_find(Addr address, Addr *start);
void heap_unmapped(Addr a, SizeT length);
/* Keeps the blocks, without their allocation sites. */
void heap_forked(void);

#endif
