/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Data space: the data that misses and coherence requests refer to.
 *
 * An object is a variable, the blocks of the heap that were allocated by one call path, a frame of
 * a function on a thread's stack, a mapping. Counts of an object are kept twice: by line (2^scale
 * lines of 64 bytes, from the one in which it begins) and by instruction. Lines that cores took
 * from each other record the instructions and threads that accessed their bytes.
 *
 * Threads are numbered in order of creation here, 0 for the first, so that runs of one program can
 * be added up. Object 0 is unknown. All of these are tables whose rows add up, in any order.
 */
#ifndef EXPERIMENT_DATA_H
#define EXPERIMENT_DATA_H

#include "experiment/experiment.h"

enum experiment_object_kind {
	EXPERIMENT_OBJECT_UNKNOWN,
	EXPERIMENT_OBJECT_VARIABLE, /* image, address, size */
	EXPERIMENT_OBJECT_IMAGE,    /* the rest of an image's data: image; lines are those of its
				       addresses */
	EXPERIMENT_OBJECT_HEAP,     /* node: the call path of the allocation */
	EXPERIMENT_OBJECT_STACK,    /* thread; image and address of code in the frame's function */
	EXPERIMENT_OBJECT_THREAD,   /* thread: its own memory besides the stack */
	EXPERIMENT_OBJECT_MAPPING,  /* node: of the call that mapped; image: the file, or 0 */
	EXPERIMENT_OBJECT_BREAK,    /* the heap between and after blocks */
	EXPERIMENT_OBJECT_KINDS
};

#define EXPERIMENT_LINE_BYTES 64
#define EXPERIMENT_SEVERAL    64 /* begins at different places */
#define EXPERIMENT_SCALE_MAX  57
#define EXPERIMENT_MASK_WORDS 2

/* table entries ("key" first, see base/table.h) */
struct experiment_object {
	struct {
		uint64_t address, size;
		uint32_t kind, image, thread, node;
	} key;
	uint64_t blocks, bytes; /* of heap and mappings: their number, and their size together */
	uint64_t begins;        /* of blocks: offset in a line of 64 bytes, or EXPERIMENT_SEVERAL */
};

struct experiment_place {
	struct {
		int64_t line; /* number of 2^scale lines of 64 bytes */
		uint32_t metric, object, scale, reserved;
	} key;
	uint64_t count;
};

struct experiment_touch {
	struct {
		uint64_t address; /* of the instruction */
		uint32_t metric, object, image, reserved;
	} key;
	uint64_t count;
	int64_t least, most; /* offsets in the object */
	uint64_t
		apart; /* greatest common divisor of the distances between offsets; 0: one offset */
};

struct experiment_line {
	struct {
		int64_t offset; /* of the unit of coherence, the offset in the object that was
				   wanted first */
		uint64_t bytes; /* of the unit */
		uint32_t object, reserved;
	} key;
	uint64_t requests; /* accesses that took it from others */
	/* How often a core got it from another and needed bytes written there; or only other
	 * bytes. */
	uint64_t needed, useless;
};

struct experiment_end {
	struct {
		uint64_t address; /* of the instruction */
		uint32_t line, thread, object, image;
	} key;
	uint64_t requests, loads, stores;
	/* Bytes of the unit, or 128ths of it, one bit each. */
	uint64_t read[EXPERIMENT_MASK_WORDS], written[EXPERIMENT_MASK_WORDS];
};

#define EXPERIMENT_DATA_AT(name, table)                                                            \
	static inline struct experiment_##name *experiment_##name##_at(                            \
		const struct experiment *x, size_t i)                                              \
	{                                                                                          \
		return (struct experiment_##name *)(void *)x->table.entries + i;                   \
	}
EXPERIMENT_DATA_AT(object, objects)
EXPERIMENT_DATA_AT(place, places)
EXPERIMENT_DATA_AT(touch, touches)
EXPERIMENT_DATA_AT(line, lines)
EXPERIMENT_DATA_AT(end, ends)

/* Are there any? */
static inline bool experiment_has_data(const struct experiment *x)
{
	return x->data.metrics.count > 0;
}

/* Copies the metric; its index, -1 when memory is out. */
long experiment_data_metric(
	struct experiment *x, const struct experiment_metric *metric, struct error *e);

#endif
