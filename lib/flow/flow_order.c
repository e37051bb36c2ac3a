/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Depth-first order and dominators.
 *
 * Dominators: T. Lengauer, R. E. Tarjan, "A fast algorithm for finding dominators in a flowgraph",
 * TOPLAS 1(1), 1979, in the simple variant (path compression, no balancing): O(m log n). All roots
 * are children of a virtual one, so a block that several entries reach has no dominator.
 */
#include <string.h>

#include "flow/private.h"

void flow_order_fini(struct flow_order *order)
{
	free(order->number);
	free(order->block);
	free(order->last);
	free(order->parent);
	memset(order, 0, sizeof(*order));
}

struct visit {
	uint32_t block, edge;
};

struct walk {
	struct flow *f;
	struct flow_order *order;
	struct visit *stack;
	bool orphans; /* blocks found from here on are not reached from an entry */
};

static void order_enter(struct walk *w, uint32_t block, uint32_t parent, size_t depth)
{
	struct flow_order *o = w->order;

	o->number[block] = o->count;
	o->block[o->count] = block;
	o->parent[o->count] = parent;
	o->count++;
	if (w->orphans)
		w->f->blocks.data[block].flags |= FLOW_ORPHAN;
	w->stack[depth] = (struct visit){.block = block};
}

static void visit_from(struct walk *w, uint32_t root)
{
	struct flow_order *o = w->order;
	size_t depth = 0;

	if (o->number[root] != FLOW_NONE)
		return;
	order_enter(w, root, FLOW_NONE, depth++);
	while (depth) {
		struct visit *v = &w->stack[depth - 1];
		const struct flow_block *b = &w->f->blocks.data[v->block];

		if (v->edge == b->outs) {
			o->last[o->number[v->block]] = o->count - 1;
			depth--;
			continue;
		}
		root = w->f->edges.data[b->first_out + v->edge++].to;
		if (o->number[root] == FLOW_NONE)
			order_enter(w, root, o->number[v->block], depth++);
	}
}

int flow_order_make(struct flow *f, struct flow_order *order)
{
	size_t n = f->blocks.count;
	struct walk w = {.f = f, .order = order};

	order->number = malloc((n + 1) * sizeof(*order->number));
	order->block = calloc(n + 1, sizeof(*order->block));
	order->last = calloc(n + 1, sizeof(*order->last));
	order->parent = calloc(n + 1, sizeof(*order->parent));
	w.stack = calloc(n + 1, sizeof(*w.stack));
	if (!order->number || !order->block || !order->last || !order->parent || !w.stack) {
		free(w.stack);
		return -1;
	}
	memset(order->number, 0xff, (n + 1) * sizeof(*order->number)); /* FLOW_NONE */
	for (uint32_t i = 0; i < n; i++)
		if (f->blocks.data[i].flags & FLOW_ENTRY)
			visit_from(&w, i);
	w.orphans = true;
	for (uint32_t i = 0; i < n; i++)
		if (!f->blocks.data[i].ins && !(f->blocks.data[i].flags & FLOW_PADDING))
			visit_from(&w, i);
	for (uint32_t i = 0; i < n; i++)
		if (!(f->blocks.data[i].flags & FLOW_PADDING))
			visit_from(&w, i);
	free(w.stack);
	return 0;
}

/* All by number + 1 in preorder; 0 is the virtual root. */
struct tree {
	uint32_t *semi, *label, *ancestor, *dominator, *bucket, *next, *stack;
};

static uint32_t evaluate(struct tree *t, uint32_t v)
{
	size_t depth = 0;
	uint32_t at = v;

	if (t->ancestor[v] == FLOW_NONE)
		return t->label[v];
	while (t->ancestor[t->ancestor[at]] != FLOW_NONE) {
		t->stack[depth++] = at;
		at = t->ancestor[at];
	}
	while (depth) {
		uint32_t above = at;

		at = t->stack[--depth];
		if (t->semi[t->label[above]] < t->semi[t->label[at]])
			t->label[at] = t->label[above];
		t->ancestor[at] = t->ancestor[above];
	}
	return t->label[v];
}

static void take_semi(struct tree *t, uint32_t w, uint32_t pred)
{
	uint32_t u = evaluate(t, pred);

	if (t->semi[u] < t->semi[w])
		t->semi[w] = t->semi[u];
}

static void order_solve(const struct flow *f, const struct flow_order *o, struct tree *t)
{
	for (uint32_t w = o->count; w > 0; w--) {
		const struct flow_block *b = &f->blocks.data[o->block[w - 1]];
		uint32_t parent = o->parent[w - 1] + 1; /* FLOW_NONE + 1 is the root's 0 */
		uint32_t v, next;

		if (b->flags & FLOW_ENTRY || parent == 0)
			take_semi(t, w, 0);
		for (uint32_t i = 0; i < b->ins; i++) {
			const struct flow_edge *edge = &f->edges.data[f->in[b->first_in + i]];

			if (flow_edge_counts(f, edge))
				take_semi(t, w, o->number[edge->from] + 1);
		}
		t->next[w] = t->bucket[t->semi[w]];
		t->bucket[t->semi[w]] = w;
		t->ancestor[w] = parent;
		for (v = t->bucket[parent]; v; v = next) {
			uint32_t u = evaluate(t, v);

			next = t->next[v];
			t->dominator[v] = t->semi[u] < t->semi[v] ? u : parent;
		}
		t->bucket[parent] = 0;
	}
	for (uint32_t w = 1; w <= o->count; w++)
		if (t->dominator[w] != t->semi[w])
			t->dominator[w] = t->dominator[t->dominator[w]];
}

int flow_dominators(struct flow *f, const struct flow_order *o)
{
	size_t n = o->count + 1u;
	uint32_t *all = calloc(7 * n, sizeof(*all));
	struct tree t;

	if (!all)
		return -1;
	t = (struct tree){
		all, all + n, all + 2 * n, all + 3 * n, all + 4 * n, all + 5 * n, all + 6 * n};
	for (uint32_t i = 0; i < n; i++) {
		t.semi[i] = t.label[i] = i;
		t.ancestor[i] = FLOW_NONE;
	}
	order_solve(f, o, &t);
	for (uint32_t w = 1; w < n; w++)
		f->blocks.data[o->block[w - 1]].dominator =
			t.dominator[w] ? o->block[t.dominator[w] - 1] : FLOW_NONE;
	free(all);
	return 0;
}
