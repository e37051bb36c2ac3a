/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiment/branches.h"
#include "explain/by_branches_private.h"

/* The uncertainty of estimates: chosen on programs of tests/accuracy/confidence so that most of
 * what is called high is, and intervals hold; checked there on others. */
#define SCALE  0.02 /* deviation that all estimates of a program have: of its anchors' time */
#define SPREAD 1.2  /* factor between the scatter of rates and errors */
#define FACTOR 0.35 /* of the logarithm of the factor of all rates, if beyond USUAL */
#define USUAL  2.0
#define LOOSE  0.8  /* deviation of everything not in deviations, if no burst was timed */
#define HIGH   0.07 /* deviation of an estimate whose confidence is high: 95% within 10% ... */
#define MEDIUM 0.12 /* ... and medium: 95% within 25% */

/* Bursts from which on rates are used: without them, the scale of a loop that waits for memory is
 * off by a factor of a hundred. One burst is too often of something else than most of the run. */
#define TIMED_LEAST 2
#define PAIRS_LEAST 20  /* counts in the program's own time, likewise */
#define SLOWER      1.6 /* cycles relative to those expected, of code in no burst */

/* ---- rows ---- */

struct timed { /* bursts of all experiments together */
	double bursts;
	double unit; /* frequency of a rate of 1 per second */
};

/* Of all experiments together. */
static double tally_of(const struct prof_data *d, enum experiment_tally_kind kind)
{
	double sum = 0;

	for (size_t i = 0; i < d->request->count; i++)
		sum += (double)experiment_tally(d->request->inputs[i].experiment, kind);
	return sum;
}

static bool counted_natively(const struct prof_data *d)
{
	return tally_of(d, TALLY_NATIVE_PAIRS) >= PAIRS_LEAST && tally_of(d, TALLY_NATIVE) > 0 &&
	       tally_of(d, TALLY_COPIED) > 0;
}

/* The factor by which all rates are too low, from counts in the program's own time. */
static double slower_in_bursts(const struct prof_data *d)
{
	return counted_natively(d) ? tally_of(d, TALLY_NATIVE) / tally_of(d, TALLY_COPIED) : 1;
}

/* Native CPU time of the program: as ssrun recorded it, including the work done in bursts; or as
 * samples have it if those are of another run. */
static double program_seconds(const struct explain_branches *b)
{
	const struct prof_data *d = b->analysis->d;
	const struct prof_metric *m = &d->metrics.data[b->analysis->metric];
	const struct experiment *x = d->request->inputs[m->input].experiment;
	double all = (double)experiment_tally(x, TALLY_PROGRAM_NS);
	double stops = (double)experiment_tally(x, TALLY_STOP_NS);
	double bursts = (double)experiment_tally(x, TALLY_TIMED_NS) / slower_in_bursts(d);

	return all > stops && m->samples ? (all - stops + bursts) * 1e-9 : b->seconds;
}

double explain_branches_timed(const struct prof_data *d)
{
	double bursts = tally_of(d, TALLY_BURSTS_TIMED);

	return bursts >= TIMED_LEAST ? bursts : 0;
}

static struct timed timed_of(const struct explain_branches *b)
{
	const struct prof_data *d = b->analysis->d;
	struct timed t = {0};

	t.bursts = explain_branches_timed(d);
	if (t.bursts > 0)
		t.unit = slower_in_bursts(d) * program_seconds(b) / b->analysis->cycles;
	return t;
}

/* Frequency and variance by the rates of an experiment; bursts without the run count. */
static void take_rate(struct analysis_run *own, const struct experiment_run *run,
	const struct experiment *x, const struct timed *t)
{
	double n = (double)experiment_tally(x, TALLY_BURSTS_TIMED), mean, square;

	if (!(t->unit > 0) || n < 2)
		return;
	mean = run->rate / n;
	square = fmax(run->squares / n - mean * mean, 0) * n / (n - 1);
	own->rate = run->rate / t->bursts * t->unit;
	own->variance = square * n / (t->bursts * t->bursts) * t->unit * t->unit;
}

