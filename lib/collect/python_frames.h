/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The functions of Python that are active in a thread of python3 3.11, read from its memory.
 *
 * Frames of Python are not on the stack that the kernel copies, so they are read when a sample
 * wakes us, from the running process: shortly after the sample, not at it. A snapshot counts for
 * samples of at most PYTHON_LATE ns before it. Structures are those of the public headers of
 * CPython 3.11, of 64 bits.
 */
#ifndef COLLECT_PYTHON_FRAMES_H
#define COLLECT_PYTHON_FRAMES_H

#include <stdbool.h>
#include <sys/types.h>

#include "collect/spaces.h"

#define PYTHON_LATE 5000000u /* ns */

struct python_frames {
	struct spaces *spaces; /* borrowed */
	bool expected;         /* the command is python3 3.11: each sample should wake us */
	struct table processes, codes, threads;
	uint64_t merged, late; /* samples in its loop, with and without frames */
};

/* Is a command, or a running process (argv NULL), python3 3.11, or a script of it? */
bool python_runs(char *const *argv, pid_t pid);
void python_init(struct python_frames *f, struct spaces *spaces);
/* Reads the frames of all threads of the processes that are known to be Python's. -1: memory is
 * out. */
int python_snapshot(struct python_frames *f);
/* Puts functions of Python into a sample's pcs, n of them, innermost first, in place of the
 * interpreter's loop: its own frame stays if it is the innermost. The new number; -1: memory is
 * out. A function is the address of its code object, + 1 as a return address would be. */
long python_merge(struct python_frames *f, const struct process *p, pid_t tid, uint64_t time,
	uint64_t *pcs, size_t n, size_t room);
/* Is this the address of a code object? image: its number in the experiment. */
bool python_is_code(const struct python_frames *f, pid_t pid, uint64_t address, uint32_t *image);
/* Says in the experiment of how many samples frames were read. -1: memory is out. */
int python_say(const struct python_frames *f);
void python_fini(struct python_frames *f);

#endif
