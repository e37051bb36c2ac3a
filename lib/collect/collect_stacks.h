/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From a sample to a node of the experiment: its address alone, or the call path that leads there,
 * which is followed through frame pointers by the kernel, or by call frame rules (image/unwind.h)
 * through the copy of the stack that the kernel made.
 */
#ifndef COLLECT_COLLECT_STACKS_H
#define COLLECT_COLLECT_STACKS_H

#include "collect/spaces.h"
#include "image/unwind.h"

#define STACK_DEPTH 512

/* A path, outermost call first: the user's frames, then the kernel's. */
struct stack_path {
	uint32_t space; /* the address space that it is in; 0: there is no path */
	size_t users, kernels;
	size_t cut;                    /* so many outermost frames are no code: they are left out */
	uint64_t pcs[STACK_DEPTH * 2]; /* of callers, within the call instruction */
	uint32_t nodes[STACK_DEPTH * 2]; /* from `cut` on */
};

struct stacks {
	struct spaces *spaces; /* borrowed */
	struct unwinder *unwinder;
	enum image_machine machine; /* whose registers samples have */
	struct table places;        /* what addresses mean */
	struct stack_path last;     /* the next one shares most of it */
	struct {
		uint32_t image;
		uint64_t address;
	} found[STACK_DEPTH]; /* what its callers' addresses mean, those that it does not share */
	uint64_t pcs[STACK_DEPTH];
	uint64_t interrupted; /* bit n: pcs[n] is no return address, a signal came there */
};

/* The registers that a sample must have to be unwound here, as bits of sample_regs_user; 0: call
 * frame rules are not for this machine. */
uint64_t stacks_registers(void);

void stacks_init(struct stacks *s, struct spaces *spaces);
struct stack_node {
	long node;     /* -1: memory is out */
	bool unmapped; /* its address is in no known mapping */
	bool broken;   /* callers are missing */
};
/* The node of a sample without callers. */
struct stack_node stacks_flat(struct stacks *s, struct process *p, const struct record *r);
/* With them. */
struct stack_node stacks_path(struct stacks *s, struct process *p, const struct record *r);
void stacks_fini(struct stacks *s);

#endif
