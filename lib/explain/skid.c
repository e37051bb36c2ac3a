/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "explain/skid.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Splits depend on the samples of blocks, and these on the splits. */
enum { ROUNDS = 3 };

struct mover {
	const struct explain_skid *s;
	struct explain_moved *moved;
	double *own; /* samples of each block */
};

static void give(struct explain_moved *to, uint64_t samples, double share, bool sure)
{
	to->value += (double)samples * share;
	to->might += samples;
	if (sure)
		to->sure += samples;
	else if (samples)
		to->estimated = true;
}

/* The instruction that waited before the edge was passed: the last one, or the one fused with
 * it. */
static uint32_t source_of(const struct flow *f, const struct flow_edge *edge)
{
	const struct flow_block *b = &f->blocks.data[edge->from];
	uint32_t last = b->first + b->count - 1;

	if (b->count > 1 && isa_fuses(f->machine, &f->insns.data[last - 1], &f->insns.data[last]))
		last--;
	return last;
}

/* The share of block's arrivals that its k-th edge has, before normalisation. */
static double skid_weight(
	const struct mover *m, const struct flow_block *block, uint32_t k, bool even)
{
	uint32_t edge = m->s->flow->in[block->first_in + k];

	if (even)
		return 1;
	return m->s->edges ? m->s->edges[edge] : m->own[m->s->flow->edges.data[edge].from];
}

/* From outside, if known; else a procedure with jumps to its entry is assumed to be entered by
 * these only. */
static double from_outside(const struct mover *m, const struct flow_block *block)
{
	if (!(block->flags & FLOW_ENTRY))
		return 0;
	if (!block->ins)
		return 1;
	return isfinite(m->s->entered) && block->first == 0 ? m->s->entered : 0;
}

static void move_head(struct mover *m, const struct flow_block *block, uint64_t samples)
{
	const struct flow *f = m->s->flow;
	double outside = from_outside(m, block), sum = outside;
	bool even;

	for (uint32_t k = 0; k < block->ins; k++)
		sum += skid_weight(m, block, k, false);
	even = !(sum > 0);
	if (even)
		sum = block->ins;
	if (!block->ins || outside > 0)
		give(&m->moved[block->first], samples, block->ins ? outside / sum : 1, false);
	for (uint32_t k = 0; k < block->ins; k++) {
		const struct flow_edge *edge = &f->edges.data[f->in[block->first_in + k]];
		uint32_t from = source_of(f, edge);
		bool only = block->ins == 1 && !(block->flags & FLOW_ENTRY) &&
			    !(f->insns.data[from].classes & INSN_CALL);

		give(&m->moved[from], samples, only ? 1 : skid_weight(m, block, k, even) / sum,
			only);
	}
}

static void move_block(
	struct mover *m, const struct flow_block *block, const uint64_t *raw, size_t stride)
{
	const struct flow *f = m->s->flow;

	for (uint32_t i = block->first; i < block->first + block->count; i++) {
		uint64_t samples = raw[i * stride];

		if (!samples)
			continue;
		if (f->insns.data[i].classes & INSN_REP)
			give(&m->moved[i], samples, 1, false);
		else if (i == block->first)
			move_head(m, block, samples);
		else
			give(&m->moved[i - 1], samples, 1,
				!(f->insns.data[i - 1].classes & INSN_CALL));
	}
}

int explain_skid_move(const struct explain_skid *s, const uint64_t *raw, size_t stride,
	struct explain_moved *moved)
{
	const struct flow *f = s->flow;
	struct mover m = {.s = s, .moved = moved};

	m.own = calloc(f->blocks.count + 1, sizeof(*m.own));
	if (!m.own)
		return -1;
	for (int round = 0; round < ROUNDS; round++) {
		memset(m.own, 0, f->blocks.count * sizeof(*m.own));
		for (uint32_t i = 0; i < f->insns.count; i++)
			m.own[f->block_of[i]] += round ? moved[i].value : (double)raw[i * stride];
		memset(moved, 0, f->insns.count * sizeof(*moved));
		for (uint32_t b = 0; b < f->blocks.count; b++)
			move_block(&m, &f->blocks.data[b], raw, stride);
	}
	free(m.own);
	return 0;
}
