/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "explain/procedure.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "events/numbers.h"
#include "explain/by_branches.h"
#include "explain/program.h"
#include "machine/machine.h"
#include "profile/modelled.h"

/* Cycles per sample; 0: it is of something else, or the clock is unknown. */
static double cycles_of(const struct prof_data *d, size_t i)
{
	const struct prof_metric *m = &d->metrics.data[i];

	if (m->metric->flags & METRIC_EXACT)
		return 0;
	if (m->metric->flags & METRIC_CLOCK)
		return m->unit * profile_clock_hz(d, i);
	return m->metric->event == EV_CYCLES || m->metric->event == EV_CYCLES_16 ? m->unit : 0;
}

/* That of most samples. */
static int procedure_find_metric(struct explain_analysis *a, struct error *e)
{
	const struct prof_metric *list = a->d->metrics.data;

	for (size_t i = 0; i < a->d->metrics.count; i++) {
		double cycles = cycles_of(a->d, i);

		if (!(cycles > 0) || (a->cycles > 0 && list[i].samples <= list[a->metric].samples))
			continue;
		a->metric = i;
		a->cycles = cycles;
	}
	if (a->cycles > 0) {
		a->cycles *= explain_branches_weight(a->d, a->metric);
		return 0;
	}
	error_set(e, ERR_UNSUPPORTED,
		"executions and waits need samples of time or cycles, and the clock frequency");
	return error_hint(e, "ssrun -fpcsamp on this host records both; for other hosts the clock "
			     "frequency is not known");
}

static int find_core(struct explain_analysis *a, struct error *e)
{
	const char *name = a->d->request->core;
	struct machine machine;

	if (!name) {
		if (machine_find("host", &machine, e))
			return -1;
		name = machine.core;
	}
	if (core_find_x86(&a->core, name, e))
		return -1;
	a->paths = schedule_paths_new(&a->core, e);
	if (a->paths)
		return 0;
	core_fini(&a->core);
	return -1;
}

/* Executions are those of the metric that counts instructions exactly. */
static void find_counts(struct explain_analysis *a)
{
	for (size_t i = 0; i < a->d->metrics.count && !a->exact; i++) {
		const struct prof_metric *m = &a->d->metrics.data[i];

		a->exact = profile_counts_instructions(m) && m->metric->flags & METRIC_EXACT &&
			   !profile_counts_foreign(a->d, m->input);
		a->counted = i;
	}
}

/* Counts of a model beside measured samples are of two runs, which need not be alike. */
static void procedure_find_runs(struct explain_analysis *a)
{
	const struct prof_metric *m = a->d->metrics.data;

	a->modelled = a->exact && profile_second_run(a->d, a->counted) &&
		      m[a->metric].metric->label == LABEL_MEASURED;
	a->compared = a->modelled && !a->d->request->classic && explain_branches_any(a->d);
}

int explain_analysis_init(struct explain_analysis *a, const struct prof_data *d, struct error *e)
{
	memset(a, 0, sizeof(*a));
	a->d = d;
	find_counts(a);
	if (procedure_find_metric(a, e) || find_core(a, e))
		return -1;
	procedure_find_runs(a);
	return 0;
}

void explain_analysis_fini(struct explain_analysis *a)
{
	if (!a->paths)
		return;
	explain_branches_free(a->branches);
	explain_program_free(a->program);
	schedule_paths_free(a->paths);
	core_fini(&a->core);
	a->paths = NULL;
}

/* One procedure by itself. */
static int procedure_estimate(struct explain_analysed *p, struct error *e)
{
	struct analysis_input input = {.flow = p->code->flow,
		.samples = p->samples,
		.mi = p->mi,
		.unsure = p->unsure,
		.method = p->analysis->d->request->classic ? ANALYSIS_CLASSIC : ANALYSIS_FLOW};
	struct analysis_classes *classes = analysis_classes_new(p->code->flow, e);
	int rc;

	if (!classes)
		return -1;
	input.classes = classes;
	rc = analysis_frequencies_make(&p->frequencies, &input, e);
	analysis_classes_free(classes);
	return rc;
}

