/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/prof_calc.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "events/numbers.h"
#include "machine/machine.h"

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

static int find_metric(struct dis *l, struct error *e)
{
	struct prof_calc *c = l->calc;

	for (size_t i = 0; i < l->d->metrics.count; i++) {
		c->cycles = cycles_of(l->d, i);
		if (!(c->cycles > 0))
			continue;
		c->metric = i;
		return 0;
	}
	error_set(e, ERR_UNSUPPORTED, "-calc needs samples of time or cycles, and the clock");
	return error_hint(e, "ssrun -fpcsamp on this host records time; of another host's runs the "
			     "clock is not known");
}

static int find_core(struct dis *l, struct error *e)
{
	struct prof_calc *c = l->calc;
	const char *name = l->d->request->core;
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
	if (core_find(&c->core, name, e))
		return -1;
	if (!c->core.x86) {
		error_set(e, ERR_UNSUPPORTED, "core %s does not execute x86-64", name);
		core_fini(&c->core);
		return error_hint(e, "prof block -cores lists the others");
	}
	c->work = schedule_work_new(e);
	if (c->work)
		return 0;
	core_fini(&c->core);
	return -1;
}

static int add_columns(struct dis *l)
{
	struct prof_calc *c = l->calc;
	struct prof_column column = {.kind = PROF_COUNT,
		.flags = PROF_KEY,
		.name = "executions",
		.unit = "executions",
		.experiment = -1,
		.label = LABEL_ESTIMATED};
	struct prof_column ratio = {.kind = PROF_RATIO,
		.flags = PROF_KEY,
		.name = "cpi",
		.unit = "cycles",
		.experiment = -1,
		.label = LABEL_ESTIMATED};
	struct prof_column text = {.kind = PROF_TEXT, .unit = "", .experiment = -1};

	c->executions = c->confidence = 0;
	if (c->exact) {
		l->t->columns.data[l->columns.executions].flags |= PROF_KEY;
	} else {
		c->executions = prof_column_add(l->t, &column);
		text.name = "confidence";
		c->confidence = prof_column_add(l->t, &text);
	}
	c->cpi = prof_column_add(l->t, &ratio);
	ratio.name = "mi";
	c->mi = prof_column_add(l->t, &ratio);
	text.name = "block";
	text.heading = NULL;
	text.flags = PROF_SCRIPTS;
	c->block = prof_column_add(l->t, &text);
	text.name = "static";
	text.heading = "waits for";
	text.flags = 0;
	c->why = prof_column_add(l->t, &text);
	return c->executions < 0 || c->confidence < 0 || c->cpi < 0 || c->mi < 0 || c->why < 0 ||
			       c->block < 0
		       ? -1
		       : 0;
}

int calc_init(struct dis *l, struct error *e)
{
	l->calc->exact = l->columns.executions >= 0;
	if (find_metric(l, e) || find_core(l, e))
		return -1;
	return add_columns(l) ? error_nomem(e) : 0;
}

