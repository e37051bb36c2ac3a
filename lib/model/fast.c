/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/fast.h"

#include "model/random.h"
#include "model/sampled_clock.h"
#include "model/state.h"

/* Instructions of a stretch; one in LONG_EACH is long. */
#define STRETCH   UINT64_C(32000)
#define LONG_EACH 8
/* Costs, in skipped instructions: of modelling an instruction, a miss of L1D, a misprediction; of
 * clocking an instruction; of a stretch, whose code is no longer in the host's caches; of
 * translating a superblock once more. */
#define MODELLING   8
#define MISS        60
#define MISPREDICT  30
#define CLOCKING    30
#define SWITCHING   450000
#define TRANSLATION 40000
/* The limit of all these costs: in per mille of the skipped instructions; higher in the beginning,
 * until the cost is IN_ANY_CASE. */
#define SHARE       120
#define SHARE_FIRST 1250
#define IN_ANY_CASE UINT64_C(120000000)
/* Events that may have been none by chance, for an upper limit. */
#define NONE_SEEN 3.5
#define TAILS     (MODEL_FAST_SHORT - 1)

int model_fast_exact(unsigned event)
{
	switch (event) {
	case EV_STORE_CONDITIONALS:
	case EV_LOCKED_INSTRUCTIONS:
	case EV_DIVIDES:
	case EV_DIVIDER_CYCLES:
	case EV_SOFTWARE_PREFETCHES:
	case EV_SYSTEM_CALLS:
	case EV_PAGE_FAULTS:
		return 1;
	}
	return model_event_is_static(event);
}

void model_fast_reset(struct model_fast *f, struct model_windows *windows)
{
	*f = (struct model_fast){.windows = windows, .random = 1};
}

static int is_long(const struct model_fast *f)
{
	return f->windows->count % LONG_EACH == LONG_EACH / 2;
}

uint64_t model_fast_skip(struct model_fast *f, uint64_t translated)
{
	uint64_t length = is_long(f) ? STRETCH << (MODEL_FAST_LONG - MODEL_FAST_SHORT) : STRETCH;
	uint64_t modelled = (uint64_t)f->windows->modelled, gap = STRETCH, cost, allowed,
		 rate = SHARE;

	f->cost += translated * TRANSLATION;
	/* The next stretch is paid for first. */
	cost = f->cost + (modelled ? f->cost / modelled : MODELLING) * length;
	allowed = f->skipped / 1000 * SHARE;
	if (f->skipped / 1000 * (SHARE_FIRST - SHARE) < IN_ANY_CASE) {
		allowed = f->skipped / 1000 * SHARE_FIRST;
		rate = SHARE_FIRST;
	} else {
		allowed += IN_ANY_CASE;
	}
	if (cost > allowed && (cost - allowed) / rate * 1000 > gap)
		gap = (cost - allowed) / rate * 1000;
	return gap / 2 + model_random_below(&f->random, gap);
}

uint64_t model_fast_begin(struct model_fast *f, uint64_t gap, const uint64_t *counts)
{
	f->gap = gap;
	f->skipped += gap;
	f->parts = is_long(f) ? MODEL_FAST_LONG : MODEL_FAST_SHORT;
	f->part = 0;
	for (unsigned e = 0; e < EVENT_LIMIT; e++)
		f->start[0][e] = counts[e];
	return STRETCH >> (MODEL_FAST_SHORT - 1);
}

static double fast_between(const struct model_fast *f, unsigned from, unsigned to, unsigned event)
{
	return (double)(f->start[to][event] - f->start[from][event]);
}

static double rate(const struct model_fast *f, unsigned from, unsigned to, unsigned event)
{
	return fast_between(f, from, to, event) / fast_between(f, from, to, EV_INSTRUCTIONS);
}

/* Clocked in the second half of each stretch. */
static int is_clocked(unsigned event)
{
	switch (event) {
	case EV_CYCLES:
	case EV_CYCLES_16:
	case EV_FRONTEND_STALLS:
	case EV_BACKEND_STALLS:
		return 1;
	}
	return 0;
}

/* Adds the stretch's part `from` and all later parts to the event's tail. */
static void add_tail(struct model_fast *f, unsigned event, unsigned from, double stands)
{
	struct model_fast_tail *t = &f->tails[event][from - 1];
	double n = fast_between(f, from, MODEL_FAST_SHORT, EV_INSTRUCTIONS);
	double seen = fast_between(f, from, MODEL_FAST_SHORT, event), now = seen / n,
	       gap = (double)f->gap, step, drift;

	t->value += now * stands;
	t->seen += seen * (gap / n) * (gap / n);
	t->weight += gap / n;
	drift = (now - rate(f, MODEL_FAST_SHORT - 1, MODEL_FAST_SHORT, event)) * stands;
	t->drift += drift;
	t->drift_squares += drift * drift;
	if (f->parts == MODEL_FAST_LONG) {
		drift = (now - rate(f, MODEL_FAST_LONG - 1, MODEL_FAST_LONG, event)) * stands;
		t->far += drift;
		t->far_squares += drift * drift;
	}
	if (f->windows->count) {
		step = now - t->before;
		step = step * step * (gap * gap + f->gap_before * f->gap_before) / 4;
		t->variance += step;
		t->squares += step * step;
	}
	t->before = now;
}

