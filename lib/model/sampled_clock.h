/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The sampled clock: the retirement clock (retire.h) runs in random windows of the execution, on
 * the state that the exact model keeps up to date anyway. After Wunderlich et al., "SMARTS:
 * accelerating microarchitecture simulation via rigorous statistical sampling", ISCA 2003.
 *
 * The first SAMPLED_EXACT instructions of a process are clocked. After them, each core's execution
 * is divided into periods of SAMPLED_PERIOD instructions. In each, SAMPLED_MEASURED instructions
 * are measured, from a place on that is uniformly random. SAMPLED_WARM instructions before them
 * fill what only the retirement clock has: instructions under way, requests, stores; more of them
 * where lines are prefetched.
 *
 * What is known of a long run is exact enough with fewer windows: after SAMPLED_MANY of them, and
 * whenever there are four times as many, periods become twice as long. A window weighs as much as
 * its period is long.
 *
 * The cycles of what was not clocked are estimated by regression: the measured cycles of windows
 * are a linear function of their instructions and of events (misses, mispredictions ...) whose
 * counts are known exactly for the whole execution. So the scatter is only that of what these
 * events do not explain. Costs of events that windows seldom contain are drawn towards a fraction
 * of their latency: a prior distribution, as wide as that cost (ridge regression, Hoerl and Kennard
 * 1970). The variance is that of a prediction: with what the coefficients do not know, and the
 * scatter of windows that were not measured.
 *
 * While the program runs, the counts of cycles advance at the rate of the last windows.
 */
#ifndef MODEL_SAMPLED_CLOCK_H
#define MODEL_SAMPLED_CLOCK_H

#include "model/retire.h"

struct core;

#define SAMPLED_EXACT    UINT64_C(2000000)
#define SAMPLED_PERIOD   UINT64_C(60000)
#define SAMPLED_MANY     UINT64_C(1000)
#define SAMPLED_WARM     UINT64_C(2000)
#define SAMPLED_MEASURED UINT64_C(1000)
/* Where SAMPLED_STREAMS lines in a thousand instructions are prefetched or come from memory, it
 * takes longer: arrivals of a few latencies have to be known. */
#define SAMPLED_STREAMS     UINT64_C(4)
#define SAMPLED_WARM_STREAM UINT64_C(10000)

enum {
	SAMPLED_EVENTS = 17,                /* that explain cycles; instructions are the first */
	SAMPLED_RESULTS = MODEL_CAUSES + 1, /* cycles by cause, and in all */
};

enum sampled_phase { SAMPLED_AWAY, SAMPLED_WARMS, SAMPLED_MEASURES, SAMPLED_BEGINS };

/* Of one core. */
struct sampled_core {
	uint64_t next;                 /* order at which the phase ends */
	uint64_t period, period_end;   /* instructions; order */
	uint64_t measure_at;           /* order at which the next window is to be measured */
	uint64_t length;               /* of that window */
	uint64_t looked_at, streamed;  /* order, and lines of streams, before the last window */
	uint64_t random;               /* 0: the core has not begun */
	uint32_t phase;                /* enum sampled_phase */
	uint64_t last[SAMPLED_EVENTS]; /* counts that are in the sums of the process */
	uint64_t credited;             /* order up to which cycles are in the counts */
	/* Of the window. */
	const uint64_t *window_counts;
	uint64_t begun[SAMPLED_EVENTS];
	uint64_t gone;
	uint64_t slots[MODEL_CAUSES];
	/* Cycles, stalls of the front end and of the back end: per instruction of the last windows,
	 * and parts of one that are not in the counts yet. */
	double rate[3], rest[3];
};

/* Of the process. All zero: nothing was executed. */
struct sampled_clock {
	uint64_t
		exact; /* instructions of a core that are clocked in the beginning; 0: it is over */
	uint64_t windows;                /* measured */
	double weights, squared_weights; /* of these: sums */
	uint64_t published;              /* of these, when estimates were computed last */
	double all[SAMPLED_EVENTS];      /* events, of everything */
	double clocked[SAMPLED_EVENTS];  /* of what was clocked: the beginning and the windows */
	double cycles[SAMPLED_RESULTS];  /* likewise */
	/* Over windows: weighted sums of products. */
	double events_events[SAMPLED_EVENTS][SAMPLED_EVENTS];
	double events_results[SAMPLED_EVENTS][SAMPLED_RESULTS];
	double results_squared[SAMPLED_RESULTS];
	/* Of costs: cycles that are expected, and the cause that most of them have. */
	double prior[SAMPLED_EVENTS];
	uint8_t prior_cause[SAMPLED_EVENTS];
};

struct model;

/* c: zeroed. */
void sampled_clock_init(struct sampled_clock *c, const struct model_config *config);
/* The core is about to execute: does nothing if it has begun already. */
void sampled_clock_core(struct model *m, struct core *core);
/* core->clock.order has reached core->sampled.next: another phase begins. */
void sampled_clock_step(struct model *m, struct core *core);
/* Part of the execution was not modelled. The next window has `half` instructions, and begins after
 * as many; cycles until then are not known. */
void sampled_clock_stretch(struct model *m, struct core *core, uint64_t half);
/* The core's counts have cycles for all that was executed. */
void sampled_clock_flush(struct model *m, struct core *core);
/* The core is about to run a thread with other counts, or these were cleared: what they contain is
 * not new. */
void sampled_clock_counts(struct core *core);

/* Counts by instruction have the measured cycles of the core's phase, if anyone watches: those of
 * a window stand for its period. */
void sampled_clock_rows(struct model *m, struct core *core);
/* A window was measured: its events[SAMPLED_EVENTS], cycles[SAMPLED_RESULTS]. weight: how much it
 * stands for. */
void sampled_clock_window(
	struct sampled_clock *c, const double *events, const double *cycles, double weight);
/* Estimates of everything until now go to where model_set_clock_sums says. Takes some
 * microseconds. */
void sampled_clock_publish(struct model *m);
/* Adds what the core's current window, or the beginning, has measured so far. */
void sampled_clock_partial(const struct core *core, struct sampled_clock *c);

#endif
