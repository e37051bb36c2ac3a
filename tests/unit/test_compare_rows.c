/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which rows differ by more than chance: known values; how many rows are reported where nothing
 * changed, for several kinds of scatter; changes that are there are found, with their size. */
#include <math.h>
#include <stdlib.h>

#include "../tap.h"
#include "base/stats.h"
#include "experiment/compare_rows.h"

/* ---- the tests that it is made of ---- */

static double choose(int n, int k)
{
	double value = 1;

	for (int i = 1; i <= k; i++)
		value = value * (n - k + i) / i;
	return value;
}

static double binomial_by_hand(int x, int n, double p)
{
	double below = 0, above = 0;

	for (int i = 0; i <= n; i++) {
		double term = choose(n, i) * pow(p, i) * pow(1 - p, n - i);

		below += i <= x ? term : 0;
		above += i >= x ? term : 0;
	}
	return fmin(1, 2 * fmin(below, above));
}

static double fisher_by_hand(int x, int n, int y, int m)
{
	double below = 0, above = 0, all = choose(n + m, x + y);

	for (int i = 0; i <= x + y; i++) {
		double term =
			i <= n && x + y - i <= m ? choose(n, i) * choose(m, x + y - i) / all : 0;

		below += i <= x ? term : 0;
		above += i >= x ? term : 0;
	}
	return fmin(1, 2 * fmin(below, above));
}

static void test_statistics(void)
{
	double worst = 0, low, high;

	for (int n = 1; n <= 30; n++)
		for (int x = 0; x <= n; x++)
			for (double p = 0.1; p < 1; p += 0.2)
				worst = fmax(worst,
					fabs(stats_binomial(x, n, p) / binomial_by_hand(x, n, p) -
						1));
	ok(worst < 1e-9, "the binomial test, to %.1e", worst);
	worst = 0;
	for (int n = 1; n <= 12; n++)
		for (int m = 1; m <= 12; m++)
			for (int x = 0; x <= n; x++)
				for (int y = 0; y <= m; y++)
					worst = fmax(
						worst, fabs(stats_fisher(x, n, y, m) /
								       fisher_by_hand(x, n, y, m) -
							       1));
	ok(worst < 1e-9, "Fisher's, to %.1e", worst);
	/* printed tables: t(2) = 4.3027, t(10) = 2.2281 and 3.1693, t(1) by the Cauchy distribution
	 */
	ok(fabs(stats_student(4.302653, 2) - 0.05) < 1e-7 &&
			fabs(stats_student(-2.228139, 10) - 0.05) < 1e-7 &&
			fabs(stats_student(3.169273, 10) - 0.01) < 1e-7 &&
			fabs(stats_student(1, 1) - 0.5) < 1e-12,
		"Student's");
	ok(fabs(stats_binomial(5e8 + 22361, 1e9, 0.5) - erfc(1.41425 / sqrt(2))) < 1e-4 &&
			fabs(stats_fisher(1e6 + 1414, 1e9, 1e6 - 1414, 1e9) - erfc(2 / sqrt(2))) <
				1e-3,
		"large counts, near the normal distribution");
	/* Terms that are 0 do not go on to the end. */
	ok(stats_fisher(9e10, 1e11, 1e10, 1e11) < 1e-300 &&
			stats_fisher(8e9, 1e10, 2e9, 1e10) < 1e-300 &&
			fabs(stats_fisher(5e17 + 5e8, 1e18, 5e17 - 5e8, 1e18) - erfc(1)) < 1e-6,
		"larger ones, in few steps");
	stats_poisson95(10, &low, &high);
	ok(fabs(low - 4.7954) < 1e-3 && fabs(high - 18.3904) < 1e-3, "Poisson's interval");
	stats_poisson95(0, &low, &high);
	ok(low == 0 && fabs(high - 3.68888) < 1e-4, "that of none");
	ok(stats_beta(2, 3, 0) == 0 && stats_beta(2, 3, 1) == 1 &&
			fabs(stats_beta(2, 3, 0.4) - 0.5248) < 1e-12,
		"the incomplete beta function");
}

/* ---- simulated runs ---- */

static uint64_t state;

static double uniform(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return ((double)(state >> 11) + 0.5) / 9007199254740992.0;
}

static double normal(void)
{
	return sqrt(-2 * log(uniform())) * cos(2 * M_PI * uniform());
}

