/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The call tree: paths of functions (not of addresses), each with its inclusive samples, most
 * costly branch first.
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "report/report_tree.h"
#include "report/report_views.h"

#define DEFAULT_PERCENT 0.5 /* branches below it are left out without -q */
#define ENOUGH_BRANCHES 20  /* of more than one sample: those of one are left out, too */

struct branch { /* table entry; 0 is the root */
	struct {
		uint32_t parent, entity;
	} key;
};

struct tree {
	struct report_calls *calls;
	struct report_table *table;
	struct table branches;
	uint64_t *own, *inclusive; /* [branch * metrics + metric] */
	const uint64_t *groups;    /* samples of threads */
	uint32_t *order;           /* children of a branch together, as shown */
	uint32_t *first; /* [branch]: where in order its children begin; one more at the end */
	bool *wanted;    /* [branch] */
	size_t metrics;
	uint64_t least; /* inclusive samples: branches below it are left out */
	size_t left;    /* branches left out */
	unsigned most;  /* deeper ones are left out */
	size_t deep;    /* those left out for it, with more below */
};

static const struct branch *branch_at(const struct tree *t, size_t i)
{
	return table_at(&t->branches, i);
}

static const struct prof_entity *entity_at(const struct tree *t, size_t branch)
{
	return profile_entity_at(&t->calls->sums, branch_at(t, branch)->key.entity);
}

static uint64_t cost_of(const struct tree *t, size_t branch)
{
	return t->inclusive[branch * t->metrics + t->calls->metric];
}

/* Nodes of the data become branches. */
static int grow(struct tree *t, const struct prof_data *d)
{
	uint32_t *of = report_scratch(t->table, d->nodes.count, sizeof(*of));
	size_t count;

	for (size_t i = 0; of && i < d->nodes.count; i++) {
		struct branch key = {.key = {UINT32_MAX, UINT32_MAX}}, *branch;

		if (i) {
			key.key.parent = of[profile_tree_node_at(d, i)->key.parent];
			key.key.entity = t->calls->entity[i];
		}
		branch = table_add(&t->branches, &key.key);
		if (!branch)
			return -1;
		of[i] = (uint32_t)table_number(&t->branches, branch);
	}
	count = t->branches.count * t->metrics;
	t->own = report_scratch(t->table, count, sizeof(*t->own));
	t->inclusive = report_scratch(t->table, count, sizeof(*t->inclusive));
	if (!of || !t->own || !t->inclusive)
		return -1;
	for (size_t i = 0; i < d->nodes.count; i++)
		for (size_t k = 0; k < t->metrics; k++)
			t->own[of[i] * t->metrics + k] += d->node_counts.data[i * t->metrics + k];
	memcpy(t->inclusive, t->own, count * sizeof(*t->own));
	for (size_t i = t->branches.count; i-- > 1;)
		for (size_t k = 0; k < t->metrics; k++)
			t->inclusive[branch_at(t, i)->key.parent * t->metrics + k] +=
				t->inclusive[i * t->metrics + k];
	return 0;
}

static int calltree_by_cost(const void *a, const void *b, void *context)
{
	uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
	const struct tree *t = context;
	const struct prof_entity *p = entity_at(t, i), *q = entity_at(t, k);

	return sort_rising(branch_at(t, i)->key.parent, branch_at(t, k)->key.parent)
		       ?: sort_falling(t->groups[p->key.group], t->groups[q->key.group])
		       ?: sort_falling(cost_of(t, i), cost_of(t, k))
		       ?: profile_entity_order(t->calls->columns.data, p, q);
}

static int arrange(struct tree *t)
{
	size_t count = t->branches.count, at = 0;

	t->groups = report_group_sums(
		t->table, t->calls->columns.data, &t->calls->sums, t->calls->metric);
	t->order = report_scratch(t->table, count, sizeof(*t->order));
	t->first = report_scratch(t->table, count + 1, sizeof(*t->first));
	if (!t->groups || !t->order || !t->first)
		return -1;
	for (size_t i = 1; i < count; i++)
		t->order[i - 1] = (uint32_t)i;
	qsort_r(t->order, count ? count - 1 : 0, sizeof(*t->order), calltree_by_cost, t);
	for (size_t i = 0; i <= count; i++) {
		while (at + 1 < count && branch_at(t, t->order[at])->key.parent < i)
			at++;
		t->first[i] = (uint32_t)at;
	}
	return 0;
}

static int falling(const void *a, const void *b)
{
	return sort_falling(*(const uint64_t *)a, *(const uint64_t *)b);
}

