/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Signals of instructions that are executed for a program and fault. */
#ifndef VALUES_FAULT_H
#define VALUES_FAULT_H

#include <stddef.h>
#include <stdint.h>

struct faulting {
	uint64_t code; /* a fault in these `size` bytes ... */
	size_t size;
	uint64_t failed;       /* ... goes on here ... */
	const uint64_t *stack; /* ... with this stack pointer ... */
	uint64_t *flag;        /* ... with 1 here */
};

/* Handles SIGSEGV, SIGBUS, SIGFPE and SIGILL until faults_leave. Faults elsewhere are the former
 * handlers'. */
void faults_handle(const struct faulting *f);
void faults_leave(void);
/* Gives this thread a stack for handlers: its stack pointer may be the program's. */
void faults_take_stack(void);

#endif
