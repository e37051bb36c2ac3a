/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/prof_blocks.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

int prof_block_columns(struct prof_block_columns *c, struct prof_table *t,
	const struct prof_explain *x, bool margin)
{
	struct prof_column n = {.kind = PROF_COUNT,
		.flags = PROF_KEY | PROF_PERCENT | (margin ? 0 : PROF_CUMULATIVE),
		.name = "cycles",
		.unit = "cycles",
		.experiment = -1,
		.label = LABEL_ESTIMATED};
	struct prof_column text = {.kind = PROF_TEXT, .unit = "", .experiment = -1};

	c->cycles = prof_column_add(t, &n);
	n.flags = PROF_KEY;
	n.name = n.unit = "executions";
	n.label = x->analysis.exact ? x->d->metrics.data[x->analysis.counted].metric->label
				    : LABEL_ESTIMATED;
	c->executions = prof_column_add(t, &n);
	n.kind = PROF_RATIO;
	n.unit = "cycles";
	n.label = LABEL_ESTIMATED;
	n.name = "each";
	n.heading = "cycles each";
	c->each = prof_column_add(t, &n);
	n.name = "best";
	n.heading = "best case";
	c->best = prof_column_add(t, &n);
	text.name = "confidence";
	c->confidence = prof_column_add(t, &text);
	text.name = "cause";
	text.heading = "waits for";
	c->cause = prof_column_add(t, &text);
	text.name = "margin";
	text.heading = "";
	text.flags = PROF_MARGIN;
	c->margin = margin ? prof_column_add(t, &text) : 0;
	return c->cycles < 0 || c->executions < 0 || c->each < 0 || c->best < 0 ||
			       c->confidence < 0 || c->cause < 0 || c->margin < 0
		       ? -1
		       : 0;
}

/* The two causes that most of its cycles were waited for. */
static const char *causes_of(struct prof_table *t, const struct prof_explained *p,
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
	for (int n = 0; n < 2 && text && cycles > 0; n++) {
		unsigned most = 0;

		for (unsigned k = 1; k < CULPRITS + 2; k++)
			most = sum[k] > sum[most] ? k : most;
		if (!(sum[most] > 0.05 * all))
			break;
		text = prof_text(t, "%s%s%s %.0f%%", text, n ? ", " : "",
			most == CULPRITS       ? "schedule"
			: most == CULPRITS + 1 ? "unexplained"
			: most == CULPRIT_L2   ? "dcache"
					       : culprit_key((enum culprit_cause)most),
			100 * sum[most] / all);
		sum[most] = 0;
	}
	return text;
}

int prof_block_make(struct prof_block_row *r, struct prof_table *t, const struct prof_explained *p,
	uint32_t block)
{
	const struct flow *f = p->code.flow;
	const struct flow_block *b = &f->blocks.data[block];
	const struct insn *last = flow_last(f, b);
	const struct flow_loop *loop = b->loop == FLOW_NONE ? NULL : &f->loops.data[b->loop];
	char last_text[INSN_TEXT_MAX];

	*r = (struct prof_block_row){.image = p->procedure->image,
		.block = block,
		.from = f->insns.data[b->first].address,
		.to = last->address + last->length,
		.procedure = p->name,
		.confidence = prof_culprits_confidence(p, b->first),
		.executions = prof_executions_of(&p->analysed, b->first)};
	for (uint32_t i = b->first; i < b->first + b->count; i++) {
		r->cycles += p->input.cycles[i];
		r->best += p->input.mi[i];
	}
	r->cause = causes_of(t, p, b, r->cycles);
	isa_text(p->code.machine, p->code.bytes + (last->address - p->code.begin),
		p->code.size - (size_t)(last->address - p->code.begin), last->address, ISA_ATT,
		last_text);
	r->text = prof_text(t, "%u instruction%s%s%s, ends in %s", b->count,
		b->count == 1 ? "" : "s", loop ? ", loop depth " : "",
		loop ? prof_text(t, "%u", loop->depth) : "", last_text);
	return r->cause && r->text ? 0 : -1;
}

long prof_block_add(const struct prof_block_columns *c, struct prof_table *t,
	const struct prof_explain *x, const struct prof_block_row *r)
{
	double all = x->total * x->analysis.cycles;
	const struct prof_names *n = &x->d->names;
	struct image_line line = {0};
	struct prof_row row = {.role = PROF_ROW,
		.procedure = r->procedure,
		.image = x->d->images.data[r->image].name,
		.address = r->from,
		.addressed = true,
		.note = c->margin ? r->text
				  : prof_text(t, "%llx-%llx: %s", (unsigned long long)r->from,
					    (unsigned long long)r->to, r->text),
		.parent = -1};
	struct prof_cell *cells;
	long at;

	if (n->ops->line(n->context, r->image, r->from, &line) == 0 && line.line) {
		row.file = line.file;
		row.line = line.line;
	}
	at = prof_row_add(t, &row);
	if (at < 0 || !row.note)
		return -1;
	cells = prof_cells(t, (size_t)at);
	for (size_t k = 0; k < t->columns.count; k++)
		cells[k].percent = cells[k].cumulative = NAN;
	cells[c->cycles].quantity = quantity_exact(r->cycles, LABEL_ESTIMATED);
	cells[c->cycles].percent = all > 0 ? 100 * r->cycles / all : 0;
	cells[c->executions].quantity = r->executions;
	cells[c->each].quantity =
		prof_cycles_each(&x->analysis, r->cycles / x->analysis.cycles, r->executions);
	cells[c->best].quantity = quantity_exact(r->best, LABEL_ESTIMATED);
	cells[c->confidence].text = r->confidence;
	cells[c->cause].text = r->cause;
	return at;
}
