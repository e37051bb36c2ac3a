/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sampled simulation: some stretches of the execution are modelled. Between them, only what follows
 * from execution alone is counted (model_fast_exact). This file decides when to model and estimates
 * the totals; the caller runs the program, models and counts.
 *
 * The first MODEL_FAST_EXACT instructions of a process are modelled. Periods follow: a skipped part
 * of pseudo-random length (the same in each run), then a stretch. Lengths grow during the run.
 *
 * During a skipped part the model's state does not change: then caches lack the lines that the
 * program used meanwhile, and hold lines that it no longer uses. So a stretch is divided at 1/8,
 * 1/4 and 1/2 of its length. Each event is counted from the division after which the skipped part
 * has no more influence; the differences between the halves of the stretches show which it is. The
 * rest of the trend widens the interval.
 *
 * A stretch also represents the skipped part before it. The sums for the process are the total
 * beyond what was modelled, and its variance, computed from differences between successive
 * stretches, in the form that an interval needs (sources/windows.h).
 */
#ifndef MODEL_FAST_H
#define MODEL_FAST_H

#include <stdint.h>

#include "events/numbers.h"
#include "model/model.h"

#define MODEL_FAST_EXACT 4000000
/* Parts of a stretch: an eighth, an eighth, a quarter, a half; of a long one, more as long as it,
 * twice, four times, and eight times. */
#define MODEL_FAST_SHORT 4
#define MODEL_FAST_LONG  8

/* Of one event, over all that follows the exact beginning and is represented. */
struct model_window_sums {
	double value;    /* estimate, of the modelled and the other instructions */
	double modelled; /* of it */
	double variance;
	double squares;      /* of the variance's terms, for its degrees of freedom */
	double below, above; /* how much bias there may be on either side */
};

struct model_windows {
	uint64_t count;  /* stretches that ended */
	uint64_t beyond; /* instructions after the exact beginning that were not modelled themselves
			  */
	double stood_for; /* of these, with a stretch that represents them */
	double modelled;  /* of these */
	struct model_window_sums events[EVENT_LIMIT];
};

/* From a part of each stretch to the end of a short one; rate is events per instruction. */
struct model_fast_tail {
	double value, before; /* rate times the instructions it represents; the rate in the last
				 stretch */
	double variance, squares;
	double seen, weight; /* Poisson's variance; instructions for each that was counted */
	/* Against the last part of short ones; of long ones, and against the last but one there. */
	double drift, drift_squares, far, far_squares;
};

/* Zeroed: a process that begins. */
struct model_fast {
	struct model_windows *windows; /* where the sums go */
	uint64_t gap;                  /* skipped before this stretch */
	uint64_t cost, skipped;        /* all in all, in instructions that are skipped */
	uint64_t random;               /* state of a generator, not 0 */
	uint32_t part, parts;          /* of the next; of this stretch */
	double gap_before, long_stood; /* instructions that long ones represent */
	uint64_t start[MODEL_FAST_LONG + 1][EVENT_LIMIT]; /* counts where each part begins */
	struct model_fast_tail tails[EVENT_LIMIT][MODEL_FAST_SHORT - 1];
	double last[EVENT_LIMIT],
		last_squares[EVENT_LIMIT]; /* last but one part of long ones, less the last */
};

/* Does the event's count follow from execution alone? */
int model_fast_exact(unsigned event);

void model_fast_reset(struct model_fast *f, struct model_windows *windows);
/* The exact beginning, or a stretch, is over: returns how many instructions to skip. translated:
 * superblocks that were translated for modelling since the last time. */
uint64_t model_fast_skip(struct model_fast *f, uint64_t translated);
/* `gap` instructions were skipped, and a stretch begins; counts: of the process, for the modelled
 * part of all threads. Returns the number of instructions until model_fast_part. */
uint64_t model_fast_begin(struct model_fast *f, uint64_t gap, const uint64_t *counts);
/* That many, or somewhat more, were modelled. Returns the same; 0: the stretch is over. */
uint64_t model_fast_part(struct model_fast *f, const uint64_t *counts);

/* Adds counts that were not modelled to the current thread's counts, by event; divides are among
 * them, and are given again for the divider's cycles. */
void model_fast_count(struct model *m, const int64_t *more, uint64_t divides, uint64_t fp_divides);
/* Part of the program's execution was not modelled: drops the state that is certainly wrong after
   it. stretch: a stretch begins, whose second half is clocked. */
void model_fast_resume(struct model *m, int stretch);
/* Of the current thread, so far. */
uint64_t model_fast_instructions(const struct model *m);

#endif
