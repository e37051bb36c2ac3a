/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/plural.h"
#include "report/report_calc.h"
#include "report/report_dis.h"
#include "report/report_values.h"

/* The text of a line; NULL. */
static const char *source_line(struct dis *l, const char *file, unsigned line)
{
	struct report_dis_source *s = NULL;
	const char *text;

	for (size_t i = 0; i < l->sources.count && !s; i++)
		if (strcmp(l->sources.data[i].file, file) == 0)
			s = &l->sources.data[i];
	if (!s) {
		s = vec_push(&l->sources);
		if (!s)
			return NULL;
		s->file = file;
		report_source_open(&s->text, file, l->d->request->source_paths);
	}
	text = s->text.text ? report_source_line(&s->text, line) : NULL;
	return text ? report_text(l->t, "%s", text) : NULL;
}

/* "f", "f+0x12" where another function or stub is; NULL: nothing is known there. */
static const char *symbol_text(struct dis *l, uint32_t image, uint64_t address)
{
	struct image_symbol s;
	const char *name;

	if (l->d->names.ops->symbol(l->d->names.context, image, address, &s))
		return NULL;
	name = s.demangled ? s.demangled : s.name;
	if (s.address == address)
		return name;
	return report_text(l->t, "%s+0x%llx", name, (unsigned long long)(address - s.address));
}

/* The target of a branch or the data that an instruction addresses, if its text does not have it.
 */
static const char *target_text(
	struct dis *l, const struct report_dis_body *b, const struct insn *insn, bool *outside)
{
	*outside = insn->has_target &&
		   (insn->target < b->code.begin || insn->target - b->code.begin >= b->code.size ||
			   insn->classes & INSN_CALL);
	if (*outside)
		return symbol_text(l, b->procedure->image, insn->target);
	if (insn->has_target)
		return report_text(l->t, "0x%llx", (unsigned long long)insn->target);
	for (unsigned i = 0; i < insn->memories; i++)
		if (insn->memory[i].absolute && !insn->memory[i].segment) {
			*outside = true;
			return report_text(
				l->t, "0x%llx", (unsigned long long)insn->memory[i].address);
		}
	return "";
}

static const char *hex_bytes(
	struct dis *l, const struct report_dis_body *b, const struct insn *insn)
{
	char hex[2 * INSN_LENGTH_MAX + 1];

	for (unsigned i = 0; i < insn->length; i++)
		snprintf(hex + 2 * i, 3, "%02x", b->code.bytes[insn->address - b->code.begin + i]);
	return report_text(l->t, "%s", hex);
}

/* A note on the instruction's place in the graph. */
static const char *place_note(struct dis *l, const struct report_dis_body *b, uint32_t i)
{
	const struct flow *f = b->code.flow;
	const struct flow_block *block = &f->blocks.data[f->block_of[i]];

	if (i == block->first && block->flags & FLOW_LOOP_HEAD) {
		const struct flow_loop *loop = &f->loops.data[block->loop];

		return report_text(l->t, "loop %u%s%s", block->loop + 1,
			loop->irreducible ? ", entered at several places" : "",
			b->calc ? report_calc_loop(l, b, block->loop) : "");
	}
	if (i + 1 != block->first + block->count)
		return NULL;
	if (block->flags & FLOW_UNKNOWN)
		return "goes to an unknown target";
	if (block->flags & FLOW_SEEN)
		return "goes where it was seen to go, or to an unknown target";
	if (block->flags & FLOW_MIDDLE)
		return "into the middle of an instruction";
	return block->flags & FLOW_NO_RETURN ? "does not return" : NULL;
}

static const char *row_note(const struct dis *l, const char *target, const char *place)
{
	if (!target || !place)
		return target ? report_text(l->t, "<%s>", target) : place;
	return report_text(l->t, "<%s> %s", target, place);
}

/* Samples that were moved: some may be another's. */
static struct quantity moved_quantity(
	const struct explain_moved *m, const struct prof_metric *metric, enum label label)
{
	struct quantity q = profile_sampled((uint64_t)llround(m->value), metric->unit, label);

	if (!m->estimated)
		return q;
	q.label = LABEL_ESTIMATED;
	q.value = m->value * metric->unit;
	q.low = fmin(profile_sampled(m->sure, metric->unit, label).low, q.value);
	q.high = fmax(profile_sampled(m->might, metric->unit, label).high, q.value);
	return q;
}