void calc_fini(struct dis *l)
{
	if (!l->calc || !l->calc->work)
		return;
	schedule_work_free(l->calc->work);
	core_fini(&l->calc->core);
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
static void schedule_all(struct dis *l, struct calc_body *c, const struct flow *f)
{
	for (uint32_t i = 0; i < f->blocks.count; i++) {
		const struct flow_block *b = &f->blocks.data[i];
		const struct schedule_options options = {.loop = repeats(f, i)};
		uint32_t n = b->count < SCHEDULE_BLOCK_MAX ? b->count : SCHEDULE_BLOCK_MAX;
		struct schedule total;

		if (schedule_block(l->calc->work, &l->calc->core, f->insns.data + b->first, n,
			    &options, &total, c->rows + b->first, NULL)) {
			memset(c->rows + b->first, 0, n * sizeof(*c->rows));
			continue;
		}
		for (uint32_t k = b->first; k < b->first + n; k++)
			c->mi[k] = c->rows[k].mi;
	}
}

int calc_analyse(struct dis *l, struct dis_body *b, struct error *e)
{
	const struct flow *f = b->code.flow;
	size_t n = f->insns.count, metrics = l->d->metrics.count, k = l->calc->metric;
	struct calc_body *c = b->calc = calloc(1, sizeof(*c));
	struct analysis_input input = {
		.flow = f, .method = l->d->request->classic ? ANALYSIS_CLASSIC : ANALYSIS_FLOW};
	struct analysis_classes *classes;
	int rc;

	if (!c)
		return error_nomem(e);
	c->mi = calloc(n + 1, sizeof(*c->mi));
	c->samples = calloc(n + 1, sizeof(*c->samples));
	c->rows = calloc(n + 1, sizeof(*c->rows));
	c->unsure = calloc(n + 1, sizeof(*c->unsure));
	if (!c->mi || !c->samples || !c->rows || !c->unsure)
		return error_nomem(e);
	for (size_t i = 0; i < n; i++)
		c->samples[i] = b->moved[k] ? b->moved[k][i].value
					    : (double)b->code.counts[i * metrics + k];
	for (size_t i = 0; i < n && b->moved[k]; i++)
		c->unsure[i] = b->moved[k][i].estimated;
	schedule_all(l, c, f);
	if (l->calc->exact)
		return 0;
	classes = analysis_classes_new(f, e);
	if (!classes)
		return -1;
	input.classes = classes;
	input.samples = c->samples;
	input.mi = c->mi;
	input.unsure = c->unsure;
	rc = analysis_frequencies_make(&c->frequencies, &input, e);
	analysis_classes_free(classes);
	return rc;
}

void calc_body_free(struct calc_body *c)
{
	if (!c)
		return;
	analysis_frequencies_fini(&c->frequencies);
	free(c->mi);
	free(c->samples);
	free(c->rows);
	free(c->unsure);
	free(c);
}

/* Executions of instruction i, counted or estimated. */
static struct quantity executions_of(const struct dis *l, const struct dis_body *b, uint32_t i)
{
	const struct analysis_estimate *x;
	double unit = l->calc->cycles;

	if (l->calc->exact)
		return quantity_exact(
			(double)b->code.counts[i * l->d->metrics.count + l->columns.exact],
			l->t->columns.data[l->columns.executions].label);
	x = &b->calc->frequencies.block[b->code.flow->block_of[i]];
	if (x->confidence == ANALYSIS_UNKNOWN)
		return (struct quantity){.label = LABEL_NONE};
	return (struct quantity){x->value * unit, x->low * unit, x->high * unit, LABEL_ESTIMATED};
}

static double best_executions(const struct dis *l, const struct dis_body *b, uint32_t i)
{
	struct quantity q = executions_of(l, b, i);

	return q.label == LABEL_NONE ? 0 : q.value;
}

static struct quantity cpi_of(const struct dis *l, const struct dis_body *b, uint32_t i)
{
	double times = best_executions(l, b, i), cycles = l->calc->cycles;
	struct quantity s =
		prof_sampled((uint64_t)llround(b->calc->samples[i]), 1, LABEL_ESTIMATED);
	struct quantity q = executions_of(l, b, i);

	if (!(times > 0))
		return (struct quantity){.label = LABEL_NONE};
	q.value = b->calc->samples[i] * cycles / times;
	s.low = fmin(s.low * cycles / q.high, q.value);
	s.high = q.low > 0 ? fmax(s.high * cycles / q.low, q.value) : INFINITY;
	return (struct quantity){q.value, s.low, s.high, LABEL_ESTIMATED};
}

/* "port load", "result of 401000", in few words. */
static const char *reason(struct dis *l, const struct dis_body *b, uint32_t i)
{
	const struct flow *f = b->code.flow;
	const struct schedule_row *r = &b->calc->rows[i];
	uint32_t first = f->blocks.data[f->block_of[i]].first;
	char ports[64];

	if (b->calc->mi[i] < 0.005 || r->cause == SCHEDULE_NONE)
		return NULL;
	if (r->cause == SCHEDULE_PORT)
		return prof_text(l->t, "port %s", core_ports_name(&l->calc->core, r->ports, ports));
	if ((r->cause == SCHEDULE_INPUT || r->cause == SCHEDULE_MEMORY) && r->blame >= 0)
		return prof_text(l->t, "%s %llx",
			r->cause == SCHEDULE_INPUT ? "result of" : "store of",
			(unsigned long long)f->insns.data[first + (uint32_t)r->blame].address);
	return schedule_cause_name(r->cause);
}

int calc_fill(struct dis *l, size_t row, const struct dis_body *b, uint32_t i)
{
	uint32_t at = b->code.flow->block_of[i];
	const char *why = reason(l, b, i);
	const char *block = prof_text(l->t, "%u", at);
	struct prof_cell *cells = prof_cells(l->t, row);

	if (!l->calc->exact) {
		cells[l->calc->executions].quantity = executions_of(l, b, i);
		cells[l->calc->confidence].text =
			analysis_confidence_name(b->calc->frequencies.block[at].confidence);
	}
	cells[l->calc->cpi].quantity = cpi_of(l, b, i);
	cells[l->calc->mi].quantity = quantity_exact(b->calc->mi[i], LABEL_ESTIMATED);
	cells[l->calc->why].text = why;
	cells[l->calc->block].text = block;
	return block ? 0 : -1;
}

/* How sure the executions of what has most samples are; NULL where they were counted. */
static const char *confidence_of_most(const struct dis *l, const struct dis_body *b)
{
	const struct flow *f = b->code.flow;
	uint32_t most = 0;

	if (l->calc->exact || !f->insns.count)
		return NULL;
	for (uint32_t i = 1; i < f->insns.count; i++)
		if (b->calc->samples[i] > b->calc->samples[most])
			most = i;
	return analysis_confidence_name(b->calc->frequencies.block[f->block_of[most]].confidence);
}

int calc_summary(struct dis *l, const struct dis_body *b)
{
	const char *sure = confidence_of_most(l, b);
	const struct flow *f = b->code.flow;
	struct prof_row *head = &l->t->rows.data[l->t->rows.count - 1];
	double best = 0, actual = 0, executed = 0;

	for (uint32_t i = 0; i < f->insns.count; i++) {
		double times = best_executions(l, b, i);

		executed += times;
		best += times * b->calc->mi[i];
		actual += b->calc->samples[i] * l->calc->cycles;
	}
	if (executed > 0)
		head->note = prof_text(l->t,
			"%s, best case %.2f CPI, actual %.2f CPI (both estimated%s%s)", head->note,
			best / executed, actual / executed, sure ? ", confidence " : "",
			sure ? sure : "");
	else
		head->note =
			prof_text(l->t, "%s; how often it was executed is not known", head->note);
	return head->note ? 0 : -1;
}

int calc_notes(struct dis *l)
{
	if (prof_note(l->t,
		    "mi: cycles at least that each instruction keeps retirement waiting, by the "
		    "schedule "
		    "of core %s; cpi: cycles that it took",
		    l->calc->core.name))
		return -1;
	if (l->calc->exact)
		return 0;
	return prof_note(l->t,
		"Executions are estimated from samples (%s); ssrun -ideal counts them, and its "
		"file beside this one gives exact ones",
		l->d->request->classic ? "clusters of samples / mi, in order issue"
				       : "samples / mi that flow through the procedure");
}
