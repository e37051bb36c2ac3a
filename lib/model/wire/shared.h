/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The files shared by the Valgrind tool and the `model` source: one for each process image, in a
 * scratch directory that the source makes, mapped shared by the tool and read by the source at any
 * time. Counts that are in the file survive any end of the process.
 *
 * Names: "counts.PID.N" (N distinguishes the images of one process number) and "log.*" for
 * Valgrind's own messages; a file under construction has another name. Lifetime: the tool holds an
 * exclusive flock() on its file while the process image lives, so a process that gets the lock can
 * rely on final counts. The source unlinks files that it has added up.
 *
 * Thread t has a slot of its own from its creation on. The file grows as threads are created; from
 * some hundreds on, threads that ended are added to slot 0 and their slots used again. Counts are
 * 64 bits, each written by one process and aligned, so that a reader never reads half of one.
 *
 * Resolution: instructions, accesses and misses are written at once; counts that the model keeps
 * elsewhere (cycles) are brought up to date at system calls and every 100,000 superblocks, some
 * milliseconds.
 */
#ifndef MODEL_WIRE_SHARED_H
#define MODEL_WIRE_SHARED_H

#include <stdint.h>

#include "events/numbers.h"
#include "model/cause.h"
#include "model/fast.h"

#define MODEL_SHARED_MAGIC   0x314c444d46525058ull /* "XPRFMDL1" */
#define MODEL_SHARED_VERSION 7
#define MODEL_SHARED_PREFIX  "counts."
#define MODEL_LOG_PREFIX     "log."

enum model_shared_state {
	MODEL_STATE_RUNNING = 1,
	MODEL_STATE_FINISHED = 2, /* exited, or died of a signal that Valgrind saw */
	MODEL_STATE_EXEC = 3,     /* about to become another image: final once the lock is free */
};

enum model_slot_state {
	MODEL_SLOT_FREE = 0,
	MODEL_SLOT_LIVE = 1,
	MODEL_SLOT_ENDED = 2,
	MODEL_SLOT_FOLDED = 3,  /* slot 0: the sum of ended threads */
	MODEL_SLOT_JOURNAL = 4, /* slot 1: what slot 0 is to become, never part of a sum */
};

struct model_shared_slot {
	uint32_t state; /* enum model_slot_state */
	int32_t tid;    /* the kernel's, 0 until the thread has run */
	uint64_t counts[EVENT_LIMIT];
};

struct model_shared {
	uint64_t magic; /* written last: the rest is there */
	uint32_t version, state;
	int32_t pid, ppid;
	uint32_t generation;   /* N of the name */
	uint32_t slot_count;   /* in this file, now */
	uint32_t thread_count; /* threads created so far */
	/* Processes and programs that are not counted, and why. */
	uint32_t lost_children;   /* forked, but there was no room for their counts */
	uint32_t native_programs; /* executed outside the model: setuid, 32-bit ... */
	char native_program[112]; /* the first of them */
	char command[16];
	uint32_t folds; /* odd while ended threads are being folded into slot 0: read again */
	uint32_t lost_profiles; /* there was no room for them (model/wire/profile.h) */
	/* A thread's slot whose counts are being added to slot 0. Not 0: slot 1 has the sum, and
	 * replaces slot 0 and this one if the process died before the end. */
	uint32_t folding;
	uint32_t reserved_word;
	uint64_t reserved[7];
	struct model_windows windows;  /* of sampled simulation; else zero */
	struct model_clock_sums clock; /* of a clock that knows causes; else zero */
	struct model_shared_slot slots[];
};

#endif