static void fill_moved(
	struct dis *l, size_t row, const struct report_dis_body *b, uint32_t i, size_t k)
{
	const struct prof_metric *metric = &l->d->metrics.data[k];
	const struct explain_moved *m = &b->moves.moved[k][i];
	uint64_t raw = b->code.counts[i * l->d->metrics.count + k];
	struct report_cell *cell = &report_cells(l->t, row)[l->columns.own[k]];

	cell->quantity = moved_quantity(m, metric, metric->metric->label);
	cell->percent = report_percent(m->value, (double)metric->samples);
	cell = &report_cells(l->t, row)[l->raw[k]];
	cell->quantity = profile_sampled(raw, metric->unit, metric->metric->label);
	cell->samples = raw;
	cell->weak = raw > 0 && raw < PROF_WEAK;
	cell->percent = NAN;
}

static double taken_of(const struct report_dis_body *b, uint32_t i)
{
	const struct flow *f = b->code.flow;
	const struct flow_block *block = &f->blocks.data[f->block_of[i]];
	double taken = 0;

	for (uint32_t k = 0; k < block->outs; k++)
		if (f->edges.data[block->first_out + k].kind != FLOW_FALL)
			taken += b->moves.edges[block->first_out + k];
	return taken;
}

static void fill_numbers(struct dis *l, size_t row, const struct report_dis_body *b, uint32_t i)
{
	size_t metrics = l->d->metrics.count;
	const uint64_t *counts = b->code.counts + i * metrics;

	for (size_t k = 0; k < metrics; k++)
		l->own[k] = b->moves.moved[k] ? (uint64_t)llround(b->moves.moved[k][i].value)
					      : counts[k];
	report_columns_fill(&l->columns, row, l->own, NULL,
		l->columns.executions >= 0 ? counts[l->columns.exact] : 0);
	for (size_t k = 0; k < metrics; k++) {
		report_cells(l->t, row)[l->columns.own[k]].cumulative = NAN;
		if (b->moves.moved[k])
			fill_moved(l, row, b, i, k);
	}
	report_beside_fill(&l->columns.beside, l->t, row,
		profile_waited_at(&l->columns.beside.modelled, b->procedure->image,
			b->code.flow->insns.data[i].address));
	if (l->calc)
		report_calc_fill(l, row, b, i);
	if (b->moves.edges && insn_jumps(&b->code.flow->insns.data[i]))
		report_cells(l->t, row)[l->taken].quantity =
			quantity_exact(taken_of(b, i), l->edges.label);
}

void report_dis_insn_row(struct dis *l, struct report_dis_body *b, uint32_t i)
{
	const struct flow *f = b->code.flow;
	const struct insn *insn = &f->insns.data[i];
	uint32_t loop = f->blocks.data[f->block_of[i]].loop;
	char text[INSN_TEXT_MAX];
	bool outside;
	struct report_row row = {.role = REPORT_ROW,
		.procedure = b->name,
		.image = l->d->images.data[b->procedure->image].name,
		.file = b->file,
		.line = b->file ? b->line : 0,
		.address = insn->address,
		.addressed = true,
		.parent = -1};
	const char *target = target_text(l, b, insn, &outside), *place = place_note(l, b, i);
	struct report_cell *cells;
	size_t at;

	isa_text(b->code.machine, b->code.bytes + (insn->address - b->code.begin),
		b->code.size - (size_t)(insn->address - b->code.begin), insn->address,
		l->d->request->intel ? ISA_INTEL : ISA_ATT, text);
	row.text = report_text(l->t, "%s", text);
	row.note = row_note(l, outside ? target : NULL, place);
	at = report_row_add(l->t, &row);
	report_no_shares(l->t, at);
	fill_numbers(l, at, b, i);
	if (l->values.sites.count)
		report_cells(l->t, at)[l->valued].text = report_values_brief(
			l->t, l->d, &l->values, b->procedure->image, insn->address);
	cells = report_cells(l->t, at) + l->text;
	cells[REPORT_DIS_BYTES].text = hex_bytes(l, b, insn);
	cells[REPORT_DIS_TARGET].text = target && target[0] ? target : NULL;
	if (loop != FLOW_NONE)
		cells[REPORT_DIS_LOOP].text = report_text(l->t, "%u", f->loops.data[loop].depth);
	if (b->arrows.width)
		cells[REPORT_DIS_MARGIN].text = report_text(l->t, "%.*s", (int)b->arrows.width,
			b->arrows.cells + (size_t)i * b->arrows.width);
}

