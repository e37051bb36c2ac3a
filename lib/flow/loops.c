/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Loops and their nesting: P. Havlak, "Nesting of reducible and irreducible loops", TOPLAS 19(4),
 * 1997.  Heads are taken in reverse preorder, so inner loops come first; each collapses into its
 * head.  Edges that enter a loop beside its head make it irreducible and are handed to the loop
 * around.
 */
#include <string.h>

#include "flow/private.h"

struct link {
	uint32_t from, next;
};

struct finder {
	struct flow *f;
	const struct flow_order *o;
	uint32_t *head;  /* by number: head of the innermost loop around it; FLOW_NONE */
	uint32_t *up;    /* union-find: collapsed into */
	uint32_t *body;  /* work list */
	uint32_t *entry; /* by number: list of edges that enter beside a head, + 1 */
	uint8_t *kind;   /* by number: 1 is a head, 2 an irreducible one */
	uint8_t *inside; /* in the work list */
	VEC(struct link) links;
};

static bool is_ancestor(const struct flow_order *o, uint32_t a, uint32_t b)
{
	return a <= b && b <= o->last[a];
}

static uint32_t loops_find(struct finder *x, uint32_t v)
{
	while (x->up[v] != v) {
		x->up[v] = x->up[x->up[v]];
		v = x->up[v];
	}
	return v;
}

static void loops_take(struct finder *x, uint32_t v, size_t *count)
{
	if (x->inside[v])
		return;
	x->inside[v] = 1;
	x->body[(*count)++] = v;
}

/* An edge from `from` (FLOW_NONE: the procedure's caller) into the loop of head w, at one of its
 * members. */
static int loops_follow(struct finder *x, uint32_t w, uint32_t from, size_t *count)
{
	uint32_t v = from == FLOW_NONE ? from : loops_find(x, from);

	if (v == FLOW_NONE || !is_ancestor(x->o, w, v)) {
		if (vec_add(&x->links, ((struct link){.from = v, .next = x->entry[w]})))
			return -1;
		x->entry[w] = (uint32_t)x->links.count;
		x->kind[w] = 2;
	} else if (v != w) {
		loops_take(x, v, count);
	}
	return 0;
}

static int collapse(struct finder *x, uint32_t w)
{
	const struct flow *f = x->f;
	const struct flow_block *b = &f->blocks.data[x->o->block[w]];
	size_t count = 0;

	for (uint32_t i = 0; i < b->ins; i++) {
		struct flow_edge *edge = &f->edges.data[f->in[b->first_in + i]];
		uint32_t from = x->o->number[edge->from];

		if (!flow_edge_counts(f, edge) || !is_ancestor(x->o, w, from))
			continue;
		edge->back = true;
		x->kind[w] |= 1;
		from = loops_find(x, from);
		if (from != w)
			loops_take(x, from, &count);
	}
	for (size_t at = 0; at < count; at++) {
		uint32_t v = x->body[at];
		const struct flow_block *member = &f->blocks.data[x->o->block[v]];

		if (member->flags & FLOW_ENTRY && loops_follow(x, w, FLOW_NONE, &count))
			return -1;
		for (uint32_t i = 0; i < member->ins; i++) {
			const struct flow_edge *edge = &f->edges.data[f->in[member->first_in + i]];
			uint32_t from = x->o->number[edge->from];

			/* an edge back to v belongs to v's own loop */
			if (flow_edge_counts(f, edge) && !is_ancestor(x->o, v, from) &&
				loops_follow(x, w, from, &count))
				return -1;
		}
		for (uint32_t i = x->entry[v]; i; i = x->links.data[i - 1].next)
			if (loops_follow(x, w, x->links.data[i - 1].from, &count))
				return -1;
	}
	for (size_t at = 0; at < count; at++) {
		uint32_t v = x->body[at];

		x->up[v] = w;
		x->head[v] = w;
		x->inside[v] = 0;
	}
	return 0;
}

/* Loops from heads, outer ones first: in preorder, a head precedes the members of its loop. */
static int number_loops(struct finder *x, uint32_t *loop_of)
{
	struct flow *f = x->f;

	for (uint32_t v = 0; v < x->o->count; v++) {
		uint32_t around = x->head[v] == FLOW_NONE ? FLOW_NONE : loop_of[x->head[v]];
		struct flow_block *b = &f->blocks.data[x->o->block[v]];
		struct flow_loop *loop;

		loop_of[v] = around;
		if (x->kind[v]) {
			loop_of[v] = (uint32_t)f->loops.count;
			loop = vec_push(&f->loops);
			if (!loop)
				return -1;
			loop->head = loop->first = loop->last = x->o->block[v];
			loop->parent = around;
			loop->depth = around == FLOW_NONE ? 1 : f->loops.data[around].depth + 1;
			loop->irreducible = x->kind[v] & 2;
			b->flags |= FLOW_LOOP_HEAD;
		}
		b->loop = loop_of[v];
	}
	return 0;
}

static void loops_measure(struct flow *f)
{
	for (uint32_t i = 0; i < f->blocks.count; i++) {
		uint32_t l = f->blocks.data[i].loop;

		if (l == FLOW_NONE)
			continue;
		f->loops.data[l].blocks++;
		f->loops.data[l].first = i < f->loops.data[l].first ? i : f->loops.data[l].first;
		f->loops.data[l].last = i > f->loops.data[l].last ? i : f->loops.data[l].last;
	}
	for (size_t l = f->loops.count; l-- > 0;) {
		const struct flow_loop *loop = &f->loops.data[l];
		struct flow_loop *outer;

		if (loop->parent == FLOW_NONE)
			continue;
		outer = &f->loops.data[loop->parent];
		outer->blocks += loop->blocks;
		outer->first = loop->first < outer->first ? loop->first : outer->first;
		outer->last = loop->last > outer->last ? loop->last : outer->last;
	}
	for (size_t i = 0; i < f->edges.count; i++) {
		const struct flow_edge *edge = &f->edges.data[i];
		uint32_t l = f->blocks.data[edge->to].loop;

		for (; l != FLOW_NONE && !flow_in_loop(f, edge->from, l);
			l = f->loops.data[l].parent)
			f->loops.data[l].entries++;
	}
}

int flow_loops(struct flow *f, const struct flow_order *o)
{
	size_t n = o->count + 1u;
	uint32_t *all = calloc(5 * n, sizeof(*all));
	uint8_t *bytes = calloc(2 * n, 1);
	struct finder x = {.f = f, .o = o};
	int status = -1;

	if (!all || !bytes)
		goto out;
	x.head = all;
	x.up = all + n;
	x.body = all + 2 * n;
	x.entry = all + 3 * n;
	x.kind = bytes;
	x.inside = bytes + n;
	for (uint32_t v = 0; v < n; v++) {
		x.head[v] = FLOW_NONE;
		x.up[v] = v;
	}
	for (uint32_t w = o->count; w-- > 0;)
		if (collapse(&x, w))
			goto out;
	if (number_loops(&x, all + 4 * n) == 0) {
		loops_measure(f);
		status = 0;
	}
out:
	vec_fini(&x.links);
	free(all);
	free(bytes);
	return status;
}

bool flow_in_loop(const struct flow *f, uint32_t block, uint32_t loop)
{
	uint32_t l = f->blocks.data[block].loop;

	if (loop == FLOW_NONE)
		return true;
	/* loops are numbered outer ones first */
	while (l != FLOW_NONE && l > loop)
		l = f->loops.data[l].parent;
	return l == loop;
}
