/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The longest waits of a program, each with what it may have been for. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/prof_columns.h"
#include "report/prof_culprits.h"
#include "report/prof_views.h"

enum { USUAL_ROWS = 20 };

struct stall {
	double cycles; /* waited */
	uint32_t image;
	uint64_t address;
	const char *procedure;
	struct quantity executions, cpi;
	const char *confidence, *culprits, *blame;
	size_t first_culprit, culprit_count;
};

struct stalls {
	struct prof_data *d;
	struct prof_table *t;
	struct prof_explain x;
	VEC(struct stall) list;
	double sure, waited; /* cycles whose executions are sure, cycles waited */
	long cycles, executions, confidence, cpi, culprits, blame, address;
};

static int add_columns(struct stalls *l)
{
	struct prof_column count = {.kind = PROF_COUNT,
		.flags = PROF_KEY | PROF_PERCENT | PROF_CUMULATIVE,
		.name = "stall",
		.unit = "cycles",
		.experiment = -1,
		.label = LABEL_ESTIMATED};
	struct prof_column text = {.kind = PROF_TEXT, .unit = "", .experiment = -1};

	l->cycles = prof_column_add(l->t, &count);
	count.flags = PROF_KEY;
	count.name = "executions";
	count.unit = "executions";
	count.label = l->x.analysis.exact ? l->d->metrics.data[l->x.analysis.counted].metric->label
					  : LABEL_ESTIMATED;
	l->executions = prof_column_add(l->t, &count);
	count.kind = PROF_RATIO;
	count.label = LABEL_ESTIMATED;
	count.name = "cpi";
	count.unit = "cycles";
	l->cpi = prof_column_add(l->t, &count);
	text.name = "confidence";
	l->confidence = prof_column_add(l->t, &text);
	text.name = "cause";
	text.heading = "likely cause";
	l->culprits = prof_column_add(l->t, &text);
	text.name = "because";
	text.heading = "blame";
	l->blame = prof_column_add(l->t, &text);
	text.name = "at";
	text.heading = "address";
	l->address = prof_column_add(l->t, &text);
	return l->cycles < 0 || l->executions < 0 || l->cpi < 0 || l->confidence < 0 ||
			       l->culprits < 0 || l->blame < 0 || l->address < 0
		       ? -1
		       : 0;
}

static int take_stall(struct stalls *l, const struct prof_explained *p, uint32_t i)
{
	const struct culprit_wait *w = &p->culprits.wait[i];
	struct stall *s;

	if (!(w->dynamic + w->fixed > 0))
		return 0;
	s = vec_push(&l->list);
	if (!s)
		return -1;
	*s = (struct stall){.cycles = fmax(w->dynamic + w->fixed + w->gain, 0),
		.image = p->procedure->image,
		.address = p->code.flow->insns.data[i].address,
		.procedure = p->name,
		.executions = prof_executions_of(&p->analysed, i),
		.cpi = prof_cpi_of(&p->analysed, i),
		.confidence = prof_culprits_confidence(p, i),
		.first_culprit = l->t->culprits.count};
	if (prof_culprits_take(l->t, p, i))
		return -1;
	s->culprit_count = l->t->culprits.count - s->first_culprit;
	s->culprits = prof_culprits_text(l->t, p, i);
	s->blame = prof_culprits_blame(l->t, p, i);
	return s->culprits && s->blame ? 0 : -1;
}

static int take_procedure(void *to, struct prof_explained *p, struct error *e)
{
	struct stalls *l = to;
	int rc = 0;

	for (uint32_t i = 0; rc == 0 && p->told && i < p->code.flow->insns.count; i++) {
		const char *sure = prof_culprits_confidence(p, i);

		l->sure += strcmp(sure, "low") && sure[0] ? p->input.cycles[i] : 0;
		l->waited += p->culprits.wait[i].dynamic + p->culprits.wait[i].fixed +
			     p->culprits.wait[i].gain;
		if (take_stall(l, p, i))
			rc = error_nomem(e);
	}
	return rc;
}

