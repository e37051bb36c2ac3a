/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <math.h>
#include <stdlib.h>

#include "analysis/culprits_private.h"

enum { OPS_MAX = SCHEDULE_BLOCK_MAX };

struct op *culprit_ops(const struct flow *f)
{
	uint32_t most = FRAME_INSNS;

	for (size_t i = 0; i < f->blocks.count; i++)
		if (f->blocks.data[i].count > most)
			most = f->blocks.data[i].count;
	return malloc((most < OPS_MAX ? most : OPS_MAX) * sizeof(struct op));
}

static void note_op(struct culprit_loop *l, const struct op *op, const struct insn *insn)
{
	for (unsigned r = 0; r < GENERALS; r++)
		if (insn_registers_have(&insn->writes, REG_GENERAL + r) &&
			l->writes[r] < UINT16_MAX)
			l->writes[r]++;
	if (op->changed < GENERALS && op->change == OP_CHANGE_ADD) {
		if (l->plain[op->changed] < UINT16_MAX)
			l->plain[op->changed]++;
		l->step[op->changed] += (uint64_t)op->constant;
	}
	l->calls = l->calls || insn->classes & (INSN_CALL | INSN_SYSCALL | INSN_BAD);
}

/* Inner loops have iterations of their own: the sum of their additions is unknown. */
static void add_to_parent(struct culprit_loop *parent, const struct culprit_loop *inner)
{
	for (unsigned r = 0; r < GENERALS; r++)
		if (inner->writes[r] && parent->writes[r] < UINT16_MAX)
			parent->writes[r]++;
	parent->calls = parent->calls || inner->calls;
}

static void find_entries(const struct culprits_input *in, struct culprit_loop *loops)
{
	const struct flow *f = in->flow;

	for (size_t i = 0; i < f->loops.count; i++)
		loops[i].entries = in->edges ? 0 : NAN;
	for (size_t i = 0; i < f->edges.count && in->edges; i++) {
		const struct flow_edge *e = &f->edges.data[i];
		uint32_t loop = f->blocks.data[e->to].loop;

		/* The loops entered at this block, from the inside out. */
		for (; loop != FLOW_NONE && !flow_in_loop(f, e->from, loop);
			loop = f->loops.data[loop].parent)
			loops[loop].entries += in->edges[i];
	}
	/* Callers of the procedure may enter them as well. */
	for (size_t i = 0; i < f->blocks.count; i++) {
		uint32_t loop = f->blocks.data[i].loop;

		if (!(f->blocks.data[i].flags & (FLOW_ENTRY | FLOW_ORPHAN)))
			continue;
		for (; loop != FLOW_NONE; loop = f->loops.data[loop].parent)
			loops[loop].entries = NAN;
	}
}

struct culprit_loop *culprit_loops(const struct culprits_input *in, struct op *ops)
{
	const struct flow *f = in->flow;
	struct culprit_loop *loops = calloc(f->loops.count + 1, sizeof(*loops));

	for (uint32_t i = 0; loops && i < f->blocks.count; i++) {
		const struct flow_block *b = &f->blocks.data[i];
		uint32_t n = b->count < OPS_MAX ? b->count : OPS_MAX;

		if (b->loop == FLOW_NONE)
			continue;
		op_make_block(in->core, f->insns.data + b->first, n, false, ops);
		for (uint32_t k = 0; k < n; k++)
			note_op(&loops[b->loop], &ops[k], &f->insns.data[b->first + k]);
		loops[b->loop].calls = loops[b->loop].calls || n < b->count;
	}
	if (!loops)
		return NULL;
	/* Outer loops precede those in them. */
	for (size_t i = f->loops.count; i-- > 0;)
		if (f->loops.data[i].parent != FLOW_NONE)
			add_to_parent(&loops[f->loops.data[i].parent], &loops[i]);
	find_entries(in, loops);
	return loops;
}

double culprit_stride(const struct culprit_search *s, const struct op_memory *m)
{
	uint32_t loop = s->in->flow->blocks.data[s->block].loop;
	const uint8_t regs[] = {m->base, m->index};
	double stride = 0;

	if (loop == FLOW_NONE)
		return -1;
	for (unsigned k = 0; k < 2; k++) {
		const struct culprit_loop *l = &s->loops[loop];

		if (regs[k] == REG_NONE)
			continue;
		if (regs[k] >= GENERALS || l->writes[regs[k]] != l->plain[regs[k]])
			return -1;
		stride += (double)(int64_t)l->step[regs[k]] * (k ? m->scale : 1);
	}
	return fabs(stride);
}

bool culprit_runs_ahead(const struct culprit_search *s, const struct op *op)
{
	double stride = op->load.there ? culprit_stride(s, &op->load) : -1;

	return stride >= 0 && stride < s->in->machine->page;
}
