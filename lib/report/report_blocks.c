/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/report_blocks.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/plural.h"

void report_block_columns(struct report_waits *w, bool margin)
{
	const struct report_column columns[REPORT_BLOCK_COLUMNS] = {
		[REPORT_BLOCK_CYCLES] = {.kind = REPORT_COUNT,
			.flags = REPORT_KEY | REPORT_PERCENT | (margin ? 0 : REPORT_CUMULATIVE),
			.name = "cycles",
			.unit = "cycles",
			.label = LABEL_ESTIMATED},
		[REPORT_BLOCK_EXECUTIONS] = report_executions_column(&w->x),
		[REPORT_BLOCK_CONFIDENCE] = report_confidence_column(),
		[REPORT_BLOCK_EACH] = report_cycles_column("each", "cycles each"),
		[REPORT_BLOCK_BEST] = report_cycles_column("best", "best case"),
		[REPORT_BLOCK_CAUSE] = {.kind = REPORT_TEXT,
			.name = "cause",
			.heading = "waits for"},
		[REPORT_BLOCK_MARGIN] = {.kind = REPORT_TEXT,
			.flags = REPORT_MARGIN,
			.name = "margin",
			.heading = ""},
	};

	report_columns_add(w->t, columns, margin ? REPORT_BLOCK_COLUMNS : REPORT_BLOCK_MARGIN);
}

/* The two causes that most of its cycles were waited for. */
static const char *causes_of(struct report_table *t, const struct explain_result *p,
	const struct flow_block *b, double cycles)
{
	double sum[CULPRITS + 2] = {0}, all = 0;
	const char *text = "";

	for (uint32_t i = b->first; i < b->first + b->count; i++) {
		const struct culprit_wait *w = &p->culprits.wait[i];

		sum[CULPRITS] += w->fixed;
		sum[CULPRITS + 1] += w->unexplained;
		for (uint32_t k = w->first; k < w->first + w->count; k++) {
			const struct culprit *c = &p->culprits.list.data[k];

			sum[CULPRIT_DATA >> c->cause & 1 ? CULPRIT_L2 : c->cause] += c->likely;
		}
	}
	for (unsigned k = 0; k < CULPRITS + 2; k++)
		all += sum[k];
	all = fmax(all, cycles);
	for (int n = 0; n < 2 && cycles > 0; n++) {
		unsigned most = 0;

		for (unsigned k = 1; k < CULPRITS + 2; k++)
			most = sum[k] > sum[most] ? k : most;
		if (!(sum[most] > 0.05 * all))
			break;
		text = report_text(t, "%s%s%s %.0f%%", text, n ? ", " : "",
			most == CULPRITS       ? "schedule"
			: most == CULPRITS + 1 ? "unexplained"
			: most == CULPRIT_L2   ? "dcache"
					       : culprit_key((enum culprit_cause)most),
			100 * sum[most] / all);
		sum[most] = 0;
	}
	return text;
}

double report_block_cycles(const struct explain_result *p, uint32_t block)
{
	const struct flow_block *b = &p->code.flow->blocks.data[block];
	double cycles = 0;

	for (uint32_t i = b->first; i < b->first + b->count; i++)
		cycles += p->input.cycles[i];
	return cycles;
}

struct report_block_row report_block_make(
	struct report_table *t, const struct explain_result *p, uint32_t block)
{
	const struct flow *f = p->code.flow;
	const struct flow_block *b = &f->blocks.data[block];
	const struct insn *last = flow_last(f, b);
	char last_text[INSN_TEXT_MAX];
	struct report_block_row r = {.image = p->procedure->image,
		.block = block,
		.from = f->insns.data[b->first].address,
		.to = last->address + last->length,
		.procedure = p->name,
		.confidence = report_culprits_confidence(p, b->first),
		.executions = explain_executions_of(&p->analysed, b->first),
		.cycles = report_block_cycles(p, block),
		.unsure = report_culprits_unsure(p, b->first)};

	for (uint32_t i = b->first; i < b->first + b->count; i++)
		r.best += p->input.mi[i];
	r.cause = r.cycles > 0 && r.unsure ? r.unsure : causes_of(t, p, b, r.cycles);
	isa_text(p->code.machine, p->code.bytes + (last->address - p->code.begin),
		p->code.size - (size_t)(last->address - p->code.begin), last->address, ISA_ATT,
		last_text);
	r.text = report_text(t, "%u instruction%s%s, ends in %s", b->count, plural(b->count),
		b->loop == FLOW_NONE
			? ""
			: report_text(t, ", loop depth %u", f->loops.data[b->loop].depth),
		last_text);
	return r;
}

size_t report_block_add(
	struct report_waits *w, const struct report_block_row *r, const char *margin)
{
	struct report_table *t = w->t;
	double all = w->x.total * w->x.analysis.cycles;
	struct report_row row = report_code_row(w->d, r->procedure, r->image, r->from);
	struct report_cell *cells;
	size_t at;

	row.note = margin ? r->text
			  : report_text(t, "%llx-%llx: %s", (unsigned long long)r->from,
				    (unsigned long long)r->to, r->text);
	at = report_row_add(t, &row);
	report_no_shares(t, at);
	cells = report_cells(t, at);
	cells[REPORT_BLOCK_CYCLES].quantity = quantity_exact(r->cycles, LABEL_ESTIMATED);
	cells[REPORT_BLOCK_CYCLES].percent = report_percent(r->cycles, all);
	cells[REPORT_BLOCK_EXECUTIONS].quantity = r->executions;
	cells[REPORT_BLOCK_EACH].quantity = explain_cycles_each(
		&w->x.analysis, r->cycles / w->x.analysis.cycles, r->executions);
	cells[REPORT_BLOCK_BEST].quantity = quantity_exact(r->best, LABEL_ESTIMATED);
	cells[REPORT_BLOCK_EXECUTIONS].unsure = cells[REPORT_BLOCK_EACH].unsure = r->unsure;
	cells[REPORT_BLOCK_CONFIDENCE].text = r->confidence;
	cells[REPORT_BLOCK_CAUSE].text = r->cause;
	if (margin && margin[0])
		cells[REPORT_BLOCK_MARGIN].text = margin;
	return at;
}