static int by_cycles(const void *a, const void *b)
{
	const struct stall *x = a, *y = b;

	if (x->cycles != y->cycles)
		return x->cycles > y->cycles ? -1 : 1;
	if (x->image != y->image)
		return x->image < y->image ? -1 : 1;
	return x->address < y->address ? -1 : x->address > y->address;
}

static int add_row(struct stalls *l, const struct stall *s, double percent, double cumulative)
{
	const struct prof_names *n = &l->d->names;
	struct image_line line = {0};
	struct prof_row row = {.role = PROF_ROW,
		.procedure = s->procedure,
		.image = l->d->images.data[s->image].name,
		.address = s->address,
		.addressed = true,
		.parent = -1,
		.first_culprit = s->first_culprit,
		.culprits = s->culprit_count};
	struct prof_cell *cells;
	long at;

	if (n->ops->line(n->context, s->image, s->address, &line) == 0 && line.line) {
		row.file = line.file;
		row.line = line.line;
	}
	at = prof_row_add(l->t, &row);
	if (at < 0)
		return -1;
	cells = prof_cells(l->t, (size_t)at);
	cells[l->cycles].quantity =
		(struct quantity){s->cycles, s->cycles, s->cycles, LABEL_ESTIMATED};
	cells[l->cycles].percent = percent;
	cells[l->cycles].cumulative = cumulative;
	cells[l->executions].quantity = s->executions;
	cells[l->cpi].quantity = s->cpi;
	cells[l->confidence].text = s->confidence;
	cells[l->culprits].text = s->culprits;
	cells[l->blame].text = s->blame;
	cells[l->address].text = prof_text(l->t, "%llx", (unsigned long long)s->address);
	return cells[l->address].text ? 0 : -1;
}

static int add_rows(struct stalls *l)
{
	struct prof_quit quit = l->d->request->quit;
	double all = l->x.total * l->x.analysis.cycles, cumulative = 0;

	if (!quit.rows && !(quit.percent > 0) && !(quit.cumulative > 0))
		quit.rows = USUAL_ROWS;
	if (l->list.count)
		qsort(l->list.data, l->list.count, sizeof(*l->list.data), by_cycles);
	for (size_t i = 0; i < l->list.count; i++) {
		double percent = all > 0 ? 100 * l->list.data[i].cycles / all : 0;

		if (prof_quits(&quit, i, percent, cumulative))
			break;
		cumulative += percent;
		if (add_row(l, &l->list.data[i], percent, fmin(cumulative, 100)))
			return -1;
	}
	return 0;
}

static int summary(struct stalls *l)
{
	double all = l->x.total * l->x.analysis.cycles;

	if (!(all > 0))
		return 0;
	return prof_summary(l->t, "Of all samples, where executions are sure (medium, high, exact)",
		       "%.1f%%", 100 * l->sure / all) ||
			       prof_summary(l->t, "Of all samples, waits", "%.1f%%",
				       100 * l->waited / all) ||
			       prof_culprits_describe(l->t, &l->x)
		       ? -1
		       : 0;
}

int prof_stalls(struct prof_data *d, struct prof_table *t, struct error *e)
{
	struct stalls l = {.d = d, .t = t};
	int rc = -1;

	t->report = "stalls";
	t->title = "Longest waits, and what they may have been for";
	t->layout = PROF_LIST;
	if (prof_data_name(d, false, e) || prof_describe(t, d, e) || prof_explain_init(&l.x, d, e))
		goto out;
	rc = prof_explain_each(&l.x, take_procedure, &l, e);
	if (rc == 0 && (summary(&l) || add_columns(&l) || add_rows(&l)))
		rc = error_nomem(e);
	if (rc == 0)
		rc = prof_coverage(t, d, e);
out:
	vec_fini(&l.list);
	prof_explain_fini(&l.x);
	return rc;
}
