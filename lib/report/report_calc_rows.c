/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "explain/by_branches.h"
#include "report/report_calc.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/report_culprits.h"

int report_calc_init(struct dis *l, struct error *e)
{
	const struct report_column columns[REPORT_CALC_COLUMNS] = {
		[REPORT_CALC_CPI] = report_cycles_column("cpi", NULL),
		[REPORT_CALC_MI] = report_cycles_column("mi", NULL),
		[REPORT_CALC_BLOCK] = {.kind = REPORT_TEXT,
			.flags = REPORT_SCRIPTS,
			.name = "block"},
		[REPORT_CALC_WHY] = {.kind = REPORT_TEXT, .name = "static", .heading = "waits for"},
		[REPORT_CALC_BLAME] = {.kind = REPORT_TEXT, .name = "culprit"},
	};
	const struct report_column confidence = report_confidence_column();
	struct report_column executions;
	struct report_calc *c = l->calc;

	if (explain_init(&c->explain, l->d, e))
		return -1;
	executions = report_executions_column(&c->explain);
	if (c->explain.analysis.exact && !c->explain.analysis.compared) {
		l->t->columns.data[l->columns.executions].flags |= REPORT_KEY;
	} else {
		c->executions = report_column_add(l->t, &executions);
		c->confidence = report_columns_add(l->t, &confidence, 1);
	}
	c->first = report_columns_add(l->t, columns, REPORT_CALC_COLUMNS);
	return l->t->failed ? error_nomem(e) : 0;
}

void report_calc_fini(struct dis *l)
{
	if (l->calc)
		explain_fini(&l->calc->explain);
}

/* How sure the executions of what has most samples are; NULL where they were counted. */
static const char *confidence_of_most(const struct report_dis_body *b)
{
	const struct flow *f = b->code.flow;
	uint32_t most = 0;

	if (b->calc->exact || !f->insns.count)
		return NULL;
	for (uint32_t i = 1; i < f->insns.count; i++)
		if (b->calc->samples[i] > b->calc->samples[most])
			most = i;
	return analysis_confidence_name(b->calc->frequencies.block[f->block_of[most]].confidence);
}

/* 686 is "690": without an exponent. */
static const char *two_digits(struct report_table *t, double value)
{
	double unit = value >= 100 && isfinite(value) ? pow(10, floor(log10(value)) - 1) : 1;

	return unit > 1 ? report_text(t, "%.0f", round(value / unit) * unit)
			: report_text(t, "%.2g", value);
}

static void summary(struct dis *l, const struct report_dis_body *b)
{
	const char *sure = confidence_of_most(b);
	const struct flow *f = b->code.flow;
	struct report_row *head = &l->t->rows.data[l->t->rows.count - 1];
	struct quantity cpi = explain_loop_cpi(b->calc, FLOW_NONE);
	double best = 0, executed = 0;

	for (uint32_t i = 0; i < f->insns.count; i++) {
		double times = explain_executed(b->calc, i);

		executed += times;
		best += times * b->calc->mi[i];
	}
	if (executed > 0)
		head->note = report_text(l->t,
			"%s, best case %.2f CPI, actual %.2f (%s to %s) CPI (both "
			"estimated%s%s)",
			head->note, best / executed, cpi.value, two_digits(l->t, cpi.low),
			two_digits(l->t, cpi.high), sure ? ", confidence " : "", sure ? sure : "");
	else
		head->note = report_text(l->t, "%s; its executions are not known", head->note);
}

int report_calc_analyse(struct dis *l, struct report_dis_body *b, struct error *e)
{
	struct explain_moved *moved = b->moves.moved[l->calc->explain.analysis.metric];

	b->explained = calloc(1, sizeof(*b->explained));
	if (!b->explained)
		return error_nomem(e);
	memset(l->calc->told, 0, sizeof(l->calc->told));
	if (explain_result_make(b->explained, &l->calc->explain, b->procedure, e))
		return -1;
	b->calc = b->explained->told ? &b->explained->analysed : NULL;
	if (!b->calc)
		return 0;
	/* Frequencies divide samples more exactly than the first division did. */
	for (size_t i = 0; moved && i < b->code.flow->insns.count; i++)
		moved[i].value = b->calc->samples[i];
	summary(l, b);
	return 0;
}

