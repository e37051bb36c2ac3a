/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Values that a stopped thread is about to work on: its next instructions are interpreted from
 * outside, on a snapshot of its registers and memory. Nothing of the thread is changed; stores go
 * to copies of pages. What is seen is one legal continuation of the program: that of a thread whose
 * memory no other thread writes meanwhile.
 *
 * An instruction is executed by this processor, with its memory operand led to a buffer
 * (isa/redirect.h); what uses memory or the program counter otherwise is done in C. A window ends
 * at system calls, at what would fault, at instructions that are not interpreted, and at memory
 * that is neither anonymous nor of regular files, because reading devices has effects.
 *
 * Windows begin where time is spent, so the first instructions are those that take long to execute,
 * which is no fair sample of executions. They are executed, but their values are left out.
 */
#ifndef VALUES_VALUES_H
#define VALUES_VALUES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/user.h>

#include "base/error.h"
#include "base/vec.h"

/* Short windows see too much of what is slow, since they begin there; most of the cost is that of
 * the stop and of code that is new to us, so long ones have more values (docs/accuracy.md). */
#define VALUES_SKIP 16
/* Still, what lasts longer is seen more often: a slow turn of a loop more often than a fast one. So
 * a window begins further on, by a random part of the time of VALUES_SPREAD instructions: then it
 * depends less on the turn that the moment was in. And windows are equally long in time
 * (value_clock.c). */
#define VALUES_SPREAD     1000
#define VALUES_LENGTH     2000
#define VALUES_TRACED     500 /* of windows for others to look at, each of their instructions */
#define VALUES_LENGTH_MAX 10000
#define VALUES_STATE      16384 /* bytes of the largest extended state of a thread */

struct values_config {
	unsigned skip, length; /* instructions left out, and those taken after them */
	bool timed;            /* these numbers are times of instructions in code of usual speed */
	unsigned spread;       /* and so is this: more are left out, a random number below it */
	bool trace;            /* windows have traces */
	bool touches;          /* and accesses to memory */
};

struct value_seen {
	uint64_t pc; /* of the instruction; of an argument, the function's entry */
	uint64_t value;
	uint8_t kind, operand; /* enum experiment_value_kind */
	uint8_t bits, class;   /* enum experiment_value_class */
};

/* One execution, for a user's module: registers before it; those after it are the next one's. */
#define INSN_BYTES 16
struct value_trace {
	uint64_t pc;
	uint64_t general[17];             /* and flags */
	uint64_t address, loaded, stored; /* the lowest 64 bits of its memory operand */
	uint8_t bytes[INSN_BYTES], length;
	uint8_t size, flags;         /* of the operand; enum vp_flag of speedshop/values.h */
	uint8_t result, result_bits; /* a general register, or 255 */
	uint8_t reserved[3];
	double latency; /* with VP_TIMED, ns */
};

/* An access to memory. */
struct value_touch {
	uint64_t address, pc, next; /* next: the instruction after it */
	uint8_t size;
	bool reads, writes;
	bool silent;   /* a store of what is there */
	bool left_out; /* values of this part of the window are */
};

enum value_end { VALUES_WHOLE, VALUES_CALL, VALUES_FAULT, VALUES_REFUSED, VALUES_ROOM };

struct value_window {
	pid_t pid;
	uint64_t time;         /* the owner's */
	unsigned instructions; /* interpreted */
	enum value_end end;
	uint64_t at; /* where it ended */
	VEC(struct value_seen) seen;
	VEC(struct value_trace) trace; /* and one more, of registers at the end */
	VEC(struct value_touch) touches;
};

struct values_thread {
	pid_t pid;
	int memory; /* /proc/PID/mem */
	const struct user_regs_struct *registers;
	const void *state; /* of PTRACE_GETREGSET, NT_X86_XSTATE */
	size_t size;       /* its bytes */
};

struct values;

/* Handlers of SIGSEGV, SIGBUS, SIGFPE and SIGILL are those of the interpreter until values_free:
 * one at a time. NULL: no memory, or not x86-64. */
struct values *values_new(const struct values_config *config, struct error *e);
/* Interprets a window; called by one thread only. window->seen is emptied and filled. False:
 * nothing was interpreted. */
bool values_interpret(struct values *v, const struct values_thread *t, struct value_window *window);
/* Registers and extended state (VALUES_STATE bytes) at the end of the last window, of which
 * extended state is as the processor writes it (xsave). For tests. */
void values_registers(const struct values *v, struct user_regs_struct *registers, void *state);
/* Writes what the last window has stored to the process's memory. For tests. */
void values_apply(struct values *v, int memory);
/* To be called when a process has another address space. */
void values_renew(struct values *v, pid_t pid);
void values_free(struct values *v);

#endif
