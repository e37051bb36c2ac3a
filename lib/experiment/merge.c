/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One experiment added to another.
 *
 * Each table of b gets a map from its numbers to those of a.  Long tables are found by a finger: as
 * both are mostly in the same order, the next entry of b is, more often than not, the next or one
 * of the next of a; else it is looked up, and added if it is not there.
 */
#include "experiment/merge.h"

#include <stdlib.h>
#include <string.h>

#include "experiment/branches.h"
#include "experiment/data.h"
#include "experiment/order.h"
#include "experiment/private.h"

#define FINGER_STEPS 8

struct merge {
	struct experiment *a;
	const struct experiment *b;
	unsigned flags;
	struct error *e;
	uint32_t *images, *metrics, *processes, *threads, *phases, *nodes; /* numbers of b to a's */
};

int experiment_merge_begin(struct experiment *x, struct error *e)
{
	if (experiment_init(x, e))
		return -1;
	x->runs = 0;
	x->complete = true;
	return 0;
}

/* ---- the run
 * ------------------------------------------------------------------------------------- */

static int compare_words(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* "b,a" and "a,c": "a,b,c". */
static int merge_types(struct merge *m)
{
	VEC(char *) words = {0};
	struct strbuf joined = {0};
	char *copies[2] = {strdup(m->a->type), strdup(m->b->type)}, *rest, **word, *type = NULL;

	for (int i = 0; i < 2 && copies[0] && copies[1]; i++)
		for (char *w = strtok_r(copies[i], ",", &rest); w; w = strtok_r(NULL, ",", &rest)) {
			word = vec_push(&words);
			if (!word)
				goto out;
			*word = w;
		}
	if (words.count)
		qsort(words.data, words.count, sizeof(*words.data), compare_words);
	for (size_t i = 0; i < words.count; i++) {
		if (i && strcmp(words.data[i], words.data[i - 1]) == 0)
			continue;
		strbuf_puts(&joined, i ? "," : "");
		strbuf_puts(&joined, words.data[i]);
	}
	strbuf_puts(&joined, "");
	type = strbuf_take(&joined);
out:
	vec_fini(&words);
	free(copies[0]);
	free(copies[1]);
	if (!type)
		return error_nomem(m->e);
	free(m->a->type);
	m->a->type = type;
	return 0;
}

static struct experiment_fact *find_fact(struct experiment *x, const char *key)
{
	for (size_t i = 0; i < x->facts.count; i++)
		if (strcmp(x->facts.data[i].key, key) == 0)
			return &x->facts.data[i];
	return NULL;
}

static int merge_facts(struct merge *m)
{
	for (size_t i = 0; i < m->b->facts.count; i++) {
		const struct experiment_fact *fact = &m->b->facts.data[i];
		struct experiment_fact *own = find_fact(m->a, fact->key);
		int order = own ? strcmp(fact->value, own->value) : 0;
		bool several = fact->several || (own && (own->several || order));

		if ((!own || order < 0) && experiment_fact(m->a, fact->key, fact->value, m->e))
			return -1;
		own = find_fact(m->a, fact->key);
		if (own)
			own->several = several;
	}
	return 0;
}

static void merge_run(struct merge *m)
{
	struct experiment *a = m->a;
	const struct experiment *b = m->b;

	if (!a->began || (b->began && b->began < a->began))
		a->began = b->began;
	a->elapsed = experiment_sum(a->elapsed, b->elapsed);
	a->runs = a->runs + b->runs < a->runs ? UINT32_MAX : a->runs + b->runs;
	a->complete &= b->complete;
}

/* ---- rows
 * ---------------------------------------------------------------------------------------- */

static int merge_images(struct merge *m)
{
	long at = -1; /* where the last one was */

	for (size_t i = 0; i < m->b->images.count; i++) {
		const struct experiment_image *image = &m->b->images.data[i];
		size_t next = (size_t)(at + 1);

		if (next < m->a->images.count && order_images(&m->a->images.data[next], image) == 0)
			at = (long)next;
		else
			at = experiment_image(m->a, image, m->e);
		if (at < 0)
			return -1;
		m->images[i] = (uint32_t)at;
	}
	return 0;
}

/* Puts the metric last at number `at`; those from there on count one more. */
static void insert_metric(struct experiment *x, size_t at)
{
	size_t last = x->metrics.count - 1;
	struct experiment_metric metric = x->metrics.data[last];

	if (at == last)
		return;
	memmove(&x->metrics.data[at + 1], &x->metrics.data[at],
		(last - at) * sizeof(*x->metrics.data));
	x->metrics.data[at] = metric;
	table_changed(&x->samples);
	for (size_t i = 0; i < x->samples.count; i++) {
		struct experiment_sample *s = table_at(&x->samples, i);

		s->key.metric += s->key.metric >= at;
	}
}

/* Metrics stay in order: a second period behind its first. */
static int merge_metric(struct merge *m, size_t i)
{
	struct experiment *a = m->a;
	struct experiment_metric empty = m->b->metrics.data[i];
	size_t at = 0;

	while (at < a->metrics.count && order_metrics(a, at, m->b, i) < 0)
		at++;
	if (at < a->metrics.count && order_metrics(a, at, m->b, i) == 0)
		return 0;
	empty.total = empty.lost = empty.throttled = 0;
	memset(empty.reasons, 0, sizeof(empty.reasons));
	if (i == 0)
		empty.flags &= ~(uint32_t)METRIC_BOTH;
	if (experiment_metric(a, &empty, m->e) < 0)
		return -1;
	insert_metric(a, at);
	return 0;
}

static bool has_samples(const struct experiment *x, uint32_t metric)
{
	for (size_t i = 0; i < x->samples.count; i++)
		if (experiment_sample_at(x, i)->key.metric == metric)
			return true;
	return false;
}

/* Counts of a metric that both have, before samples are added. */
static int sum_metric(struct merge *m, uint32_t i)
{
	struct experiment_metric *own = &m->a->metrics.data[m->metrics[i]],
				 metric = m->b->metrics.data[i];

	metric.note = strdup(metric.note);
	if (!metric.note)
		return error_nomem(m->e);
	experiment_metric_sum(own, !own->total && has_samples(m->a, m->metrics[i]), &metric,
		!metric.total && has_samples(m->b, i));
	free(metric.note);
	return 0;
}

static int merge_metrics(struct merge *m)
{
	const struct experiment *b = m->b;

	for (size_t i = 0; i < b->metrics.count; i++)
		if (merge_metric(m, i))
			return -1;
	for (uint32_t i = 0; i < b->metrics.count; i++) {
		while (order_metrics(m->a, m->metrics[i], b, i) != 0)
			m->metrics[i]++;
		if (sum_metric(m, i))
			return -1;
	}
	return 0;
}

static int merge_processes(struct merge *m)
{
	const struct experiment *b = m->b;

	for (size_t i = 1; i < b->processes.count; i++) {
		long process = experiment_process(m->a, &b->processes.data[i], m->e);

		if (process < 0)
			return -1;
		m->processes[i] = (uint32_t)process;
	}
	for (size_t i = 1; i < b->threads.count; i++) {
		struct experiment_thread t = b->threads.data[i];
		long thread;

		t.process = m->processes[t.process];
		thread = experiment_thread(m->a, &t, m->e);
		if (thread < 0)
			return -1;
		m->threads[i] = (uint32_t)thread;
	}
	return 0;
}

/* ---- phases
 * -------------------------------------------------------------------------------------- */

struct named {
	const char *name;
	uint32_t number;
};

static int compare_named(const void *pa, const void *pb)
{
	const struct named *a = pa, *b = pb;
	int order = strcmp(a->name, b->name);

	return order ? order : ORDER(a->number, b->number);
}

/* Sorted by name, those of one name as they were; NULL when memory is out. */
static struct named *sort_phases(const struct experiment *x)
{
	struct named *sorted = malloc((x->phases.count + 1) * sizeof(*sorted));

	for (size_t i = 0; sorted && i < x->phases.count; i++)
		sorted[i] = (struct named){x->phases.data[i].name, (uint32_t)i};
	if (sorted && x->phases.count > 1)
		qsort(sorted + 1, x->phases.count - 1, sizeof(*sorted), compare_named);
	return sorted;
}

static bool same_phases(const struct experiment *a, const struct experiment *b)
{
	if (a->phases.count != b->phases.count)
		return false;
	for (size_t i = 0; i < a->phases.count; i++)
		if (strcmp(a->phases.data[i].name, b->phases.data[i].name) != 0)
			return false;
	return true;
}

/* The n-th of a name to the n-th of that name; UINT32_MAX: a has none. */
static int find_phases(struct merge *m)
{
	const struct experiment *a = m->a, *b = m->b;
	struct named *of_a, *of_b;
	bool same = same_phases(a, b);
	size_t i = 1, j = 1;

	for (size_t k = 0; k < b->phases.count; k++)
		m->phases[k] = same || k == 0 ? (uint32_t)k : UINT32_MAX;
	if (same || b->phases.count < 2)
		return 0;
	of_a = sort_phases(a);
	of_b = sort_phases(b);
	while (of_a && of_b && i < a->phases.count && j < b->phases.count) {
		int order = strcmp(of_a[i].name, of_b[j].name);

		if (order == 0)
			m->phases[of_b[j].number] = of_a[i].number;
		i += order <= 0;
		j += order >= 0;
	}
	free(of_a);
	free(of_b);
	return of_a && of_b ? 0 : error_nomem(m->e);
}

static int merge_phases(struct merge *m)
{
	if (find_phases(m))
		return -1;
	for (size_t i = 1; i < m->b->phases.count; i++) {
		struct experiment_phase p = m->b->phases.data[i], *own;
		long phase;

		p.thread = m->threads[p.thread];
		if (m->phases[i] == UINT32_MAX) {
			phase = experiment_phase(m->a, &p, m->e);
			if (phase < 0)
				return -1;
			m->phases[i] = (uint32_t)phase;
			continue;
		}
		own = &m->a->phases.data[m->phases[i]];
		if (p.time < own->time)
			own->time = p.time;
		if (p.thread != own->thread)
			own->thread = 0;
	}
	return 0;
}

/* ---- nodes, samples, edges, symbols
 * -------------------------------------------------------------- */

/* Where the last one was found.  What lies elsewhere, such as behind the part of the table that is
 * in order, does not move the finger, unless it happens twice in a row. */
struct finger {
	size_t at;
	bool missed;
};

/* The entry with this key: near the finger, or wherever it is, or new; NULL when memory is out. */
#define DEFINE_FIND(name, type, order)                                                             \
	static type *name(struct table *t, const type *wanted, struct finger *f)                   \
	{                                                                                          \
		type *entries = (type *)(void *)t->entries, *found;                                \
		size_t end =                                                                       \
			f->at + 1 + FINGER_STEPS < t->count ? f->at + 1 + FINGER_STEPS : t->count; \
                                                                                                   \
		for (size_t i = f->at + 1; i < end; i++) {                                         \
			int found_order = order(&entries[i], wanted);                              \
                                                                                                   \
			if (found_order < 0)                                                       \
				continue;                                                          \
			if (found_order > 0)                                                       \
				break;                                                             \
			*f = (struct finger){i, false};                                            \
			return &entries[i];                                                        \
		}                                                                                  \
		found = table_add(t, &wanted->key);                                                \
		if (found && f->missed)                                                            \
			f->at = (size_t)(found - (type *)(void *)t->entries);                      \
		f->missed = true;                                                                  \
		return found;                                                                      \
	}

DEFINE_FIND(find_node, struct experiment_node, order_nodes)
DEFINE_FIND(find_sample, struct experiment_sample, order_samples)
DEFINE_FIND(find_edge, struct experiment_edge, order_edges)

static int merge_nodes(struct merge *m)
{
	struct finger finger = {0};

	m->nodes[0] = 0;
	for (size_t i = 1; i < m->b->nodes.count; i++) {
		struct experiment_node n = *experiment_node_at(m->b, i), *own;

		n.key.parent = m->nodes[n.key.parent];
		n.key.image = m->images[n.key.image];
		own = find_node(&m->a->nodes, &n, &finger);
		if (!own)
			return error_nomem(m->e);
		m->nodes[i] = (uint32_t)(own - experiment_node_at(m->a, 0));
	}
	return 0;
}

static int merge_samples(struct merge *m)
{
	struct finger finger = {0};

	for (size_t i = 0; i < m->b->samples.count; i++) {
		struct experiment_sample s = *experiment_sample_at(m->b, i), *own;

		s.key.metric = m->metrics[s.key.metric];
		s.key.thread = m->threads[s.key.thread];
		s.key.phase = m->phases[s.key.phase];
		s.key.node = m->nodes[s.key.node];
		own = find_sample(&m->a->samples, &s, &finger);
		if (!own)
			return error_nomem(m->e);
		own->count = experiment_sum(own->count, s.count);
	}
	return 0;
}

static int merge_edges(struct merge *m)
{
	struct finger finger = {0};

	for (size_t i = 0; i < m->b->edges.count; i++) {
		struct experiment_edge edge = *(struct experiment_edge *)table_at(&m->b->edges, i),
				       *own;

		edge.key.from_image = m->images[edge.key.from_image];
		edge.key.to_image = m->images[edge.key.to_image];
		own = find_edge(&m->a->edges, &edge, &finger);
		if (!own)
			return error_nomem(m->e);
		own->count = experiment_sum(own->count, edge.count);
	}
	return 0;
}

static int merge_data(struct merge *m)
{
	return experiment_data_merge(m->a, m->b, m->images, m->nodes, m->e);
}

static int merge_branches(struct merge *m)
{
	return experiment_branches_merge(m->a, m->b, m->images, m->e);
}

static int merge_symbols(struct merge *m)
{
	for (size_t i = 0; i < m->b->symbols.count; i++) {
		const struct experiment_symbol *s = table_at(&m->b->symbols, i);

		if (experiment_symbol(m->a, m->images[s->key.image], s->key.address, s->length,
			    s->name, m->e))
			return -1;
	}
	return 0;
}

/* ---- processes folded
 * ---------------------------------------------------------------------------- */

static void fold_rank(struct experiment_folded *f, int32_t low, int32_t high, uint64_t count)
{
	if (count == 0)
		return;
	if (f->ranks == 0 || low < f->rank_low)
		f->rank_low = low;
	if (f->ranks == 0 || high > f->rank_high)
		f->rank_high = high;
	f->ranks += count;
}

static void fold_processes(struct experiment_folded *f, const struct experiment *x)
{
	const struct experiment_folded *more = &x->folded;

	if (more != f) {
		f->processes += more->processes;
		f->threads += more->threads;
		f->failed += more->failed;
		fold_rank(f, more->rank_low, more->rank_high, more->ranks);
	}
	f->processes += x->processes.count - 1;
	f->threads += x->threads.count - 1;
	for (size_t i = 1; i < x->processes.count; i++) {
		const struct experiment_process *p = &x->processes.data[i];

		f->failed += p->status > 0;
		fold_rank(f, p->rank, p->rank, p->rank >= 0);
	}
}

/* a as it would be without MERGE_THREADS. */
static int fold_sum(struct experiment *a, struct error *e)
{
	struct table old = a->samples;
	int status = 0;

	if (a->processes.count == 1 && a->threads.count == 1)
		return 0;
	fold_processes(&a->folded, a);
	for (; a->threads.count > 1; a->threads.count--)
		free(a->threads.data[a->threads.count - 1].name);
	for (; a->processes.count > 1; a->processes.count--)
		free(a->processes.data[a->processes.count - 1].command);
	for (size_t i = 0; i < a->phases.count; i++)
		a->phases.data[i].thread = 0;
	a->samples = (struct table){.entry_size = old.entry_size, .key_size = old.key_size};
	for (size_t i = 0; i < old.count && status == 0; i++) {
		struct experiment_sample s = *(struct experiment_sample *)table_at(&old, i), *own;

		s.key.thread = 0;
		own = table_add(&a->samples, &s.key);
		if (own)
			own->count = experiment_sum(own->count, s.count);
		else
			status = error_nomem(e);
	}
	table_fini(&old);
	return status;
}

/* ---- all
 * ----------------------------------------------------------------------------------------- */

/* All in one; NULL when memory is out.  Yours to free. */
static uint32_t *make_maps(struct merge *m)
{
	const struct experiment *b = m->b;
	const struct {
		uint32_t **map;
		size_t count;
	} maps[] = {{&m->images, b->images.count}, {&m->metrics, b->metrics.count},
		{&m->processes, b->processes.count}, {&m->threads, b->threads.count},
		{&m->phases, b->phases.count}, {&m->nodes, b->nodes.count}};
	size_t count = 0;
	uint32_t *all;

	for (size_t i = 0; i < sizeof(maps) / sizeof(maps[0]); i++)
		count += maps[i].count;
	all = calloc(count, sizeof(*all));
	count = 0;
	for (size_t i = 0; i < sizeof(maps) / sizeof(maps[0]) && all; i++) {
		*maps[i].map = all + count;
		count += maps[i].count;
	}
	return all;
}

static int merge_all(struct merge *m)
{
	static int (*const steps[])(struct merge *) = {merge_types, merge_facts, merge_images,
		merge_metrics, merge_phases, merge_nodes, merge_samples, merge_edges, merge_symbols,
		merge_data, merge_branches};

	if (m->flags & MERGE_THREADS) {
		const struct experiment_folded *f = &m->b->folded;
		struct experiment_folded *own = &m->a->folded;

		own->processes += f->processes;
		own->threads += f->threads;
		own->failed += f->failed;
		fold_rank(own, f->rank_low, f->rank_high, f->ranks);
		if (merge_processes(m))
			return -1;
	} else {
		if (fold_sum(m->a, m->e))
			return -1;
		fold_processes(&m->a->folded, m->b);
	}
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++)
		if (steps[i](m))
			return -1;
	merge_run(m);
	return 0;
}

int experiment_merge(
	struct experiment *a, const struct experiment *b, unsigned flags, struct error *e)
{
	struct merge m = {.a = a, .b = b, .flags = flags, .e = e};
	uint32_t *maps = make_maps(&m);
	int status = maps ? merge_all(&m) : error_nomem(e);

	free(maps);
	return status;
}
