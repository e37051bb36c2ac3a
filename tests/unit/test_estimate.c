/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Multiplexed counts against the truth, on synthetic programs: phases of exponential length; in
 * each, the rate of the anchor event and those of 12 events per anchor event are log-normal, and
 * counts are Poisson; 4 groups take turns of 4 ms.  The random numbers are always the same, so the
 * figures are too.
 */
#include "../chance.h"
#include "../tap.h"

#include <stdint.h>
#include <stdlib.h>

#include "sources/estimate.h"

#define GROUPS   4
#define EVENTS   12
#define ROTATION 0.004

static double uniform(void) /* (0, 1) */
{
	return ((double)(chance_next() >> 11) + 0.5) / 9007199254740992.0;
}

static double normal(void)
{
	return sqrt(-2 * log(uniform())) * cos(2 * M_PI * uniform());
}

static double poisson(double mean)
{
	double product = 1, limit = exp(-mean), k = -1;

	if (mean > 100)
		return floor(mean + sqrt(mean) * normal() + 0.5);
	do {
		k++;
		product *= uniform();
	} while (product > limit);
	return k;
}

struct program {
	const char *name;
	double seconds, phase, tick;
	double rate;    /* of the events, per second */
	double scatter; /* sigma of the log-normal */
	bool periodic;  /* phases of equal length, two kinds in turn */
	int runs;
	double median; /* error allowed, [0,1] */
};

struct totals {
	double *errors;
	size_t count, covered, short_runs;
};

struct run {
	double truth[EVENTS], rates[EVENTS], anchor_total, anchor_rate;
	struct spread spreads[EVENTS];
	struct observation now[EVENTS];
};

static void new_phase(struct run *r, const struct program *p, size_t number)
{
	bool high = number & 1;

	r->anchor_rate = p->periodic ? (high ? 1e9 : 3e8) : 1e9 * exp(0.4 * normal());
	for (int k = 0; k < EVENTS; k++)
		r->rates[k] = p->periodic
				      ? p->rate * (high ? 1 : 0.2)
				      : p->rate * r->anchor_rate / 1e9 * exp(p->scatter * normal());
}

static void advance(struct run *r, double d, int group)
{
	r->anchor_total += r->anchor_rate * d;
	for (int k = 0; k < EVENTS; k++) {
		double x = poisson(r->rates[k] * d);

		r->truth[k] += x;
		r->now[k].enabled += d;
		if (k % GROUPS != group)
			continue;
		r->now[k].value += x;
		r->now[k].anchor += r->anchor_rate * d;
		r->now[k].running += d;
	}
}

