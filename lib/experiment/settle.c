/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Settling: rows are sorted by content and renumbered, those that are equal become one.
 *
 * Nodes are numbered level by level: a node's number is above its parent's, and the children of one
 * node follow each other, sorted.  So nodes are sorted by (parent, image, address) in the new
 * numbers, too, which is what makes them cheap to store.
 */
#include <stdlib.h>
#include <string.h>

#include "experiment/branches.h"
#include "experiment/data.h"
#include "experiment/file.h"
#include "experiment/order.h"
#include "experiment/private.h"

/* ---- tables of rows
 * ------------------------------------------------------------------------------ */

/* Rows of one kind, which something else knows by their numbers. */
struct rows {
	void *data; /* of size bytes each */
	size_t *count, size;
	size_t fixed; /* at the beginning, stay where they are */
	/* 0: equal; then the first absorbs the second, or (NULL) both stay, in the order they have
	 */
	int (*order)(const struct experiment *x, size_t a, size_t b);
	void (*absorb)(void *row, void *other);
};

static int place_facts(const struct experiment *x, size_t a, size_t b)
{
	return strcmp(x->facts.data[a].key, x->facts.data[b].key);
}

static int place_images(const struct experiment *x, size_t a, size_t b)
{
	return order_images(&x->images.data[a], &x->images.data[b]);
}

static int place_metrics(const struct experiment *x, size_t a, size_t b)
{
	return order_metrics(x, a, x, b);
}

static int place_processes(const struct experiment *x, size_t a, size_t b)
{
	return order_processes(&x->processes.data[a], &x->processes.data[b]);
}

static int place_threads(const struct experiment *x, size_t a, size_t b)
{
	return order_threads(&x->threads.data[a], &x->threads.data[b]);
}

static int place_phases(const struct experiment *x, size_t a, size_t b)
{
	return order_phases(&x->phases.data[a], &x->phases.data[b]);
}

static void absorb_image(void *row, void *other)
{
	(void)row;
	free(((struct experiment_image *)other)->path);
}

static void absorb_process(void *row, void *other)
{
	(void)row;
	free(((struct experiment_process *)other)->command);
}

static void absorb_thread(void *row, void *other)
{
	(void)row;
	free(((struct experiment_thread *)other)->name);
}

static void absorb_metric(void *row, void *other)
{
	struct experiment_metric *m = other;

	experiment_metric_sum(row, true, m, true);
	free(m->name);
	free(m->short_name);
	free(m->unit);
	free(m->source);
	free(m->note);
}

struct place_context {
	const struct experiment *x;
	const struct rows *rows;
};

static int compare_places(const void *pa, const void *pb, void *data)
{
	const struct place_context *c = data;
	uint32_t a = *(const uint32_t *)pa, b = *(const uint32_t *)pb;
	int order = c->rows->order(c->x, a, b);

	return order ? order : ORDER(a, b);
}

/* Moves rows into their places; to[old number] = new one. */
static int move_rows(const struct rows *r, const uint32_t *places, const uint32_t *to)
{
	char *sorted = malloc(*r->count * r->size + 1);
	size_t kept = 0;

	if (!sorted)
		return -1;
	for (size_t i = 0; i < *r->count; i++) {
		char *row = (char *)r->data + places[i] * r->size;

		if (to[places[i]] == kept)
			memcpy(sorted + kept++ * r->size, row, r->size);
		else
			r->absorb(sorted + (kept - 1) * r->size, row);
	}
	if (kept)
		memcpy(r->data, sorted, kept * r->size);
	*r->count = kept;
	free(sorted);
	return 0;
}

