/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perfexmodel: the Valgrind tool that drives lib/model.
 *   tool.c        life of a process: options, threads, forks, execs, client requests
 *   counts.c      the shared file that the counts live in
 *   instrument.c  VEX's intermediate representation -> calls of the helpers
 *   precise.c     exact registers for the addresses of prefetches
 *   turns.c       which thread runs next
 *   exec.c        one program executes another
 *   native.c      programs that cannot run under Valgrind
 *   log.c         Valgrind's messages
 *   changing.c    code that is changed
 *   debug.c       no debugging information
 *   helpers.c     what instrumented code calls at run time
 *   decode.c      what VEX does not tell, from the instruction's bytes
 *   blocks.c      descriptors of superblocks, and what discarded ones counted
 *   images.c      where the code comes from
 *   profile*.c    what is known of each instruction, into a file (profile.h)
 * All state is global, as Valgrind's is: one model a process, one thread at a time.
 */
#ifndef VALGRIND_TOOL_H
#define VALGRIND_TOOL_H

#include "model/model.h"
#include "sources/model_shared.h"

#include "pub_tool_basics.h"
#include "pub_tool_tooliface.h"

/* Instructions of a translated superblock, as the helpers want them: several plain ones that lie in
 * one instruction line, or one of another kind.  Only the last touches memory or branches. */
struct insn {
	struct model_group group;
	uint64_t from;       /* address of the last */
	uint64_t target;     /* of a direct branch */
	uint16_t class_bits; /* when single */
	uint16_t size;       /* bytes of the first memory access */
	uint8_t single;      /* one instruction, told with its class */
	uint8_t branch;      /* enum model_branch_kind */
};

/* Classes that a group may hold. */
#define PLAIN_CLASSES (MODEL_FP | MODEL_VECTOR)

/* ---- helpers.c ---- */
extern struct model *model;
/* Address of the repeated string instruction in the middle of which the current thread is, else 0.
 */
extern uint64_t rep_active;

/* n of them from d on; the other suffixes add what the last of them does. */
void helper_run(const struct insn *d, UWord n);
void helper_run_load(const struct insn *d, UWord n, Addr address);
void helper_run_store(const struct insn *d, UWord n, Addr address);
void helper_run_modify(const struct insn *d, UWord n, Addr address);
void helper_run_conditional(const struct insn *d, UWord n, UWord taken);
void helper_run_jump(const struct insn *d, UWord n);
void helper_run_call(const struct insn *d, UWord n, Addr address);
void helper_run_return(const struct insn *d, UWord n, Addr address, Addr to);
void helper_repeatable(const struct insn *d);
void helper_load(Addr address, UWord size);
void helper_store(Addr address, UWord size);
void helper_modify(Addr address, UWord size);
void helper_prefetch(Addr address);
void helper_branch(const struct insn *d, Addr to);

/* ---- instrument.c ---- */
/* Bytes of an instruction line, a power of two. */
extern UInt fetch_line;
IRSB *instrument(VgCallbackClosure *closure, IRSB *in, const VexGuestLayout *layout,
	const VexGuestExtents *extents, const VexArchInfo *host, IRType guest_word,
	IRType host_word);
void discard_superblock(Addr address, VexGuestExtents extents);

/* ---- precise.c ---- */
/* Keep all registers exact where there are prefetches. */
extern Bool exact_prefetches;

/* ---- turns.c ---- */
/* A thread was created; itself: it is the caller, and runs. */
void turns_add(ThreadId tid, UInt number, Bool itself);
void turns_end(ThreadId tid);
void turns_forked(ThreadId tid);

/* ---- exec.c ---- */
/* Around each system call, in which they do something if it is an exec. */
void before_exec(UInt number, UWord *arguments);
void after_exec(UInt number);
/* A string in the program's memory, checked as far as it is read.  NULL if it is not readable or
 * too long. */
const HChar *program_string(UWord address);

/* ---- changing.c ---- */
/* Which parts of a superblock must be compared with its translation each time, beyond those that
 * Valgrind compares: a bit each. */
UInt changing_code(const VexGuestExtents *extents);
void protection_changed(Addr from, SizeT size, Bool readable, Bool writable, Bool executable);

/* ---- log.c ---- */
/* Once, at the start: frees the descriptor that the program would have got. */
void log_tidy(void);
/* At the end: an empty log need not stay. */
void log_end(void);

/* ---- native.c ---- */
/* What the model needs to run another program: a file of its own that must be readable. */
extern const HChar *native_needs;
/* Why the file at path, about to be executed, cannot run under Valgrind; NULL if it can, or does
 * not exist. */
const HChar *why_native(const HChar *path, Bool *script);

/* ---- counts.c ---- */
/* Makes this process image's file in directory (which stays the caller's) and its first thread's
 * slot.  NULL, or why not (static text); counting goes on in private memory then. */
const HChar *counts_open(const HChar *directory, const HChar *command);
/* In the child of fork: a new file; the parent's stays with the parent. */
void counts_forked(const HChar *command);
/* A slot for a new thread: its index.  Slots do not move. */
UInt counts_add_thread(void);
void counts_end_thread(UInt slot);
void counts_name_thread(UInt slot, Int kernel_tid);
/* A file in the directory of counts, which is found whatever root the program has by now: its
 * descriptor, out of the program's reach, or -1. */
Int counts_open_beside(const HChar *name, Int flags);
void counts_unlink_beside(const HChar *name);
uint64_t *counts_of(UInt slot);
/* Slots that there are, used or not; the kernel's number of the thread in one. */
UInt counts_slots(void);
Int counts_tid(UInt slot);
UInt counts_generation(void);
/* A profile found no room. */
void counts_note_unprofiled(void);
void counts_sum(uint64_t *counts, UInt n);
void counts_set_state(enum model_shared_state state);
/* A program that is about to run outside the model, and why.  NULL: it did not after all. */
void counts_note_native(const HChar *program, const HChar *why);

#endif
