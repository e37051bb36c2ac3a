/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/prof_branches.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiment/branches.h"

/* Chosen once for all programs, round numbers near where profiles are best on those of
 * tests/accuracy/frequencies, flat around them. */
#define SPREAD     0.5  /* standard deviation of the logarithm of cycles against those expected */
#define SHADOW     4.0  /* variance of displaced samples, cycles for each cycle */
#define TRUST      0.3  /* of what the clock says: errors of neighbours are alike */
#define PHASES     1.0  /* variance of what a window meets, beside chance */
#define STRIDE     3.0  /* nothing is moved further at once */
#define MANY       60.0 /* hits of a window beyond which it may have been given up */
#define OFTEN      20   /* windows of an address, at least: fewer met all of a phase, or nothing */
#define CHANCE     0.5  /* of a run that was seen once: what is rare is known only if it was seen */
#define MODEL      0.8  /* deviation of all that is not in deviations: mostly the scale */
#define HIGH       0.05 /* deviation of an estimate whose confidence is high: 95% within 10% ... */
#define MEDIUM     0.1  /* ... and medium */
#define SLOWER     1.0  /* cycles against those expected, where no rate tells ... */
#define UNHINDERED 0.6  /* ... of which so many take less */
#define WAITING    1.6  /* the mean against that, where it is all that is known */
#define ENOUGH     4.0  /* samples of a segment to know more */
#define INSN       0.12 /* cycles expected of an instruction, at least */
#define BLOCK      0.1  /* and of a segment */

enum { ROUNDS = 8 };

struct rate {
	uint64_t address, hits, nanoseconds, windows;
	uint32_t image;
};

struct prof_branches {
	const struct prof_analysis *analysis;
	struct analysis_runs *runs;
	VEC(struct analysis_run) list;
	VEC(struct rate) rates;
	double seconds; /* samples of all, in time */
	double slower;  /* cycles of a segment against those expected, on average */
	double once;    /* frequency of what is seen once */
};

