/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "experiment/compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/stats.h"
#include "experiment/compare_rows.h"
#include "experiment/order.h"
#include "experiment/private.h"

#define LEAST_EXPECTED                                                                             \
	5.0 /* samples per cell for chi-square to be a good approximation (Cochran 1954) */

/* table entry ("key" first, see base/table.h) */
struct tally {
	uint64_t key;
	uint64_t counts[2];
};

static int add_samples(struct table *t, int side, const struct experiment *x, uint32_t metric,
	experiment_group_of *group_of, void *data)
{
	for (size_t i = 0; i < x->samples.count; i++) {
		struct tally *tally;
		uint64_t key, count;

		if (experiment_sample_at(x, i)->key.metric != metric)
			continue;
		count = group_of(x, i, &key, data);
		if (!count)
			continue;
		tally = table_add(t, &key);
		if (!tally)
			return -1;
		tally->counts[side] = row_sum(tally->counts[side], count);
	}
	return 0;
}

/* By samples, those with fewest first. */
static int compare_sizes(const void *pa, const void *pb)
{
	const struct compare_group *a = pa, *b = pb;
	double size_a = (double)a->counts[0] + (double)a->counts[1],
	       size_b = (double)b->counts[0] + (double)b->counts[1];

	return size_a != size_b ? ORDER(size_a, size_b) : ORDER(a->key, b->key);
}

static int compare_residuals(const void *pa, const void *pb)
{
	const struct compare_group *a = pa, *b = pb;
	double size_a = fabs(a->residual), size_b = fabs(b->residual);

	if (a->pooled != b->pooled)
		return ORDER(a->pooled, b->pooled);
	return size_a != size_b ? ORDER(size_b, size_a) : ORDER(a->key, b->key);
}

/* The contribution of a cell to chi-square: both its entries together. */
static double cell_statistic(const double *counts, const double *totals)
{
	double sum = counts[0] + counts[1], all = totals[0] + totals[1], statistic = 0;

	for (int i = 0; i < 2; i++) {
		double expected = sum * totals[i] / all;

		statistic += (counts[i] - expected) * (counts[i] - expected) / expected;
	}
	return statistic;
}

/* Its difference from the expected count, over the standard deviation of that (Haberman 1973). */
static double adjusted_residual(const struct compare_group *g, const double *totals)
{
	double all = totals[0] + totals[1], sum = (double)g->counts[0] + (double)g->counts[1];
	double expected = sum * totals[0] / all;
	double variance = expected * (totals[1] / all) * (1 - sum / all);

	return variance > 0 ? ((double)g->counts[0] - expected) / sqrt(variance) : 0;
}

/* Cells are the groups by size; the smallest are joined until each cell is large enough. */
static void test_groups(struct comparison *c)
{
	double totals[2] = {(double)c->samples[0], (double)c->samples[1]}, pool[2] = {0};
	double smaller = totals[0] < totals[1] ? totals[0] : totals[1], all = totals[0] + totals[1];
	size_t i = 0;

	c->p = 1;
	if (smaller == 0)
		return;
	for (; i < c->groups.count; i++) {
		struct compare_group *g = &c->groups.data[i];
		double counts[2] = {(double)g->counts[0], (double)g->counts[1]};
		double pooled = pool[0] + pool[1];

		if ((pooled == 0 || pooled * smaller / all >= LEAST_EXPECTED) &&
			(counts[0] + counts[1]) * smaller / all >= LEAST_EXPECTED) {
			c->statistic += cell_statistic(counts, totals);
			c->cells++;
		} else {
			g->pooled = true;
			pool[0] += counts[0];
			pool[1] += counts[1];
		}
		g->residual = adjusted_residual(g, totals);
	}
	if (pool[0] + pool[1] > 0) {
		c->statistic += cell_statistic(pool, totals);
		c->cells++;
	}
	if (c->cells > 1) {
		double df = (double)c->cells - 1, excess = c->statistic - df;

		c->p = stats_chi_square(c->statistic, df);
		c->difference = excess > 0 ? sqrt(excess * all / (totals[0] * totals[1])) : 0;
	}
}

/* Finds the groups with different shares. */
static int test_rows(struct comparison *c, struct error *e)
{
	const size_t runs[2] = {1, 1};
	struct compare_table t;
	int rc = compare_table_init(&t, runs, c->groups.count, e);

	t.design.shares = true;
	for (size_t i = 0; rc == 0 && i < c->groups.count; i++)
		memcpy(t.counts + 2 * i, c->groups.data[i].counts,
			sizeof(c->groups.data[i].counts));
	for (size_t side = 0; rc == 0 && side < 2; side++)
		t.exposures[side] = (double)c->samples[side];
	rc = rc ? rc : compare_table(&t, e);
	for (size_t i = 0; rc == 0 && i < c->groups.count; i++)
		c->groups.data[i].differs = t.changes[i].differs;
	compare_table_fini(&t);
	return rc;
}

int experiment_compare(struct comparison *c, const struct experiment *x, uint32_t a,
	const struct experiment *y, uint32_t b, experiment_group_of *group_of, void *data,
	struct error *e)
{
	struct table tallies = {.entry_size = sizeof(struct tally), .key_size = sizeof(uint64_t)};
	int status = -1;

	*c = (struct comparison){.p = 1};
	if (add_samples(&tallies, 0, x, a, group_of, data) ||
		add_samples(&tallies, 1, y, b, group_of, data))
		goto out;
	for (size_t i = 0; i < tallies.count; i++) {
		const struct tally *tally = table_at(&tallies, i);
		struct compare_group *g = vec_push(&c->groups);

		if (!g)
			goto out;
		g->key = tally->key;
		for (int side = 0; side < 2; side++) {
			g->counts[side] = tally->counts[side];
			c->samples[side] = row_sum(c->samples[side], g->counts[side]);
		}
	}
	if (c->groups.count)
		qsort(c->groups.data, c->groups.count, sizeof(*c->groups.data), compare_sizes);
	test_groups(c);
	if (test_rows(c, e))
		goto out;
	if (c->groups.count)
		qsort(c->groups.data, c->groups.count, sizeof(*c->groups.data), compare_residuals);
	status = 0;
out:
	table_fini(&tallies);
	if (status)
		compare_fini(c);
	return status ? error_nomem(e) : 0;
}

void compare_fini(struct comparison *c)
{
	vec_fini(&c->groups);
	*c = (struct comparison){.p = 1};
}
