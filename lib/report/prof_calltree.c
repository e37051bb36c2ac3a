/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The call tree: paths of functions (not of addresses), each with what was spent below it, most
 * costly branch first.
 */
#include <stdlib.h>
#include <string.h>

#include "report/prof_tree.h"
#include "report/prof_views.h"

#define DEFAULT_PERCENT 0.5 /* what is below is left out without -q */

struct branch { /* table entry; 0 is the root */
	struct {
		uint32_t parent, entity;
	} key;
};

struct tree {
	struct prof_calls *calls;
	struct table branches;
	uint64_t *own, *inclusive; /* [branch * metrics + metric] */
	uint64_t *groups;          /* samples of threads */
	uint32_t *order;           /* children of a branch together, as shown */
	uint32_t *first; /* [branch]: where in order its children begin; one more at the end */
	bool *wanted;    /* [branch] */
	size_t metrics;
	uint64_t least; /* inclusive samples: what is below is left out */
};

/* Nodes of the data become branches. */
static int grow(struct tree *t, const struct prof_data *d)
{
	uint32_t *of = calloc(d->nodes.count + 1, sizeof(*of));
	VEC(uint64_t) own = {0};
	int rc = of ? 0 : -1;

	t->branches = (struct table){
		.entry_size = sizeof(struct branch), .key_size = sizeof(((struct branch *)0)->key)};
	for (size_t i = 0; i < d->nodes.count && rc == 0; i++) {
		struct branch key = {.key = {UINT32_MAX, UINT32_MAX}}, *branch;
		size_t before = t->branches.count;

		if (i) {
			key.key.parent = of[prof_node_at(d, i)->key.parent];
			key.key.entity = t->calls->entity[i];
		}
		branch = table_add(&t->branches, &key.key);
		if (!branch) {
			rc = -1;
			break;
		}
		of[i] = (uint32_t)(branch - (struct branch *)(void *)t->branches.entries);
		for (size_t k = 0; t->branches.count > before && k < t->metrics; k++) {
			const uint64_t *slot = vec_push(&own);

			if (!slot)
				rc = -1;
		}
		for (size_t k = 0; k < t->metrics && rc == 0; k++)
			own.data[of[i] * t->metrics + k] += d->node_counts.data[i * t->metrics + k];
	}
	free(of);
	t->own = own.data;
	return rc;
}

static const struct branch *branch_at(const struct tree *t, size_t i)
{
	return table_at(&t->branches, i);
}

static int add_up(struct tree *t)
{
	size_t bytes = t->branches.count * t->metrics * sizeof(*t->own);

	t->inclusive = malloc(bytes + 1);
	t->groups = calloc(t->calls->columns.data->groups.count + 1, sizeof(*t->groups));
	if (!t->own || !t->inclusive || !t->groups)
		return -1;
	memcpy(t->inclusive, t->own, bytes);
	for (size_t i = t->branches.count; i-- > 1;)
		for (size_t k = 0; k < t->metrics; k++)
			t->inclusive[branch_at(t, i)->key.parent * t->metrics + k] +=
				t->inclusive[i * t->metrics + k];
	for (size_t i = 1; i < t->branches.count; i++) {
		const struct prof_entity *n =
			prof_entity_at(&t->calls->sums, branch_at(t, i)->key.entity);

		t->groups[n->key.group] += t->own[i * t->metrics + t->calls->metric];
	}
	return 0;
}

static int by_cost(const void *a, const void *b, void *context)
{
	uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
	const struct tree *t = context;
	const struct branch *x = branch_at(t, i), *y = branch_at(t, k);
	uint64_t p, q;

	if (x->key.parent != y->key.parent)
		return x->key.parent < y->key.parent ? -1 : 1;
	p = t->groups[prof_entity_at(&t->calls->sums, x->key.entity)->key.group];
	q = t->groups[prof_entity_at(&t->calls->sums, y->key.entity)->key.group];
	if (p != q)
		return p > q ? -1 : 1;
	p = t->inclusive[i * t->metrics + t->calls->metric];
	q = t->inclusive[k * t->metrics + t->calls->metric];
	if (p != q)
		return p > q ? -1 : 1;
	return prof_calls_order(t->calls, x->key.entity, y->key.entity);
}

static int arrange(struct tree *t)
{
	size_t count = t->branches.count, at = 0;

	t->order = calloc(count + 1, sizeof(*t->order));
	t->first = calloc(count + 2, sizeof(*t->first));
	if (!t->order || !t->first)
		return -1;
	for (size_t i = 1; i < count; i++)
		t->order[i - 1] = (uint32_t)i;
	qsort_r(t->order, count ? count - 1 : 0, sizeof(*t->order), by_cost, t);
	for (size_t i = 0; i <= count; i++) {
		while (at + 1 < count && branch_at(t, t->order[at])->key.parent < i)
			at++;
		t->first[i] = (uint32_t)at;
	}
	return 0;
}

