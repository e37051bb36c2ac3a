/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The longest waits of a program, each with its possible causes. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "explain/by_branches.h"
#include "isa/isa.h"
#include "report/report_culprits.h"
#include "report/report_views.h"

enum { USUAL_ROWS = 20 };
#define USUAL_LEAST 0.5 /* percent */

struct stall {
	double cycles; /* waited */
	struct report_row row;
	struct quantity executions, cpi;
	bool unsure; /* of these two: too uncertain to be shown */
	const char *confidence, *culprits, *blame, *text;
	uint32_t image;
	const struct prof_waited *waited; /* on the model; NULL: not known */
};

struct stalls {
	struct report_waits *w;
	VEC(struct stall) list;
	size_t all;          /* with those that are not in the list */
	size_t rows;         /* of those shown at most; 0: any number */
	double least;        /* shorter ones are not among these */
	double sure, waited; /* cycles whose executions are sure, cycles waited */
};

static int stalls_by_cycles(const void *a, const void *b)
{
	const struct stall *x = a, *y = b;

	return sort_falling_number(x->cycles, y->cycles) ?: sort_rising(x->image, y->image)
		       ?: sort_rising(x->row.address, y->row.address);
}

static void sort_stalls(struct stalls *l)
{
	if (l->list.count)
		qsort(l->list.data, l->list.count, sizeof(*l->list.data), stalls_by_cycles);
}

/* Most are short and need no text. */
static void leave_out_short(struct stalls *l)
{
	if (!l->rows || l->list.count < 2 * l->rows)
		return;
	sort_stalls(l);
	l->list.count = l->rows;
	l->least = l->list.data[l->rows - 1].cycles;
}

static const char *stall_text(const struct stalls *l, const struct explain_result *p, uint32_t i)
{
	const struct insn *insn = &p->code.flow->insns.data[i];
	char text[INSN_TEXT_MAX];

	isa_text(p->code.machine, p->code.bytes + (insn->address - p->code.begin), insn->length,
		insn->address, l->w->d->request->intel ? ISA_INTEL : ISA_ATT, text);
	return report_text(l->w->t, "%s", text);
}

static void take_stall(struct stalls *l, const struct explain_result *p, uint32_t i, double cycles)
{
	struct report_table *t = l->w->t;
	struct stall s = {.cycles = cycles,
		.image = p->procedure->image,
		.row = report_code_row(
			l->w->d, p->name, p->procedure->image, p->code.flow->insns.data[i].address),
		.executions = explain_executions_of(&p->analysed, i),
		.cpi = explain_cpi_of(&p->analysed, i),
		.waited = profile_waited_at(&l->w->beside.modelled, p->procedure->image,
			p->code.flow->insns.data[i].address),
		.confidence = report_culprits_confidence(p, i)};

	report_culprits_take(t, p, i, &s.row);
	s.unsure = report_culprits_unsure(p, i) != NULL;
	s.culprits = report_culprits_text(t, p, i);
	s.blame = report_culprits_blame(t, p, i);
	s.text = stall_text(l, p, i);
	t->failed |= vec_add(&l->list, s) != 0;
	leave_out_short(l);
}

static int stalls_take_procedure(void *to, struct explain_result *p, struct error *e)
{
	struct stalls *l = to;

	for (uint32_t i = 0; p->told && i < p->code.flow->insns.count; i++) {
		const struct culprit_wait *w = &p->culprits.wait[i];
		const char *sure = report_culprits_confidence(p, i);
		double cycles = fmax(w->dynamic + w->fixed + w->gain, 0);

		l->sure += strcmp(sure, "low") && sure[0] ? p->input.cycles[i] : 0;
		l->waited += w->dynamic + w->fixed + w->gain;
		if (!(w->dynamic + w->fixed > 0))
			continue;
		l->all++;
		if (!(cycles < l->least))
			take_stall(l, p, i, cycles);
	}
	return l->w->t->failed ? error_nomem(e) : 0;
}

enum {
	STALL_CYCLES,
	STALL_EXECUTIONS,
	STALL_CONFIDENCE,
	STALL_CPI,
	STALL_ADDRESS,
	STALL_INSTRUCTION,
	STALL_CAUSE,
	STALL_BLAME,
	STALL_COLUMNS
};

static void stalls_add_columns(const struct report_waits *w)
{
	const struct report_column columns[STALL_COLUMNS] = {
		[STALL_CYCLES] = {.kind = REPORT_COUNT,
			.flags = REPORT_KEY | REPORT_PERCENT | REPORT_CUMULATIVE,
			.name = "stall",
			.unit = "cycles",
			.label = LABEL_ESTIMATED},
		[STALL_EXECUTIONS] = report_executions_column(&w->x),
		[STALL_CPI] = report_cycles_column("cpi", NULL),
		[STALL_CONFIDENCE] = report_confidence_column(),
		[STALL_ADDRESS] = {.kind = REPORT_TEXT, .name = "at", .heading = "address"},
		[STALL_INSTRUCTION] = {.kind = REPORT_TEXT, .name = "instruction"},
		[STALL_CAUSE] = {.kind = REPORT_TEXT, .name = "cause", .heading = "likely cause"},
		[STALL_BLAME] = {.kind = REPORT_TEXT, .name = "because", .heading = "blame"},
	};

	report_columns_add(w->t, columns, STALL_COLUMNS);
}

