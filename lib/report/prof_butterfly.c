/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Each function between its callers and what it calls.  A caller's figure is the part of the
 * function's inclusive samples that came by way of it; that of a callee what it used, with all
 * below, when the function called it.  On a path where a call recurs, its outermost one counts.
 */
#include <stdlib.h>
#include <string.h>

#include "base/plural.h"
#include "report/prof_tree.h"
#include "report/prof_views.h"

struct edge { /* table entry */
	struct {
		uint32_t caller, callee;
	} key;
};

struct edges {
	struct prof_calls *calls;
	struct table table;
	uint32_t *of;     /* edge of each node; UINT32_MAX: called by nobody */
	uint64_t *counts; /* [edge * metrics + metric] */
	const uint64_t *subtrees;
	size_t metrics;
};

static void add_edge(void *context, size_t node)
{
	struct edges *g = context;

	for (size_t k = 0; k < g->metrics; k++)
		g->counts[g->of[node] * g->metrics + k] += g->subtrees[node * g->metrics + k];
}

static int find_edges(struct edges *g, const struct prof_data *d)
{
	uint64_t *subtrees = prof_subtrees(d);
	int rc = -1;

	g->table = (struct table){
		.entry_size = sizeof(struct edge), .key_size = sizeof(((struct edge *)0)->key)};
	g->of = malloc((d->nodes.count + 1) * sizeof(*g->of));
	for (size_t i = 0; g->of && i < d->nodes.count; i++) {
		uint32_t parent = i ? prof_node_at(d, i)->key.parent : 0;
		struct edge key = {.key = {g->calls->entity[parent], g->calls->entity[i]}}, *own;

		g->of[i] = UINT32_MAX;
		if (parent == 0)
			continue;
		own = table_add(&g->table, &key.key);
		if (!own)
			goto out;
		g->of[i] = (uint32_t)(own - (struct edge *)(void *)g->table.entries);
	}
	g->counts = calloc(g->table.count * g->metrics + 1, sizeof(*g->counts));
	g->subtrees = subtrees;
	if (subtrees && g->of && g->counts)
		rc = prof_outermost(d, g->of, g->table.count, add_edge, g);
out:
	free(subtrees);
	return rc;
}

/* An index for sorting: of functions by cost, of edges by one end and cost. */
struct rank {
	uint64_t group, value;
	uint32_t end, other, index;
	const struct prof_calls *calls;
};

static int by_end(const void *a, const void *b)
{
	const struct rank *x = a, *y = b;

	if (x->end != y->end)
		return x->end < y->end ? -1 : 1;
	if (x->group != y->group)
		return x->group > y->group ? -1 : 1;
	if (x->value != y->value)
		return x->value > y->value ? -1 : 1;
	return prof_calls_order(x->calls, x->other, y->other);
}

/* Edges by callee (callers of a function together) or by caller. */
static struct rank *rank_edges(const struct edges *g, bool by_callee)
{
	struct rank *ranks = calloc(g->table.count + 1, sizeof(*ranks));

	for (size_t i = 0; ranks && i < g->table.count; i++) {
		const struct edge *edge = table_at(&g->table, i);

		ranks[i] = (struct rank){
			.value = g->counts[i * g->metrics + g->calls->metric],
			.end = by_callee ? edge->key.callee : edge->key.caller,
			.other = by_callee ? edge->key.caller : edge->key.callee,
			.index = (uint32_t)i,
			.calls = g->calls,
		};
	}
	if (ranks)
		qsort(ranks, g->table.count, sizeof(*ranks), by_end);
	return ranks;
}

static struct rank *rank_functions(const struct prof_calls *c, size_t *count)
{
	const struct prof_sums *s = &c->sums;
	struct rank *ranks = calloc(s->entities.count + 1, sizeof(*ranks));
	uint64_t *groups = calloc(c->columns.data->groups.count + 1, sizeof(*groups));

	*count = 0;
	for (size_t i = 0; groups && i < s->entities.count; i++)
		groups[prof_entity_at(s, i)->key.group] += s->own[i * s->metrics + c->metric];
	for (size_t i = 0; ranks && groups && i < s->entities.count; i++) {
		const struct prof_entity *n = prof_entity_at(s, i);

		if (!n->selected || !s->inclusive[i * s->metrics + c->metric])
			continue;
		ranks[(*count)++] = (struct rank){
			.group = groups[n->key.group],
			.value = s->inclusive[i * s->metrics + c->metric],
			.other = (uint32_t)i,
			.calls = c,
		};
	}
	if (!groups) {
		free(ranks);
		ranks = NULL;
	}
	free(groups);
	if (ranks)
		qsort(ranks, *count, sizeof(*ranks), by_end);
	return ranks;
}

/* The first of the edges at this end. */
static size_t first_edge(const struct rank *ranks, size_t count, uint32_t end)
{
	size_t low = 0, high = count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (ranks[middle].end < end)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static int edge_rows(struct edges *g, const struct rank *ranks, uint32_t end, enum prof_role role)
{
	for (size_t i = first_edge(ranks, g->table.count, end);
		i < g->table.count && ranks[i].end == end; i++)
		if (ranks[i].value && prof_calls_row(g->calls, ranks[i].other, role, NULL,
					      g->counts + ranks[i].index * g->metrics) < 0)
			return -1;
	return 0;
}

static int rows(struct edges *g, const struct rank *functions, size_t count)
{
	struct rank *callers = rank_edges(g, true), *callees = rank_edges(g, false);
	struct prof_calls *c = g->calls;
	int rc = callers && callees ? 0 : -1;

	for (size_t i = 0; i < count && rc == 0; i++) {
		uint32_t function = functions[i].other;
		const uint64_t *own = c->sums.own + function * g->metrics;

		if (prof_quits(&c->columns.data->request->quit, i,
			    prof_calls_percent(c, functions[i].value), 0)) {
			rc = prof_note(c->columns.table, "%zu more function%s %s left out (-q)",
				count - i, plural(count - i), plural_is(count - i));
			break;
		}
		if (edge_rows(g, callers, function, PROF_CALLER) ||
			prof_calls_row(c, function, PROF_HEAD, own,
				c->sums.inclusive + function * g->metrics) < 0 ||
			edge_rows(g, callees, function, PROF_CALLEE))
			rc = -1;
	}
	free(callers);
	free(callees);
	return rc;
}

int prof_butterfly(struct prof_data *d, struct prof_table *t, struct error *e)
{
	struct prof_calls calls;
	struct edges g = {.calls = &calls, .metrics = d->metrics.count};
	struct rank *functions = NULL;
	size_t count = 0;
	int rc = -1;

	t->report = "butterfly";
	t->layout = PROF_BUTTERFLY;
	if (d->request->quit.cumulative > 0)
		return error_set(e, ERR_CONFLICT,
			"-q with cum%% has no meaning for functions that contain each other");
	if (prof_calls_init(&calls, d, t, e))
		return -1;
	t->title = prof_text(t, "Callers and callees, in descending order by inclusive %s",
		d->metrics.data[calls.metric].metric->name);
	if (t->title && find_edges(&g, d) == 0)
		functions = rank_functions(&calls, &count);
	if (functions && rows(&g, functions, count) == 0 && prof_columns_total(&calls.columns) == 0)
		rc = prof_coverage(t, d, e);
	else
		error_nomem(e);
	free(functions);
	table_fini(&g.table);
	free(g.of);
	free(g.counts);
	prof_calls_fini(&calls);
	return rc;
}