static int falling(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x > y ? -1 : x < y;
}

/* What -q leaves: so many branches (and those that cost as much as the last of them), or those
 * above a share. */
static int prune(struct tree *t, const struct prof_quit *q)
{
	uint64_t all = t->calls->columns.data->metrics.data[t->calls->metric].samples, *values;
	double percent = q->rows || q->percent > 0 ? q->percent : DEFAULT_PERCENT;

	t->least = (uint64_t)(percent / 100 * (double)all);
	if ((double)t->least < percent / 100 * (double)all || t->least == 0)
		t->least++;
	if (!q->rows || q->rows + 1 >= t->branches.count)
		return 0;
	values = calloc(t->branches.count, sizeof(*values));
	if (!values)
		return -1;
	for (size_t i = 1; i < t->branches.count; i++)
		values[i - 1] = t->inclusive[i * t->metrics + t->calls->metric];
	qsort(values, t->branches.count - 1, sizeof(*values), falling);
	if (values[q->rows - 1] > t->least)
		t->least = values[q->rows - 1];
	free(values);
	return 0;
}

/* -only, -exclude: what leads to something that is wanted stays. */
static int choose(struct tree *t)
{
	t->wanted = calloc(t->branches.count + 1, sizeof(*t->wanted));
	if (!t->wanted)
		return -1;
	for (size_t i = t->branches.count; i-- > 1;) {
		const struct branch *b = branch_at(t, i);

		if (prof_entity_at(&t->calls->sums, b->key.entity)->selected)
			t->wanted[i] = true;
		if (t->wanted[i])
			t->wanted[b->key.parent] = true;
	}
	return 0;
}

static bool shown(const struct tree *t, size_t branch)
{
	return t->wanted[branch] &&
	       t->inclusive[branch * t->metrics + t->calls->metric] >= t->least;
}

/* Depth first; row and next child of each branch on the way are kept beside. */
static int rows(struct tree *t, size_t *left)
{
	uint32_t *next = calloc(t->branches.count + 1, sizeof(*next));
	long *row = calloc(t->branches.count + 1, sizeof(*row));
	uint32_t branch = 0;
	unsigned depth = 0;
	int rc = next && row ? 0 : -1;

	if (rc == 0) {
		row[0] = -1;
		memcpy(next, t->first, t->branches.count * sizeof(*next));
	}
	while (rc == 0) {
		struct prof_row *r;
		uint32_t child;

		if (next[branch] >= t->first[branch + 1]) {
			if (branch == 0)
				break;
			branch = branch_at(t, branch)->key.parent;
			depth--;
			continue;
		}
		child = t->order[next[branch]++];
		if (!shown(t, child)) {
			++*left;
			continue;
		}
		row[child] = prof_calls_row(t->calls, branch_at(t, child)->key.entity, PROF_ROW,
			t->own + child * t->metrics, t->inclusive + child * t->metrics);
		if (row[child] < 0) {
			rc = -1;
			break;
		}
		r = &t->calls->columns.table->rows.data[row[child]];
		r->depth = depth++;
		r->parent = row[branch];
		branch = child;
	}
	free(next);
	free(row);
	return rc;
}

int prof_calltree(struct prof_data *d, struct prof_table *table, struct error *e)
{
	const struct prof_quit *q = &d->request->quit;
	struct prof_calls calls;
	struct tree t = {.calls = &calls, .metrics = d->metrics.count};
	size_t left = 0;
	int rc = -1;

	table->report = "calltree";
	table->layout = PROF_TREE;
	if (q->cumulative > 0)
		return error_set(e, ERR_CONFLICT,
			"-q with cum%% has no meaning for functions that contain each other");
	if (prof_calls_init(&calls, d, table, e))
		return -1;
	table->title = prof_text(
		table, "Call tree, by inclusive %s", d->metrics.data[calls.metric].metric->name);
	if (table->title && grow(&t, d) == 0 && add_up(&t) == 0 && arrange(&t) == 0 &&
		choose(&t) == 0 && prune(&t, q) == 0 && rows(&t, &left) == 0 &&
		prof_columns_total(&calls.columns) == 0 &&
		(!left || prof_note(table, "%zu branches are left out (%s)", left,
				  q->rows || q->percent > 0 ? "-q"
							    : "below 0.5%; -q 0.01% "
							      "shows more") == 0))
		rc = prof_coverage(table, d, e);
	else
		error_nomem(e);
	table_fini(&t.branches);
	free(t.own);
	free(t.inclusive);
	free(t.groups);
	free(t.order);
	free(t.first);
	free(t.wanted);
	prof_calls_fini(&calls);
	return rc;
}
