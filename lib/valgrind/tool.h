/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perfexmodel: the Valgrind tool that drives lib/model.
 *   tool.c             life of a process: options, threads, forks, execs, client requests
 *   valgrind_counts.c  the shared file that the counts live in
 *   instrument.c       VEX's intermediate representation -> calls of the helpers
 *   precise.c          exact registers for the addresses of prefetches
 *   turns.c            which thread runs next
 *   exec.c             one program executes another
 *   valgrind_native.c  programs that cannot run under Valgrind
 *   resume.c           handlers of signals that change registers
 *   asking.c           programs that ask for their counts
 *   log.c              Valgrind's messages
 *   changing.c         code that is changed
 *   pages.c            which memory has large pages
 *   huge.c             huge pages of the host for our own memory
 *   valgrind_debug.c   no debugging information
 *   fused.c            fused multiply-adds by the instruction for it
 *   identity.c         the maker of the processor that the program sees
 *   trace.c            the buffer of records
 *   sampled.c          when there are records and when only counts
 *   modes.c            two translations of each superblock
 *   counted.c          superblocks that only count
 *   executed.c         runs that only count
 *   faults.c           where a fault was, without stores of the program counter
 *   thunk.c            stores of flags that nothing reads
 *   decode.c           properties of instructions that VEX lacks, from their bytes
 *   blocks.c           descriptors of superblocks, and what discarded ones counted
 *   images.c           where the code comes from
 *   stacks.c           call paths
 *   dataspace.c        which data misses are about, with heap.c, spans.c and valgrind_variables.c
 *   profile*.c         what is known of each instruction, into a file (profile.h)
 * All state is global, like Valgrind's: one model per process, one thread at a time.
 */
#ifndef VALGRIND_TOOL_H
#define VALGRIND_TOOL_H

#include "model/model.h"
#include "model/trace.h"
#include "model/wire/shared.h"

#include "pub_tool_basics.h"
#include "pub_tool_tooliface.h"

#include "libvex_guest_amd64.h"

/* Classes that the model's fast path needs no notice of. */
#define PLAIN_CLASSES (MODEL_FP | MODEL_VECTOR)

extern struct model *model;

/* ---- tool.c ---- */
/* realloc(3), which never fails; size 0 releases. */
void *tool_memory(void *old, size_t size);
/* May the program read all of it? */
Bool tool_readable(Addr a, SizeT size);
/* Up to room bytes of a file: how many, -1: it cannot be opened or read. */
Int tool_read(const HChar *path, void *buffer, Int room);

/* ---- trace.c ---- */
#define TRACE_WORDS      32768
#define TRACE_WORDS_FINE 2048
#define TRACE_RECORD_MAX 2048 /* words of one record */
/* Where the address of the next record is in a running thread's state: in the second shadow
 * registers. Beyond trace_limit the buffer must be emptied first. */
#define TRACE_AT ((Int)(2 * sizeof(VexGuestAMD64State)))
extern uint64_t *trace_limit;
/* Before anything is translated: something looks at the model whenever the buffer is emptied. */
void trace_be_fine(void);
/* Runs what is in the buffer. */
void trace_flush(void);
/* The same when the current thread has left its code, perhaps in the middle of a superblock. */
void trace_stop(ThreadId tid, Addr program_counter);
/* The program's code begins to run, with this state; it has ended in good order. */
void trace_enter(void *guest_state);
void trace_leave(void);

/* ---- instrument.c ---- */
/* Are dependences between instructions recorded? */
extern Bool instrument_dependences;
/* Are the addresses of all accesses? */
extern Bool instrument_addresses;
/* Bytes of an instruction line, a power of two. */
extern UInt instrument_fetch_line;
IRSB *instrument(VgCallbackClosure *closure, IRSB *in, const VexGuestLayout *layout,
	const VexGuestExtents *extents, const VexArchInfo *host, IRType guest_word,
	IRType host_word);

/* ---- blocks.c ---- */
void blocks_discard(Addr address, VexGuestExtents extents);

