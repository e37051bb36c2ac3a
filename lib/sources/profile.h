/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The execution of a run, by instruction: the sum of the profiles of process images
 * (model/wire/profile.h). The sum is independent of the order in which files are added, once
 * profile_finish has sorted it.
 *
 * Instructions are identified by image and address, the address being the one of the image's own
 * program headers (what objdump shows), so that runs can be compared wherever an image was loaded.
 * Images are the same if path and build-id are; code that a process generated (JIT) is an image of
 * that process, with addresses in memory.
 */
#ifndef SOURCES_PROFILE_H
#define SOURCES_PROFILE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "base/table.h"
#include "base/vec.h"
#include "events/numbers.h"
#include "experiment/data.h"

#define PROFILE_BUILD_ID_MAX 64
#define PROFILE_SAMPLERS_MAX 32 /* that the model takes */

enum profile_image_kind {
	PROFILE_IMAGE_UNKNOWN,
	PROFILE_IMAGE_ELF,
	PROFILE_IMAGE_FILE,      /* mapped from a file that is not an ELF image: offsets in it */
	PROFILE_IMAGE_ANONYMOUS, /* addresses of memory */
};

struct profile_image {
	enum profile_image_kind kind;
	pid_t pid;    /* of an anonymous one, else 0 */
	bool by_name; /* a file with data, of which nothing but the path is known */
	char *path;
	uint8_t build_id[PROFILE_BUILD_ID_MAX];
	size_t build_id_length;
};

struct profile_count {
	uint32_t item; /* event */
	uint64_t n;
};

struct profile_insn {
	struct {
		uint64_t address;
		uint32_t image;  /* index in images */
		uint32_t length; /* bytes: code that a process changes may have others there */
	} key;
	uint64_t executions; /* of a repeated one, its iterations */
	uint64_t repeated;   /* of these, iterations after another: not instructions of their own */
	uint64_t loads, stores;           /* but those that are among counts */
	uint64_t branches, taken;         /* of it, where it is a branch */
	uint16_t class_bits;              /* enum model_instruction_class */
	uint8_t branch;                   /* enum model_branch_kind, or MODEL_NO_BRANCH */
	uint16_t uops, flops;             /* of each execution */
	VEC(struct profile_count) counts; /* of events that execution does not determine */
};

/* Of edges (struct experiment_edge, from the last executed instruction to the next), kind is enum
 * model_branch_kind, or PROFILE_FALL if there is no branch (only the translation ends there). */
#define PROFILE_FALL 255

/* A call path: its caller's path, and the address of the call. [0] is the path without callers. */
#define PROFILE_ROOT      0
#define PROFILE_PATH_LOST UINT32_MAX /* there was no room for it */
struct profile_node {
	struct {
		uint64_t address; /* of the instruction that called */
		uint32_t parent, image;
		uint32_t length; /* of that instruction; 0: a signal interrupted there */
		uint32_t reserved;
	} key;
};

struct profile_sampler {
	uint32_t event, skid;
	uint64_t period;
	uint64_t lost; /* samples lost for lack of room */
};

struct profile_sample {
	struct {
		uint32_t sampler, image; /* indices */
		uint64_t address;
		int32_t pid, tid;
		uint64_t phase;
		uint32_t node;    /* the call path of the site, or PROFILE_PATH_LOST */
		uint32_t process; /* index: phases are the process image's */
	} key;
	uint64_t count;
};

struct profile_data {
	struct {
		uint32_t sampler;
		int32_t pid;
		uint64_t address; /* of a line of 64 bytes */
	} key;
	uint64_t count;
};

struct profile_slice {
	size_t process;
	uint64_t counts[EV_COUNT];
};

struct profile_caliper_thread {
	pid_t tid;                 /* 0: threads that ended and were added up */
	uint64_t counts[EV_COUNT]; /* so far */
};

struct profile_caliper {
	size_t process;
	pid_t tid; /* the thread that passed it */
	char *name;
	VEC(struct profile_caliper_thread) threads;
};

struct profile_process {
	pid_t pid, ppid;
	uint32_t generation; /* distinguishes process images with the same pid */
	bool complete;       /* it ended; else its last part is missing */
	uint64_t instructions;
	uint64_t slice_cycles;
	char command[17];
};

/* Losses of the tool's tables. */
struct profile_lost {
	uint64_t samples, counts, targets, data, calipers, objects;
};

struct profile {
	VEC(struct profile_image) images; /* [0] is the unknown one */
	struct table insns, edges, samples, data;
	struct table nodes; /* callers before those that they call */
	bool stacks;        /* samples have paths */
	VEC(struct profile_sampler) samplers;
	VEC(struct profile_slice) slices; /* in order, of each process */
	VEC(struct profile_caliper) calipers;
	VEC(struct profile_process) processes;
	/* What data misses are about: rows of experiment/data.h, with images and nodes of the
	 * profile, and events as metrics. */
	struct table objects, places, touches, lines, ends;
	struct profile_lost lost;
	uint64_t uncounted[EVENT_LIMIT]; /* while samples did not count (suspended, cleared) */
	uint64_t counted; /* instructions of all process images, also those that left no profile */
	uint64_t unprofiled; /* profiles lost, in full or at the end, for lack of room */
	size_t damaged;      /* files that could not be read to their end */
};

int profile_init(struct profile *p, struct error *e);
void profile_fini(struct profile *p);

/* Adds the contents of a file. A file without contents yet adds nothing: 0. Of a damaged one, the
 * part before the damage is added, and the file is counted. */
int profile_add(struct profile *p, const void *data, size_t size, struct error *e);
/* Adds the profiles in a scratch directory and unlinks them: all, or those of process images that
 * ended, whose counts are gone. */
int profile_take(struct profile *p, const char *directory, bool all, struct error *e);
/* Sorts all, and renumbers images and samplers, so that equal sets of files give equal profiles. */
int profile_finish(struct profile *p, struct error *e);

/* All events of an instruction, execution's as well: counts[EVENT_LIMIT] is overwritten. */
void profile_counts(const struct profile_insn *d, uint64_t *counts);

/* The event whose samplers count this one: the event of which it is a second name, or itself. */
uint32_t profile_sampled_as(uint32_t event);

/* Does execution alone determine this event, without modelling? */
bool profile_is_executed(int event);

/* A maximal run of instructions that are executed as often as each other, with no branch but the
 * last and no target of one but the first.  After profile_finish. */
struct profile_block {
	size_t first, count; /* in insns */
};
typedef VEC(struct profile_block) profile_blocks;
int profile_find_blocks(const struct profile *p, profile_blocks *blocks, struct error *e);

#endif
