/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/fast.h"

#include "model/state.h"

#define GUARD_BAND (MODEL_FAST_WARM_UP + MODEL_FAST_WINDOW)

static const uint8_t exact_events[EVENT_LIMIT] = {
	[EV_INSTRUCTIONS] = 1,
	[EV_INSTRUCTIONS_15] = 1,
	[EV_MICRO_OPS] = 1,
	[EV_LOADS] = 1,
	[EV_STORES] = 1,
	[EV_STORE_CONDITIONALS] = 1,
	[EV_LOCKED_INSTRUCTIONS] = 1,
	[EV_FP_INSTRUCTIONS] = 1,
	[EV_FP_OPERATIONS] = 1,
	[EV_VECTOR_INSTRUCTIONS] = 1,
	[EV_DIVIDES] = 1,
	[EV_DIVIDER_CYCLES] = 1,
	[EV_SOFTWARE_PREFETCHES] = 1,
	[EV_SYSTEM_CALLS] = 1,
	[EV_BRANCHES] = 1,
	[EV_CONDITIONAL_BRANCHES] = 1,
	[EV_DECODED_BRANCHES] = 1,
	[EV_TAKEN_BRANCHES] = 1,
	[EV_CALLS] = 1,
	[EV_INDIRECT_BRANCHES] = 1,
	[EV_RETURNS] = 1,
};

int model_fast_exact(unsigned event)
{
	return event < EVENT_LIMIT && exact_events[event];
}

/* xorshift64* (Vigna, 2016). */
static uint64_t random_below(struct model_fast *f, uint64_t n)
{
	f->random ^= f->random >> 12;
	f->random ^= f->random << 25;
	f->random ^= f->random >> 27;
	return ((f->random * UINT64_C(2685821657736338717)) >> 11) % n;
}

static void begin_period(struct model_fast *f)
{
	for (unsigned i = 0; i < MODEL_FILTER_LINES; i++)
		f->filter.lines[i] = 0;
	f->phase = MODEL_FAST_SKIP;
	f->at = random_below(f, MODEL_FAST_PERIOD - GUARD_BAND);
}

void model_fast_reset(struct model_fast *f, struct model_windows *windows)
{
	f->windows = windows;
	f->exact = f->in_period = 0;
	f->random = 1;
	for (unsigned e = 0; e < EVENT_LIMIT; e++)
		f->seen[e] = f->early[e] = 0;
	begin_period(f);
}

static double difference(uint64_t a, uint64_t b)
{
	return (double)a - (double)b;
}

static void add_window(
	struct model_windows *w, const uint64_t *seen, const uint64_t *last, const uint64_t *early)
{
	double a = (double)seen[EV_INSTRUCTIONS];
	double da = w->count ? difference(seen[EV_INSTRUCTIONS], last[EV_INSTRUCTIONS]) : 0;

	w->a += a;
	w->early += (double)early[EV_INSTRUCTIONS];
	w->aa += a * a;
	w->dada += da * da;
	w->dadadada += da * da * da * da;
	for (unsigned e = 0; e < EVENT_LIMIT; e++) {
		struct model_window_sums *s = &w->events[e];
		double v = (double)seen[e], dv = w->count ? difference(seen[e], last[e]) : 0;

		s->v += v;
		s->early += (double)early[e];
		s->vv += v * v;
		s->va += v * a;
		s->dvdv += dv * dv;
		s->dvda += dv * da;
		s->dvdvdvdv += dv * dv * dv * dv;
		s->dvdvdvda += dv * dv * dv * da;
		s->dvdvdada += dv * dv * da * da;
		s->dvdadada += dv * da * da * da;
	}
	w->count++;
}

static void end_window(struct model *m, struct model_fast *f)
{
	model_derive(m, f->seen);
	model_derive(m, f->early);
	add_window(f->windows, f->seen, f->last, f->early);
	for (unsigned e = 0; e < EVENT_LIMIT; e++) {
		f->last[e] = f->seen[e];
		f->seen[e] = f->early[e] = 0;
	}
}

static void next_phase(struct model *m, struct model_fast *f)
{
	if (f->phase == MODEL_FAST_SKIP && f->in_period >= f->at)
		f->phase = MODEL_FAST_WARM;
	if (f->phase == MODEL_FAST_WARM && f->in_period >= f->at + MODEL_FAST_WARM_UP)
		f->phase = MODEL_FAST_MEASURE;
	if (f->phase == MODEL_FAST_MEASURE && !f->early[EV_INSTRUCTIONS] &&
		f->seen[EV_INSTRUCTIONS] >= MODEL_FAST_WINDOW / 2)
		for (unsigned e = 0; e < EVENT_LIMIT; e++)
			f->early[e] = f->seen[e];
	if (f->phase == MODEL_FAST_MEASURE && f->seen[EV_INSTRUCTIONS] >= MODEL_FAST_WINDOW) {
		end_window(m, f);
		f->phase = MODEL_FAST_REST;
	}
	if (f->in_period >= MODEL_FAST_PERIOD && f->phase != MODEL_FAST_MEASURE) {
		f->in_period -= MODEL_FAST_PERIOD;
		begin_period(f);
	}
}

/* What a core has counted goes to the window, if there is one, and out of the thread's counts. */
static void take_counts(struct model_fast *f, uint64_t *counts, const uint64_t *before)
{
	int measured = f->phase == MODEL_FAST_MEASURE;

	for (unsigned e = 0; e < EVENT_LIMIT; e++) {
		if (measured)
			f->seen[e] += counts[e] - before[e];
		if (!exact_events[e])
			counts[e] = before[e];
	}
}

static void run_sampled(
	struct model *m, struct model_fast *f, const uint64_t *begin, const uint64_t *end)
{
	uint64_t active;
	unsigned c;

	clock_flush(m, m->core);
	for (active = m->active; active; active &= active - 1) {
		c = (unsigned)__builtin_ctzll(active);
		for (unsigned e = 0; e < EVENT_LIMIT; e++)
			f->before[c][e] = m->cores[c].counts[e];
	}
	if (f->phase == MODEL_FAST_WARM || f->phase == MODEL_FAST_MEASURE)
		model_run(m, begin, end);
	else
		model_skip(m, &f->filter, begin, end);
	clock_flush(m, m->core);
	for (active = m->active; active; active &= active - 1) {
		c = (unsigned)__builtin_ctzll(active);
		take_counts(f, m->cores[c].counts, f->before[c]);
	}
}

void model_fast_run(
	struct model *m, struct model_fast *f, const uint64_t *begin, const uint64_t *end)
{
	uint64_t instructions = m->counts[EV_INSTRUCTIONS];

	if (f->exact < MODEL_FAST_EXACT) {
		model_run(m, begin, end);
		f->exact += m->counts[EV_INSTRUCTIONS] - instructions;
		return;
	}
	run_sampled(m, f, begin, end);
	instructions = m->counts[EV_INSTRUCTIONS] - instructions;
	f->in_period += instructions;
	f->windows->beyond += instructions;
	next_phase(m, f);
}
