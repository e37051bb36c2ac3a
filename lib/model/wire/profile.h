/* SPDX-License-Identifier: GPL-2.0-or-later */
/* clang-format off */
/*
 * The Valgrind tool's profile of each instruction of a process image: a file beside that of the
 * counts (model/wire/shared.h), "profile.PID.N" with the same numbers, written by
 * lib/valgrind/profile_write.c and read by sources/profile_read.c.
 *
 * The file begins with struct model_profile_header.  It has the position of the last complete
 * profile; while the process runs, another is written from time to time after or before it, and then
 * the header is changed by a single write.  So the file of a killed process is complete up to the
 * header's `instructions`.
 *
 * A profile is a sequence of sections: struct model_profile_section, then the content; the last is
 * MODEL_SECTION_END.  Readers skip unknown types.  All numbers are little-endian.  In contents,
 * "v" is an unsigned number in groups of seven bits, the lowest first, each but the last with bit 7
 * set (LEB128), "z" a signed one as such (0, -1, 1, -2 ...: zigzag), "s" a text: its length (v) and
 * its bytes.  "To the end" is that of the section.
 *
 *   IMAGES    images in the order of their numbers, from 1 on, to the end: v kind, v start, v length,
 *             v file offset of start, v bias, s path, s build-id.  Kind, bias: lib/valgrind/images.h.
 *   BLOCKS    superblocks, to the end.  Each: the shape (v length in bytes, then as below); for each
 *             segment v records that ended there; then rows: v how many, for each v instruction
 *             (index), v how many items, for each v item (an event, or as model/rows.h has it),
 *             v count.
 *   INDIRECT  targets of branches through registers or memory, returns included, to the end: v image,
 *             v address of the branch, v image, v address it went to, v count.
 *   EVENTS    sampled events, to the end, in the order of their indices: v event, v period, v skid.
 *   SAMPLES   to the end: v index of the event, v thread, v phase, v image, v address of the
 *             instruction, v samples.
 *   NODES     call paths, in the order of their numbers from 1 on, to the end: v the caller's node
 *             (less than its own; 0: there is no caller), v image, v address of the instruction that
 *             called, v its length (0: a signal interrupted there).
 *   PATH_SAMPLES  in place of SAMPLES if there are paths, to the end: v 0 if the path is lost,
 *             else 1 + the number of its node; then as in SAMPLES.
 *   UNCOUNTED v events, for each v event, v count while samples did not count.
 *   DATA      to the end: v index of the event, v address (of a line of 64 bytes), v samples.
 *   OBJECTS   objects of data misses, in the order of numbers from 1 on, to the end: v kind (enum
 *             model_object_kind), v image, v address (as program headers have it; of code, in memory),
 *             v size, v thread, v node, v blocks, v their bytes, v where in a line of 64 bytes they
 *             begin (64: different places), s name.
 *   OBJECT_PLACES  to the end: v object (0: none), z 2^k lines of 64 bytes from the one that it begins
 *             in, v k, v events, for each v event, v count.
 *   OBJECT_TOUCHES  to the end: v object, v image, v address of the instruction, z least and z greatest
 *             offset, v greatest common divisor of the distances between offsets, v events, for each v event, v
 *             count.
 *   OBJECT_LINES  units of coherence that cores took from each other, to the end: v object, z offset, v
 *             bytes, v requests, v needed and v useless transfers (model/objects.h), v ends;
 *             for each v thread, v object, v image, v address of the instruction, v requests, v loads,
 *             v stores, v v a bit for each byte that was read (64 per number), v v likewise written.
 *   OBJECTS_LOST  v counts that found no room in all of them.
 *   SLICES    v cycles of a slice, or more; then slices in order, to the end: v events counted, for
 *             each v event, v count in the slice.
 *   THREADS   v kernel's number of each thread, to the end.
 *   CALIPERS  points in order, to the end: s name, v kernel's number of the thread that passed it,
 *             v threads, for each: v kernel's number (0: threads that ended and were added up),
 *             v events counted, for each v event, v count so far.
 *   LOST      v samples, v counts, v indirect targets, v data addresses, v caliper points that found
 *             no room; then of each of EVENTS, v samples.
 *
 * Threads are numbered in the order of their creation, from 0 on.  Phases are numbered from 0 on: a
 * caliper point begins the next.
 *
 * The shape of a superblock: v image, v address, v flags (MODEL_SHAPE_*), v instructions; for each
 * instruction its length (one byte) and its kind (one byte, MODEL_INSN_*), then the data of that
 * one's bits, in the order of the bits; with MODEL_SHAPE_CODE, the bytes of all; v segments; for each
 * v instructions, v loads and v stores of the last of them, v 1 if the next superblock
 * is fixed, else 0, and if so z that one's address minus this one's; v branches, for each v instruction, v kind * 2 + taken, z target minus the superblock's
 * address.
 */