/* The new number of each row; NULL when memory is out.  Yours to free. */
static uint32_t *sort_rows(const struct experiment *x, const struct rows *r)
{
	size_t n = *r->count, kept = 0;
	uint32_t *places = malloc((n + 1) * sizeof(*places)), *to = malloc((n + 1) * sizeof(*to));
	struct place_context context = {x, r};

	if (!places || !to)
		goto fail;
	for (size_t i = 0; i < n; i++)
		places[i] = (uint32_t)i;
	if (n > r->fixed)
		qsort_r(places + r->fixed, n - r->fixed, sizeof(*places), compare_places, &context);
	for (size_t i = 0; i < n; i++) {
		bool same = r->absorb && i > r->fixed && r->order(x, places[i - 1], places[i]) == 0;

		to[places[i]] = (uint32_t)(same ? kept - 1 : kept++);
	}
	if (move_rows(r, places, to))
		goto fail;
	free(places);
	return to;
fail:
	free(places);
	free(to);
	return NULL;
}

#define ROWS(vec, fixed, place, absorb)                                                            \
	(&(struct rows){(vec).data, &(vec).count, sizeof(*(vec).data), fixed, place, absorb})

/* ---- nodes
 * --------------------------------------------------------------------------------------- */

struct sorted_node {
	struct experiment_node node;
	uint32_t old;
};

/* From number begin on. */
static bool in_order(
	const struct table *t, size_t begin, int (*order)(const void *a, const void *b))
{
	for (size_t i = begin + 1; i < t->count; i++)
		if (order(table_at(t, i - 1), table_at(t, i)) >= 0)
			return false;
	return true;
}

/* Images that were equal have become one: so may nodes.  parents come before children, so each
 * finds its parent's new number. */