static void fast_add_event(struct model_fast *f, unsigned event, double stands)
{
	struct model_window_sums *s = &f->windows->events[event];
	double more;

	for (unsigned from = 1; from < MODEL_FAST_SHORT; from++)
		add_tail(f, event, from, stands);
	s->modelled += fast_between(f, 0, f->parts, event);
	if (f->parts != MODEL_FAST_LONG)
		return;
	more = (rate(f, MODEL_FAST_LONG - 2, MODEL_FAST_LONG - 1, event) -
		       rate(f, MODEL_FAST_LONG - 1, MODEL_FAST_LONG, event)) *
	       stands;
	f->last[event] += more;
	f->last_squares[event] += more * more;
}

/* After which division of stretches does the event no longer depend on it? The first at which its
 * rate differs from that of the last half by less than two standard errors of this difference. */
static unsigned choose_tail(const struct model_fast_tail *tails, unsigned event)
{
	if (is_clocked(event))
		return TAILS - 1;
	for (unsigned i = 0; i + 1 < TAILS; i++)
		if (tails[i].drift * tails[i].drift <= 4 * tails[i].drift_squares)
			return i;
	return TAILS - 1;
}

/* A difference is corrected by the part of it that is drift and not noise. */
static void publish_event(struct model_fast *f, unsigned event)
{
	struct model_windows *w = f->windows;
	struct model_window_sums *s = &w->events[event];
	const struct model_fast_tail *t = &f->tails[event][choose_tail(f->tails[event], event)];
	double count = (double)w->count,
	       seen = t->seen + NONE_SEEN * t->weight / count * t->weight / count;
	double scale, far = 0, noise = 0, sure, rest = 0;

	s->value = t->value;
	s->variance = t->variance * count / (count > 1 ? count - 1 : 1);
	s->squares = t->squares;
	if (f->long_stood > 0) {
		scale = w->stood_for / f->long_stood;
		far = t->far * scale;
		noise = t->far_squares * scale * scale;
		rest = f->last[event] * scale;
	}
	/* The part that is not noise. */
	sure = far * far > 2 * noise ? 1 - 2 * noise / (far * far) : 0;
	s->value -= sure * far;
	s->variance += noise;
	s->squares += noise * noise;
	rest = 2 * rest + (1 - sure) * far;
	s->below = rest > 0 ? rest : 0;
	s->above = rest < 0 ? -rest : 0;
	if (s->variance < seen) {
		s->variance = seen;
		s->squares = 0;
	}
}

static void publish(struct model_fast *f)
{
	for (unsigned e = 0; e < EVENT_LIMIT; e++)
		if (!model_fast_exact(e))
			publish_event(f, e);
}

static void end_stretch(struct model_fast *f)
{
	struct model_windows *w = f->windows;
	double modelled = fast_between(f, 0, f->parts, EV_INSTRUCTIONS),
	       stands = (double)f->gap + modelled;

	for (unsigned e = 0; e < EVENT_LIMIT; e++)
		if (!model_fast_exact(e))
			fast_add_event(f, e, stands);
	w->count++;
	w->stood_for += stands;
	w->modelled += modelled;
	f->cost += SWITCHING + CLOCKING * STRETCH / 2;
	f->cost += (uint64_t)(MODELLING * modelled +
			      MISS * fast_between(f, 0, f->parts, EV_L1D_MISSES) +
			      MISPREDICT * fast_between(f, 0, f->parts, EV_MISPREDICTED_BRANCHES));
	if (f->parts == MODEL_FAST_LONG)
		f->long_stood += stands;
	f->gap_before = (double)f->gap;
	publish(f);
}

uint64_t model_fast_part(struct model_fast *f, const uint64_t *counts)
{
	f->part++;
	for (unsigned e = 0; e < EVENT_LIMIT; e++)
		f->start[f->part][e] = counts[e];
	if (f->part < MODEL_FAST_SHORT)
		return STRETCH >> (MODEL_FAST_SHORT - f->part);
	if (f->part < f->parts)
		return STRETCH << (f->part - MODEL_FAST_SHORT);
	end_stretch(f);
	return 0;
}

void model_fast_count(struct model *m, const int64_t *more, uint64_t divides, uint64_t fp_divides)
{
	for (unsigned e = 0; e < EVENT_LIMIT; e++)
		m->counts[e] += (uint64_t)more[e];
	m->counts[EV_DIVIDER_CYCLES] +=
		divides * m->config.divide_latency + fp_divides * m->config.fp_divide_latency;
	model_derive(m, m->counts);
}

void model_fast_resume(struct model *m, int stretch)
{
	m->seen = (uint8_t *)0; /* what was first accessed in between is not known */
	for (uint64_t active = m->active; active; active &= active - 1) {
		struct core *core = &m->cores[__builtin_ctzll(active)];
		struct predictor *p = &core->predictor;

		if (m->sampled && stretch)
			sampled_clock_stretch(m, core, STRETCH / 2);

		p->return_count = 0;
		p->returns_unseen = m->config.return_stack + 1;
	}
}

uint64_t model_fast_instructions(const struct model *m)
{
	return m->counts[EV_INSTRUCTIONS];
}