static int gather_from(struct explain_branches *b, const struct experiment *x,
	const uint32_t *image_of, const struct timed *t)
{
	for (size_t i = 0; i < experiment_runs(x); i++) {
		const struct experiment_run *run = experiment_run_at(x, i);
		struct analysis_run *own = vec_push(&b->list);

		if (!own)
			return -1;
		*own = (struct analysis_run){.begin = run->key.begin,
			.end = run->key.end,
			.to = run->key.to,
			.image = image_of[run->key.image],
			.to_image = image_of[run->key.to_image],
			.count = run->count};
		take_rate(own, run, x, t);
	}
	for (size_t i = 0; i < experiment_rates(x); i++) {
		const struct experiment_rate *rate = experiment_rate_at(x, i);
		struct rate *own = vec_push(&b->rates);

		if (!own)
			return -1;
		*own = (struct rate){rate->key.address, rate->hits, rate->nanoseconds,
			rate->windows, image_of[rate->key.image]};
	}
	return 0;
}

/* Runs that are only in untimed bursts are as frequent as others with the same count. */
static void fill_gaps(struct explain_branches *b)
{
	double rates = 0, counts = 0;

	for (size_t i = 0; i < b->list.count; i++) {
		const struct analysis_run *run = &b->list.data[i];

		rates += run->rate;
		counts += run->rate > 0 ? (double)run->count : 0;
	}
	b->once = counts > 0 ? rates / counts : 0;
	for (size_t i = 0; i < b->list.count && b->once > 0; i++) {
		struct analysis_run *run = &b->list.data[i];

		if (run->rate > 0)
			continue;
		run->rate = b->once * (double)run->count;
		run->variance = run->rate * run->rate;
	}
}

static int by_branches_gather(struct explain_branches *b)
{
	const struct prof_data *d = b->analysis->d;
	const struct prof_metric *m = &d->metrics.data[b->analysis->metric];
	struct timed t;

	b->seconds = (double)m->samples * m->unit;
	b->seconds *= explain_branches_weight(d, b->analysis->metric);
	b->slower = SLOWER;
	b->scale = LOOSE;
	if (counted_natively(d))
		b->scale =
			hypot(SCALE, FACTOR * fmax(fabs(log(slower_in_bursts(d))) - log(USUAL), 0));
	t = timed_of(b);
	for (size_t i = 0; i < d->request->count; i++)
		if (gather_from(b, d->request->inputs[i].experiment, d->image_of.data[i], &t))
			return -1;
	fill_gaps(b);
	return 0;
}

bool explain_branches_any(const struct prof_data *d)
{
	for (size_t i = 0; i < d->request->count; i++)
		if (experiment_runs(d->request->inputs[i].experiment))
			return true;
	return false;
}

bool explain_branches_rated(const struct prof_data *d)
{
	for (size_t i = 0; i < d->request->count; i++) {
		const struct experiment *x = d->request->inputs[i].experiment;

		for (size_t k = 0; k < experiment_rates(x); k++)
			if (experiment_rate_at(x, k)->windows >= EXPLAIN_BRANCHES_OFTEN)
				return true;
	}
	return false;
}

double explain_branches_weight(const struct prof_data *d, size_t metric)
{
	const struct prof_metric *m = &d->metrics.data[metric];
	const struct experiment *x = d->request->inputs[m->input].experiment;
	double sampled = (double)m->samples * m->unit;
	double left = (double)experiment_tally(x, TALLY_SAMPLES_LEFT_OUT), rate = 0;
	double stops = (double)experiment_tally(x, TALLY_STOP_NS) * 1e-9;

	/* Samples of all clocks were left out alike. */
	for (size_t i = 0; i < d->metrics.count; i++)
		if (d->metrics.data[i].input == m->input &&
			d->metrics.data[i].metric->flags & METRIC_CLOCK)
			rate += 1 / d->metrics.data[i].unit;
	left = rate > 0 ? left / rate : 0;
	return sampled > 0 ? 1 + fmax(left - stops, 0) / sampled : 1;
}

int explain_branches_new(
	struct explain_branches **to, const struct explain_analysis *a, struct error *e)
{
	struct explain_branches *b = calloc(1, sizeof(*b));

