/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The metrics that both sides have, with all their counts, compared. */
#include <stdlib.h>
#include <string.h>

#include "report/report_diff.h"

static bool diff_pairs_same_metric(const struct prof_data *d, size_t a, size_t b, bool types)
{
	const struct prof_metric *x = &d->metrics.data[a], *y = &d->metrics.data[b];
	const struct prof_input *inputs = d->request->inputs;

	return x->metric->event == y->metric->event &&
	       strcmp(x->metric->name, y->metric->name) == 0 &&
	       strcmp(x->metric->source, y->metric->source) == 0 &&
	       ((x->metric->flags ^ y->metric->flags) & (METRIC_EXACT | METRIC_BOTH)) == 0 &&
	       (!types || strcmp(inputs[x->input].experiment->type,
				  inputs[y->input].experiment->type) == 0);
}

static unsigned side_of(const struct prof_data *d, size_t metric)
{
	return d->request->inputs[d->metrics.data[metric].input].side;
}

/* The metrics equal to this one, as a pair; none if only one side has it, or an equal one was
 * already taken. Inputs are in order of sides, and so are metrics. */
static int take_pair(struct report_diff *f, size_t metric, bool types)
{
	struct prof_data *d = f->data;
	struct report_pair *pair;

	for (size_t i = 0; i < metric; i++)
		if (diff_pairs_same_metric(d, i, metric, types))
			return 0;
	pair = vec_push(&f->pairs);
	if (!pair)
		return -1;
	*pair = (struct report_pair){.metric = d->metrics.data[metric].metric};
	for (size_t i = metric; i < d->metrics.count; i++) {
		if (!diff_pairs_same_metric(d, i, metric, types))
			continue;
		if (vec_add(&pair->runs, i))
			return -1;
		pair->sides[side_of(d, i)]++;
	}
	if (!pair->sides[0] || !pair->sides[1]) {
		vec_fini(&pair->runs);
		f->pairs.count--;
	}
	return 0;
}

/* Metrics of experiments of one type; of different types only if there are no others. */
int report_diff_pairs(struct report_diff *f, struct error *e)
{
	for (int types = 1; types >= 0 && !f->pairs.count; types--)
		for (size_t i = 0; i < f->data->metrics.count; i++)
			if (take_pair(f, i, types))
				return error_nomem(e);
	if (f->pairs.count)
		return 0;
	error_set(e, ERR_CONFLICT, "%s and %s have no metric in common", f->data->request->sides[0],
		f->data->request->sides[1]);
	return error_hint(e, "-diff compares one event from one source; prof -summary shows the "
			     "metrics of an experiment");
}

/* Counts and exposures of one pair; the row after the last is the total. */
static int fill_pair(const struct report_diff *f, struct report_pair *pair, struct error *e)
{
	const struct prof_data *d = f->data;
	const uint64_t *from = f->sums.inclusive ? f->sums.inclusive : f->sums.own;
	size_t rows = f->sums.entities.count, runs = pair->runs.count;
	struct compare_table *t = &pair->table;

	if (compare_table_init(t, pair->sides, rows, e))
		return -1;
	for (size_t k = 0; k < runs; k++) {
		const struct prof_metric *m = &d->metrics.data[pair->runs.data[k]];

		t->exposures[k] = d->request->shares ? (double)m->samples : 1 / m->unit;
		t->counts[rows * runs + k] = m->samples;
		for (size_t i = 0; i < rows; i++)
			t->counts[i * runs + k] = from[i * f->sums.metrics + pair->runs.data[k]];
	}
	pair->unit = d->request->shares ? 100 : 1;
	t->design.shares = d->request->shares;
	t->design.exact = pair->metric->flags & METRIC_EXACT;
	return 0;
}

int report_diff_compare(struct report_diff *f, struct error *e)
{
	for (size_t i = 0; i < f->pairs.count; i++)
		if (fill_pair(f, &f->pairs.data[i], e) || compare_table(&f->pairs.data[i].table, e))
			return -1;
	return 0;
}

void report_diff_pairs_fini(struct report_diff *f)
{
	for (size_t i = 0; i < f->pairs.count; i++) {
		vec_fini(&f->pairs.data[i].runs);
		compare_table_fini(&f->pairs.data[i].table);
	}
	vec_fini(&f->pairs);
}
