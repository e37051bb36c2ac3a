/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Runs records instruction by instruction, like the interface of model.h: for records that the loop
 * cannot run, and for faults. */
#include "model/run.h"

#include "model/branch.h"

uint64_t model_repeating(const struct model *m)
{
	return m->repeating;
}

void model_set_repeating(struct model *m, uint64_t address)
{
	m->repeating = address;
}

static void step_access(struct model *m, const struct model_access *a, uint64_t address)
{
	if (a->guarded && !address)
		return;
	watch_address(m, address);
	if (a->guarded && m->watch)
		watch_guarded(m, a);
	if (a->kind == MODEL_ACCESS_PREFETCH)
		model_prefetch(m, address);
	if (a->kind == MODEL_ACCESS_LOAD || a->kind == MODEL_ACCESS_MODIFY)
		model_load(m, address, a->size);
	if (a->kind == MODEL_ACCESS_STORE || a->kind == MODEL_ACCESS_MODIFY)
		model_store(m, address, a->size);
	watch_address(m, 0);
}

static void step_instruction(struct model *m, const struct model_insn *i)
{
	unsigned class_bits = i->class_bits & ~(unsigned)MODEL_STEPPED;

	/* Valgrind runs each iteration as an instruction of its own; the processor retires one. */
	if (!(i->class_bits & MODEL_STEPPED)) {
		m->repeating = 0;
	} else {
		if (m->repeating == i->address)
			class_bits |= MODEL_REPEATED;
		m->repeating = i->address;
	}
	model_instruction(m, i->address, i->length, class_bits, i->uops, i->flops);
}

/* The record's first insns instructions. */
void step_record(
	struct model *m, const struct model_segment *s, const uint64_t *record, unsigned insns)
{
	const struct model_block *b = s->block;
	const struct model_outcome *o = s->outcomes, *outcomes_end = o + s->outcome_count;

	for (unsigned i = 0; i < insns; i++) {
		struct model_insn *in = &b->insns[i];

		m->insn = in;
		step_instruction(m, in);
		for (unsigned a = in->first_access;
			a < in->first_access + in->access_count && a < s->access_count; a++)
			step_access(m, &b->accesses[a], record[1 + a]);
		for (; o < outcomes_end && o->insn == i; o++)
			model_branch(m, (enum model_branch_kind)o->kind, in->address,
				in->address + in->length, outcome_target(b, o, record), o->taken);
	}
	if (s->next != m->repeating)
		m->repeating = 0;
}

/* Accesses first..end - 1. */
static unsigned step_accesses(struct model *m, struct core *core, const struct model_block *b,
	const uint64_t *record, unsigned first, unsigned end, uint64_t base)
{
	for (; first < end; first++) {
		const struct model_access *a = &b->accesses[first];

		m->insn = &b->insns[a->insn];
		core->class_bits = m->insn->class_bits;
		core->clock.order = base + a->insn + 1u;
		step_access(m, a, record[1 + first]);
	}
	return first;
}

void step_lines(struct model *m, struct core *core, struct model_segment *s, const uint64_t *record,
	uint64_t base)
{
	const struct model_block *b = s->block;
	const struct model_outcome *o = s->outcomes;
	unsigned at = 0;

	fetched_last(core);
	for (const struct model_fetch *f = b->fetches, *end = f + s->fetch_count; f < end; f++) {
		struct model_insn *in = &b->insns[f->insn];

		at = step_accesses(m, core, b, record, at, in->first_access, base);
		m->insn = in;
		core->class_bits = in->class_bits;
		core->clock.order = base + f->insn + 1u;
		model_fetch_line(m, core, f->line);
	}
	step_accesses(m, core, b, record, at, s->access_count, base);
	for (unsigned i = 0; i < STATICS_USED; i++)
		if (i != MODEL_STATIC_LOADS && i != MODEL_STATIC_STORES)
			m->counts[model_static_event(i)] += s->statics[i];
	s->ended++;
	m->repeating = 0;
	if (!s->run.taken)
		return;
	m->insn = &b->insns[o->insn];
	branch_find(m, core, (enum model_branch_kind)o->kind, o->from);
}

void model_run_part(struct model *m, const uint64_t *record, unsigned insns)
{
	const struct model_segment *s = model_word_segment(record[0]);

	if (insns >= s->insn_count && insns)
		insns = s->insn_count - 1u;
	if (m->watch)
		watch_part(m->watch, s, insns);
	step_record(m, s, record, insns);
	if (m->core->retire)
		retire_record(m->core->retire, s, record, insns);
}
