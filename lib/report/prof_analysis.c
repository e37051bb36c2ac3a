/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/prof_analysis.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "events/numbers.h"
#include "machine/machine.h"
#include "report/prof_columns.h"

/* Cycles that a sample stands for; 0: it is of something else, or the clock is not known. */
static double cycles_of(const struct prof_data *d, size_t i)
{
	const struct prof_metric *m = &d->metrics.data[i];

	if (m->metric->flags & METRIC_EXACT)
		return 0;
	if (m->metric->flags & METRIC_CLOCK)
		return m->unit * prof_clock_hz(d, i);
	return m->metric->event == EV_CYCLES || m->metric->event == EV_CYCLES_16 ? m->unit : 0;
}

static int find_metric(struct prof_analysis *a, struct error *e)
{
	for (size_t i = 0; i < a->d->metrics.count; i++) {
		a->cycles = cycles_of(a->d, i);
		if (!(a->cycles > 0))
			continue;
		a->metric = i;
		return 0;
	}
	error_set(e, ERR_UNSUPPORTED, "-calc needs samples of time or cycles, and the clock");
	return error_hint(e, "ssrun -fpcsamp on this host records time; of another host's runs the "
			     "clock is not known");
}

static int find_core(struct prof_analysis *a, struct error *e)
{
	const char *name = a->d->request->core;
	struct machine machine;

	if (!name) {
		if (machine_find("host", &machine, e))
			return -1;
		name = machine.core;
	}
	if (strcmp(name, "none") == 0) {
		error_set(e, ERR_UNSUPPORTED, "no core description fits this host");
		return error_hint(e, "-core takes one of prof block -cores");
	}
	if (core_find(&a->core, name, e))
		return -1;
	if (!a->core.x86) {
		error_set(e, ERR_UNSUPPORTED, "core %s does not execute x86-64", name);
		core_fini(&a->core);
		return error_hint(e, "prof block -cores lists the others");
	}
	a->work = schedule_work_new(e);
	if (a->work)
		return 0;
	core_fini(&a->core);
	return -1;
}

/* Executions are those of the metric that counts instructions exactly. */
static void find_counts(struct prof_analysis *a)
{
	for (size_t i = 0; i < a->d->metrics.count && !a->exact; i++) {
		const struct prof_metric *m = &a->d->metrics.data[i];

		a->exact = prof_counts_instructions(m) && m->metric->flags & METRIC_EXACT;
		a->counted = i;
	}
}

int prof_analysis_init(struct prof_analysis *a, const struct prof_data *d, struct error *e)
{
	memset(a, 0, sizeof(*a));
	a->d = d;
	find_counts(a);
	return find_metric(a, e) || find_core(a, e) ? -1 : 0;
}

void prof_analysis_fini(struct prof_analysis *a)
{
	if (!a->work)
		return;
	schedule_work_free(a->work);
	core_fini(&a->core);
	a->work = NULL;
}

static bool repeats(const struct flow *f, uint32_t block)
{
	const struct flow_block *b = &f->blocks.data[block];

	for (uint32_t k = 0; k < b->outs; k++)
		if (f->edges.data[b->first_out + k].to == block)
			return true;
	return false;
}

/* Bytes that are no code have no schedule: no issue points. */
static void schedule_all(struct prof_analysed *p)
{
	const struct flow *f = p->code->flow;

	for (uint32_t i = 0; i < f->blocks.count; i++) {
		const struct flow_block *b = &f->blocks.data[i];
		const struct schedule_options options = {.loop = repeats(f, i)};
		uint32_t n = b->count < SCHEDULE_BLOCK_MAX ? b->count : SCHEDULE_BLOCK_MAX;
		struct schedule total;

		if (schedule_block(p->analysis->work, &p->analysis->core, f->insns.data + b->first,
			    n, &options, &total, p->rows + b->first, NULL)) {
			memset(p->rows + b->first, 0, n * sizeof(*p->rows));
			continue;
		}
		for (uint32_t k = b->first; k < b->first + n; k++)
			p->mi[k] = p->rows[k].mi;
	}
}

static int take_samples(struct prof_analysed *p, const struct prof_moved *moved)
{
	size_t n = p->code->flow->insns.count, metrics = p->analysis->d->metrics.count;

	p->mi = calloc(n + 1, sizeof(*p->mi));
	p->samples = calloc(n + 1, sizeof(*p->samples));
	p->rows = calloc(n + 1, sizeof(*p->rows));
	p->unsure = calloc(n + 1, sizeof(*p->unsure));
	if (!p->mi || !p->samples || !p->rows || !p->unsure)
		return -1;
	for (size_t i = 0; i < n; i++) {
		p->samples[i] = moved ? moved[i].value
				      : (double)p->code->counts[i * metrics + p->analysis->metric];
		p->unsure[i] = moved && moved[i].estimated;
	}
	return 0;
}

int prof_analyse(struct prof_analysed *p, struct prof_analysis *a, const struct prof_code *code,
	const struct prof_moved *moved, struct error *e)
{
	struct analysis_input input = {.flow = code->flow,
		.method = a->d->request->classic ? ANALYSIS_CLASSIC : ANALYSIS_FLOW};
	struct analysis_classes *classes;
	int rc;

	memset(p, 0, sizeof(*p));
	p->analysis = a;
	p->code = code;
	if (take_samples(p, moved))
		return error_nomem(e);
	schedule_all(p);
	if (a->exact)
		return 0;
	classes = analysis_classes_new(code->flow, e);
	if (!classes)
		return -1;
	input.classes = classes;
	input.samples = p->samples;
	input.mi = p->mi;
	input.unsure = p->unsure;
	rc = analysis_frequencies_make(&p->frequencies, &input, e);
	analysis_classes_free(classes);
	return rc;
}

void prof_analysed_fini(struct prof_analysed *p)
{
	analysis_frequencies_fini(&p->frequencies);
	free(p->mi);
	free(p->samples);
	free(p->rows);
	free(p->unsure);
}

struct quantity prof_executions_of(const struct prof_analysed *p, uint32_t i)
{
	const struct prof_analysis *a = p->analysis;
	const struct analysis_estimate *x;
	double unit = a->cycles;

	if (a->exact)
		return quantity_exact((double)p->code->counts[i * a->d->metrics.count + a->counted],
			a->d->metrics.data[a->counted].metric->label);
	x = &p->frequencies.block[p->code->flow->block_of[i]];
	if (x->confidence == ANALYSIS_UNKNOWN)
		return (struct quantity){.label = LABEL_NONE};
	return (struct quantity){x->value * unit, x->low * unit, x->high * unit, LABEL_ESTIMATED};
}

double prof_executed(const struct prof_analysed *p, uint32_t i)
{
	struct quantity q = prof_executions_of(p, i);

	return q.label == LABEL_NONE ? 0 : q.value;
}

struct quantity prof_cpi_of(const struct prof_analysed *p, uint32_t i)
{
	double times = prof_executed(p, i), cycles = p->analysis->cycles;
	struct quantity s = prof_sampled((uint64_t)llround(p->samples[i]), 1, LABEL_ESTIMATED);
	struct quantity q = prof_executions_of(p, i);

	if (!(times > 0))
		return (struct quantity){.label = LABEL_NONE};
	q.value = p->samples[i] * cycles / times;
	s.low = fmin(s.low * cycles / q.high, q.value);
	s.high = q.low > 0 ? fmax(s.high * cycles / q.low, q.value) : INFINITY;
	return (struct quantity){q.value, s.low, s.high, LABEL_ESTIMATED};
}
