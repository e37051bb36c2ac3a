/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Settling: rows are sorted by content and renumbered, equal rows become one.
 *
 * Nodes are numbered level by level: a node's number is above its parent's, and the children of
 * one node follow each other, sorted. So nodes are sorted by (parent, image, address) in the new
 * numbers, too, which makes them compact in files.
 */
#include <stdlib.h>
#include <string.h>

#include "experiment/file.h"
#include "experiment/order.h"
#include "experiment/private.h"

/* ---- lists ---- */

struct place_context {
	const struct experiment *x;
	int which;
};

static int settle_compare_places(const void *pa, const void *pb, void *data)
{
	const struct place_context *c = data;
	uint32_t a = *(const uint32_t *)pa, b = *(const uint32_t *)pb;
	int order = experiment_list_order(c->x, c->which, a, b);

	return order ? order : ORDER(a, b);
}

/* Moves rows into their places; to[old number] = new one. */
static int move_rows(const struct experiment_list *l, struct experiment_vec *v,
	const uint32_t *places, const uint32_t *to)
{
	size_t size = l->kind.size, kept = 0;
	char *sorted = malloc(v->count * size + 1);

	if (!sorted)
		return -1;
	for (size_t i = 0; i < v->count; i++) {
		char *row = v->data + places[i] * size;

		if (to[places[i]] == kept) {
			memcpy(sorted + kept++ * size, row, size);
			continue;
		}
		if (l->add)
			l->add(sorted + (kept - 1) * size, row);
		row_free_texts(row, &l->kind);
	}
	if (kept)
		memcpy(v->data, sorted, kept * size);
	v->count = kept;
	free(sorted);
	return 0;
}

/* The new number of each row; NULL when memory is out. To be freed by the caller. */
static uint32_t *sort_list(const struct experiment *x, int which)
{
	const struct experiment_list *l = &experiment_lists[which];
	struct experiment_vec *v = experiment_list_vec(x, which);
	size_t n = v->count, kept = 0;
	uint32_t *places = malloc((n + 1) * sizeof(*places)), *to = malloc((n + 1) * sizeof(*to));
	struct place_context context = {x, which};

	if (!places || !to)
		goto fail;
	for (size_t i = 0; i < n; i++)
		places[i] = (uint32_t)i;
	if (n > l->fixed)
		qsort_r(places + l->fixed, n - l->fixed, sizeof(*places), settle_compare_places,
			&context);
	for (size_t i = 0; i < n; i++) {
		bool same = !l->ties && i > l->fixed &&
			    experiment_list_order(x, which, places[i - 1], places[i]) == 0;

		to[places[i]] = (uint32_t)(same ? kept - 1 : kept++);
	}
	if (move_rows(l, v, places, to))
		goto fail;
	free(places);
	return to;
fail:
	free(places);
	free(to);
	return NULL;
}

static int settle_list(struct experiment *x, int which, uint32_t **to)
{
	const struct row_kind *kind = &experiment_lists[which].kind;
	struct experiment_vec *v = experiment_list_vec(x, which);
	/* As a table, for its references. */
	struct table rows = {.entries = v->data, .count = v->count, .entry_size = kind->size};
	struct row_numbers n = {0};

	for (int i = 0; i < EXPERIMENT_LISTS; i++)
		n.to[i] = to[i];
	row_renumber(&rows, kind, &n);
	to[which] = sort_list(x, which);
	return to[which] ? 0 : -1;
}

/* ---- nodes
 * --------------------------------------------------------------------------------------- */

struct sorted_node {
	struct experiment_node node;
	uint32_t old;
};

/* Images that were equal have become one: so may nodes. */
static int join_nodes(struct experiment *x, const struct row_numbers *n, uint32_t *to)
{
	struct table joined;

	if (row_init(&joined, &experiment_nodes_kind) ||
		row_merge(&joined, &x->nodes, &experiment_nodes_kind, n, to)) {
		table_fini(&joined);
		return -1;
	}
	memcpy(table_at(&joined, EXPERIMENT_ROOT), table_at(&x->nodes, EXPERIMENT_ROOT),
		joined.entry_size);
	table_fini(&x->nodes);
	x->nodes = joined;
	return 0;
}

/* Level by level: sorted holds the nodes but the root by (old parent, image, address), first[p] is
 * where the children of p begin there. */
static void number_nodes(
	struct experiment *x, const struct sorted_node *sorted, const uint32_t *first, uint32_t *to)
{
	struct experiment_node *nodes = (struct experiment_node *)(void *)x->nodes.entries;
	size_t n = x->nodes.count, count = 1;
	uint32_t *old = to + n; /* old number of each new one */

	to[0] = old[0] = 0;
	for (size_t i = 0; i < count; i++)
		for (uint32_t child = first[old[i]]; child < first[old[i] + 1]; child++) {
			nodes[count] = sorted[child].node;
			nodes[count].key.parent = (uint32_t)i;
			old[count] = sorted[child].old;
			to[sorted[child].old] = (uint32_t)count++;
		}
}

static uint32_t *sort_nodes(struct experiment *x)
{
	size_t n = x->nodes.count;
	struct sorted_node *sorted = malloc(n * sizeof(*sorted));
	uint32_t *first = calloc(n + 1, sizeof(*first)), *to = malloc(2 * n * sizeof(*to));

	if (!sorted || !first || !to) {
		free(to);
		to = NULL;
		goto out;
	}
	for (size_t i = 1; i < n; i++) {
		sorted[i - 1].node = *experiment_node_at(x, i);
		sorted[i - 1].old = (uint32_t)i;
		first[sorted[i - 1].node.key.parent + 1]++;
	}
	for (size_t i = 1; i <= n; i++)
		first[i] += first[i - 1];
	qsort(sorted, n - 1, sizeof(*sorted), order_nodes);
	number_nodes(x, sorted, first, to);
	table_changed(&x->nodes);
out:
	free(sorted);
	free(first);
	return to;
}