/* Adds a row that is not an instruction, after instruction i - 1, with its margin. */
static void between(
	struct dis *l, const struct report_dis_body *b, const struct report_row *r, uint32_t i)
{
	char text[FLOW_LANES_MAX + 2];
	size_t row = report_row_add(l->t, r);

	report_no_shares(l->t, row);
	if (!b->arrows.width || !i)
		return;
	flow_margin_between(&b->arrows, i - 1, text);
	report_cells(l->t, row)[l->text + REPORT_DIS_MARGIN].text = report_text(l->t, "%s", text);
}

/* The source line of instruction i, where it is another one than before. */
void report_dis_source_row(struct dis *l, struct report_dis_body *b, uint32_t i)
{
	uint64_t address = b->code.flow->insns.data[i].address;
	const struct prof_names *n = &l->d->names;
	struct report_row row = {.role = REPORT_SOURCE_LINE, .parent = -1};
	struct image_frame frames[2];
	struct image_line line = {0};

	if (n->ops->line(n->context, b->procedure->image, address, &line) || !line.file ||
		!line.line)
		return;
	if (b->file && strcmp(b->file, line.file) == 0 && b->line == line.line)
		return;
	row.file = b->file = line.file;
	row.line = b->line = line.line;
	row.text = source_line(l, line.file, line.line);
	if (n->ops->inlines(n->context, b->procedure->image, address, frames, 2) > 1 &&
		frames[0].name)
		row.note = report_text(l->t, "inlined %s", frames[0].name);
	between(l, b, &row, i);
}

void report_dis_bubble_row(struct dis *l, struct report_dis_body *b, uint32_t i, const char *text)
{
	between(l, b, &(struct report_row){.role = REPORT_BUBBLE, .parent = -1, .note = text}, i);
}

void report_dis_gap_row(struct dis *l, struct report_dis_body *b, uint32_t from, uint32_t to)
{
	const struct report_row row = {.role = REPORT_GAP,
		.parent = -1,
		.note = report_text(l->t, "%u instruction%s without samples %s left out (-whole)",
			to - from, plural(to - from), plural_is(to - from))};

	between(l, b, &row, from);
	b->file = NULL;
}

static const char *head_note(struct dis *l, const struct report_dis_body *b, const char *why)
{
	const struct flow *f = b->code.flow;
	uint32_t deepest = 0, unknown = 0;

	if (!f)
		return report_text(
			l->t, "its code is not available%s%s", why ? ": " : "", why ? why : "");
	for (size_t i = 0; i < f->loops.count; i++)
		deepest = f->loops.data[i].depth > deepest ? f->loops.data[i].depth : deepest;
	for (size_t i = 0; i < f->blocks.count; i++)
		unknown += (f->blocks.data[i].flags & FLOW_UNKNOWN) != 0;
	l->unknown += unknown;
	return report_text(l->t, "in %s, %zu instruction%s, %zu block%s, %zu loop%s%s",
		l->d->images.data[b->procedure->image].name, f->insns.count, plural(f->insns.count),
		f->blocks.count, plural(f->blocks.count), f->loops.count, plural(f->loops.count),
		deepest > 1 ? report_text(l->t, ", %u deep", deepest) : "");
}

void report_dis_head_row(struct dis *l, const struct report_dis_body *b)
{
	const char *why = NULL;
	struct report_row row = {.role = REPORT_HEAD,
		.parent = -1,
		.procedure = b->name,
		.image = l->d->images.data[b->procedure->image].name,
		.address = b->code.begin,
		.addressed = true};
	struct report_cell *cells;
	size_t at;

	l->d->names.ops->state(l->d->names.context, b->procedure->image, &why);
	row.note = head_note(l, b, why);
	at = report_row_add(l->t, &row);
	report_columns_fill(&l->columns, at, b->code.sums, NULL, 0);
	cells = report_cells(l->t, at);
	if (l->columns.executions >= 0)
		cells[l->columns.executions].quantity.label = LABEL_NONE;
	for (size_t k = 0; k < l->t->columns.count; k++)
		cells[k].cumulative = NAN;
}
