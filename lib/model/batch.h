/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The first level of cachegrind's flavour, where only misses are wanted: no clock, no TLBs, no
 * store buffer, no watcher.
 *
 * Most accesses are to the line that their set had last, and change nothing. All others are put
 * into a list, in program order, and looked up later, many at once. So neither a hit nor a miss is
 * a branch of the host, which would predict it badly: what is listed is a store, and by how much
 * the list grows is an addition. Misses of the first level make a second list, of what the last
 * level is asked for. The order is kept, so the misses are the same as one by one.
 *
 * A set is a row of its lines in the order of their last uses. Most of what is listed is among the
 * first of these: four are looked at first, and the others only for what is not there.
 */
#ifndef MODEL_BATCH_H
#define MODEL_BATCH_H

#include <stdint.h>

#include "model/trace.h"

#define BATCH_SETS 512 /* of each cache at most */
#define BATCH_WAYS 16
#define BATCH_NEAR 4 /* of these, the first */
#define BATCH_LIST 512
/* Room after a full list: what one record lists at most, where that is not looked at. */
#define BATCH_MORE 512

enum batch_level { BATCH_DATA, BATCH_CODE, BATCH_LEVELS };

/* An entry of the list is the address of data, or the complement of that of a line of code, with
 * these bits: an instruction begins in the line before, which was used just now; the next line is
 * used as well; this is that line, among those that are looked up among the far ways. */
#define BATCH_AFTER  UINT64_C(1)
#define BATCH_PAIR   (UINT64_C(1) << 62)
#define BATCH_SECOND (UINT64_C(1) << 61)

/* A line, its number plus one, that is not among the near ways of its set: its entry, the far ways,
 * and what comes to them from the near ones. */
struct batch_far {
	uint64_t entry, line, first, *row;
};

struct batch {
	uint32_t on;
	uint32_t most_ways;
	uint32_t near[BATCH_LEVELS], far_ways[BATCH_LEVELS]; /* a bit each; how many */
	uint32_t mask[BATCH_LEVELS];                         /* sets less one */
	/* The records' end, and the order of the instruction before the next record. */
	const uint64_t *end;
	uint64_t order;
	uint64_t *at;                     /* of the list's next entry */
	uint64_t conditionals, indirects; /* mispredicted, not in the counts yet */
	/* The line that each set had last. */
	uint64_t recent[BATCH_LEVELS][BATCH_SETS];
	uint64_t list[BATCH_LIST + BATCH_MORE];
	uint64_t missed[BATCH_LIST + BATCH_MORE];
	struct batch_far far[2 * (BATCH_LIST + BATCH_MORE)]; /* data may be in two lines */
	/* Numbers of lines plus one; 0: empty. */
	uint64_t rows[BATCH_LEVELS][BATCH_SETS][BATCH_WAYS] __attribute__((aligned(64)));
};

struct model;
struct core;

/* Before anything runs. */
void batch_init(struct model *m);
/* Runs the records at..end, all of them, where batch.on is set and there is no watcher. */
void batch_run(struct model *m, const uint64_t *at, const uint64_t *end);
/* From here on the loops of others run the records. */
void batch_leave(struct model *m);
/* Looks up what is listed. */
void batch_settle(struct model *m);
/* An access of an instruction that is run for itself. */
void batch_step_data(struct model *m, uint64_t address, unsigned size);
/* One access, or fetch of an instruction, at once; size: at most a line. */
void batch_data(struct model *m, uint64_t address, unsigned size);
void batch_code(struct model *m, uint64_t address, unsigned size);

/* For the code of segments (jit_batch.c). One record; the segment of one has no stamp of the
 * core's; its instructions of other classes; data that span two lines, and the number of accesses
 * to them; the list is full. The last argument is the model. */
void batch_record(const uint64_t *record, uint64_t unused, struct model *m);
void batch_again(const uint64_t *record, uint64_t unused, struct model *m);
void batch_specials(const struct model_segment *s, uint64_t unused, struct model *m);
void batch_span(uint64_t address, uint64_t accesses, struct model *m);
void batch_full(uint64_t unused, uint64_t unused_too, struct model *m);

/* jit_batch.c: the frame of the code; sets run.code of a segment. */
void jit_batch_frame(struct model *m);
void jit_batch_segment(struct model *m, struct model_segment *s);

/* Does the entry of the line before have the segment's line i, too? An instruction spans both. */
static inline int batch_is_second(const struct model_segment *s, unsigned i)
{
	const struct model_fetch *f = s->block->fetches;

	return i > 0 && i < s->fetch_count && f[i].insn == f[i - 1].insn;
}

/* The entry of line i. */
static inline uint64_t batch_entry(const struct model_segment *s, unsigned i)
{
	const struct model_fetch *f = &s->block->fetches[i];
	const struct model_insn *in = &s->block->insns[f->insn];
	uint64_t flags = in->address < f->line ? BATCH_AFTER : 0;

	if (batch_is_second(s, i + 1))
		flags = BATCH_PAIR;
	return ~(f->line | flags);
}

#endif
