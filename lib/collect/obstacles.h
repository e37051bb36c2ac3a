/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Why a thread left the processor: the system call that it is in, by its registers or by
 * /proc/TID/syscall, and what that call waits for.
 *
 * Registers at a switch have the arguments but, on x86-64, no longer the number of the call. It is
 * in the code before the instruction, or is known for that instruction from /proc.
 */
#ifndef COLLECT_OBSTACLES_H
#define COLLECT_OBSTACLES_H

#include "collect/descriptors.h"
#include "collect/spaces.h"

struct obstacles {
	struct experiment *experiment; /* borrowed */
	const struct spaces *spaces;   /* likewise */
	struct descriptors descriptors;
	struct table sites;   /* instructions that called the kernel */
	struct table futexes; /* addresses that were looked up */
	long processor;       /* the most frequent row; -1: none yet */
};

struct obstacle_thread {
	struct process *process;
	pid_t tid;
};

void obstacles_init(struct obstacles *o, const struct spaces *spaces);
/* By a sample's registers: the row of the obstacle, -1 if memory is out. *sure: nothing is left to
 * ask for. The reason may be unknown. */
long obstacles_by_registers(struct obstacles *o, const struct obstacle_thread *t,
	const struct record_sample *sample, bool *sure);
/* By /proc, of a thread that is blocked now. -2: it is not, or may not be asked. */
long obstacles_by_proc(struct obstacles *o, const struct obstacle_thread *t);
/* Without a name. */
long obstacles_plain(struct obstacles *o, enum experiment_pause_reason reason, const char *call);
/* Others were running. */
long obstacles_processor(struct obstacles *o);
/* The end of a child, which a call waited for. */
long obstacles_child(struct obstacles *o, const char *call, uint64_t number);
/* The run has ended and the kernel's functions have names: reasons that are unknown follow from
 * the kernel's part of the stack. Children get their names. -1 when memory is out. */
int obstacles_end(struct obstacles *o);
void obstacles_fini(struct obstacles *o);

#endif