void report_calc_body_free(struct dis *l, struct report_dis_body *b)
{
	if (b->explained)
		explain_result_fini(b->explained, &l->calc->explain);
	free(b->explained);
}

/* "port load", "result of 401000", in few words. */
static const char *reason(struct dis *l, const struct report_dis_body *b, uint32_t i)
{
	const struct flow *f = b->code.flow;
	const struct schedule_row *r = &b->calc->rows[i];
	char ports[64];

	if (b->calc->mi[i] < 0.005)
		return "(parallel)";
	if (r->cause == SCHEDULE_NONE)
		return NULL;
	if (r->cause == SCHEDULE_PORT)
		return report_text(l->t, "port %s",
			core_ports_name(&l->calc->explain.analysis.core, r->ports, ports));
	if ((r->cause == SCHEDULE_INPUT || r->cause == SCHEDULE_MEMORY) && r->blame >= 0)
		return report_text(l->t, "%s %llx",
			r->cause == SCHEDULE_INPUT ? "result of" : "store of",
			(unsigned long long)f->insns.data[r->blame].address);
	return schedule_cause_name(r->cause);
}

void report_calc_fill(struct dis *l, size_t row, const struct report_dis_body *b, uint32_t i)
{
	const struct report_calc *c = l->calc;
	uint32_t at = b->code.flow->block_of[i];
	struct report_cell *cells = report_cells(l->t, row);
	const char *blame;

	if (!b->calc)
		return;
	blame = report_culprits_blame(l->t, b->explained, i);
	report_culprits_take(l->t, b->explained, i, &l->t->rows.data[row]);
	if (!c->explain.analysis.exact || c->explain.analysis.compared) {
		cells[c->executions].quantity = explain_executions_of(b->calc, i);
		cells[c->confidence].text = report_culprits_confidence(b->explained, i);
	}
	cells += c->first;
	cells[REPORT_CALC_CPI].quantity = explain_cpi_of(b->calc, i);
	cells[REPORT_CALC_MI].quantity = quantity_exact(b->calc->mi[i], LABEL_ESTIMATED);
	cells[REPORT_CALC_WHY].text = reason(l, b, i);
	cells[REPORT_CALC_BLAME].text = blame[0] ? blame : NULL;
	cells[REPORT_CALC_BLOCK].text = report_text(l->t, "%u", at);
}

const char *report_calc_loop(struct dis *l, const struct report_dis_body *b, uint32_t loop)
{
	struct quantity cpi = explain_loop_cpi(b->calc, loop);

	return cpi.label == LABEL_NONE ? "" : report_text(l->t, ", %.2f CPI", cpi.value);
}

/* The source of the estimated executions. */
static const char *calc_rows_estimate(struct dis *l)
{
	if (l->d->request->classic)
		return "from samples (clusters of samples / mi, in order issue)";
	if (explain_branches_timed(l->d))
		return report_text(l->t,
			"from branch records of %.0f bursts at random moments of the run",
			explain_branches_timed(l->d));
	if (explain_branches_any(l->d))
		return report_text(l->t,
			"from branch records, which say how ways part, and from samples%s",
			explain_branches_rated(l->d)
				? ""
				: ", which alone give the scale (no address was watched often)");
	return "from samples alone (samples / mi that flow through the function); ssrun -branches "
	       "records what makes better ones";
}

void report_calc_notes(struct dis *l)
{
	report_note(l->t,
		"mi: cycles at least that each instruction keeps retirement waiting, by the "
		"schedule "
		"of core %s; cpi: cycles that it took",
		l->calc->explain.analysis.core.name);
	if (!l->calc->explain.analysis.exact)
		report_note(l->t, "Executions are estimated %s; for exact ones, %s",
			calc_rows_estimate(l), report_culprits_counted(l->t, l->d, "-calc"));
}
