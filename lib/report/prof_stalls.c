/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The longest waits of a program, each with what it may have been for. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "report/prof_culprits.h"
#include "report/prof_views.h"

enum { USUAL_ROWS = 20 };

struct stall {
	double cycles; /* waited */
	struct prof_row row;
	struct quantity executions, cpi;
	const char *confidence, *culprits, *blame;
	uint32_t image;
};

struct stalls {
	struct prof_waits *w;
	VEC(struct stall) list;
	double sure, waited; /* cycles whose executions are sure, cycles waited */
};

static void take_stall(struct stalls *l, const struct prof_explained *p, uint32_t i)
{
	const struct culprit_wait *w = &p->culprits.wait[i];
	struct prof_table *t = l->w->t;
	struct stall s = {.cycles = fmax(w->dynamic + w->fixed + w->gain, 0),
		.image = p->procedure->image,
		.row = prof_code_row(
			l->w->d, p->name, p->procedure->image, p->code.flow->insns.data[i].address),
		.executions = prof_executions_of(&p->analysed, i),
		.cpi = prof_cpi_of(&p->analysed, i),
		.confidence = prof_culprits_confidence(p, i)};

	prof_culprits_take(t, p, i, &s.row);
	s.culprits = prof_culprits_text(t, p, i);
	s.blame = prof_culprits_blame(t, p, i);
	t->failed |= vec_add(&l->list, s) != 0;
}

static int take_procedure(void *to, struct prof_explained *p, struct error *e)
{
	struct stalls *l = to;

	for (uint32_t i = 0; p->told && i < p->code.flow->insns.count; i++) {
		const struct culprit_wait *w = &p->culprits.wait[i];
		const char *sure = prof_culprits_confidence(p, i);

		l->sure += strcmp(sure, "low") && sure[0] ? p->input.cycles[i] : 0;
		l->waited += w->dynamic + w->fixed + w->gain;
		if (w->dynamic + w->fixed > 0)
			take_stall(l, p, i);
	}
	return l->w->t->failed ? error_nomem(e) : 0;
}

static int by_cycles(const void *a, const void *b)
{
	const struct stall *x = a, *y = b;

	return sort_falling_number(x->cycles, y->cycles) ?: sort_rising(x->image, y->image)
		       ?: sort_rising(x->row.address, y->row.address);
}

enum {
	STALL_CYCLES,
	STALL_EXECUTIONS,
	STALL_CPI,
	STALL_CONFIDENCE,
	STALL_CAUSE,
	STALL_BLAME,
	STALL_ADDRESS,
	STALL_COLUMNS
};

static void add_columns(const struct prof_waits *w)
{
	const struct prof_column columns[STALL_COLUMNS] = {
		[STALL_CYCLES] = {.kind = PROF_COUNT,
			.flags = PROF_KEY | PROF_PERCENT | PROF_CUMULATIVE,
			.name = "stall",
			.unit = "cycles",
			.label = LABEL_ESTIMATED},
		[STALL_EXECUTIONS] = prof_executions_column(&w->x),
		[STALL_CPI] = {.kind = PROF_RATIO,
			.flags = PROF_KEY,
			.name = "cpi",
			.unit = "cycles",
			.label = LABEL_ESTIMATED},
		[STALL_CONFIDENCE] = {.kind = PROF_TEXT, .name = "confidence"},
		[STALL_CAUSE] = {.kind = PROF_TEXT, .name = "cause", .heading = "likely cause"},
		[STALL_BLAME] = {.kind = PROF_TEXT, .name = "because", .heading = "blame"},
		[STALL_ADDRESS] = {.kind = PROF_TEXT, .name = "at", .heading = "address"},
	};

	prof_columns_add(w->t, columns, STALL_COLUMNS);
}

static void add_row(struct prof_table *t, const struct stall *s, double percent, double cumulative)
{
	struct prof_cell *cells = prof_cells(t, prof_row_add(t, &s->row));

	cells[STALL_CYCLES] =
		(struct prof_cell){.quantity = quantity_exact(s->cycles, LABEL_ESTIMATED),
			.percent = percent,
			.cumulative = fmin(cumulative, 100)};
	cells[STALL_EXECUTIONS].quantity = s->executions;
	cells[STALL_CPI].quantity = s->cpi;
	cells[STALL_CONFIDENCE].text = s->confidence;
	cells[STALL_CAUSE].text = s->culprits;
	cells[STALL_BLAME].text = s->blame;
	cells[STALL_ADDRESS].text = prof_text(t, "%llx", (unsigned long long)s->row.address);
}

static int make(struct prof_waits *w, struct error *e)
{
	double all = w->x.total * w->x.analysis.cycles;
	struct prof_cut cut = prof_cut_of(w->d, (struct prof_quit){.rows = USUAL_ROWS});
	struct stalls l = {.w = w};
	int rc = prof_explain_each(&w->x, take_procedure, &l, e);

	if (rc == 0 && all > 0) {
		prof_summary(w->t,
			"Of all samples, where executions are sure (medium, high, exact)", "%.1f%%",
			100 * l.sure / all);
		prof_summary(w->t, "Of all samples, waits", "%.1f%%", 100 * l.waited / all);
		prof_culprits_describe(w->t, &w->x);
	}
	add_columns(w);
	if (l.list.count)
		qsort(l.list.data, l.list.count, sizeof(*l.list.data), by_cycles);
	for (size_t i = 0; rc == 0 && !w->t->failed && i < l.list.count; i++) {
		double percent = prof_percent(l.list.data[i].cycles, all);

		if (prof_cuts(&cut, percent))
			break;
		add_row(w->t, &l.list.data[i], percent, cut.cumulative);
	}
	vec_fini(&l.list);
	return rc;
}

int prof_stalls(struct prof_data *d, struct prof_table *t, struct error *e)
{
	t->report = "stalls";
	t->title = "Longest waits, and what they may have been for";
	t->layout = PROF_LIST;
	return prof_waits_report(d, t, make, e);
}
