/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One experiment added to another.
 *
 * Each list and table of b that others refer to gets a map from its numbers to those of a.
 */
#include "experiment/merge.h"

#include <stdlib.h>
#include <string.h>

#include "experiment/data.h"
#include "experiment/order.h"
#include "experiment/private.h"
#include "experiment/values.h"

struct merge {
	struct experiment *a;
	const struct experiment *b;
	unsigned flags;
	struct error *e;
	uint32_t *to[EXPERIMENT_TABLES]; /* numbers of b to a's */
};

int experiment_merge_begin(struct experiment *x, struct error *e)
{
	if (experiment_init(x, e))
		return -1;
	x->runs = 0;
	x->complete = true;
	return 0;
}

/* ---- the run ---- */

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

	if (!copies[0] || !copies[1])
		goto out;
	for (int i = 0; i < 2; i++)
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

static int merge_facts(struct merge *m)
{
	for (size_t i = 0; i < m->b->facts.count; i++) {
		const struct experiment_fact *fact = &m->b->facts.data[i];
		struct experiment_fact *own = experiment_fact_row(m->a, fact->key);
		int order = own ? strcmp(fact->value, own->value) : 0;
		bool several = fact->several || (own && (own->several || order));

		if ((!own || order < 0) && experiment_fact(m->a, fact->key, fact->value, m->e))
			return -1;
		own = experiment_fact_row(m->a, fact->key);
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
	a->elapsed = row_sum(a->elapsed, b->elapsed);
	a->runs = a->runs + b->runs < a->runs ? UINT32_MAX : a->runs + b->runs;
	a->complete &= b->complete;
	a->data.lost = row_sum(a->data.lost, b->data.lost);
}

/* ---- rows ---- */

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
		m->to[EXPERIMENT_IMAGES][i] = (uint32_t)at;
	}
	return 0;
}

/* Moves the last metric to number `at`; the numbers of those from there on increase by one. */
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
		struct experiment_sample *sample = table_at(&x->samples, i);

		sample->key.metric += sample->key.metric >= at;
	}
}

/* Metrics stay in order: a second period follows its first. */
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
static int sum_metric(struct experiment_metric *own, bool own_counted,
	const struct experiment_metric *other, bool other_counted, struct error *e)
{
	struct experiment_metric metric = *other;

	metric.note = strdup(other->note);
	if (!metric.note)
		return error_nomem(e);
	experiment_metric_sum(own, own_counted, &metric, other_counted);
	free(metric.note);
	return 0;
}

static int merge_metrics(struct merge *m)
{
	const struct experiment *b = m->b;
	uint32_t *to = m->to[EXPERIMENT_METRICS];

	for (size_t i = 0; i < b->metrics.count; i++)
		if (merge_metric(m, i))
			return -1;
	for (uint32_t i = 0; i < b->metrics.count; i++) {
		const struct experiment_metric *metric = &b->metrics.data[i];
		struct experiment_metric *own;

		while (order_metrics(m->a, to[i], b, i) != 0)
			to[i]++;
		own = &m->a->metrics.data[to[i]];
		if (sum_metric(own, !own->total && has_samples(m->a, to[i]), metric,
			    !metric->total && has_samples(b, i), m->e))
			return -1;
	}
	return 0;
}

static int merge_data_metrics(struct merge *m)
{
	experiment_metrics *all = &m->a->data.metrics;

	for (size_t i = 0; i < m->b->data.metrics.count; i++) {
		const struct experiment_metric *metric = &m->b->data.metrics.data[i];
		size_t at = 0;

		while (at < all->count && order_data_metrics(&all->data[at], metric) != 0)
			at++;
		m->to[EXPERIMENT_DATA_METRICS][i] = (uint32_t)at;
		if (at < all->count ? sum_metric(&all->data[at], true, metric, true, m->e)
				    : experiment_data_metric(m->a, metric, m->e) < 0)
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
		m->to[EXPERIMENT_PROCESSES][i] = (uint32_t)process;
	}
	for (size_t i = 1; i < b->threads.count; i++) {
		struct experiment_thread t = b->threads.data[i];
		long thread;

		t.process = m->to[EXPERIMENT_PROCESSES][t.process];
		thread = experiment_thread(m->a, &t, m->e);
		if (thread < 0)
			return -1;
		m->to[EXPERIMENT_THREADS][i] = (uint32_t)thread;
	}
	return 0;
}

/* ---- phases ---- */

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

