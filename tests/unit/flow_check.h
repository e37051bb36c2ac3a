/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What must be true of every graph, checked by slow and obvious means.  NULL: all is well. */
#ifndef TESTS_FLOW_CHECK_H
#define TESTS_FLOW_CHECK_H

#include <stdlib.h>
#include <string.h>

#include "flow/flow.h"

static bool flow_check_dominates(const struct flow *f, uint32_t dominator, uint32_t block)
{
	while (block != FLOW_NONE && block != dominator)
		block = f->blocks.data[block].dominator;
	return block == dominator;
}

static bool flow_check_counts(const struct flow *f, const struct flow_edge *e)
{
	return !(f->blocks.data[e->from].flags & FLOW_ORPHAN) ||
	       f->blocks.data[e->to].flags & FLOW_ORPHAN;
}

static const char *flow_check_lists(const struct flow *f)
{
	uint32_t insn = 0, edge = 0, in = 0;
	uint64_t address = f->begin;

	for (uint32_t i = 0; i < f->blocks.count; i++) {
		const struct flow_block *b = &f->blocks.data[i];

		if (b->first != insn || !b->count)
			return "blocks do not cover the instructions";
		if (b->first_out != edge || b->first_in != in)
			return "blocks do not cover the edges";
		for (uint32_t k = 0; k < b->count; k++, insn++) {
			if (f->block_of[insn] != i || f->insns.data[insn].address != address)
				return "an instruction is not where it should be";
			address += f->insns.data[insn].length;
		}
		for (uint32_t k = 0; k < b->outs; k++)
			if (f->edges.data[edge++].from != i)
				return "an edge of another block";
		for (uint32_t k = 0; k < b->ins; k++)
			if (f->edges.data[f->in[in++]].to != i)
				return "an edge to another block";
	}
	if (insn != f->insns.count || edge != f->edges.count || in != edge || address != f->end)
		return "something is left over";
	return NULL;
}

/* Blocks reached from entries without passing `without`. */
static void flow_check_reach(const struct flow *f, uint32_t without, uint8_t *reached)
{
	bool more = true;

	memset(reached, 0, f->blocks.count);
	for (uint32_t i = 0; i < f->blocks.count; i++)
		reached[i] = f->blocks.data[i].flags & FLOW_ENTRY && i != without;
	while (more) {
		more = false;
		for (size_t k = 0; k < f->edges.count; k++) {
			const struct flow_edge *e = &f->edges.data[k];

			if (reached[e->from] && !reached[e->to] && e->to != without)
				reached[e->to] = more = true;
		}
	}
}

static const char *flow_check_dominators(const struct flow *f, uint8_t *reached)
{
	flow_check_reach(f, FLOW_NONE, reached);
	for (uint32_t i = 0; i < f->blocks.count; i++)
		if (!(f->blocks.data[i].flags & FLOW_PADDING) &&
			reached[i] == !!(f->blocks.data[i].flags & FLOW_ORPHAN))
			return "an orphan that is none, or none that is one";
	for (uint32_t d = 0; d < f->blocks.count; d++) {
		if (f->blocks.data[d].flags & (FLOW_ORPHAN | FLOW_PADDING))
			continue;
		flow_check_reach(f, d, reached);
		for (uint32_t i = 0; i < f->blocks.count; i++)
			if (!(f->blocks.data[i].flags & (FLOW_ORPHAN | FLOW_PADDING)) &&
				flow_check_dominates(f, d, i) == reached[i])
				return "dominators are not right";
	}
	return NULL;
}

/* The natural loop of all edges back to its head. */
static const char *flow_check_body(const struct flow *f, uint32_t l, uint8_t *body)
{
	const struct flow_loop *loop = &f->loops.data[l];
	uint32_t blocks = 0;
	bool more = true;

	memset(body, 0, f->blocks.count);
	body[loop->head] = 1;
	for (size_t k = 0; k < f->edges.count; k++)
		if (f->edges.data[k].to == loop->head && f->edges.data[k].back)
			body[f->edges.data[k].from] = 1;
	while (more) {
		more = false;
		for (size_t k = 0; k < f->edges.count; k++) {
			const struct flow_edge *e = &f->edges.data[k];

			if (body[e->to] && e->to != loop->head && !body[e->from] &&
				flow_check_counts(f, e))
				body[e->from] = more = true;
		}
	}
	for (uint32_t i = 0; i < f->blocks.count; i++) {
		blocks += body[i];
		if (body[i] != flow_in_loop(f, i, l))
			return "a loop is not the natural loop of its head";
		if (body[i] && !flow_check_dominates(f, loop->head, i))
			return "a head does not dominate its loop";
	}
	return blocks == loop->blocks ? NULL : "a loop has another number of blocks";
}

static const char *flow_check_loops(const struct flow *f, uint8_t *body)
{
	const char *bad = NULL;

	for (uint32_t l = 0; l < f->loops.count && !bad; l++) {
		const struct flow_loop *loop = &f->loops.data[l];
		uint32_t entries = 0;

		if (loop->parent != FLOW_NONE &&
			(loop->parent >= l || loop->depth != f->loops.data[loop->parent].depth + 1))
			return "loops are not nested";
		for (size_t k = 0; k < f->edges.count; k++)
			entries += flow_in_loop(f, f->edges.data[k].to, l) &&
				   !flow_in_loop(f, f->edges.data[k].from, l);
		if (entries != loop->entries)
			return "a loop has another number of entries";
		if (!loop->irreducible && !(f->blocks.data[loop->head].flags & FLOW_ORPHAN))
			bad = flow_check_body(f, l, body);
	}
	return bad;
}

__attribute__((unused)) static const char *flow_check(const struct flow *f, bool slowly)
{
	uint8_t *scratch = calloc(f->blocks.count + 1, 1);
	const char *bad = scratch ? flow_check_lists(f) : "memory is out";

	if (!bad && slowly)
		bad = flow_check_dominators(f, scratch);
	if (!bad && slowly)
		bad = flow_check_loops(f, scratch);
	free(scratch);
	return bad;
}

#endif
