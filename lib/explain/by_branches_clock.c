/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Without rates: shares of directions from runs, weighted by the clock's samples and windows.
 */
#include <math.h>
#include <stdlib.h>

#include "analysis/frequency.h"
#include "base/stats.h"
#include "explain/by_branches_private.h"

/* Chosen once for all programs: round numbers near the best profiles on those of
 * tests/accuracy/frequencies. The optimum is flat. */
#define TRUST      0.3  /* weight of the clock's evidence: errors of neighbours are correlated */
#define PHASES     1.0  /* variance of a window's hits, besides chance */
#define STRIDE     3.0  /* bound of each change */
#define MANY       60.0 /* hits of a window beyond which it may have been cut short */
#define CHANCE     0.5  /* of a run that was seen once: rare code is only known if it was seen */
#define SLOWER     1.0  /* cycles relative to those expected, if no rate is known ... */
#define UNHINDERED 0.6  /* ... of which this share takes less */
#define WAITING    1.6  /* the mean of that ratio, if nothing else is known */
#define ENOUGH     4.0  /* samples of a segment to know more */
#define INSN       0.12 /* cycles expected of an instruction, at least */
#define BLOCK      0.1  /* and of a segment */

enum { ROUNDS = 8 };

struct clock { /* of a segment */
	double samples, cycles;
};

double explain_branches_expected(double mi, uint32_t insns)
{
	return hypot(mi, BLOCK + INSN * insns);
}

struct clocks { /* of all segments */
	struct explain_branches *b;
	struct clock *clock;
};

static int add_procedure(void *to, const struct explain_procedure *procedure,
	struct explain_code *code, struct error *e)
{
	const struct clocks *c = to;
	const struct explain_branches *b = c->b;
	struct clock *clock = c->clock;
	const struct flow *f = code->flow;
	struct explain_analysed p;
	double *edges;
	int rc;

	(void)procedure;
	if (!f || !code->sums[b->analysis->metric])
		return 0;
	edges = explain_branches_edges(b, f, code->image);
	if (!edges)
		return error_nomem(e);
	rc = explain_schedule(&p, b->analysis, code, edges, NULL, e);
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
		clock[at].cycles += explain_branches_expected(mi, n);
	}
	explain_analysed_fini(&p);
	return rc;
}

static double flow_of(const struct explain_branches *b, uint32_t at)
{
	return analysis_runs_flow(b->runs, at);
}

/* Cycles relative to those expected, with moderate waits: in the whole, a few places that wait for
 * memory may dominate. The share UNHINDERED of the expected cycles takes less. For places with too
 * few samples for that, the mean. */
static double slower_of(const struct explain_branches *b, const struct clock *clock)
{
	uint32_t n = analysis_runs_count(b->runs), used = 0;
	struct stats_weighed *w = calloc(n + 1, sizeof(*w));
	double cycles = 0, samples = 0, known = 0, found;

	for (uint32_t k = 0; k < n; k++) {
		cycles += flow_of(b, k) * clock[k].cycles;
		samples += clock[k].cycles > 0 ? clock[k].samples : 0;
	}
	found = samples > 0 && cycles > 0 ? samples / cycles / WAITING : SLOWER;
	for (uint32_t k = 0; w && k < n; k++) {
		double own = flow_of(b, k) * clock[k].cycles;

		if (own > 0 && own * samples > ENOUGH * cycles) {
			w[used++] = (struct stats_weighed){clock[k].samples / own, own};
			known += own;
		}
	}
	if (w && 2 * known > cycles) {
		double likely = stats_weighed(w, used, UNHINDERED * known);

		found = likely > 0 ? likely : found;
	}
	free(w);
	return found;
}

static void scale_by_clock(struct explain_branches *b, const struct clock *clock)
{
	analysis_runs_scale(b->runs, slower_of(b, clock) / SLOWER);
}

/* Expected hits of a row. Only code that was seen is ever watched; code seen once was mostly seen
 * by chance. */
static double likely_hits(const struct explain_branches *b, const struct rate *r)
{
	struct analysis_passage x = analysis_runs_at(b->runs, r->image, r->address);

	return x.flow * b->analysis->cycles * (double)r->nanoseconds * 1e-9 / b->seconds *
	       (1 - CHANCE / fmax((double)x.seen, 1));
}

/* Windows include all of a phase or nothing, so that only sums are unbiased, not logarithms: the
 * error of hits is given as a part of those expected, with the variance of these. */
static bool observe_rates(struct explain_branches *b)
{
	bool told = false;

	for (size_t i = 0; i < b->rates.count; i++) {
		const struct rate *r = &b->rates.data[i];
		uint32_t at = analysis_runs_segment(b->runs, r->image, r->address);
		double hits;

		if (at == ANALYSIS_RUNS_NONE || r->windows < EXPLAIN_BRANCHES_OFTEN)
			continue;
		hits = fmax(likely_hits(b, r), 1e-3);
		if ((double)r->hits > MANY * (double)r->windows)
			continue;
		analysis_runs_observe(b->runs, at, fmin(((double)r->hits - hits) / hits, STRIDE),
			1 / (1 / hits + PHASES / (double)r->windows));
		told = true;
	}
	return told;
}

/* Of a segment: the logarithm of its cycles relative to those expected, and the weight of that. */
static struct stats_weighed weigh(
	const struct explain_branches *b, const struct clock *c, double flow)
{
	double like = b->slower * flow * c->cycles;
	struct stats_weighed w = {0};

	if (!(c->cycles > 0))
		return w;
	w.value = fmin(fmax(log((c->samples + 0.3) / (like + 0.3)), -2), 2);
	w.weight = TRUST / (ANALYSIS_SPREAD * ANALYSIS_SPREAD + ANALYSIS_SHADOW / c->cycles +
				   1 / fmax(fmax(c->samples, like), 1e-3));
	return w;
}

/* A common factor belongs to the program, not to its parts. */
static void observe_clock(struct explain_branches *b, const struct clock *clock)
{
	uint32_t n = analysis_runs_count(b->runs);
	double sum = 0, weight = 0, mean;

	b->slower = slower_of(b, clock);
	for (uint32_t i = 0; i < n; i++) {
		struct stats_weighed w = weigh(b, &clock[i], flow_of(b, i));

		sum += w.weight * w.value;
		weight += w.weight;
	}
	mean = weight > 0 ? sum / weight : 0;
	for (uint32_t i = 0; i < n; i++) {
		struct stats_weighed w = weigh(b, &clock[i], flow_of(b, i));

		analysis_runs_observe(b->runs, i, w.value - mean, w.weight);
	}
}

int explain_branches_by_clock(struct explain_branches *b, struct error *e)
{
	uint32_t n = analysis_runs_count(b->runs);
	struct clock *clock = calloc(n + 1, sizeof(*clock));
	double flow = 0, seen = 0;
	bool rated;
	struct clocks clocks = {b, clock};
	int rc = clock ? explain_code_all(b->analysis->d, add_procedure, &clocks, e)
		       : error_nomem(e);

	if (rc == 0) {
		scale_by_clock(b, clock);
		for (int round = 0; round < ROUNDS && rc == 0; round++) {
			rated = observe_rates(b);
			observe_clock(b, clock);
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
