/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sampled simulation: windows of the execution are modelled in full, and what lies between them is
 * executed with less.
 *
 * A process begins with MODEL_FAST_EXACT instructions that are modelled and counted as always.
 * Behind them, each MODEL_FAST_PERIOD instructions hold one window of MODEL_FAST_WINDOW, at a
 * place of its own in each (pseudo-random, the same in each run, so that loops do not keep step
 * with it), and before it MODEL_FAST_WARM_UP that are modelled and not counted.  The rest is
 * skipped by model_skip, which keeps what is long-lived nearly as the program has it: data in the
 * large caches and their TLB entries (by the first use of each line in a period), and the stack of
 * return addresses.  What recovers fast is left to the warm-up: first-level caches, branch
 * predictors, instruction lines and pages, the clock.  Whether it was enough shows in the windows:
 * their halves are summed up apart, and where these differ the interval is wider.
 *
 * What follows from execution (model_fast_exact) is counted all the time.  All other counts of a
 * thread are those of the beginning alone; what windows saw is summed up for the process, in the
 * form that an interval needs (sources/windows.h).  Changes of phase happen between two calls of
 * model_fast_run, so lengths are only about those given here.
 */
#ifndef MODEL_FAST_H
#define MODEL_FAST_H

#include <stdint.h>

#include "events/numbers.h"
#include "model/model.h"
#include "model/trace.h"

#define MODEL_FAST_EXACT   20000000
#define MODEL_FAST_PERIOD  2000000
#define MODEL_FAST_WARM_UP 100000
#define MODEL_FAST_WINDOW  100000

/* Of one event over the windows: v is its count in a window, a the instructions of that; d before
 * a name: of the differences between a window and the one before it. */
struct model_window_sums {
	double v, vv, va;
	double early; /* v in the first halves of windows */
	double dvdv, dvda, dvdvdvdv, dvdvdvda, dvdvdada, dvdadada;
};

struct model_windows {
	uint64_t count;  /* windows that ended */
	uint64_t beyond; /* instructions behind the exact beginning, windows and all */
	double a, aa, dada, dadadada;
	double early; /* a in the first halves */
	struct model_window_sums events[EVENT_LIMIT];
};

enum model_fast_phase {
	MODEL_FAST_SKIP,
	MODEL_FAST_WARM,
	MODEL_FAST_MEASURE,
	MODEL_FAST_REST, /* skipped, too: the period's window is over */
};

/* Zeroed: a process that begins. */
struct model_fast {
	struct model_windows *windows; /* where the sums go */
	uint64_t exact;                /* instructions of the exact beginning so far */
	uint64_t in_period;            /* instructions of the current period so far */
	uint64_t at;                   /* where in the period its warm-up begins */
	uint64_t random;               /* state of a generator, not 0 */
	uint32_t phase;                /* enum model_fast_phase */
	uint64_t seen[EVENT_LIMIT], last[EVENT_LIMIT]; /* by this window, by the one before */
	uint64_t early[EVENT_LIMIT];                   /* by the first half of this window */
	struct model_filter filter;                    /* empty at the beginning of a period */
	uint64_t before[MODEL_CORES_MAX][EVENT_LIMIT]; /* each core's, while records run */
};

/* Does the event's count follow from execution alone? */
int model_fast_exact(unsigned event);

/* In place of model_run. */
void model_fast_run(
	struct model *m, struct model_fast *f, const uint64_t *begin, const uint64_t *end);

/* A process that forked begins anew, with sums of its own. */
void model_fast_reset(struct model_fast *f, struct model_windows *windows);

#endif
