/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "values/latencies.h"

#include <math.h>
#include <string.h>

#include "experiment/tables.h"

#define LINEAR      8 /* ns: bins up to here have one each */
#define ROUNDS      300
#define ENOUGH      1e-7 /* a smaller step ends the search */
#define SHARE_LEAST 1e-3
#define RIDGE       1e-6

struct latency_site { /* table entry */
	struct {
		uint64_t address;
		uint32_t image, form;
	} key;
	uint64_t count, bursts, squares;
	uint64_t bins[LATENCY_BINS];
	uint64_t classes[LATENCY_CLASSES];
	uint64_t together[LATENCY_CLASSES][LATENCY_CLASSES]; /* sums over bursts of products */
	uint64_t burst;                                      /* of what follows */
	uint32_t now[LATENCY_CLASSES];
};

/* ---- bins ---- */

unsigned latencies_bin(double ns)
{
	unsigned bin = 0;

	while (bin + 1 < LATENCY_BINS && (double)latencies_bin_ns(bin + 1) <= ns + 0.5)
		bin++;
	return bin;
}

uint64_t latencies_bin_ns(unsigned bin)
{
	unsigned doubling = bin < LINEAR ? 0 : (bin - LINEAR) / 4, step = (bin - LINEAR) % 4;

	return bin < LINEAR ? bin : (uint64_t)(LINEAR + LINEAR / 4 * step) << doubling;
}

int latencies_bin_of(const struct latency_levels *l, uint32_t from, uint64_t ticks)
{
	double ns = ticks > from ? (double)(ticks - from) * l->tick_ns : 0;

	return ns > LATENCY_NS_MAX ? -1 : (int)latencies_bin(ns);
}

/* ---- shares ---- */

/* Expectation and maximization: each round raises the likelihood. */
void latencies_shares(const struct latency_levels *l, uint32_t form,
	const double counts[LATENCY_CLASSES], double shares[LEVELS])
{
	double all = 0, step = 1;

	for (int c = 0; c < LATENCY_CLASSES; c++)
		all += counts[c];
	for (int k = 0; k < LEVELS; k++)
		shares[k] = l->last[k] ? 1.0 / LEVELS : 0;
	for (int round = 0; round < ROUNDS && step > ENOUGH && all > 0; round++) {
		double next[LEVELS] = {0}, sum = 0;

		for (int c = 0; c < LATENCY_CLASSES; c++) {
			double mix = 0;

			for (int k = 0; k < LEVELS; k++)
				mix += shares[k] * l->pattern[form][k][c];
			for (int k = 0; k < LEVELS && mix > 0; k++)
				next[k] += counts[c] * shares[k] * l->pattern[form][k][c] / mix;
		}
		step = 0;
		for (int k = 0; k < LEVELS; k++)
			sum += next[k];
		for (int k = 0; k < LEVELS && sum > 0; k++) {
			step = fmax(step, fabs(next[k] / sum - shares[k]));
			shares[k] = next[k] / sum;
		}
	}
}

/* Solves a x = b for several columns b, in place; rows that are not used are those of 1. */
static void solve(double a[LEVELS][LEVELS], double b[LEVELS][LATENCY_CLASSES])
{
	for (int k = 0; k < LEVELS; k++)
		for (int r = 0; r < LEVELS; r++) {
			double factor = r == k ? 0 : a[r][k] / a[k][k];

			for (int i = 0; i < LEVELS && r != k; i++)
				a[r][i] -= factor * a[k][i];
			for (int c = 0; c < LATENCY_CLASSES && r != k; c++)
				b[r][c] -= factor * b[k][c];
		}
	for (int k = 0; k < LEVELS; k++)
		for (int c = 0; c < LATENCY_CLASSES; c++)
			b[k][c] /= a[k][k];
}

/*
 * A share's derivative by the count of a class, at the maximum. With the shares of each level's
 * loads there instead, levels whose patterns are alike would seem to be known much better than they
 * are.
 */
void latencies_weights(const struct latency_levels *l, uint32_t form, const double shares[LEVELS],
	double weights[LEVELS][LATENCY_CLASSES])
{
	double a[LEVELS][LEVELS] = {{0}};

	memset(weights, 0, LEVELS * sizeof(*weights));
	for (int c = 0; c < LATENCY_CLASSES; c++) {
		double mix = 0;

		for (int k = 0; k < LEVELS; k++)
			mix += shares[k] * l->pattern[form][k][c];
		for (int k = 0; k < LEVELS && mix > 0; k++) {
			double own = shares[k] > SHARE_LEAST ? l->pattern[form][k][c] / mix : 0;

			weights[k][c] = own;
			for (int i = 0; i < LEVELS; i++)
				if (shares[i] > SHARE_LEAST)
					a[k][i] += own * l->pattern[form][i][c];
		}
	}
	for (int k = 0; k < LEVELS; k++)
		a[k][k] = shares[k] > SHARE_LEAST ? a[k][k] + RIDGE : 1;
	solve(a, weights);
}