/* By the whole program: from branch records, or else from its samples. */
static int look_up(struct explain_analysed *p, const struct analysis_fit *fit, struct error *e)
{
	const struct flow *f = p->code->flow;
	const struct explain_branches *branches = p->analysis->branches;
	double *edges = branches ? explain_branches_edges(branches, f, p->code->image)
				 : analysis_fit_edges(fit);
	int rc = edges ? explain_schedule(p, p->analysis, p->code, edges, NULL, e) : error_nomem(e);

	free(edges);
	if (rc)
		return -1;
	p->frequencies.block = calloc(f->blocks.count + 1, sizeof(*p->frequencies.block));
	p->frequencies.edge = calloc(f->edges.count + 1, sizeof(*p->frequencies.edge));
	if (!p->frequencies.block || !p->frequencies.edge)
		return error_nomem(e);
	if (branches)
		explain_branches_fill(branches, p);
	else
		analysis_fit_fill(fit, &p->frequencies);
	return 0;
}

/* ---- counts of another run ---- */

/* Estimates are within their intervals, and a little beyond: intervals are of blocks, and their
 * errors are not independent. */
#define BEYOND 1.1

static double procedure_counted(const struct explain_analysed *p, uint32_t insn)
{
	const struct explain_analysis *a = p->analysis;

	return (double)p->code->counts[insn * a->d->metrics.count + a->counted];
}

/* Executions of instructions, of all blocks or of those with narrow estimates. */
struct compared {
	double counted, value, low, high, samples;
};

static struct compared add_up(const struct explain_analysed *p, bool seen)
{
	const struct flow *f = p->code->flow;
	double unit = p->analysis->cycles;
	struct compared c = {0};

	for (uint32_t i = 0; i < f->blocks.count; i++) {
		const struct flow_block *b = &f->blocks.data[i];
		const struct analysis_estimate *x = &p->frequencies.block[i];

		if (seen && explain_too_wide(x->value, x->low, x->high))
			continue;
		c.counted += b->count * procedure_counted(p, b->first);
		c.value += b->count * x->value * unit;
		c.low += b->count * x->low * unit;
		c.high += b->count * x->high * unit;
		for (uint32_t k = b->first; k < b->first + b->count; k++)
			c.samples += p->samples[k];
	}
	return c;
}

bool explain_too_wide(double value, double low, double high)
{
	return !(low > 0) || value > EXPLAIN_TOO_WIDE * low || high > EXPLAIN_TOO_WIDE * value;
}

/* Whether executions of the other run can be those of this one, by the estimates of this one. Where
 * no burst was, or estimates are too wide to be shown, nothing contradicts them, unless there are
 * none. */
static bool procedure_fits(const struct explain_analysed *p)
{
	struct compared all = add_up(p, false), seen = add_up(p, true);

	if (!(all.counted > 0))
		return !(all.value > 0);
	if (!(seen.value > 0) || seen.samples < all.samples / 2)
		return true;
	return seen.counted * BEYOND >= seen.low && seen.counted <= seen.high * BEYOND;
}

double explain_executed_each(const struct explain_analysed *p, uint32_t i)
{
	double counted;

	if (!p->analysis->compared || p->exact)
		return 1;
	counted =
		procedure_counted(p, p->code->flow->blocks.data[p->code->flow->block_of[i]].first);
	return counted > 0 ? explain_executed(p, i) / counted : 0;
}

/* ---- a procedure ---- */

int explain_analysis_ready(struct explain_analysis *a, struct error *e)
{
	if (a->asked || a->d->request->classic || (a->exact && !a->compared))
		return 0;
	if (explain_branches_new(&a->branches, a, e))
		return -1;
	if (!a->core.in_order && !a->branches) {
		a->program = explain_program_new(a, e);
		if (!a->program)
			return -1;
	}
	a->asked = true;
	return 0;
}

/* Executions were not counted, or in another run. */
static int analyse_estimated(struct explain_analysed *p, struct explain_analysis *a,
	const struct explain_moved *moved, struct error *e)
{
	const struct analysis_fit *fit;

	if (explain_analysis_ready(a, e))
		return -1;
	fit = a->program ? explain_program_find(a->program, p->code->image, p->code->begin) : NULL;
	if (fit || a->branches)
		return look_up(p, fit, e);
	if (explain_schedule(p, a, p->code, NULL, moved, e))
		return -1;
	return procedure_estimate(p, e);
}

