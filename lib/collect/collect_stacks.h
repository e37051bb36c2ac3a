/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From a sample to a node of the experiment: its address only, or its call path. The kernel
 * follows call paths through frame pointers; call frame rules (image/unwind.h) follow them through
 * the kernel's copy of the stack.
 */
#ifndef COLLECT_COLLECT_STACKS_H
#define COLLECT_COLLECT_STACKS_H

#include "collect/python_frames.h"
#include "image/unwind.h"

#define STACK_DEPTH 512
#define STACK_PATHS 8

/* A path, outermost call first: the user's frames, then the kernel's. */
struct stack_path {
	uint32_t space; /* its address space; 0: there is no path */
	size_t users, kernels;
	size_t cut; /* this number of outermost frames are not code: they are left out */
	uint64_t pcs[STACK_DEPTH * 2];   /* of callers, within the call instruction */
	uint32_t nodes[STACK_DEPTH * 2]; /* from `cut` on */
};

struct stacks {
	struct spaces *spaces;        /* borrowed */
	struct python_frames *python; /* likewise; NULL: none */
	struct unwinder *unwinder;
	enum image_machine machine;          /* machine of the samples' registers */
	struct table places;                 /* meanings of addresses */
	struct stack_path last[STACK_PATHS]; /* a thread's next one shares most of it */
	struct {
		uint32_t image;
		uint64_t address;
	} found[STACK_DEPTH]; /* meanings of its callers' addresses that it does not share */
	uint64_t pcs[STACK_DEPTH];
	uint64_t interrupted; /* bit n: pcs[n] is not a return address, a signal came there */
};

/* The registers that samples need for unwinding, as bits of sample_regs_user; 0: call frame rules
 * are not supported for this machine. */
uint64_t stacks_registers(void);

void stacks_init(struct stacks *s, struct spaces *spaces);
struct stack_node {
	long node;     /* -1: memory is out */
	bool unmapped; /* its address is in no known mapping */
	bool broken;   /* callers are missing */
};
/* The node of a sample without callers. */
struct stack_node stacks_flat(struct stacks *s, struct process *p, const struct record *r);
/* The node of a sample with callers. */
struct stack_node stacks_path(struct stacks *s, struct process *p, const struct record *r);
void stacks_fini(struct stacks *s);

#endif
