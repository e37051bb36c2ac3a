/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Watching of single events, not only of their numbers: counts by instruction (rows), samples at
 * the overflow of counters, targets of indirect branches.
 *
 * A sampler is a counter of one event that overflows at every period-th occurrence; each thread has
 * counters of its own. A sample names the instruction at the overflow exactly; with skid, like the
 * counters of processors, it names one that retires later: by 1 with probability 1/2, 2 with 1/4,
 * ..., 8 with 1/128 (deterministic). If an instruction has several occurrences at once (a writeback
 * of four quadwords), all overflows in it are one call with their number.
 *
 * All memory is the caller's. A watch that is all zero watches nothing.
 */
#ifndef MODEL_WATCH_H
#define MODEL_WATCH_H

#include "model/model.h"
#include "model/objects.h"
#include "model/paths.h"
#include "model/rows.h"
#include "model/targets.h"
#include "model/trace.h"

#define MODEL_SAMPLERS_MAX 32
#define MODEL_SKIDS_MAX    16

/* A sample that waits for the instruction that it will name. */
struct model_skid {
	uint32_t insns; /* still to be executed before that one */
	uint32_t sampler;
	uint64_t address, times;
};

/* The counters of one thread; watch_thread_init begins it. */
struct model_watch_thread {
	uint64_t left[MODEL_SAMPLERS_MAX]; /* occurrences up to and with the next overflow */
	uint32_t
		slot[MODEL_SAMPLERS_MAX]; /* of a cycle, in which the next one is, less the first */
	struct model_skid skids[MODEL_SKIDS_MAX];
	uint32_t skid_count;
	uint32_t random;
};

struct model_sampler {
	uint64_t period; /* at least 1; primes do not keep step with loops */
	uint8_t event;
	uint8_t skid;      /* 1: with skid */
	uint8_t next;      /* index + 1 of the next sampler of the same event; 0: none */
	uint8_t by_static; /* 1 + enum model_static with this event; 0: none */
	uint8_t by_clock;  /* cycles and stalls */
	uint32_t unit;     /* occurrences are counted in parts of one: slots of a cycle */
};

struct model_watch {
	struct model_rows rows;
	struct model_targets targets;
	unsigned sampler_count;
	unsigned static_count; /* samplers whose event execution determines */
	struct model_sampler sampler[MODEL_SAMPLERS_MAX];
	uint8_t sampler_of[EVENT_LIMIT];   /* index + 1 of the first of an event's; 0: none */
	struct model_watch_thread *thread; /* the one that executes */
	/* insn: NULL if the model does not know it; address: of the data that it accessed, 0 if
	 * there are none. */
	void (*sample)(void *context, unsigned sampler, const struct model_insn *insn,
		uint64_t address, uint64_t times);
	void *context;
	struct paths *paths;     /* of the thread that executes; null: not needed */
	struct objects *objects; /* what data events are about; null: likewise */
	/* For samples of cycles: the clocks after the last record of this thread. */
	struct model *model;
	unsigned clocks; /* bit 0: cycles are sampled; 1, 2: stalls of the front, the back end */
	const void *clock_core, *clock_thread;
	uint64_t clock_at[3], clock_order;
	/* Of the record that is being run. */
	const struct model_segment *segment;
	const uint64_t *record;
	uint64_t address; /* of the access under way, 0: none */
};

/* Before anything runs.  -1: no such event can be sampled, or there are too many samplers. */
int watch_add_sampler(struct model_watch *w, unsigned event, uint64_t period, int skid);
/* What samplers of an event are counted by: the event that it is a second name of, or itself. */
unsigned watch_event(unsigned event);
void watch_thread_init(const struct model_watch *w, struct model_watch_thread *t);
/* NULL: no watch. */
void model_set_watch(struct model *m, struct model_watch *w);

/* For each record, before it is run: samples of events that execution determines, and samples that
 * waited; targets of indirect branches. repeats: its first instruction is a further iteration of a
 * repeated one. watch_end follows the last record of a row. */
void watch_record(struct model_watch *w, const struct model_segment *segment,
	const uint64_t *record, int repeats);
/* watch_is_calm: is it enough to report single events, and the counts of records from time to time?
 * Then watch_ahead is the number of instructions before an overflow of these counts, 0: none;
 * watch_settle adds `ran`, the counts, and clears it. This does not hold for a segment that exceeds
 * the assumed maximum per instruction (watch_exceeds). */
int watch_is_calm(const struct model_watch *w);
uint64_t watch_ahead(const struct model_watch *w);
void watch_settle(struct model_watch *w, uint64_t *ran);
int watch_exceeds(const struct model_watch *w, const struct model_segment *segment);
void watch_clock(struct model_watch *w);
static inline void watch_end(struct model_watch *w)
{
	if (w->clocks && w->segment)
		watch_clock(w);
	if (w->paths && w->segment && w->segment->block->stack)
		paths_record(w->paths, w->segment, w->record);
	w->segment = (const struct model_segment *)0;
}
/* A record of which only the first insns instructions were executed. */
void watch_part(struct model_watch *w, const struct model_segment *segment, unsigned insns);
/* n units of a sampler's event occurred in instruction `index` of the current record. */
void watch_occur(struct model_watch *w, unsigned sampler, unsigned index, uint64_t n);
/* In model/state.h: watch_count, events of the current instruction. */

#endif
