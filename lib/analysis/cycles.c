/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Cycle equivalence in linear time (Johnson, Pearson, Pingali: The program structure tree,
 * PLDI'94, section 3.3). An undirected depth-first search yields tree arcs and back arcs; the
 * brackets of a tree arc are the back arcs from below it to above it, and two tree arcs are
 * equivalent when their brackets are the same. The newest member and the size identify a set of
 * brackets; capping brackets keep this true where branches of the tree join.
 */
#include <stdlib.h>
#include <string.h>

#include "analysis/classes.h"

#define NONE FLOW_NONE

struct bracket { /* arcs, then one cap per node */
	uint32_t above, below;
	uint32_t size, class; /* size of the list when this was last on top, and its class then */
};

struct node {
	uint32_t number, up; /* order of the search; arc to the parent */
	uint32_t parent;
	uint32_t high, high_child;  /* lowest number reached from below; through which child */
	uint32_t high_other;        /* likewise, through any other child */
	uint32_t top, bottom, size; /* list of brackets */
	uint32_t caps;              /* first cap that ends here; chained by cap_next */
	uint32_t next;              /* place in its half arcs, during the search */
};

struct search {
	const struct analysis_pair *arcs;
	uint32_t nodes, arc_count, classes;
	uint32_t *class;
	uint32_t *first, *half; /* arcs of each node, those in both directions */
	uint32_t *order;        /* nodes as they are numbered */
	uint32_t *cap_next;     /* [node] */
	struct node *node;
	struct bracket *bracket;
};

static uint32_t other_end(const struct search *s, uint32_t arc, uint32_t node)
{
	return s->arcs[arc].from == node ? s->arcs[arc].to : s->arcs[arc].from;
}

static void list_arcs(struct search *s)
{
	for (uint32_t i = 0; i < s->arc_count; i++) {
		s->first[s->arcs[i].from + 1]++;
		s->first[s->arcs[i].to + 1]++;
	}
	for (uint32_t n = 0; n < s->nodes; n++) {
		s->first[n + 1] += s->first[n];
		s->node[n].next = s->first[n];
	}
	for (uint32_t i = 0; i < s->arc_count; i++) {
		s->half[s->node[s->arcs[i].from].next++] = i;
		s->half[s->node[s->arcs[i].to].next++] = i;
	}
	for (uint32_t n = 0; n < s->nodes; n++)
		s->node[n].next = s->first[n];
}

/* Numbers the nodes that root reaches; returns the next number. */
static uint32_t number_from(struct search *s, uint32_t root, uint32_t number)
{
	uint32_t at = root;

	s->node[root].number = number;
	s->order[number++] = root;
	while (at != NONE) {
		struct node *n = &s->node[at];
		uint32_t arc, to;

		if (n->next == s->first[at + 1]) {
			at = n->parent;
			continue;
		}
		arc = s->half[n->next++];
		to = other_end(s, arc, at);
		if (s->node[to].number != NONE)
			continue;
		s->node[to].parent = at;
		s->node[to].up = arc;
		s->node[to].number = number;
		s->order[number++] = to;
		at = to;
	}
	return number;
}

static void cycles_push(struct search *s, struct node *n, uint32_t b)
{
	s->bracket[b].above = NONE;
	s->bracket[b].below = n->top;
	s->bracket[b].size = NONE;
	if (n->top != NONE)
		s->bracket[n->top].above = b;
	else
		n->bottom = b;
	n->top = b;
	n->size++;
}

static void take_out(struct search *s, struct node *n, uint32_t b)
{
	struct bracket *own = &s->bracket[b];

	if (own->above != NONE)
		s->bracket[own->above].below = own->below;
	else
		n->top = own->below;
	if (own->below != NONE)
		s->bracket[own->below].above = own->above;
	else
		n->bottom = own->above;
	n->size--;
}

/* Puts the brackets of a child on top of its parent's. */
static void cycles_join(struct search *s, struct node *n, const struct node *child)
{
	if (child->top == NONE)
		return;
	if (n->top == NONE) {
		n->bottom = child->bottom;
	} else {
		s->bracket[n->top].above = child->bottom;
		s->bracket[child->bottom].below = n->top;
	}
	n->top = child->top;
	n->size += child->size;
}

/* Back arcs at a node: those from below end, those to above begin. Returns the lowest number that
 * one of its own goes to. */
static uint32_t back_arcs(struct search *s, uint32_t at)
{
	struct node *n = &s->node[at];
	uint32_t high = NONE;

	for (uint32_t cap = n->caps; cap != NONE; cap = s->cap_next[cap])
		take_out(s, n, s->arc_count + cap);
	for (uint32_t k = s->first[at]; k < s->first[at + 1]; k++) {
		uint32_t arc = s->half[k], to = other_end(s, arc, at);

		if (to == at || s->node[to].up == arc || s->node[to].number <= n->number)
			continue;
		take_out(s, n, arc);
		if (s->class[arc] == NONE)
			s->class[arc] = s->classes++;
	}
	for (uint32_t k = s->first[at]; k < s->first[at + 1]; k++) {
		uint32_t arc = s->half[k], to = other_end(s, arc, at);

		if (arc == n->up || s->node[to].number >= n->number)
			continue;
		cycles_push(s, n, arc);
		if (s->node[to].number < high)
			high = s->node[to].number;
	}
	return high;
}

static void name_tree_arc(struct search *s, struct node *n)
{
	struct bracket *top;

	if (n->top == NONE) { /* a bridge: not on a cycle */
		s->class[n->up] = s->classes++;
		return;
	}
	top = &s->bracket[n->top];
	if (top->size != n->size) {
		top->size = n->size;
		top->class = s->classes++;
	}
	s->class[n->up] = top->class;
	if (n->size == 1 && n->top < s->arc_count)
		s->class[n->top] = top->class;
}

static void tell_parent(struct search *s, const struct node *n, uint32_t at)
{
	struct node *parent = &s->node[n->parent];

	cycles_join(s, parent, n);
	if (n->high < parent->high || parent->high_child == NONE) {
		parent->high_other = parent->high;
		parent->high = n->high;
		parent->high_child = at;
	} else if (n->high < parent->high_other) {
		parent->high_other = n->high;
	}
}

static void visit(struct search *s, uint32_t at)
{
	struct node *n = &s->node[at];
	uint32_t own = back_arcs(s, at);

	if (n->high_other < own && n->high_other < n->number) {
		uint32_t to = s->order[n->high_other];

		cycles_push(s, n, s->arc_count + at);
		s->cap_next[at] = s->node[to].caps;
		s->node[to].caps = at;
	}
	if (own < n->high)
		n->high = own;
	if (n->parent == NONE)
		return;
	name_tree_arc(s, n);
	tell_parent(s, n, at);
}

static void cycles_run(struct search *s)
{
	uint32_t number = 0;

	for (uint32_t n = 0; n < s->nodes; n++) {
		struct node *own = &s->node[n];

		own->number = own->up = own->parent = NONE;
		own->high = own->high_child = own->high_other = NONE;
		own->top = own->bottom = own->caps = NONE;
	}
	list_arcs(s);
	for (uint32_t i = 0; i < s->arc_count; i++)
		s->class[i] = s->arcs[i].from == s->arcs[i].to ? s->classes++ : NONE;
	for (uint32_t n = 0; n < s->nodes; n++)
		if (s->node[n].number == NONE)
			number = number_from(s, n, number);
	while (number-- > 0)
		visit(s, s->order[number]);
}

uint32_t analysis_cycle_classes(
	uint32_t nodes, const struct analysis_pair *arcs, uint32_t arc_count, uint32_t *class)
{
	struct search s = {.arcs = arcs, .nodes = nodes, .arc_count = arc_count, .class = class};

	s.first = calloc((size_t)nodes + 2, sizeof(*s.first));
	s.half = calloc(2 * (size_t)arc_count + 1, sizeof(*s.half));
	s.order = calloc((size_t)nodes + 1, sizeof(*s.order));
	s.cap_next = calloc((size_t)nodes + 1, sizeof(*s.cap_next));
	s.node = calloc((size_t)nodes + 1, sizeof(*s.node));
	s.bracket = calloc((size_t)nodes + arc_count + 1, sizeof(*s.bracket));
	if (s.first && s.half && s.order && s.cap_next && s.node && s.bracket)
		cycles_run(&s);
	else
		s.classes = NONE;
	free(s.first);
	free(s.half);
	free(s.order);
	free(s.cap_next);
	free(s.node);
	free(s.bracket);
	return s.classes;
}