/* ---- precise.c ---- */
/* Keep all registers exact where there are prefetches. */
extern Bool precise_prefetches;

/* ---- passes.c ---- */

/* VEX checks and simplifies what instrument.c writes. */
extern Bool all_passes;

/* ---- turns.c ---- */
/* A thread was created; itself: it is the caller, and runs. */
extern Int turn_blocks;       /* superblocks per turn */
extern Bool identity_of_host; /* the model is of this processor */
void turns_add(ThreadId tid, UInt number, Bool itself);
void turns_end(ThreadId tid);
/* Before each system call of the thread that runs. */
void turns_system_call(UInt number, const UWord *arguments);
void turns_forked(ThreadId tid);

/* ---- exec.c ---- */
/* Around each system call, in which they do something if it is an exec. */
void exec_before(UInt number, UWord *arguments);
void exec_after(UInt number);
/* A string in the program's memory, checked as far as it is read.  NULL if it is not readable or
 * too long. */
const HChar *exec_string(UWord address);

/* ---- touched.c ---- */
/* Page faults of the program. Before and after each system call: */
void touched_before(UInt number, const UWord *arguments);
void touched_after(UInt number, SysRes result);
/* How many there were since the process began, or was asked before. */
uint64_t touched_count(void);
void touched_forked(void);
void touched_begin(void);

/* ---- changing.c ---- */
/* Which parts of a superblock must be compared with its translation each time, beyond those that
 * Valgrind compares: a bit each. */
UInt changing_code(const VexGuestExtents *extents);
void changing_protection(Addr from, SizeT size, Bool readable, Bool writable, Bool executable);
/* May code there change unnoticed by the functions here? */
Bool changing_may(Addr code);
/* Memory was mapped or unmapped, perhaps in the middle of a file's code: what is left of it beside
 * is translated anew, since thunk.c has looked at code of the whole file. */
void changing_beside(Addr from, SizeT size);

/* ---- resume.c ---- */
/* Does the program handle faults, so that it may see, or go on with, the registers of one? */
extern Bool resume_handles;
void resume_sigaction(UInt number, const UWord *arguments, Bool failed);
/* Raises it to the needs of the program's signal handlers. */
void resume_precision(VexRegisterUpdates *precision);

/* ---- pages.c ---- */
/* Before the program runs; after each of its system calls. */
void pages_start(void);
void pages_system_call(UInt number, const UWord *arguments, SysRes result);

/* ---- huge.c ---- */
/* Requests huge pages of the host for the whole pages in a range. */
void huge_request(Addr begin, SizeT bytes);

/* ---- asking.c ---- */
Bool asking_itself(void);

/* ---- log.c ---- */
/* Once, at the start: frees the descriptor that the program would have got. */
void log_tidy(void);
/* At the end: an empty log need not stay. */
void log_end(void);

/* ---- valgrind_native.c ---- */
/* What the model needs to run another program: a file of its own that must be readable. */
extern const HChar *native_needs;
/* Why the file at path, about to be executed, cannot run under Valgrind; NULL if it can, or does
 * not exist. */
const HChar *native_why(const HChar *path, Bool *script);

/* ---- valgrind_counts.c ---- */
/* Makes this process image's file in directory (which stays the caller's) and its first thread's
 * slot; generation: how many images the process had before. Returns NULL, or the error (static
 * text); counting then continues in private memory. */
const HChar *counts_open(const HChar *directory, const HChar *command, UInt generation);
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
struct model_windows *counts_windows(void);
struct model_clock_sums *counts_clock(void);
uint64_t *counts_of(UInt slot);
/* Slots that there are, used or not; the kernel's number of the thread in one. */
UInt counts_slots(void);
Int counts_tid(UInt slot);
UInt counts_generation(void);
/* There was no room for a profile. */
void counts_note_unprofiled(void);
void counts_sum(uint64_t *counts, UInt n);
void counts_set_state(enum model_shared_state state);
/* A program that is about to run outside the model, and the reason. why NULL: its exec failed. */
void counts_note_native(const HChar *program, const HChar *why);

#endif