/* ---- sites ---- */

void latencies_init(struct latencies *l)
{
	memset(l, 0, sizeof(*l));
	l->sites = TABLE_OF(struct latency_site);
}

void latencies_fini(struct latencies *l)
{
	table_fini(&l->sites);
}

static void end_burst(struct latency_site *s)
{
	uint64_t all = 0;

	for (int c = 0; c < LATENCY_CLASSES; c++) {
		all += s->now[c];
		for (int d = 0; d < LATENCY_CLASSES; d++)
			s->together[c][d] += (uint64_t)s->now[c] * s->now[d];
	}
	s->squares += all * all;
	s->bursts += all > 0;
	memset(s->now, 0, sizeof(s->now));
}

int latencies_add(struct latencies *l, uint32_t image, uint64_t address, uint32_t form,
	uint64_t burst, uint64_t ticks)
{
	const struct latency_site key = {.key = {address, image, form}};
	struct latency_site *s;
	unsigned class;
	int bin, pattern_bin;

	if (form >= LATENCY_FORMS)
		return 0;
	bin = latencies_bin_of(&l->levels, l->levels.floor[form], ticks);
	pattern_bin = latencies_bin_of(&l->levels, l->levels.least[form], ticks);
	if (bin < 0 || pattern_bin < 0)
		return 0;
	s = table_add(&l->sites, &key.key);
	if (!s)
		return -1;
	if (s->burst != burst)
		end_burst(s);
	s->burst = burst;
	class = l->levels.class_of[pattern_bin];
	s->count++;
	s->bins[bin]++;
	s->classes[class]++;
	s->now[class]++;
	return 0;
}

/* ---- rows ---- */

static long put_latency_site(
	struct experiment *x, const struct latency_site *s, enum experiment_value_kind kind)
{
	struct experiment_value_site row = {.key = {.address = s->key.address,
						    .image = s->key.image,
						    .kind = kind,
						    .operand = s->key.form,
						    .form = 64u << 8 | VALUE_INTEGER},
		.count = s->count,
		.moments = s->bursts,
		.squares = s->squares,
		.low_complement = UINT64_MAX};

	for (unsigned b = 0; kind == VALUE_LATENCY && b < LATENCY_BINS; b++)
		if (s->bins[b])
			row.high = latencies_bin_ns(b);
	return experiment_row(x, EXPERIMENT_VALUE_SITES, &row);
}

static int put_listed(struct experiment *x, long site, uint64_t value, uint64_t count, uint64_t all,
	double squares, double products)
{
	const struct experiment_value row = {
		.key = {.value = value,
			.site = (uint32_t)site,
			.grade = experiment_value_grade(value, count, all)},
		.over = count,
		.sure = count,
		.squares = squares > 0 ? (uint64_t)(squares + 0.5) : 0,
		.products = products > 0 ? (uint64_t)(products + 0.5) : 0};

	return experiment_row(x, EXPERIMENT_VALUES, &row) < 0 ? -1 : 0;
}

static int put_bins(struct experiment *x, const struct latency_site *s)
{
	long site = put_latency_site(x, s, VALUE_LATENCY);

	if (site < 0)
		return -1;
	for (unsigned b = 0; b < LATENCY_BINS; b++)
		if (s->bins[b] &&
			put_listed(x, site, latencies_bin_ns(b), s->bins[b], s->count, 0, 0))
			return -1;
	return 0;
}

static int put_levels(struct experiment *x, const struct latency_levels *l, struct latency_site *s)
{
	double counts[LATENCY_CLASSES], shares[LEVELS], weights[LEVELS][LATENCY_CLASSES];
	long site = put_latency_site(x, s, VALUE_LEVEL);

	if (site < 0)
		return -1;
	for (int c = 0; c < LATENCY_CLASSES; c++)
		counts[c] = (double)s->classes[c];
	latencies_shares(l, s->key.form, counts, shares);
	latencies_weights(l, s->key.form, shares, weights);
	for (unsigned k = 0; k < LEVELS; k++) {
		uint64_t count = (uint64_t)(shares[k] * (double)s->count + 0.5);
		double squares = 0, products = 0;

		for (int c = 0; c < LATENCY_CLASSES; c++)
			for (int d = 0; d < LATENCY_CLASSES; d++) {
				squares +=
					weights[k][c] * weights[k][d] * (double)s->together[c][d];
				products += weights[k][c] * (double)s->together[c][d];
			}
		if (count && put_listed(x, site, VALUE_LEVELS(k + 1, l->last[k]), count, s->count,
				     squares, products))
			return -1;
	}
	return 0;
}

int latencies_put(struct latencies *l, struct experiment *x)
{
	for (size_t i = 0; i < l->sites.count; i++) {
		struct latency_site *s = table_at(&l->sites, i);

		end_burst(s);
		if (put_bins(x, s) || put_levels(x, &l->levels, s))
			return -1;
	}
	return 0;
}