	*to = NULL;
	if (!b)
		return error_nomem(e);
	b->analysis = a;
	if (by_branches_gather(b)) {
		explain_branches_free(b);
		return error_nomem(e);
	}
	if (!b->list.count) {
		explain_branches_free(b);
		return 0;
	}
	b->runs = analysis_runs_new(b->list.data, b->list.count, e);
	if (!b->runs || (!analysis_runs_rated(b->runs) && explain_branches_by_clock(b, e))) {
		explain_branches_free(b);
		return -1;
	}
	*to = b;
	return 0;
}

void explain_branches_free(struct explain_branches *b)
{
	if (!b)
		return;
	analysis_runs_free(b->runs);
	vec_fini(&b->list);
	vec_fini(&b->rates);
	free(b);
}

/* ---- answers ---- */

static struct analysis_estimate estimate_of(
	const struct explain_branches *b, const struct analysis_passage *x)
{
	bool rated = analysis_runs_rated(b->runs);
	double deviation =
		rated ? hypot(SPREAD * x->deviation, b->scale) : hypot(x->deviation, LOOSE);
	double factor = exp(2 * deviation);

	return (struct analysis_estimate){.value = x->flow,
		.low = x->flow / factor,
		.high = x->flow * factor,
		.scatter = x->deviation,
		.confidence = deviation < HIGH     ? ANALYSIS_HIGH
			      : deviation < MEDIUM ? ANALYSIS_MEDIUM
						   : ANALYSIS_LOW};
}

/*
 * Code in no burst, though bursts may have passed nearby. Either it runs as fast as other code, in
 * a phase without bursts: nearly so in sqlite3 and jq. Or bursts would have met it, were it not
 * rare, and each execution takes as long as one in bursts stands for, as it waits for memory or the
 * kernel: rather so in cc1. No core is faster than the schedule.
 */
static struct analysis_estimate unseen(
	const struct explain_branches *b, double samples, double cycles)
{
	double fast = samples / (cycles * b->slower);
	double rare = samples / (cycles * b->slower + 1 / b->once);
	double most = (samples + 2 * sqrt(samples)) / cycles;

	return (struct analysis_estimate){
		.value = sqrt(fast * rare), .high = most + 3 * b->once, .confidence = ANALYSIS_LOW};
}

static void fill_block(const struct explain_branches *b, struct explain_analysed *p, uint32_t block)
{
	const struct flow *f = p->code->flow;
	const struct flow_block *own = &f->blocks.data[block];
	struct analysis_passage mean = {0};
	double weight = 0, samples = 0, mi = 0;
	uint32_t last = ANALYSIS_RUNS_NONE;

	for (uint32_t i = own->first; i < own->first + own->count; i++) {
		uint64_t address = f->insns.data[i].address;
		uint32_t at = analysis_runs_segment(b->runs, p->code->image, address);
		struct analysis_passage x;

		samples += p->samples[i];
		mi += p->mi[i];
		if (at == last || at == ANALYSIS_RUNS_NONE)
			continue;
		last = at;
		x = analysis_runs_at(b->runs, p->code->image, address);
		mean.flow += (double)x.seen * x.flow;
		mean.deviation += (double)x.seen * x.deviation;
		weight += (double)x.seen;
	}
	mean.flow /= fmax(weight, 1);
	mean.deviation /= fmax(weight, 1);
	p->frequencies.block[block] =
		weight > 0 ? estimate_of(b, &mean)
			   : unseen(b, samples, explain_branches_expected(mi, own->count));
}

void explain_branches_fill(const struct explain_branches *b, struct explain_analysed *p)
{
	const struct flow *f = p->code->flow;

	for (uint32_t i = 0; i < f->blocks.count; i++)
		fill_block(b, p, i);
	for (uint32_t i = 0; i < f->edges.count; i++) {
		const struct analysis_estimate *from = &p->frequencies.block[f->edges.data[i].from];
		struct analysis_passage x = explain_branches_edge(b, f, p->code->image, i);

		p->frequencies.edge[i] =
			x.seen ? estimate_of(b, &x)
			       : (struct analysis_estimate){.high = fmin(from->high, 3 * b->once),
					 .confidence = ANALYSIS_LOW};
	}
}