static bool in_order(const struct table *nodes)
{
	for (size_t i = EXPERIMENT_ROOT + 2; i < nodes->count; i++)
		if (order_nodes(table_at(nodes, i - 1), table_at(nodes, i)) >= 0)
			return false;
	return true;
}

/* n has the new numbers of images, and `to` of nodes. */
static int settle_nodes(
	struct experiment *x, const struct row_numbers *n, bool images_joined, uint32_t *to)
{
	struct row_numbers images = {.to = {[EXPERIMENT_IMAGES] = n->to[EXPERIMENT_IMAGES]}};
	size_t old_count = x->nodes.count;
	uint32_t *sorted;

	if (images_joined) {
		if (join_nodes(x, n, to))
			return -1;
	} else {
		row_renumber(&x->nodes, &experiment_nodes_kind, &images);
		for (size_t i = 0; i < old_count; i++)
			to[i] = (uint32_t)i;
	}
	if (in_order(&x->nodes))
		return 0;
	sorted = sort_nodes(x);
	for (size_t i = 0; sorted && i < old_count; i++)
		to[i] = sorted[to[i]];
	free(sorted);
	return sorted ? 0 : -1;
}

/* ---- all
 * ----------------------------------------------------------------------------------------- */

static int settle_table(struct experiment *x, int which, bool images_joined, uint32_t **to)
{
	const struct row_kind *kind = experiment_kind(which);
	struct table *t = experiment_table(x, which);
	struct row_numbers n = {0};

	/* To samples, slices only refer. */
	if (kind->referred_to && (which != EXPERIMENT_SAMPLES || x->slices.count) &&
		!(to[which] = malloc((t->count + 1) * sizeof(**to))))
		return -1;
	for (int i = 0; i < EXPERIMENT_TABLES; i++)
		n.to[i] = to[i];
	return which == EXPERIMENT_NODES ? settle_nodes(x, &n, images_joined, to[which])
					 : row_settle(t, kind, &n, to[which]);
}

int experiment_settle_numbers(struct experiment *x, uint32_t **to, struct error *e)
{
	size_t images = x->images.count;
	int status = 0;

	/* A second period without the first is an ordinary metric. */
	if (x->metrics.count)
		x->metrics.data[0].flags &= ~(uint32_t)METRIC_BOTH;
	for (int i = EXPERIMENT_FACTS; i < EXPERIMENT_LISTS && status == 0; i++)
		status = settle_list(x, i, to);
	for (int i = EXPERIMENT_LISTS; i < EXPERIMENT_TABLES && status == 0; i++)
		status = settle_table(x, i, x->images.count < images, to);
	images_known_forget(x);
	return status ? error_nomem(e) : 0;
}

int experiment_settle(struct experiment *x, struct error *e)
{
	uint32_t *to[EXPERIMENT_TABLES] = {0};
	int status = experiment_settle_numbers(x, to, e);

	for (int i = 0; i < EXPERIMENT_TABLES; i++)
		free(to[i]);
	return status;
}

/* ---- what nothing refers to ---- */

static void mark_used(const struct experiment *x, int which, bool *used)
{
	for (int i = EXPERIMENT_LISTS; i < EXPERIMENT_TABLES; i++)
		if (i != which)
			row_mark(experiment_table(x, i), experiment_kind(i), (unsigned)which, used);
	/* Parents come before their children. */
	for (size_t i = x->nodes.count; which == EXPERIMENT_NODES && i-- > 1;)
		used[experiment_node_at(x, i)->key.parent] |= used[i];
	used[0] = true;
}

static int drop_rows(struct experiment *x, int which, struct table *rows, const struct row_kind *k)
{
	bool *used = calloc(rows->count, sizeof(*used));
	uint32_t *to = calloc(rows->count, sizeof(*to));
	struct row_numbers n = {0};
	size_t kept = 0;

	if (!used || !to) {
		free(used);
		free(to);
		return -1;
	}
	mark_used(x, which, used);
	for (size_t i = 0; i < rows->count; i++) {
		void *row = table_at(rows, i);

		to[i] = (uint32_t)kept;
		if (used[i])
			memmove(table_at(rows, kept++), row, rows->entry_size);
		else
			row_free_texts(row, k);
	}
	free(used);
	rows->count = kept;
	table_changed(rows);
	n.to[which] = to;
	for (int i = EXPERIMENT_LISTS; i < EXPERIMENT_TABLES; i++)
		row_renumber(experiment_table(x, i), experiment_kind(i), &n);
	free(to);
	return 0;
}

int experiment_drop_obstacles(struct experiment *x)
{
	return drop_rows(x, EXPERIMENT_OBSTACLES, &x->obstacles, &experiment_obstacles_kind);
}

int experiment_drop_unused(struct experiment *x, struct error *e)
{
	struct table images = {.entries = (char *)x->images.data,
		.count = x->images.count,
		.entry_size = sizeof(*x->images.data)};

	images_known_forget(x);
	if (experiment_drop_obstacles(x) ||
		drop_rows(x, EXPERIMENT_NODES, &x->nodes, &experiment_nodes_kind) ||
		drop_rows(x, EXPERIMENT_IMAGES, &images, &experiment_lists[EXPERIMENT_IMAGES].kind))
		return error_nomem(e);
	x->images.count = images.count;
	return 0;
}