/* Branches of more than one sample. */
static size_t repeated(const struct tree *t)
{
	size_t n = 0;

	for (size_t i = 1; i < t->branches.count; i++)
		n += cost_of(t, i) > 1;
	return n;
}

/* Applies -q: keeps that number of branches (and those with the same cost as the last of them), or
 * those above a share. */
static int prune(struct tree *t, const struct prof_quit *q)
{
	const struct prof_data *d = t->calls->columns.data;
	bool usual = !q->rows && q->percent <= 0;
	uint64_t all = d->metrics.data[t->calls->metric].samples, *values;
	double percent = !usual ? q->percent : d->request->whole ? 0 : DEFAULT_PERCENT;

	t->least = (uint64_t)(percent / 100 * (double)all);
	if ((double)t->least < percent / 100 * (double)all || t->least == 0)
		t->least++;
	if (usual && t->least == 1 && report_fold_of(d).on && repeated(t) >= ENOUGH_BRANCHES)
		t->least++;
	if (!q->rows || q->rows + 1 >= t->branches.count)
		return 0;
	values = report_scratch(t->table, t->branches.count, sizeof(*values));
	if (!values)
		return -1;
	for (size_t i = 1; i < t->branches.count; i++)
		values[i - 1] = cost_of(t, i);
	qsort(values, t->branches.count - 1, sizeof(*values), falling);
	if (values[q->rows - 1] > t->least)
		t->least = values[q->rows - 1];
	return 0;
}

/* -only, -exclude: keeps paths to selected entities. */
static int choose(struct tree *t)
{
	t->wanted = report_scratch(t->table, t->branches.count, sizeof(*t->wanted));
	for (size_t i = t->branches.count; t->wanted && i-- > 1;) {
		t->wanted[i] |= entity_at(t, i)->selected != 0;
		t->wanted[branch_at(t, i)->key.parent] |= t->wanted[i];
	}
	return t->wanted ? 0 : -1;
}

/* Depth first; row and next child of each branch on the way are kept beside. */
static int calltree_add_rows(struct tree *t)
{
	uint32_t *next = report_scratch(t->table, t->branches.count, sizeof(*next)), branch = 0;
	long *row = report_scratch(t->table, t->branches.count, sizeof(*row));
	unsigned depth = 0;

	if (!next || !row)
		return -1;
	row[0] = -1;
	memcpy(next, t->first, t->branches.count * sizeof(*next));
	for (;;) {
		struct report_row *r;
		uint32_t child;

		if (next[branch] >= t->first[branch + 1]) {
			if (branch == 0)
				return 0;
			branch = branch_at(t, branch)->key.parent;
			depth--;
			continue;
		}
		child = t->order[next[branch]++];
		if (!t->wanted[child] || cost_of(t, child) < t->least) {
			t->left++;
			continue;
		}
		if (depth >= t->most) {
			t->deep++;
			continue;
		}
		row[child] = (long)report_calls_row(t->calls, branch_at(t, child)->key.entity,
			REPORT_ROW, t->own + child * t->metrics, t->inclusive + child * t->metrics);
		r = &t->table->rows.data[row[child]];
		r->depth = depth++;
		r->parent = row[branch];
		branch = child;
	}
}

static void calltree_rows(struct report_calls *c)
{
	const struct prof_data *d = c->columns.data;
	const struct prof_quit *q = &d->request->quit;
	struct tree t = {.calls = c,
		.table = c->columns.table,
		.metrics = c->metrics,
		.most = d->request->folds && !d->request->whole ? PROF_DEEP : UINT_MAX,
		.branches = TABLE_OF(struct branch)};

	if (grow(&t, d) || arrange(&t) || choose(&t) || prune(&t, q) || calltree_add_rows(&t))
		t.table->failed = true;
	table_fini(&t.branches);
	if (t.deep)
		report_note(t.table,
			"What is deeper than %d calls is left out, at %zu branch%s (-whole)",
			PROF_DEEP, t.deep, t.deep == 1 ? "" : "es");
	if (t.left)
		report_note(t.table, "%zu branches are left out (%s)", t.left,
			q->rows || q->percent > 0 ? "-q"
			: t.least == 2            ? "of one sample, or below 0.5%; -whole"
						  : "below 0.5%; -whole");
}

int report_calltree(struct prof_data *d, struct report_table *t, struct error *e)
{
	t->report = "calltree";
	t->layout = REPORT_TREE;
	return report_calls_report(d, t, "Call tree, by inclusive", calltree_rows, e);
}