static uint64_t poisson(double mean)
{
	double product = 1, limit;
	uint64_t n = 0;

	if (mean > 50)
		return (uint64_t)fmax(0, floor(mean + sqrt(mean) * normal() + 0.5));
	for (limit = exp(-mean); (product *= uniform()) > limit;)
		n++;
	return n;
}

enum { ROWS = 60, RUNS_MAX = 20, CHANGED = 6 };

struct world {
	const char *name;
	size_t runs[2];
	double units[2]; /* of a sample on each side: how much finer one is sampled */
	double common;   /* relative scatter of whole runs */
	double own;      /* of each row in each run */
	bool shares;
	double noisy; /* of one row in ten, ten times that scatter */
};

struct outcome {
	double false_rows, false_families, found, covered, intervals, shown, totals;
};

static double mean_of(size_t row)
{
	return row < 12 ? 4000 / (1 + (double)row) : 40 / (1 + (double)(row % 20));
}

/* One pair of sides; the first `changed` of the larger rows take 1.4 times as long afterwards. */
static void simulate(const struct world *w, size_t changed, struct outcome *o)
{
	size_t runs = w->runs[0] + w->runs[1];
	uint64_t counts[ROWS * RUNS_MAX] = {0};
	double exposures[RUNS_MAX] = {0};
	struct compare_change changes[ROWS];
	struct compare_design d = {
		.runs = {w->runs[0], w->runs[1]}, .exposures = exposures, .shares = w->shares};
	struct compare_change total;
	uint64_t sums[RUNS_MAX] = {0};
	size_t wrong = 0, shown = 0;

	for (size_t k = 0; k < runs; k++) {
		bool after = k >= w->runs[0];
		double unit = w->units[after], factor = exp(w->common * normal()), all = 0;

		for (size_t i = 0; i < ROWS; i++) {
			double own = w->own * (w->noisy > 0 && i % 10 == 3 ? w->noisy : 1);
			double mean = mean_of(i) * factor * exp(own * normal()) *
				      (after && i < changed ? 1.4 : 1);

			counts[i * runs + k] = poisson(mean / unit);
			all += (double)counts[i * runs + k];
		}
		exposures[k] = w->shares ? all : 1 / unit;
	}
	compare_rows(&d, counts, ROWS, changes, NULL);
	for (size_t k = 0; k < runs; k++)
		for (size_t i = 0; i < ROWS; i++)
			sums[k] += counts[i * runs + k];
	compare_alone(&d, sums, &total);
	o->totals += total.differs;
	for (size_t i = 0; i < ROWS; i++) {
		double truth = i < changed ? 0.4 * mean_of(i) : 0;

		shown += changes[i].differs;
		wrong += changes[i].differs && i >= changed;
		o->found += changes[i].differs && i < changed;
		if (!w->shares && mean_of(i) > 1) {
			o->intervals++;
			o->covered += changes[i].low <= truth && truth <= changes[i].high;
		}
	}
	o->shown += (double)shown;
	o->false_rows += shown ? (double)wrong / (double)shown : 0;
	o->false_families += wrong > 0;
}

static const struct world worlds[] = {
	{"one run a side", {1, 1}, {1, 1}, 0, 0, false, 0},
	{"sampled twice as fine afterwards", {1, 1}, {1, 0.5}, 0, 0, false, 0},
	{"three runs a side that do the same", {3, 3}, {1, 1}, 0, 0, false, 0},
	{"five and three", {5, 3}, {1, 1.7}, 0.01, 0.01, false, 0},
	{"runs that scatter as a whole", {3, 3}, {1, 1}, 0.08, 0, false, 0},
	{"two runs a side that scatter", {2, 2}, {1, 1}, 0.05, 0.02, false, 0},
	{"rows that scatter", {4, 4}, {1, 1}, 0, 0.1, false, 0},
	{"some rows that scatter", {4, 4}, {1, 1}, 0.02, 0.03, false, 10},
	{"ten runs a side", {10, 10}, {1, 1}, 0.03, 0.05, false, 0},
	{"shares of one run a side", {1, 1}, {1, 0.3}, 0, 0, true, 0},
	{"shares of runs that scatter as a whole", {3, 3}, {1, 1}, 0.2, 0, true, 0},
	{"shares of rows that scatter", {4, 4}, {1, 1}, 0.05, 0.05, true, 0},
};