static uint32_t *join_nodes(struct experiment *x)
{
	struct table joined = {.entry_size = x->nodes.entry_size, .key_size = x->nodes.key_size};
	uint32_t *to = malloc(x->nodes.count * sizeof(*to));

	for (size_t i = 0; to && i < x->nodes.count; i++) {
		struct experiment_node node = *experiment_node_at(x, i);
		struct experiment_node *own;

		if (i > 0)
			node.key.parent = to[node.key.parent];
		own = table_add(&joined, &node.key);
		if (!own) {
			free(to);
			to = NULL;
		} else {
			to[i] = (uint32_t)(own - (struct experiment_node *)(void *)joined.entries);
		}
	}
	if (!to) {
		table_fini(&joined);
		return NULL;
	}
	table_fini(&x->nodes);
	x->nodes = joined;
	return to;
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

/* NULL in *to: numbers stay. */
static int settle_nodes(
	struct experiment *x, const uint32_t *images, bool images_joined, uint32_t **to)
{
	struct experiment_node *nodes = (struct experiment_node *)(void *)x->nodes.entries;
	uint32_t *joined = NULL;
	size_t old_count = x->nodes.count;

	for (size_t i = 0; i < old_count; i++)
		nodes[i].key.image = images[nodes[i].key.image];
	table_changed(&x->nodes);
	if (images_joined && !(joined = join_nodes(x)))
		return -1;
	if (in_order(&x->nodes, 1, order_nodes)) {
		*to = joined;
		return 0;
	}
	*to = sort_nodes(x);
	if (*to && joined) {
		for (size_t i = 0; i < old_count; i++)
			joined[i] = (*to)[joined[i]];
		free(*to);
		*to = joined;
	} else {
		free(joined);
	}
	return *to ? 0 : -1;
}

/* ---- samples, edges, symbols
 * --------------------------------------------------------------------- */

static uint64_t *sample_count(void *entry)
{
	return &((struct experiment_sample *)entry)->count;
}

static uint64_t *edge_count(void *entry)
{
	return &((struct experiment_edge *)entry)->count;
}

/* Sorts; equal keys add up, and what was never counted goes. */
static void settle_counts(struct table *t, int (*order)(const void *a, const void *b),
	uint64_t *(*count)(void *entry))
{
	size_t kept = 0;

	table_changed(t); /* keys were renumbered */
	if (!in_order(t, 0, order))
		table_sort(t, order);
	for (size_t i = 0; i < t->count; i++) {
		void *entry = table_at(t, i);

		if (*count(entry) == 0)
			continue;
		if (kept && order(table_at(t, kept - 1), entry) == 0) {
			uint64_t *sum = count(table_at(t, kept - 1));

			*sum = experiment_sum(*sum, *count(entry));
		} else {
			memmove(table_at(t, kept++), entry, t->entry_size);
		}
	}
	t->count = kept;
}

static void settle_symbols(struct table *t)
{
	size_t kept = 0;

	table_sort(t, order_symbols);
	for (size_t i = 0; i < t->count; i++) {
		struct experiment_symbol *s = table_at(t, i),
					 *last = kept ? table_at(t, kept - 1) : NULL;

		if (last && memcmp(&last->key, &s->key, sizeof(s->key)) == 0)
			free(s->name);
		else
			memmove(table_at(t, kept++), s, sizeof(*s));
	}
	t->count = kept;
}

/* ---- all
 * ----------------------------------------------------------------------------------------- */

enum { IMAGES, METRICS, PROCESSES, THREADS, PHASES, NODES, MAPS };

static int settle_rows(struct experiment *x, uint32_t **to)
{
	free(sort_rows(x, ROWS(x->facts, 0, place_facts, NULL)));
	to[IMAGES] = sort_rows(x, ROWS(x->images, 1, place_images, absorb_image));
	to[METRICS] = sort_rows(x, ROWS(x->metrics, 0, place_metrics, absorb_metric));
	to[PROCESSES] = sort_rows(x, ROWS(x->processes, 1, place_processes, absorb_process));
	if (!to[IMAGES] || !to[METRICS] || !to[PROCESSES])
		return -1;
	for (size_t i = 0; i < x->threads.count; i++)
		x->threads.data[i].process = to[PROCESSES][x->threads.data[i].process];
	to[THREADS] = sort_rows(x, ROWS(x->threads, 1, place_threads, absorb_thread));
	if (!to[THREADS])
		return -1;
	for (size_t i = 0; i < x->phases.count; i++)
		x->phases.data[i].thread = to[THREADS][x->phases.data[i].thread];
	to[PHASES] = sort_rows(x, ROWS(x->phases, 1, place_phases, NULL));
	return to[PHASES] ? 0 : -1;
}

static void renumber(struct experiment *x, uint32_t **to)
{
	for (size_t i = 0; i < x->samples.count; i++) {
		struct experiment_sample *s = table_at(&x->samples, i);

		s->key.metric = to[METRICS][s->key.metric];
		s->key.thread = to[THREADS][s->key.thread];
		s->key.phase = to[PHASES][s->key.phase];
		if (to[NODES])
			s->key.node = to[NODES][s->key.node];
	}
	for (size_t i = 0; i < x->edges.count; i++) {
		struct experiment_edge *edge = table_at(&x->edges, i);

		edge->key.from_image = to[IMAGES][edge->key.from_image];
		edge->key.to_image = to[IMAGES][edge->key.to_image];
	}
	for (size_t i = 0; i < x->symbols.count; i++) {
		struct experiment_symbol *s = table_at(&x->symbols, i);

		s->key.image = to[IMAGES][s->key.image];
	}
}

int experiment_settle(struct experiment *x, struct error *e)
{
	uint32_t *to[MAPS] = {0};
	size_t images = x->images.count;
	int status = -1;

	/* A lone second period has no other. */
	if (x->metrics.count)
		x->metrics.data[0].flags &= ~(uint32_t)METRIC_BOTH;
	if (settle_rows(x, to) == 0 &&
		settle_nodes(x, to[IMAGES], x->images.count < images, &to[NODES]) == 0) {
		renumber(x, to);
		settle_counts(&x->samples, order_samples, sample_count);
		settle_counts(&x->edges, order_edges, edge_count);
		settle_symbols(&x->symbols);
		status = experiment_data_settle(x, to[IMAGES], to[NODES]) ||
			 experiment_branches_settle(x, to[IMAGES]);
	}
	for (int i = 0; i < MAPS; i++)
		free(to[i]);
	return status ? error_nomem(e) : 0;
}