static void one_run(const struct program *p, struct totals *t)
{
	struct run r = {.anchor_total = 0};
	double at = 0, phase_end = 0, turn_end = ROTATION * uniform(), tick_end = p->tick;
	size_t phases = 0;
	int group = 0;

	while (at < p->seconds) {
		double next;

		if (at >= phase_end) {
			phase_end = at + (p->periodic ? p->phase : -p->phase * log(uniform()));
			new_phase(&r, p, phases++);
		}
		next = fmin(fmin(phase_end, turn_end), fmin(tick_end, p->seconds));
		advance(&r, next - at, group);
		at = next;
		if (at >= turn_end) {
			group = (group + 1) % GROUPS;
			turn_end += ROTATION;
		}
		if (at < tick_end && at < p->seconds)
			continue;
		tick_end += p->tick;
		for (int k = 0; k < EVENTS; k++) {
			estimate_spread_add(&r.spreads[k], &r.now[k], GROUPS * ROTATION);
			r.now[k] = (struct observation){0, 0, 0, 0};
		}
	}
	for (int k = 0; k < EVENTS; k++) {
		struct quantity q = estimate_spread(&r.spreads[k], r.anchor_total);

		t->errors[t->count++] = fabs(q.value - r.truth[k]) / fmax(r.truth[k], 1);
		t->covered += q.low <= r.truth[k] && r.truth[k] <= q.high && q.low >= 0;
		t->short_runs += estimate_spread_is_short(&r.spreads[k]);
	}
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void test_program(const struct program *p)
{
	struct totals t = {calloc((size_t)p->runs * EVENTS, sizeof(double)), 0, 0, 0};
	double median, coverage;

	for (int i = 0; i < p->runs; i++)
		one_run(p, &t);
	qsort(t.errors, t.count, sizeof(double), compare);
	median = t.errors[t.count / 2];
	coverage = (double)t.covered / (double)t.count;
	ok(coverage >= 0.93, "%s: %.1f%% of %zu intervals cover the truth", p->name, 100 * coverage,
		t.count);
	ok(median <= p->median, "%s: median error %.2f%%, 95th percentile %.2f%%", p->name,
		100 * median, 100 * t.errors[t.count * 95 / 100]);
	is_int(t.short_runs, p->seconds < 0.4 ? (int)t.count : 0, "%s: %s", p->name,
		p->seconds < 0.4 ? "said to be short" : "long enough");
	free(t.errors);
}

static const struct program programs[] = {
	{"0.2 s, phases of 20 ms", 0.2, 0.02, 0.004, 1e6, 0.5, false, 360, 0.035},
	{"1 s, phases of 20 ms", 1, 0.02, 0.004, 1e6, 0.5, false, 180, 0.015},
	{"1 s, read every 10 ms", 1, 0.02, 0.010, 1e6, 0.5, false, 180, 0.016},
	{"1 s, read every 2 ms", 1, 0.02, 0.002, 1e6, 0.5, false, 120, 0.015},
	{"1 s, phases of 5 ms", 1, 0.005, 0.004, 1e6, 0.7, false, 120, 0.04},
	{"1 s, wilder phases", 1, 0.02, 0.004, 1e6, 0.7, false, 180, 0.02},
	{"1 s, events of 1000/s", 1, 0.02, 0.004, 1e3, 0.7, false, 180, 0.045},
	{"1 s, events of 30/s", 1, 0.02, 0.004, 30, 0.5, false, 180, 0.30},
	{"10 s, phases of 20 ms", 10, 0.02, 0.004, 1e6, 0.5, false, 36, 0.006},
	{"10 s, phases of 1 s", 10, 1, 0.004, 1e6, 0.5, false, 72, 0.001},
	{"1 s, period of 74 ms", 1, 0.037, 0.004, 1e6, 0, true, 60, 0.02},
	{"1 s, period of 10 ms", 1, 0.005, 0.004, 1e6, 0, true, 60, 0.02},
};

static void test_corners(void)
{
	struct spread s = {.visits = 0};
	struct observation on = {100, 1000, 0.004, 0.004}, off = {0, 0, 0, 0.004},
			   never = {0, 0, 0, 1};
	struct observation nothing = {0, 1000, 0.004, 0.004};
	struct quantity q;

	ok(estimate_spread(&s, 0).label == LABEL_NONE, "nothing seen: no number");
	estimate_spread_add(&s, &never, 0.016);
	ok(estimate_spread(&s, 1e6).label == LABEL_NONE,
		"never on a counter: no number, and no zero");

	s = (struct spread){.visits = 0};
	for (int i = 0; i < 50; i++)
		estimate_spread_add(&s, &on, 0.016);
	q = estimate_spread(&s, 50000);
	ok(q.label == LABEL_MEASURED && q.value == 5000 && q.low == 5000 && q.high == 5000,
		"always on: measured and exact");
	estimate_spread_add(&s, &off, 0.016);
	q = estimate_spread(&s, 51000);
	ok(q.label == LABEL_SCALED && q.value > 5000 && q.high > q.low,
		"on for all but one turn in 51: scaled, with an interval");

	s = (struct spread){.visits = 0};
	for (int i = 0; i < 200; i++)
		estimate_spread_add(&s, i % 4 ? &off : &on, 0.016);
	is_int(s.visits, 50, "visits are told apart");
	q = estimate_spread(&s, 200000);
	is_near(q.value, 20000, 1e-6, "a steady event is scaled right");
	ok(q.low < 20000 && q.low > 18000 && q.high > 20000 && q.high < 22000,
		"but not nearer than Poisson allows: %.0f to %.0f", q.low, q.high);

	s = (struct spread){.visits = 0};
	for (int i = 0; i < 200; i++)
		estimate_spread_add(&s, i % 4 ? &off : &nothing, 0.016);
	q = estimate_spread(&s, 200000);
	ok(q.label == LABEL_SCALED && q.value == 0 && q.low == 0 && q.high > 11 && q.high < 17,
		"none seen in a quarter of the time: 0 to %.1f", q.high);

	s = (struct spread){.visits = 0};
	estimate_spread_add(&s, &on, 0.016);
	estimate_spread_add(&s, &never, 0.016);
	q = estimate_spread(&s, 4000);
	ok(q.value == 400 && q.low == 100 && q.high >= 800, "a single visit: %.0f to %.0f", q.low,
		q.high);
	ok(estimate_spread_is_short(&s), "and said to be too few");
}

int main(void)
{
	test_corners();
	for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++)
		test_program(&programs[i]);
	return done();
}
