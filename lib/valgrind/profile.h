/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The profile of a process image (model/wire/profile.h): its data, and its file.
 *   profile.c        the options, and the data that is not in the descriptors of superblocks
 *   profile_file.c   into the file
 *   slices.c         counts of successive slices of the run
 */
#ifndef VALGRIND_PROFILE_H
#define VALGRIND_PROFILE_H

#include "model/watch.h"
#include "model/wire/requests.h"
#include "model/wire/shared.h"
#include "valgrind/bytes.h"

enum profile_kind {
	PROFILE_NONE,
	PROFILE_BLOCKS,  /* how often each superblock, edge and instruction is executed: no model */
	PROFILE_SAMPLES, /* samples alone: the model, and nothing of each instruction */
	PROFILE_INSNS,   /* all events of each instruction as well */
};
extern enum profile_kind profile_kind;

/* ---- profile.c ---- */
/* --model-profile=, --model-sample=, --model-stacks=, --model-slices= */
Bool profile_option(const HChar *argument);
/* The error in the options, or NULL. Call it after all options, before the first thread. */
const HChar *profile_begin(void);
/* The watch for the model's events; NULL: not needed. */
struct model_watch *profile_watch(void);
/* A thread, by its number in order of creation, runs from now on. */
void profile_thread(ThreadId tid, UInt number);
void profile_name_thread(UInt number, Int kernel_tid);
/* The program passes a caliper point; with all counts up to date. */
void profile_caliper(Int kernel_tid, const HChar *name);
/* Which samples count from now on (model/wire/requests.h); with all counts up to date. */
void profile_sampling(enum model_sampling what);
/* Code was unmapped; records that use it must have been run before. */
void profile_unmapped(Addr a, SizeT length);
/* In the child of a fork: nothing was counted yet. */
void profile_reset(void);
/* Into the sections of the file. */
void profile_write_sections(struct bytes *to);

/* ---- profile_targets.c ---- */
/* Targets of indirect branches are counted from now on, by the watch or by profile_goes. */
void targets_begin(struct model_watch *watch);
/* Between calls of the model, which adds to the table and cannot enlarge it. */
void profile_make_room(void);
/* Without a model: an indirect branch went to `to` that many times. */
void profile_goes(Addr from, Addr to, uint64_t times);
/* Assigns images to the data by address, and takes it over: before mappings change. */
void targets_keep(void);
void targets_reset(void);
ULong targets_lost(void);
void targets_write(struct bytes *to);

/* ---- profile_file.c ---- */
/* The file of this image, and of the child of a fork; call it after counts_open and counts_forked.
 */
void profile_open(const HChar *command);
void profile_save(enum model_shared_state state);
/* Now and then, with all counts up to date: writes what there is, if it is time.  blocks: executed
 * so far. */
void profile_tick(ULong blocks);

/* "v events counted, for each v event, v count" of counts[EV_COUNT]. */
void bytes_counts(struct bytes *to, const uint64_t *counts);

#endif
