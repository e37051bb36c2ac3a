/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What instrumented code calls: a run of instructions, what the last of them does, in one call.
 */
#include "valgrind/tool.h"

struct model *model;
uint64_t rep_active;

static inline void fetch(const struct insn *d, UWord n)
{
	for (const struct insn *end = d + n; d < end; d++) {
		const struct model_group *g = &d->group;

		if (d->single)
			model_instruction(
				model, g->address, g->length, d->class_bits, g->uops, g->flops);
		else
			model_instructions(model, g);
	}
}

static inline void branch(const struct insn *d, Addr to, int taken)
{
	model_branch(model, (enum model_branch_kind)d->branch, d->from,
		d->group.address + d->group.length, to, taken);
}

void helper_run(const struct insn *d, UWord n)
{
	fetch(d, n);
}

void helper_run_load(const struct insn *d, UWord n, Addr address)
{
	fetch(d, n);
	model_load(model, address, d[n - 1].size);
}

void helper_run_store(const struct insn *d, UWord n, Addr address)
{
	fetch(d, n);
	model_store(model, address, d[n - 1].size);
}

void helper_run_modify(const struct insn *d, UWord n, Addr address)
{
	fetch(d, n);
	model_load(model, address, d[n - 1].size);
	model_store(model, address, d[n - 1].size);
}

void helper_run_conditional(const struct insn *d, UWord n, UWord taken)
{
	fetch(d, n);
	branch(&d[n - 1], d[n - 1].target, taken != 0);
}

void helper_run_jump(const struct insn *d, UWord n)
{
	fetch(d, n);
	branch(&d[n - 1], d[n - 1].target, 1);
}

void helper_run_call(const struct insn *d, UWord n, Addr address)
{
	fetch(d, n);
	model_store(model, address, d[n - 1].size);
	branch(&d[n - 1], d[n - 1].target, 1);
}

void helper_run_return(const struct insn *d, UWord n, Addr address, Addr to)
{
	fetch(d, n);
	model_load(model, address, d[n - 1].size);
	branch(&d[n - 1], to, 1);
}

/* Valgrind runs each iteration as an instruction of its own; the processor retires one. */
void helper_repeatable(const struct insn *d)
{
	unsigned again = rep_active == d->from ? MODEL_REPEATED : 0;

	rep_active = d->from;
	model_instruction(model, d->from, d->group.length, d->class_bits | again, d->group.uops,
		d->group.flops);
}

void helper_load(Addr address, UWord size)
{
	model_load(model, address, (unsigned)size);
}

void helper_store(Addr address, UWord size)
{
	model_store(model, address, (unsigned)size);
}

void helper_modify(Addr address, UWord size)
{
	model_load(model, address, (unsigned)size);
	model_store(model, address, (unsigned)size);
}

void helper_prefetch(Addr address)
{
	model_prefetch(model, address);
}

void helper_branch(const struct insn *d, Addr to)
{
	branch(d, to, 1);
}
