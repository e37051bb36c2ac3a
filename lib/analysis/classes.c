/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/classes.h"

#include <stdlib.h>
#include <string.h>

struct maker {
	const struct flow *f;
	struct analysis_classes *c;
	uint8_t *reached;
	uint32_t *stack;
};

enum {
	STAYS = FLOW_RETURNS | FLOW_LEAVES | FLOW_NO_RETURN | FLOW_STOPS | FLOW_BAD | FLOW_RUNS_OUT
};

/* Marks the blocks that block leads to or, backward, those that lead to it. */
static void classes_spread(struct maker *m, uint32_t block, bool forward)
{
	const struct flow *f = m->f;
	size_t depth = 0;

	if (m->reached[block])
		return;
	m->reached[block] = 1;
	m->stack[depth++] = block;
	while (depth) {
		const struct flow_block *b = &f->blocks.data[m->stack[--depth]];
		uint32_t count = forward ? b->outs : b->ins;

		for (uint32_t k = 0; k < count; k++) {
			const struct flow_edge *edge =
				&f->edges.data[forward ? b->first_out + k : f->in[b->first_in + k]];
			uint32_t to = forward ? edge->to : edge->from;

			if (m->reached[to])
				continue;
			m->reached[to] = 1;
			m->stack[depth++] = to;
		}
	}
}

/* An arc from or to the outside: then what it leads to, or what leads to it, is reached as well. */
static int classes_add_arc(struct maker *m, struct analysis_arc arc)
{
	if (vec_add(&m->c->arcs, arc))
		return -1;
	classes_spread(m, arc.block, arc.into);
	return 0;
}

static bool classes_padding(const struct flow_block *b)
{
	return b->flags & FLOW_PADDING;
}

/* Arcs in: of entries; then of blocks that these do not reach, first those without predecessors. */
static int arcs_in(struct maker *m)
{
	uint32_t n = (uint32_t)m->f->blocks.count;

	for (uint32_t i = 0; i < n; i++) {
		if (!(m->f->blocks.data[i].flags & FLOW_ENTRY))
			continue;
		if (classes_add_arc(m, (struct analysis_arc){.block = i, .into = true}))
			return -1;
	}
	for (int round = 0; round < 2; round++)
		for (uint32_t i = 0; i < n; i++) {
			const struct flow_block *b = &m->f->blocks.data[i];

			if (m->reached[i] || classes_padding(b) || (round == 0 && b->ins))
				continue;
			if (classes_add_arc(
				    m, (struct analysis_arc){
					       .block = i, .into = true, .artificial = true}))
				return -1;
		}
	return 0;
}

static bool ends_iteration(const struct flow *f, const struct flow_block *b)
{
	for (uint32_t k = 0; k < b->outs; k++)
		if (f->edges.data[b->first_out + k].back)
			return true;
	return false;
}

/* Arcs out: of blocks that return or leave; then of loops without an exit, at the end of an
 * iteration. */
static int arcs_out(struct maker *m)
{
	const struct flow *f = m->f;
	uint32_t n = (uint32_t)f->blocks.count;

	memset(m->reached, 0, n);
	for (uint32_t i = 0; i < n; i++) {
		const struct flow_block *b = &f->blocks.data[i];

		if (classes_padding(b) || (b->outs && !(b->flags & STAYS)))
			continue;
		if (classes_add_arc(m, (struct analysis_arc){.block = i}))
			return -1;
	}
	for (int round = 0; round < 2; round++)
		for (uint32_t i = n; i-- > 0;) {
			const struct flow_block *b = &f->blocks.data[i];

			if (m->reached[i] || classes_padding(b) ||
				(round == 0 && !ends_iteration(f, b)))
				continue;
			if (classes_add_arc(
				    m, (struct analysis_arc){.block = i, .artificial = true}))
				return -1;
		}
	return 0;
}

/* Blocks are arcs from node 2b + 1 to 2b + 2; node 0 is outside. */
static int classes_classify(struct maker *m)
{
	struct analysis_classes *c = m->c;
	uint32_t blocks = (uint32_t)m->f->blocks.count, edges = (uint32_t)m->f->edges.count;
	uint32_t arcs = (uint32_t)c->arcs.count, n = 0;
	struct analysis_pair *pairs = calloc((size_t)blocks + edges + arcs + 1, sizeof(*pairs));
	uint32_t *class = calloc((size_t)blocks + edges + arcs + 1, sizeof(*class));

	c->count = FLOW_NONE;
	if (pairs && class) {
		for (uint32_t i = 0; i < blocks; i++)
			pairs[n++] = (struct analysis_pair){2 * i + 1, 2 * i + 2};
		for (uint32_t i = 0; i < edges; i++) {
			const struct flow_edge *edge = &m->f->edges.data[i];

			pairs[n++] = (struct analysis_pair){2 * edge->from + 2, 2 * edge->to + 1};
		}
		for (uint32_t i = 0; i < arcs; i++) {
			const struct analysis_arc *arc = &c->arcs.data[i];

			pairs[n++] = arc->into ? (struct analysis_pair){0, 2 * arc->block + 1}
					       : (struct analysis_pair){2 * arc->block + 2, 0};
		}
		c->count = analysis_cycle_classes(2 * blocks + 1, pairs, n, class);
		memcpy(c->block, class, blocks * sizeof(*class));
		memcpy(c->edge, class + blocks, edges * sizeof(*class));
		memcpy(c->arc, class + blocks + edges, arcs * sizeof(*class));
	}
	free(pairs);
	free(class);
	return c->count == FLOW_NONE ? -1 : 0;
}

static void keep_apart(struct maker *m)
{
	struct analysis_classes *c = m->c;

	c->apart = true;
	for (uint32_t i = 0; i < m->f->blocks.count; i++)
		c->block[i] = c->count++;
	for (uint32_t i = 0; i < m->f->edges.count; i++)
		c->edge[i] = c->count++;
	for (uint32_t i = 0; i < c->arcs.count; i++)
		c->arc[i] = c->count++;
}

struct analysis_classes *analysis_classes_new(const struct flow *f, struct error *e)
{
	struct analysis_classes *c = calloc(1, sizeof(*c));
	struct maker m = {.f = f, .c = c};
	int rc = -1;

	m.reached = calloc(f->blocks.count + 1, sizeof(*m.reached));
	m.stack = calloc(f->blocks.count + 1, sizeof(*m.stack));
	if (c && m.reached && m.stack && arcs_in(&m) == 0 && arcs_out(&m) == 0) {
		c->block = calloc(f->blocks.count + 1, sizeof(*c->block));
		c->edge = calloc(f->edges.count + 1, sizeof(*c->edge));
		c->arc = calloc(c->arcs.count + 1, sizeof(*c->arc));
		rc = c->block && c->edge && c->arc ? 0 : -1;
	}
	if (rc == 0 && f->missing)
		keep_apart(&m);
	else if (rc == 0)
		rc = classes_classify(&m);
	free(m.reached);
	free(m.stack);
	if (rc == 0)
		return c;
	analysis_classes_free(c);
	error_nomem(e);
	return NULL;
}

void analysis_classes_free(struct analysis_classes *c)
{
	if (!c)
		return;
	vec_fini(&c->arcs);
	free(c->block);
	free(c->edge);
	free(c->arc);
	free(c);
}