/* The n-th phase of a name to the n-th of that name; UINT32_MAX: a has none. */
static int find_phases(struct merge *m)
{
	const struct experiment *a = m->a, *b = m->b;
	struct named *of_a, *of_b;
	bool same = same_phases(a, b);
	size_t i = 1, j = 1;

	for (size_t k = 0; k < b->phases.count; k++)
		m->to[EXPERIMENT_PHASES][k] = same || k == 0 ? (uint32_t)k : UINT32_MAX;
	if (same || b->phases.count < 2)
		return 0;
	of_a = sort_phases(a);
	of_b = sort_phases(b);
	while (of_a && of_b && i < a->phases.count && j < b->phases.count) {
		int order = strcmp(of_a[i].name, of_b[j].name);

		if (order == 0)
			m->to[EXPERIMENT_PHASES][of_b[j].number] = of_a[i].number;
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

		p.thread = m->to[EXPERIMENT_THREADS][p.thread];
		if (m->to[EXPERIMENT_PHASES][i] == UINT32_MAX) {
			phase = experiment_phase(m->a, &p, m->e);
			if (phase < 0)
				return -1;
			m->to[EXPERIMENT_PHASES][i] = (uint32_t)phase;
			continue;
		}
		own = &m->a->phases.data[m->to[EXPERIMENT_PHASES][i]];
		if (p.time < own->time)
			own->time = p.time;
		if (p.thread != own->thread)
			own->thread = 0;
	}
	return 0;
}

/* ---- tables ---- */

static struct row_numbers numbers_of(const struct merge *m)
{
	struct row_numbers n = {0};

	for (int i = 0; i < EXPERIMENT_TABLES; i++)
		n.to[i] = m->to[i];
	return n;
}

static int merge_slices(struct merge *m)
{
	const struct row_numbers n = numbers_of(m);
	struct table own = {0};
	const struct table *slices = time_slices_align(m->a, m->b, &own);
	int rc = slices ? row_merge(&m->a->slices, slices, &experiment_slices_kind, &n, NULL) : -1;

	table_fini(&own);
	return rc ? error_nomem(m->e) : 0;
}

static int merge_tables(struct merge *m)
{
	const struct row_numbers n = numbers_of(m);

	for (int i = EXPERIMENT_LISTS; i < EXPERIMENT_TABLES; i++)
		if (i != EXPERIMENT_SLICES &&
			row_merge(experiment_table(m->a, i), experiment_table(m->b, i),
				experiment_kind(i), &n, m->to[i]))
			return error_nomem(m->e);
	if (experiment_cut_values(m->a))
		return error_nomem(m->e);
	return m->b->slices.count ? merge_slices(m) : 0;
}

/* ---- processes folded ---- */

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
		f->failed += more->failed;
		fold_rank(f, more->rank_low, more->rank_high, more->ranks);
	}
	f->processes += x->processes.count - 1;
	f->threads = (more != f ? f->threads : 0) + experiment_thread_count(x);
	for (size_t i = 1; i < x->processes.count; i++) {
		const struct experiment_process *p = &x->processes.data[i];

		f->failed += p->status > 0;
		fold_rank(f, p->rank, p->rank, p->rank >= 0);
	}
}

/* Rows of one key, which they have by new numbers, become one. */
static int fold_table(
	struct table *t, const struct row_kind *k, const struct row_numbers *n, uint32_t *to)
{
	struct table old = *t;
	int status = row_init(t, k) || row_merge(t, &old, k, n, to) ? -1 : 0;

	table_fini(&old);
	return status;
}

static int fold_samples(struct experiment *a)
{
	uint32_t *threads = calloc(a->threads.count, sizeof(*threads));
	uint32_t *samples = calloc(a->samples.count + 1, sizeof(*samples));
	const struct row_numbers n = {
		.to = {[EXPERIMENT_THREADS] = threads, [EXPERIMENT_SAMPLES] = samples}};
	int status = -1;

	if (threads && samples)
		status = fold_table(&a->samples, &experiment_samples_kind, &n, samples) ||
			 fold_table(&a->slices, &experiment_slices_kind, &n, NULL) ||
			 fold_table(&a->pauses, &experiment_pauses_kind, &n, NULL);
	free(threads);
	free(samples);
	return status;
}

/* a as it would be without MERGE_THREADS. */
static int fold_sum(struct experiment *a, struct error *e)
{
	if (a->processes.count == 1 && a->threads.count == 1)
		return 0;
	if (fold_samples(a))
		return error_nomem(e);
	fold_processes(&a->folded, a);
	for (; a->threads.count > 1; a->threads.count--)
		free(a->threads.data[a->threads.count - 1].name);
	experiment_drop_processes(a);
	for (size_t i = 0; i < a->phases.count; i++)
		a->phases.data[i].thread = 0;
	return 0;
}

/* ---- all ---- */

static int make_maps(struct merge *m)
{
	struct row_numbers n;

	experiment_limits(m->b, &n);
	for (int i = ROW_NUMBER + 1; i < EXPERIMENT_TABLES; i++) {
		if (i >= EXPERIMENT_LISTS && !experiment_kind(i)->referred_to)
			continue;
		m->to[i] = calloc(n.limit[i] + 1, sizeof(*m->to[i]));
		if (!m->to[i])
			return error_nomem(m->e);
	}
	return 0;
}

static int merge_all(struct merge *m)
{
	static int (*const steps[])(struct merge *) = {merge_types, merge_facts, merge_images,
		merge_metrics, merge_data_metrics, merge_phases, merge_tables};

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
	int status = make_maps(&m) || merge_all(&m) ? -1 : 0;

	a->damaged |= b->damaged;
	if (b->cost_until > a->cost_until)
		a->cost_until = b->cost_until;
	for (int i = 0; i < EXPERIMENT_TABLES; i++)
		free(m.to[i]);
	return status;
}