static int gather_from(
	struct prof_branches *b, const struct experiment *x, const uint32_t *image_of)
{
	for (size_t i = 0; i < experiment_runs(x); i++) {
		const struct experiment_run *run = experiment_run_at(x, i);
		struct analysis_run *own = vec_push(&b->list);

		if (!own)
			return -1;
		*own = (struct analysis_run){run->key.begin, run->key.end, run->key.to,
			image_of[run->key.image], image_of[run->key.to_image], run->count};
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

static int gather(struct prof_branches *b)
{
	const struct prof_data *d = b->analysis->d;

	for (size_t i = 0; i < d->request->count; i++)
		if (gather_from(b, d->request->inputs[i].experiment, d->image_of.data[i]))
			return -1;
	return 0;
}

bool prof_branches_any(const struct prof_data *d)
{
	for (size_t i = 0; i < d->request->count; i++)
		if (experiment_runs(d->request->inputs[i].experiment))
			return true;
	return false;
}

bool prof_branches_rated(const struct prof_data *d)
{
	for (size_t i = 0; i < d->request->count; i++) {
		const struct experiment *x = d->request->inputs[i].experiment;

		for (size_t k = 0; k < experiment_rates(x); k++)
			if (experiment_rate_at(x, k)->windows >= OFTEN)
				return true;
	}
	return false;
}

double prof_branches_weight(const struct prof_data *d, size_t metric)
{
	const struct prof_metric *m = &d->metrics.data[metric];
	const struct experiment *x = d->request->inputs[m->input].experiment;
	double sampled = (double)m->samples * m->unit;
	double left = (double)experiment_tally(x, TALLY_SAMPLES_LEFT_OUT) * m->unit;
	double stops = (double)experiment_tally(x, TALLY_STOP_NS) * 1e-9;

	return sampled > 0 ? 1 + fmax(left - stops, 0) / sampled : 1;
}

double *prof_branches_edges(const struct prof_branches *b, const struct flow *f, uint32_t image)
{
	double *edges = calloc(f->edges.count + 1, sizeof(*edges));
	uint64_t seen;

	for (uint32_t i = 0; edges && i < f->edges.count; i++) {
		const struct flow_edge *x = &f->edges.data[i];

		edges[i] = analysis_runs_edge(b->runs, image,
			flow_last(f, &f->blocks.data[x->from])->address,
			f->insns.data[f->blocks.data[x->to].first].address, x->kind == FLOW_FALL,
			&seen);
	}
	return edges;
}

/* ---- the clock's evidence ---- */

struct clock { /* of a segment */
	double samples, cycles;
};

static double expected(double mi, uint32_t insns)
{
	return hypot(mi, BLOCK + INSN * insns);
}

struct clocks { /* of all segments */
	struct prof_branches *b;
	struct clock *clock;
};

static int add_procedure(
	void *to, const struct prof_procedure *procedure, struct prof_code *code, struct error *e)
{
	const struct clocks *c = to;
	const struct prof_branches *b = c->b;
	struct clock *clock = c->clock;
	const struct flow *f = code->flow;
	struct prof_analysed p;
	double *edges;
	int rc;

	(void)procedure;
	if (!f || !code->sums[b->analysis->metric])
		return 0;
	edges = prof_branches_edges(b, f, code->image);
	if (!edges)
		return error_nomem(e);
	rc = prof_schedule(&p, b->analysis, code, edges, e);
	free(edges);
	for (uint32_t i = 0; i < f->insns.count && rc == 0;) {
		uint32_t at = analysis_runs_segment(b->runs, code->image, f->insns.data[i].address);
		uint32_t n = 0;
		double mi = 0;

		if (at == ANALYSIS_RUNS_NONE) {
			i++;
			continue;
		}
		for (; i < f->insns.count &&
			analysis_runs_segment(b->runs, code->image, f->insns.data[i].address) == at;
			i++, n++) {
			clock[at].samples += p.samples[i];
			mi += p.mi[i];
		}
		clock[at].cycles += expected(mi, n);
	}
	prof_analysed_fini(&p);
	return rc;
}

static double flow_of(const struct prof_branches *b, uint32_t at)
{
	return analysis_runs_flow(b->runs, at);
}

struct weighed {
	double value, weight;
};

static int compare_weighed(const void *a, const void *b)
{
	const struct weighed *x = a, *y = b;

	return (x->value > y->value) - (x->value < y->value);
}

/* Cycles against those expected, where neither little nor much is waited: of the whole, a few
 * places that wait for memory may be most.  UNHINDERED of what is expected takes less.  Of places
 * that have too few samples for that, the mean. */
static double slower_of(const struct prof_branches *b, const struct clock *clock)
{
	uint32_t n = analysis_runs_count(b->runs), used = 0, i = 0;
	struct weighed *w = calloc(n + 1, sizeof(*w));
	double cycles = 0, samples = 0, known = 0, sum = 0, found;

	for (uint32_t k = 0; k < n; k++) {
		cycles += flow_of(b, k) * clock[k].cycles;
		samples += clock[k].cycles > 0 ? clock[k].samples : 0;
	}
	found = samples > 0 && cycles > 0 ? samples / cycles / WAITING : SLOWER;
	for (uint32_t k = 0; w && k < n; k++) {
		double own = flow_of(b, k) * clock[k].cycles;

		if (own > 0 && own * samples > ENOUGH * cycles) {
			w[used++] = (struct weighed){clock[k].samples / own, own};
			known += own;
		}
	}
	if (w && 2 * known > cycles) {
		qsort(w, used, sizeof(*w), compare_weighed);
		while (i + 1 < used && sum + w[i].weight < UNHINDERED * known)
			sum += w[i++].weight;
		found = w[i].value > 0 ? w[i].value : found;
	}
	free(w);
	return found;
}

static void scale_by_clock(struct prof_branches *b, const struct clock *clock)
{
	analysis_runs_scale(b->runs, slower_of(b, clock) / SLOWER);
}

/* Expected hits of a row. */
static double hits_of(const struct prof_branches *b, const struct rate *r)
{
	return analysis_runs_at(b->runs, r->image, r->address) * b->analysis->cycles *
	       (double)r->nanoseconds * 1e-9 / b->seconds;
}

static uint64_t seen_at(const struct prof_branches *b, const struct rate *r)
{
	return analysis_runs_seen(b->runs, r->image, r->address);
}

/* Only what was seen is ever watched: what was seen once was mostly seen by chance. */
static double likely_hits(const struct prof_branches *b, const struct rate *r)
{
	return hits_of(b, r) * (1 - CHANCE / fmax((double)seen_at(b, r), 1));
}

/* Windows meet all of a phase or nothing, so that only sums are unbiased, not logarithms: how far
 * hits are off is told as a part of those expected, with the variance of these. */
static bool tell_rates(struct prof_branches *b)
{
	bool told = false;

	for (size_t i = 0; i < b->rates.count; i++) {
		const struct rate *r = &b->rates.data[i];
		uint32_t at = analysis_runs_segment(b->runs, r->image, r->address);
		double hits;

		if (at == ANALYSIS_RUNS_NONE || r->windows < OFTEN)
			continue;
		hits = fmax(likely_hits(b, r), 1e-3);
		if ((double)r->hits > MANY * (double)r->windows)
			continue;
		analysis_runs_tell(b->runs, at, fmin(((double)r->hits - hits) / hits, STRIDE),
			1 / (1 / hits + PHASES / (double)r->windows));
		told = true;
	}
	return told;
}

/* Of a segment: the logarithm of its cycles against those expected, and what that weighs. */
static struct weighed weigh(const struct prof_branches *b, const struct clock *c, double flow)
{
	double like = b->slower * flow * c->cycles;
	struct weighed w = {0};

	if (!(c->cycles > 0))
		return w;
	w.value = fmin(fmax(log((c->samples + 0.3) / (like + 0.3)), -2), 2);
	w.weight = TRUST /
		   (SPREAD * SPREAD + SHADOW / c->cycles + 1 / fmax(fmax(c->samples, like), 1e-3));
	return w;
}

/* What is alike everywhere belongs to the program, not to its parts. */
static void tell_clock(struct prof_branches *b, const struct clock *clock)
{
	uint32_t n = analysis_runs_count(b->runs);
	double sum = 0, weight = 0, mean;

	b->slower = slower_of(b, clock);
	for (uint32_t i = 0; i < n; i++) {
		struct weighed w = weigh(b, &clock[i], flow_of(b, i));

		sum += w.weight * w.value;
		weight += w.weight;
	}
	mean = weight > 0 ? sum / weight : 0;
	for (uint32_t i = 0; i < n; i++) {
		struct weighed w = weigh(b, &clock[i], flow_of(b, i));

		analysis_runs_tell(b->runs, i, w.value - mean, w.weight);
	}
}

static int estimate(struct prof_branches *b, struct error *e)
{
	uint32_t n = analysis_runs_count(b->runs);
	struct clock *clock = calloc(n + 1, sizeof(*clock));
	const struct prof_metric *m = &b->analysis->d->metrics.data[b->analysis->metric];
	double flow = 0, seen = 0;
	bool rated;
	struct clocks clocks = {b, clock};
	int rc = clock ? prof_code_all(b->analysis->d, add_procedure, &clocks, e) : error_nomem(e);

	b->seconds = (double)m->samples * m->unit;
	b->seconds *= prof_branches_weight(b->analysis->d, b->analysis->metric);
	if (rc == 0) {
		scale_by_clock(b, clock);
		for (int round = 0; round < ROUNDS && rc == 0; round++) {
			rated = tell_rates(b);
			tell_clock(b, clock);
			rc = analysis_runs_settle(b->runs, round == ROUNDS - 1);
			if (!rated)
				scale_by_clock(b, clock);
		}
		if (rc)
			error_nomem(e);
	}
	for (uint32_t i = 0; i < n; i++) {
		flow += flow_of(b, i);
		seen += (double)analysis_runs_taken(b->runs, i);
	}
	b->once = flow / fmax(seen, 1);
	free(clock);
	return rc;
}

int prof_branches_new(struct prof_branches **to, const struct prof_analysis *a, struct error *e)
{
	struct prof_branches *b = calloc(1, sizeof(*b));

	*to = NULL;
	if (!b)
		return error_nomem(e);
	b->analysis = a;
	if (gather(b)) {
		prof_branches_free(b);
		return error_nomem(e);
	}
	if (!b->list.count) {
		prof_branches_free(b);
		return 0;
	}
	b->runs = analysis_runs_new(b->list.data, b->list.count, e);
	if (!b->runs || estimate(b, e)) {
		prof_branches_free(b);
		return -1;
	}
	*to = b;
	return 0;
}

void prof_branches_free(struct prof_branches *b)
{
	if (!b)
		return;
	analysis_runs_free(b->runs);
	vec_fini(&b->list);
	vec_fini(&b->rates);
	free(b);
}

/* ---- answers ---- */

static struct analysis_estimate estimate_of(double value, double known)
{
	double deviation = hypot(known, MODEL), factor = exp(2 * deviation);

	return (struct analysis_estimate){.value = value,
		.low = value / factor,
		.high = value * factor,
		.confidence = deviation < HIGH     ? ANALYSIS_HIGH
			      : deviation < MEDIUM ? ANALYSIS_MEDIUM
						   : ANALYSIS_LOW};
}

/* What no burst met, though many may have passed nearby. */
static struct analysis_estimate unseen(const struct prof_branches *b, double samples, double cycles)
{
	double value = samples / (cycles * b->slower + 1 / b->once);

	return (struct analysis_estimate){
		.value = value, .high = value + 3 * b->once, .confidence = ANALYSIS_LOW};
}

static void tell_block(const struct prof_branches *b, struct prof_analysed *p, uint32_t block)
{
	const struct flow *f = p->code->flow;
	const struct flow_block *own = &f->blocks.data[block];
	double sum = 0, weight = 0, deviation = 0, samples = 0, mi = 0;
	uint32_t last = ANALYSIS_RUNS_NONE;

	for (uint32_t i = own->first; i < own->first + own->count; i++) {
		uint64_t address = f->insns.data[i].address;
		uint32_t at = analysis_runs_segment(b->runs, p->code->image, address);
		double seen;

		samples += p->samples[i];
		mi += p->mi[i];
		if (at == last || at == ANALYSIS_RUNS_NONE)
			continue;
		last = at;
		seen = (double)analysis_runs_seen(b->runs, p->code->image, address);
		sum += seen * analysis_runs_at(b->runs, p->code->image, address);
		deviation += seen * analysis_runs_deviation(b->runs, at);
		weight += seen;
	}
	p->frequencies.block[block] = weight > 0 ? estimate_of(sum / weight, deviation / weight)
						 : unseen(b, samples, expected(mi, own->count));
}

void prof_branches_tell(const struct prof_branches *b, struct prof_analysed *p)
{
	const struct flow *f = p->code->flow;

	for (uint32_t i = 0; i < f->blocks.count; i++)
		tell_block(b, p, i);
	for (uint32_t i = 0; i < f->edges.count; i++) {
		const struct flow_edge *x = &f->edges.data[i];
		const struct analysis_estimate *from = &p->frequencies.block[x->from];
		uint64_t seen;
		double flow = analysis_runs_edge(b->runs, p->code->image,
			flow_last(f, &f->blocks.data[x->from])->address,
			f->insns.data[f->blocks.data[x->to].first].address, x->kind == FLOW_FALL,
			&seen);

		p->frequencies.edge[i] =
			seen ? estimate_of(flow, sqrt(1 / (double)seen))
			     : (struct analysis_estimate){.high = fmin(from->high, 3 * b->once),
				       .confidence = ANALYSIS_LOW};
	}
}