static void stalls_add_row(
	const struct report_waits *w, const struct stall *s, double percent, double cumulative)
{
	struct report_table *t = w->t;
	size_t row = report_row_add(t, &s->row);
	struct report_cell *cells = report_cells(t, row);

	cells[STALL_CYCLES] =
		(struct report_cell){.quantity = quantity_exact(s->cycles, LABEL_ESTIMATED),
			.percent = percent,
			.cumulative = fmin(cumulative, 100)};
	cells[STALL_EXECUTIONS].quantity = s->executions;
	cells[STALL_CPI].quantity = s->cpi;
	cells[STALL_EXECUTIONS].unsure = cells[STALL_CPI].unsure = s->unsure;
	cells[STALL_CONFIDENCE].text = s->confidence;
	cells[STALL_CAUSE].text = s->culprits;
	cells[STALL_BLAME].text = s->blame;
	cells[STALL_ADDRESS].text = report_text(t, "%llx", (unsigned long long)s->row.address);
	cells[STALL_INSTRUCTION].text = s->text;
	report_beside_fill(&w->beside, t, row, s->waited);
}

/* The words in the rows that are shown. */
static void stalls_explain_words(struct report_table *t, bool modelled)
{
	bool fixed = false, retirement = false, blamed = false, few = false, perhaps = false;

	for (size_t i = 0; !t->failed && i < t->rows.count; i++) {
		const struct report_cell *cells = report_cells(t, i);

		fixed |= strstr(cells[STALL_CAUSE].text, "static: ") != NULL;
		few |= strncmp(cells[STALL_CAUSE].text, REPORT_FEW_SAMPLES,
			       strlen(REPORT_FEW_SAMPLES)) == 0;
		perhaps |= cells[STALL_EXECUTIONS].unsure &&
			   strstr(cells[STALL_CAUSE].text, ": perhaps ");
		retirement |= strstr(cells[STALL_CAUSE].text, "static: retirement") != NULL;
		blamed |= cells[STALL_BLAME].text[0] != '\0';
	}
	if (fixed)
		report_note(t,
			"static: a wait that the schedule of the core explains, without a "
			"miss%s",
			retirement ? "; static: retirement: for its turn to retire, after "
				     "instructions that retire before it"
				   : "");
	if (few)
		report_note(t,
			REPORT_FEW_SAMPLES
			": fewer than four, perhaps of a neighbour: give this code more work%s",
			modelled ? "; modelled causes need no samples" : "");
	if (perhaps)
		report_note(t,
			"perhaps: what the code can wait for and its samples allow, the likeliest "
			"first; which it is, a longer run decides (or -runs N)");
	if (blamed)
		report_note(t, "blame: the address of the earlier instruction that it waited for");
}

static int stalls_make(struct report_waits *w, struct error *e)
{
	double all = w->x.total * w->x.analysis.cycles;
	struct report_cut cut =
		report_cut_of(w->d, (struct prof_quit){.rows = USUAL_ROWS, .percent = USUAL_LEAST});
	struct stalls l = {.w = w, .rows = cut.quit.rows};
	int rc = explain_each(&w->x, stalls_take_procedure, &l, e);
	bool low = false;

	if (rc == 0 && all > 0) {
		report_summary(w->t,
			w->x.analysis.compared
				? "Of all samples, where executions are sure (medium, high, "
				  "counted)"
				: "Of all samples, where executions are sure (medium, high, exact)",
			"%.1f%%", 100 * l.sure / all);
		report_summary(w->t, "Of all samples, waits", "%.1f%%", 100 * l.waited / all);
		report_culprits_describe(w->t, &w->x);
	}
	stalls_add_columns(w);
	report_beside_columns(&w->beside, w->t);
	sort_stalls(&l);
	for (size_t i = 0; rc == 0 && !w->t->failed && i < l.list.count; i++) {
		double percent = report_percent(l.list.data[i].cycles, all);

		if (report_cuts(&cut, percent))
			break;
		stalls_add_row(w, &l.list.data[i], percent, cut.cumulative);
		low = low || strcmp(l.list.data[i].confidence, "low") == 0;
	}
	stalls_explain_words(w->t, w->beside.any);
	report_left_out(w->t, l.all - cut.shown, "row", report_cut_why(&cut));
	/* Of samples alone, the head names what is better. */
	if (low && explain_branches_any(w->d))
		report_note(w->t, "Confidence low: for exact executions, %s",
			report_culprits_counted(w->t, w->d, "-stalls"));
	vec_fini(&l.list);
	return rc;
}

int report_stalls(struct prof_data *d, struct report_table *t, struct error *e)
{
	t->report = "stalls";
	t->title = "Longest waits, and what they may have been for";
	t->layout = REPORT_LIST;
	return report_waits_report(d, t, stalls_make, e);
}