static void test_chance(void)
{
	enum { TIMES = 400 };

	for (size_t i = 0; i < sizeof(worlds) / sizeof(worlds[0]); i++) {
		const struct world *w = &worlds[i];
		struct outcome none = {0}, some = {0};

		state = 0x9e3779b97f4a7c15u + i;
		for (int k = 0; k < TIMES; k++)
			simulate(w, 0, &none);
		for (int k = 0; k < TIMES / 4; k++)
			simulate(w, CHANGED, &some);
		/* three standard deviations of the simulation on top of 5% */
		ok(none.false_families / TIMES <= 0.05 + 3 * sqrt(0.05 * 0.95 / TIMES),
			"%s: some row is shown in %.1f%% of comparisons without a change", w->name,
			100 * none.false_families / TIMES);
		ok(none.shown / (TIMES * ROWS) <= 0.005, "and of all rows %.3f%%",
			100 * none.shown / (TIMES * ROWS));
		ok(none.totals / TIMES <= 0.05 + 3 * sqrt(0.05 * 0.95 / TIMES),
			"the whole differs in %.1f%%", 100 * none.totals / TIMES);
		if (!w->shares) {
			ok(some.false_rows / (TIMES / 4) <= 0.05 + 3 * 0.02,
				"with %d changes, %.1f%% of the rows shown did not change", CHANGED,
				100 * some.false_rows / (TIMES / 4));
			ok(none.covered >= 0.94 * none.intervals &&
					some.covered >= 0.94 * some.intervals,
				"and intervals hold %.1f%% and %.1f%% of the time",
				100 * none.covered / none.intervals,
				100 * some.covered / some.intervals);
		}
		printf("# %s: finds %.0f%% of the changes\n", w->name,
			100 * some.found / (CHANGED * (TIMES / 4)));
		if (i == 0 || i == 2)
			ok(some.found >= 0.99 * CHANGED * (TIMES / 4),
				"finds %.0f%% of the changes",
				100 * some.found / (CHANGED * (TIMES / 4)));
	}
}

/* ---- small things ---- */

static struct compare_change one(size_t before, size_t after, const uint64_t *counts, bool exact,
	bool shares, double *exposures)
{
	static double ones[] = {1, 1, 1, 1, 1, 1};
	struct compare_design d = {.runs = {before, after},
		.exposures = exposures ? exposures : ones,
		.exact = exact,
		.shares = shares};
	struct compare_change c;

	compare_rows(&d, counts, 1, &c, NULL);
	return c;
}

static void test_small(void)
{
	double units[] = {1000, 500}, totals[] = {1000, 0};
	struct compare_change c = one(1, 1, (const uint64_t[]){0, 5}, false, false, NULL);

	ok(!c.differs && fabs(c.p - 0.0625) < 1e-12, "none and five may be chance");
	c = one(1, 1, (const uint64_t[]){0, 8}, false, false, NULL);
	ok(c.differs && c.low > 0 && c.high < 16, "none and eight are not");
	c = one(1, 1, (const uint64_t[]){100, 50}, false, false, units);
	ok(!c.differs && c.p > 0.99 && fabs(c.rates[0] - 0.1) < 1e-12 &&
			fabs(c.rates[1] - 0.1) < 1e-12,
		"twice the period, half the samples");
	c = one(1, 1, (const uint64_t[]){0, 0}, false, false, NULL);
	ok(!c.differs && c.p == 1 && c.low <= 0 && c.high >= 0, "nothing on both sides");
	c = one(1, 1, (const uint64_t[]){1000000007, 1000000008}, true, false, NULL);
	ok(c.differs && c.low == 1 && c.high == 1 && c.p == 0, "of exact counts, one more is one");
	c = one(2, 2, (const uint64_t[]){7, 7, 7, 7}, true, false, NULL);
	ok(!c.differs && c.p == 1, "equal exact ones do not differ");
	c = one(2, 2, (const uint64_t[]){100, 100, 101, 101}, true, false, NULL);
	ok(c.differs && c.low == 1 && c.high == 1, "nor do runs that do the same every time");
	c = one(3, 3, (const uint64_t[]){100, 140, 120, 105, 135, 130}, true, false, NULL);
	ok(!c.differs && c.low < 0 && c.high > 0, "exact counts that scatter from run to run");
	c = one(1, 1, (const uint64_t[]){40, 0}, false, true, totals);
	ok(!c.differs && isfinite(c.low) && isfinite(c.high), "a share of nothing");
	c = one(1, 1, (const uint64_t[]){UINT64_MAX, UINT64_MAX / 2}, false, false, NULL);
	ok(c.differs && isfinite(c.p), "the largest counts");
}

int main(void)
{
	test_statistics();
	test_small();
	test_chance();
	return done();
}