/* clang-format on */
#ifndef MODEL_WIRE_PROFILE_H
#define MODEL_WIRE_PROFILE_H

#include <stdint.h>

#define MODEL_PROFILE_MAGIC   0x31464f5250465258ull /* "XRFPROF1" */
#define MODEL_PROFILE_VERSION 1
#define MODEL_PROFILE_PREFIX  "profile."

struct model_profile_header {
	uint64_t magic;          /* 0 until there is a profile */
	uint32_t version, state; /* enum model_shared_state: of the process when it was written */
	int32_t pid, ppid;
	uint32_t generation; /* N of the name */
	uint32_t reserved;
	uint64_t offset, length; /* of the profile in the file */
	uint64_t instructions;   /* of all threads, executed when it was written */
	uint64_t sequence;       /* profiles written so far */
	char command[16];
};

struct model_profile_section {
	uint32_t type;
	uint32_t reserved;
	uint64_t length;
};

enum model_profile_section_type {
	MODEL_SECTION_END,
	MODEL_SECTION_IMAGES,
	MODEL_SECTION_BLOCKS,
	MODEL_SECTION_INDIRECT,
	MODEL_SECTION_EVENTS,
	MODEL_SECTION_SAMPLES,
	MODEL_SECTION_DATA,
	MODEL_SECTION_SLICES,
	MODEL_SECTION_THREADS,
	MODEL_SECTION_CALIPERS,
	MODEL_SECTION_LOST,
	MODEL_SECTION_NODES,
	MODEL_SECTION_PATH_SAMPLES,
	MODEL_SECTION_UNCOUNTED,
	MODEL_SECTION_OBJECTS,
	MODEL_SECTION_OBJECT_PLACES,
	MODEL_SECTION_OBJECT_TOUCHES,
	MODEL_SECTION_OBJECT_LINES,
	MODEL_SECTION_OBJECTS_LOST,
};

/* The kind of an object, and its identity. */
enum model_object_kind {
	MODEL_OBJECT_UNKNOWN,
	MODEL_OBJECT_VARIABLE, /* image, address, size */
	MODEL_OBJECT_IMAGE,    /* the rest of what an image has: image; offsets are addresses */
	MODEL_OBJECT_HEAP,     /* node: where its blocks were allocated */
	MODEL_OBJECT_STACK,    /* thread; image and address of code in the function that owns the
				  frame */
	MODEL_OBJECT_THREAD,   /* thread: its own data besides the stack */
	MODEL_OBJECT_MAPPING,  /* node: where it was mapped; name: of the file */
	MODEL_OBJECT_BREAK,    /* the heap between and after blocks */
	MODEL_OBJECT_KINDS
};

enum {
	MODEL_SHAPE_INDIRECT = 1 << 0, /* its target is known only at run time */
	MODEL_SHAPE_CODE = 1 << 1,     /* the code is in no file: its bytes are here */
};

/* Bits of an instruction's kind, and the data that each adds. */
enum {
	MODEL_INSN_ELSEWHERE = 1 << 0, /* not adjacent to the one before: z address minus that one's
					  end; v image */
	MODEL_INSN_CLASS = 1 << 1,     /* v bits of enum model_instruction_class */
	MODEL_INSN_BRANCH = 1 << 2,    /* v enum model_branch_kind */
	MODEL_INSN_UOPS = 1 << 3,      /* v micro-ops; without it, one */
	MODEL_INSN_FLOPS = 1 << 4,     /* v operations */
	MODEL_INSN_LOADS = 1 << 5,     /* v loads that it does when it is executed to its end */
	MODEL_INSN_STORES = 1 << 6,    /* v stores, likewise */
};

#endif
