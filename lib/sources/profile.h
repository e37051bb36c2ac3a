/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The execution of a run, by instruction: the sum of the profiles of process images
 * (model/wire/profile.h): an experiment, and tables for what experiments have no rows for. The sum
 * is independent of the order in which files are added, once profile_finish has sorted it.
 *
 * Instructions are identified by image and address, the address being the one of the image's own
 * program headers (what objdump shows), so that runs can be compared wherever an image was loaded.
 */
#ifndef SOURCES_PROFILE_H
#define SOURCES_PROFILE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "events/event.h"
#include "events/numbers.h"
#include "experiment/data.h"

#define PROFILE_SAMPLERS_MAX 32 /* that the model takes */

/* Rows ("key" first, see base/table.h). */

/* What to sample; samples lost for lack of room. */
struct profile_sampler {
	uint64_t period;
	uint32_t event, skid;
};

struct profile_sampled {
	struct profile_sampler key;
	uint64_t lost;
};

struct profile_process {
	struct {
		int32_t pid;
		uint32_t generation; /* distinguishes process images with the same pid */
	} key;
	uint64_t instructions;
	pid_t ppid;
	bool complete; /* it ended; else its last part is missing */
	char command[17];
};

/* The call of a node of the experiment, which has the address of its last byte. */
struct profile_call {
	struct {
		uint32_t node, reserved;
	} key;
	uint64_t length; /* bytes of the instruction; 0: a signal interrupted there */
};

struct profile_insn {
	struct {
		uint64_t address;
		uint32_t image;
		uint32_t length; /* bytes: code that a process changes may have others there */
	} key;
	uint64_t executions; /* of a repeated one, its iterations */
	uint64_t repeated;   /* of these, iterations after another: not instructions of their own */
	uint64_t loads, stores;   /* but those that are among counts */
	uint64_t branches, taken; /* of it, where it is a branch */
	uint16_t class_bits;      /* enum model_instruction_class */
	uint8_t branch;           /* enum model_branch_kind, or MODEL_NO_BRANCH */
	uint16_t uops, flops;     /* of each execution */
};

/* Of an instruction: an event that its execution does not determine. */
struct profile_count {
	struct {
		uint32_t insn, item; /* index; event, or as model/rows.h has it */
	} key;
	uint64_t n;
};

/* Of edges (struct experiment_edge, from the last executed instruction to the next), kind is enum
 * model_branch_kind, or PROFILE_FALL if there is no branch (only the translation ends there). */
#define PROFILE_FALL 255

struct profile_sample {
	struct {
		uint64_t address, phase; /* the process image's */
		uint32_t sampler, image, process, reserved;
		int32_t pid, tid;
		uint32_t node; /* the call path of the site */
		uint32_t lost; /* 1: there was no room for the path */
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

/* In order, of each process. */
struct profile_slice {
	struct {
		uint32_t process, number;
	} key;
	uint64_t counts[EV_COUNT];
};

struct profile_caliper {
	struct {
		uint32_t process, number;
	} key;
	char *name;
	pid_t tid; /* the thread that passed it */
};

struct profile_thread {
	struct {
		uint32_t caliper, number;
	} key;
	pid_t tid;                 /* 0: threads that ended and were added up */
	uint64_t counts[EV_COUNT]; /* so far */
};

/* Losses of the tool's tables. */
struct profile_lost {
	uint64_t samples, counts, targets, data, calipers;
};

/* These tables, each after those that it refers to, as in EXPERIMENT_TABLE_LIST. */
#define PROFILE_TABLE_LIST(TABLE)                                                                  \
	TABLE(SAMPLERS, samplers)                                                                  \
	TABLE(PROCESSES, processes)                                                                \
	TABLE(CALLS, calls)                                                                        \
	TABLE(INSNS, insns)                                                                        \
	TABLE(COUNTS, counts)                                                                      \
	TABLE(SAMPLES, samples)                                                                    \
	TABLE(DATA, data)                                                                          \
	TABLE(SLICES, slices)                                                                      \
	TABLE(CALIPERS, calipers)                                                                  \
	TABLE(THREADS, threads)

/* Rows refer to these by number, and to those of the experiment. */
enum profile_rows {
	PROFILE_LAST = EXPERIMENT_TABLES - 1,
#define PROFILE_NUMBER(number, name) PROFILE_##number,
	PROFILE_TABLE_LIST(PROFILE_NUMBER) PROFILE_TABLES, /* up to here */
};

struct profile {
	/* Images, call paths, edges, and the data of misses.  It has no samples yet. */
	struct experiment x;
	union {
		struct table tables[PROFILE_TABLES - EXPERIMENT_TABLES];
		struct {
#define PROFILE_MEMBER(number, name) struct table name;
			PROFILE_TABLE_LIST(PROFILE_MEMBER)
		};
	};
	bool stacks; /* samples have paths */
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
/* Sorts and renumbers all, so that equal sets of files give equal profiles. */
int profile_finish(struct profile *p, struct error *e);

/* Of all processes in the profile. */
uint64_t profile_instructions(const struct profile *p);
enum { PROFILE_MISSING = 2, PROFILE_LINE = 200 };
/* What it lacks, in words: lines, "" where it lacks nothing. */
void profile_missing(const struct profile *p, char line[][PROFILE_LINE]);
/* After profile_finish, the row of counts with which those of an instruction begin: they follow
 * each other. */
size_t profile_first_count(const struct profile *p, size_t insn);
/* All events of an instruction, execution's as well: counts[EVENT_LIMIT] is overwritten. */
void profile_counts(const struct profile *p, size_t insn, uint64_t *counts);

/* The event whose samplers count this one: the event of which it is a second name, or itself. */
uint32_t profile_sampled_as(uint32_t event);

/* Does the model know which instructions have this event? It can sample these. */
bool profile_has(const struct event *event);

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
