/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Each function between its callers and its callees. A caller's number is the part of the
 * function's inclusive samples that came through that caller; a callee's is its inclusive samples
 * when the function called it. On a path where a call recurs, its outermost one counts.
 */
#include <stdlib.h>

#include "base/sort.h"
#include "report/report_tree.h"
#include "report/report_views.h"

struct edge { /* table entry */
	struct {
		uint32_t caller, callee;
	} key;
};

struct edges {
	struct report_calls *calls;
	struct table table;
	uint32_t *of;     /* edge of each node; UINT32_MAX: no caller */
	uint64_t *counts; /* [edge * metrics + metric] */
	const uint64_t *subtrees;
	size_t metrics;
};

static void butterfly_add_edge(void *context, size_t node)
{
	struct edges *g = context;

	for (size_t k = 0; k < g->metrics; k++)
		g->counts[g->of[node] * g->metrics + k] += g->subtrees[node * g->metrics + k];
}

static int find_edges(struct edges *g, struct report_table *t, const struct prof_data *d)
{
	uint64_t *subtrees = profile_subtrees(d);
	int rc = -1;

	g->table = TABLE_OF(struct edge);
	g->of = report_scratch(t, d->nodes.count, sizeof(*g->of));
	for (size_t i = 0; g->of && i < d->nodes.count; i++) {
		uint32_t parent = i ? profile_tree_node_at(d, i)->key.parent : 0;
		struct edge key = {.key = {g->calls->entity[parent], g->calls->entity[i]}}, *own;

		g->of[i] = UINT32_MAX;
		if (parent == 0)
			continue;
		own = table_add(&g->table, &key.key);
		if (!own)
			goto out;
		g->of[i] = (uint32_t)table_number(&g->table, own);
	}
	g->counts = report_scratch(t, g->table.count * g->metrics, sizeof(*g->counts));
	g->subtrees = subtrees;
	if (subtrees && g->of && g->counts)
		rc = profile_outermost(d, g->of, g->table.count, butterfly_add_edge, g);
out:
	free(subtrees);
	return rc;
}

/* Edges sorted by one end and cost. */
struct rank {
	uint64_t value;
	uint32_t end, other, index;
	const struct report_calls *calls;
};

static int by_end(const void *a, const void *b)
{
	const struct rank *x = a, *y = b;
	const struct report_calls *c = x->calls;

	return sort_rising(x->end, y->end)
		       ?: sort_falling(x->value, y->value)
		       ?: profile_entity_order(c->columns.data, profile_entity_at(&c->sums, x->other),
				  profile_entity_at(&c->sums, y->other));
}

/* Edges by callee (callers of a function together) or by caller. */
static struct rank *rank_edges(const struct edges *g, bool by_callee)
{
	struct rank *ranks =
		report_scratch(g->calls->columns.table, g->table.count, sizeof(*ranks));

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

/* The first of the edges at this end. */
static size_t first_edge(const struct rank *ranks, size_t count, uint32_t end)
{
	return vec_search(i, count, ranks[i].end < end);
}

static void edge_rows(
	const struct edges *g, const struct rank *ranks, uint32_t end, enum report_role role)
{
	for (size_t i = first_edge(ranks, g->table.count, end);
		i < g->table.count && ranks[i].end == end; i++)
		if (ranks[i].value)
			report_calls_row(g->calls, ranks[i].other, role, NULL,
				g->counts + ranks[i].index * g->metrics);
}

static void butterfly_rows(struct report_calls *c)
{
	struct report_table *t = c->columns.table;
	const struct prof_data *d = c->columns.data;
	struct edges g = {.calls = c, .metrics = c->metrics};
	size_t count = 0;
	const struct report_rank *functions =
		report_ranks(t, d, &c->sums, c->metric, false, &count);
	const struct rank *callers = NULL, *callees = NULL;
	struct report_cut cut = {.quit = d->request->quit};
	struct report_fold fold = report_fold_samples(d);

	if (find_edges(&g, t, d) == 0) {
		callers = rank_edges(&g, true);
		callees = rank_edges(&g, false);
	}
	t->failed |= !functions || !callers || !callees;
	for (size_t i = 0; i < count && !t->failed; i++) {
		uint32_t function = functions[i].entity;

		if (report_folds(&fold, c->sums.inclusive + function * c->metrics, c->metrics))
			continue;
		if (report_cuts(&cut, report_calls_percent(c, functions[i].value))) {
			report_left_out(t, count - i, "function", "-q");
			break;
		}
		edge_rows(&g, callers, function, REPORT_CALLER);
		report_calls_row(c, function, REPORT_HEAD, c->sums.own + function * c->metrics,
			c->sums.inclusive + function * c->metrics);
		edge_rows(&g, callees, function, REPORT_CALLEE);
	}
	report_folded(t, &fold, "function", 0);
	table_fini(&g.table);
}

int report_butterfly(struct prof_data *d, struct report_table *t, struct error *e)
{
	t->report = "butterfly";
	t->layout = REPORT_BUTTERFLY;
	if (report_call_counts_wanted(d))
		return report_call_counts(d, t, e);
	return report_calls_report(
		d, t, "Callers and callees, in descending order by inclusive", butterfly_rows, e);
}