int explain_analyse(struct explain_analysed *p, struct explain_analysis *a,
	const struct explain_code *code, const struct explain_moved *moved, struct error *e)
{
	memset(p, 0, sizeof(*p));
	p->analysis = a;
	p->code = code;
	if (!a->exact || a->compared) {
		if (analyse_estimated(p, a, moved, e))
			return -1;
		if (!a->exact || !procedure_fits(p))
			return 0;
		explain_analysed_fini(p);
	}
	if (explain_schedule(p, a, code, NULL, moved, e))
		return -1;
	p->exact = true;
	return 0;
}

struct quantity explain_executions_of(const struct explain_analysed *p, uint32_t i)
{
	const struct explain_analysis *a = p->analysis;
	const struct analysis_estimate *x;
	double unit = a->cycles;

	if (p->exact)
		return quantity_exact((double)p->code->counts[i * a->d->metrics.count + a->counted],
			a->d->metrics.data[a->counted].metric->label);
	x = &p->frequencies.block[p->code->flow->block_of[i]];
	if (x->confidence == ANALYSIS_UNKNOWN)
		return (struct quantity){.label = LABEL_NONE};
	return (struct quantity){x->value * unit, x->low * unit, x->high * unit, LABEL_ESTIMATED};
}

double explain_executed(const struct explain_analysed *p, uint32_t i)
{
	struct quantity q = explain_executions_of(p, i);

	return q.label == LABEL_NONE ? 0 : q.value;
}

struct quantity explain_cycles_each(
	const struct explain_analysis *a, double samples, struct quantity times)
{
	struct quantity s = profile_sampled((uint64_t)llround(samples), 1, LABEL_ESTIMATED), q;

	if (times.label == LABEL_NONE || !(times.value > 0))
		return (struct quantity){.label = LABEL_NONE};
	q.value = samples * a->cycles / times.value;
	q.low = fmin(s.low * a->cycles / times.high, q.value);
	q.high = times.low > 0 ? fmax(s.high * a->cycles / times.low, q.value) : INFINITY;
	q.label = LABEL_ESTIMATED;
	return q;
}

struct quantity explain_cpi_of(const struct explain_analysed *p, uint32_t i)
{
	return explain_cycles_each(p->analysis, p->samples[i], explain_executions_of(p, i));
}

struct quantity explain_loop_cpi(const struct explain_analysed *p, uint32_t loop)
{
	const struct flow *f = p->code->flow;
	const struct flow_loop *l = loop == FLOW_NONE ? NULL : &f->loops.data[loop];
	uint32_t first = l ? l->first : 0, end = l ? l->last + 1 : (uint32_t)f->blocks.count;
	struct quantity times = {.label = LABEL_NONE};
	double samples = 0;

	for (uint32_t k = first; k < end; k++) {
		const struct flow_block *b = &f->blocks.data[k];
		struct quantity own = explain_executions_of(p, b->first);

		if (!flow_in_loop(f, k, loop))
			continue;
		for (uint32_t i = b->first; i < b->first + b->count; i++)
			samples += p->samples[i];
		if (own.label == LABEL_NONE)
			continue;
		times.label = own.label;
		times.value += own.value * b->count;
		times.low += own.low * b->count;
		times.high += own.high * b->count;
	}
	return explain_cycles_each(p->analysis, samples, times);
}

int explain_moves_make(struct explain_moves *m, const struct prof_data *d,
	const struct explain_edges *edges, const struct explain_code *code, const uint64_t *times)
{
	struct explain_skid s = {.flow = code->flow, .entered = NAN};
	size_t metrics = d->metrics.count;

	m->moved = calloc(metrics + 1, sizeof(*m->moved));
	if (edges->any)
		s.edges = m->edges = explain_edges_of(
			edges, code->flow, code->image, times, metrics, &s.entered);
	if (!m->moved || (edges->any && !m->edges))
		return -1;
	for (size_t k = 0; k < metrics; k++) {
		if (!(d->metrics.data[k].metric->flags & METRIC_SKID))
			continue;
		m->moved[k] = calloc(code->flow->insns.count + 1, sizeof(**m->moved));
		if (!m->moved[k] || explain_skid_move(&s, code->counts + k, metrics, m->moved[k]))
			return -1;
	}
	return 0;
}

void explain_moves_fini(struct explain_moves *m, const struct prof_data *d)
{
	for (size_t k = 0; m->moved && k < d->metrics.count; k++)
		free(m->moved[k]);
	free(m->moved);
	free(m->edges);
}
