/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See data.h.  What is said of a table once (how its rows are ordered, what they refer to, how two
 * of one key become one) serves adding, settling and merging. */
#include "experiment/data.h"

#include <stdlib.h>
#include <string.h>

#include "experiment/order.h"
#include "experiment/private.h"

/* ---- how rows add up ---- */

static void add_object(void *to, const void *row)
{
	struct experiment_object *a = to;
	const struct experiment_object *b = row;

	if (!a->blocks)
		a->begins = b->begins;
	else if (b->blocks && a->begins != b->begins)
		a->begins = EXPERIMENT_SEVERAL;
	a->blocks = experiment_sum(a->blocks, b->blocks);
	a->bytes = experiment_sum(a->bytes, b->bytes);
}

static void add_place(void *to, const void *row)
{
	struct experiment_place *a = to;

	a->count = experiment_sum(a->count, ((const struct experiment_place *)row)->count);
}

static uint64_t divisor(uint64_t a, uint64_t b)
{
	while (b) {
		uint64_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

static void add_touch(void *to, const void *row)
{
	struct experiment_touch *a = to;
	const struct experiment_touch *b = row;

	if (!a->count) {
		a->least = b->least;
		a->most = b->most;
		a->apart = b->apart;
	} else {
		uint64_t distance = a->least < b->least ? (uint64_t)b->least - (uint64_t)a->least
							: (uint64_t)a->least - (uint64_t)b->least;

		a->apart = divisor(divisor(a->apart, b->apart), distance);
		a->least = a->least < b->least ? a->least : b->least;
		a->most = a->most > b->most ? a->most : b->most;
	}
	a->count = experiment_sum(a->count, b->count);
}

static void add_line(void *to, const void *row)
{
	struct experiment_line *a = to;
	const struct experiment_line *b = row;

	a->requests = experiment_sum(a->requests, b->requests);
	a->needed = experiment_sum(a->needed, b->needed);
	a->useless = experiment_sum(a->useless, b->useless);
}

static void add_end(void *to, const void *row)
{
	struct experiment_end *a = to;
	const struct experiment_end *b = row;

	a->requests = experiment_sum(a->requests, b->requests);
	a->loads = experiment_sum(a->loads, b->loads);
	a->stores = experiment_sum(a->stores, b->stores);
	for (int i = 0; i < EXPERIMENT_MASK_WORDS; i++) {
		a->read[i] |= b->read[i];
		a->written[i] |= b->written[i];
	}
}

/* ---- their order ---- */

/* The first difference decides. */
#define BY(a, b, field)                                                                            \
	if ((a)->key.field != (b)->key.field)                                                      \
	return (a)->key.field < (b)->key.field ? -1 : 1

static int order_objects(const void *pa, const void *pb)
{
	const struct experiment_object *a = pa, *b = pb;

	BY(a, b, kind);
	BY(a, b, image);
	BY(a, b, node);
	BY(a, b, address);
	BY(a, b, size);
	BY(a, b, thread);
	return 0;
}

static int order_places(const void *pa, const void *pb)
{
	const struct experiment_place *a = pa, *b = pb;

	BY(a, b, object);
	BY(a, b, scale);
	BY(a, b, line);
	BY(a, b, metric);
	return 0;
}

static int order_touches(const void *pa, const void *pb)
{
	const struct experiment_touch *a = pa, *b = pb;

	BY(a, b, object);
	BY(a, b, image);
	BY(a, b, address);
	BY(a, b, metric);
	return 0;
}

static int order_lines(const void *pa, const void *pb)
{
	const struct experiment_line *a = pa, *b = pb;

	BY(a, b, object);
	BY(a, b, offset);
	BY(a, b, bytes);
	return 0;
}

static int order_ends(const void *pa, const void *pb)
{
	const struct experiment_end *a = pa, *b = pb;

	BY(a, b, line);
	BY(a, b, thread);
	BY(a, b, object);
	BY(a, b, image);
	BY(a, b, address);
	return 0;
}

/* ---- what they refer to ---- */

struct numbers {
	const uint32_t *images, *nodes, *metrics, *objects, *lines; /* nodes NULL: as they are */
};

static void renumber_object(void *row, const struct numbers *n)
{
	struct experiment_object *o = row;

	o->key.image = n->images[o->key.image];
	o->key.node = n->nodes ? n->nodes[o->key.node] : o->key.node;
}

static void renumber_place(void *row, const struct numbers *n)
{
	struct experiment_place *p = row;

	p->key.metric = n->metrics[p->key.metric];
	p->key.object = n->objects[p->key.object];
}

static void renumber_touch(void *row, const struct numbers *n)
{
	struct experiment_touch *t = row;

	t->key.metric = n->metrics[t->key.metric];
	t->key.object = n->objects[t->key.object];
	t->key.image = n->images[t->key.image];
}

static void renumber_line(void *row, const struct numbers *n)
{
	struct experiment_line *l = row;

	l->key.object = n->objects[l->key.object];
}

static void renumber_end(void *row, const struct numbers *n)
{
	struct experiment_end *end = row;

	end->key.line = n->lines[end->key.line];
	end->key.object = n->objects[end->key.object];
	end->key.image = n->images[end->key.image];
}

/* ---- tables ---- */

static const struct kind {
	size_t size, key_size, offset; /* offset: in struct experiment_data */
	int (*order)(const void *a, const void *b);
	void (*renumber)(void *row, const struct numbers *n);
	void (*add)(void *to, const void *row);
} kinds[DATA_TABLES] = {
#define KIND(name, table)                                                                          \
	{                                                                                          \
		sizeof(struct experiment_##name), sizeof(((struct experiment_##name *)0)->key),    \
			offsetof(struct experiment_data, table), order_##table, renumber_##name,   \
			add_##name                                                                 \
	}
	[DATA_OBJECTS] = KIND(object, objects),
	[DATA_PLACES] = KIND(place, places),
	[DATA_TOUCHES] = KIND(touch, touches),
	[DATA_LINES] = KIND(line, lines),
	[DATA_ENDS] = KIND(end, ends),
};

struct table *experiment_data_table(const struct experiment *x, int which)
{
	return (struct table *)(uintptr_t)((const char *)&x->data + kinds[which].offset);
}

int experiment_data_order(int which, const void *a, const void *b)
{
	return kinds[which].order(a, b);
}

static long add_row(struct experiment *x, int which, const void *row)
{
	struct table *t = experiment_data_table(x, which);
	char *to = table_add(t, row);

	if (!to)
		return -1;
	kinds[which].add(to, row);
	return (to - t->entries) / (long)t->entry_size;
}

long experiment_data_object(struct experiment *x, const struct experiment_object *object)
{
	return add_row(x, DATA_OBJECTS, object);
}

int experiment_data_place(struct experiment *x, const struct experiment_place *place)
{
	return add_row(x, DATA_PLACES, place) < 0 ? -1 : 0;
}

int experiment_data_touch(struct experiment *x, const struct experiment_touch *touch)
{
	return add_row(x, DATA_TOUCHES, touch) < 0 ? -1 : 0;
}

long experiment_data_line(struct experiment *x, const struct experiment_line *line)
{
	return add_row(x, DATA_LINES, line);
}

int experiment_data_end(struct experiment *x, const struct experiment_end *end)
{
	return add_row(x, DATA_ENDS, end) < 0 ? -1 : 0;
}

/* ---- life ---- */

int experiment_data_init(struct experiment *x)
{
	static const struct experiment_object unknown;

	for (int i = 0; i < DATA_TABLES; i++)
		*experiment_data_table(x, i) =
			(struct table){.entry_size = kinds[i].size, .key_size = kinds[i].key_size};
	return experiment_data_object(x, &unknown) < 0 ? -1 : 0;
}

static void fini_metric(struct experiment_metric *m)
{
	free(m->name);
	free(m->short_name);
	free(m->unit);
	free(m->source);
	free(m->note);
}

void experiment_data_fini(struct experiment *x)
{
	for (size_t i = 0; i < x->data.metrics.count; i++)
		fini_metric(&x->data.metrics.data[i]);
	vec_fini(&x->data.metrics);
	for (int i = 0; i < DATA_TABLES; i++)
		table_fini(experiment_data_table(x, i));
}

long experiment_data_metric(
	struct experiment *x, const struct experiment_metric *metric, struct error *e)
{
	struct experiment_metric *m = vec_push(&x->data.metrics);

	if (!m)
		return error_nomem(e);
	*m = *metric;
	m->name = strdup(metric->name);
	m->short_name = strdup(metric->short_name);
	m->unit = strdup(metric->unit);
	m->source = strdup(metric->source);
	m->note = strdup(metric->note);
	if (!m->name || !m->short_name || !m->unit || !m->source || !m->note)
		return error_nomem(e);
	return (long)x->data.metrics.count - 1;
}

/* ---- settling ---- */

static void order_before(uint32_t *places, size_t n, const experiment_metrics *metrics)
{
	/* There are few. */
	for (size_t i = 0; i < n; i++) {
		size_t at = i;

		for (; at > 0 &&
			order_data_metrics(&metrics->data[places[at - 1]], &metrics->data[i]) > 0;
			at--)
			places[at] = places[at - 1];
		places[at] = (uint32_t)i;
	}
}

/* Sorted, each once; to[old] = new. */
static int settle_metrics(struct experiment *x, uint32_t *to)
{
	experiment_metrics *all = &x->data.metrics, sorted = {0};
	size_t n = all->count;
	uint32_t *places = calloc(n + 1, sizeof(*places));

	if (!places)
		return -1;
	order_before(places, n, all);
	for (size_t i = 0; i < n; i++) {
		struct experiment_metric *m = &all->data[places[i]], *last, *slot;

		last = sorted.count ? &sorted.data[sorted.count - 1] : NULL;
		if (last && order_data_metrics(last, m) == 0) {
			experiment_metric_sum(last, true, m, true);
			fini_metric(m);
		} else {
			slot = vec_push(&sorted);
			if (!slot) {
				/* What was moved is no longer ours: the vector as it was has it. */
				vec_fini(&sorted);
				free(places);
				return -1;
			}
			*slot = *m;
		}
		to[places[i]] = (uint32_t)sorted.count - 1;
	}
	vec_fini(all);
	*all = sorted;
	free(places);
	return 0;
}

struct numbered {
	uint32_t old;
	const char *row;
};

static int compare_rows(const void *pa, const void *pb, void *order)
{
	const struct numbered *a = pa, *b = pb;

	return (*(int (**)(const void *, const void *))order)(a->row, b->row);
}

/* Rows sorted, those of one key added up; to[old] = new. */
static int settle_table(struct table *t, const struct kind *k, uint32_t *to)
{
	struct numbered *sorted = malloc((t->count + 1) * sizeof(*sorted));
	struct table now = {.entry_size = t->entry_size, .key_size = t->key_size};
	int (*order)(const void *, const void *) = k->order;
	int status = sorted ? table_reserve(&now, t->count) : -1;
	char *last = NULL;

	for (size_t i = 0; status == 0 && i < t->count; i++)
		sorted[i] = (struct numbered){(uint32_t)i, t->entries + i * t->entry_size};
	if (status == 0 && t->count)
		qsort_r(sorted, t->count, sizeof(*sorted), compare_rows, &order);
	for (size_t i = 0; status == 0 && i < t->count; i++) {
		if (last && order(last, sorted[i].row) == 0) {
			k->add(last, sorted[i].row);
		} else {
			last = table_append(&now);
			memcpy(last, sorted[i].row, t->entry_size);
		}
		to[sorted[i].old] = (uint32_t)now.count - 1;
	}
	free(sorted);
	if (status) {
		table_fini(&now);
		return -1;
	}
	table_fini(t);
	*t = now;
	return 0;
}

int experiment_data_settle(struct experiment *x, const uint32_t *images, const uint32_t *nodes)
{
	uint32_t *maps[DATA_TABLES] = {0}, *metrics;
	struct numbers n = {.images = images, .nodes = nodes};
	int status;

	if (!experiment_has_data(x))
		return 0;
	metrics = calloc(x->data.metrics.count + 1, sizeof(*metrics));
	status = metrics ? settle_metrics(x, metrics) : -1;
	n.metrics = metrics;
	for (int which = 0; which < DATA_TABLES && status == 0; which++) {
		struct table *t = experiment_data_table(x, which);

		for (size_t i = 0; i < t->count; i++)
			kinds[which].renumber(table_at(t, i), &n);
		table_changed(t);
		maps[which] = malloc((t->count + 1) * sizeof(**maps));
		status = maps[which] ? settle_table(t, &kinds[which], maps[which]) : -1;
		n.objects = maps[DATA_OBJECTS];
		n.lines = maps[DATA_LINES];
	}
	free(metrics);
	for (int i = 0; i < DATA_TABLES; i++)
		free(maps[i]);
	return status;
}

/* ---- merging ---- */

static int merge_metrics(
	struct experiment *a, const struct experiment *b, uint32_t *to, struct error *e)
{
	for (size_t i = 0; i < b->data.metrics.count; i++) {
		const struct experiment_metric *m = &b->data.metrics.data[i];
		struct experiment_metric copy = *m;
		size_t at = 0;
		long added;

		while (at < a->data.metrics.count &&
			order_data_metrics(&a->data.metrics.data[at], m) != 0)
			at++;
		to[i] = (uint32_t)at;
		if (at == a->data.metrics.count) {
			added = experiment_data_metric(a, m, e);
			if (added < 0)
				return -1;
			continue;
		}
		copy.note = strdup(m->note);
		if (!copy.note)
			return error_nomem(e);
		experiment_metric_sum(&a->data.metrics.data[at], true, &copy, true);
		free(copy.note);
	}
	return 0;
}

/* Adds b's rows; to[row of b] = row of a. */
static int merge_table(struct experiment *a, const struct experiment *b, int which,
	const struct numbers *n, uint32_t *to)
{
	const struct table *t = experiment_data_table(b, which);
	union {
		struct experiment_object object;
		struct experiment_end end;
		struct experiment_touch touch;
	} row;

	for (size_t i = 0; i < t->count; i++) {
		long at;

		memcpy(&row, t->entries + i * t->entry_size, t->entry_size);
		kinds[which].renumber(&row, n);
		at = add_row(a, which, &row);
		if (at < 0)
			return -1;
		to[i] = (uint32_t)at;
	}
	return 0;
}

int experiment_data_merge(struct experiment *a, const struct experiment *b, const uint32_t *images,
	const uint32_t *nodes, struct error *e)
{
	uint32_t *maps[DATA_TABLES] = {0}, *metrics;
	struct numbers n = {.images = images, .nodes = nodes};
	int status;

	a->data.lost = experiment_sum(a->data.lost, b->data.lost);
	if (!experiment_has_data(b))
		return 0;
	metrics = calloc(b->data.metrics.count + 1, sizeof(*metrics));
	status = metrics ? merge_metrics(a, b, metrics, e) : error_nomem(e);
	n.metrics = metrics;
	for (int which = 0; which < DATA_TABLES && status == 0; which++) {
		maps[which] = calloc(experiment_data_table(b, which)->count + 1, sizeof(**maps));
		if (!maps[which] || merge_table(a, b, which, &n, maps[which]))
			status = error_nomem(e);
		n.objects = maps[DATA_OBJECTS];
		n.lines = maps[DATA_LINES];
	}
	free(metrics);
	for (int i = 0; i < DATA_TABLES; i++)
		free(maps[i]);
	return status;
}
