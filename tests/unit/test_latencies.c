/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Times of loads: bins, patterns of levels, shares of levels and their errors. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../chance.h"
#include "../tap.h"
#include "experiment/experiment.h"
#include "experiment/merge.h"
#include "values/interval.h"
#include "values/latencies.h"

/* Ticks by a counter that goes in steps, of a load that takes so long besides the fixed part. */
static uint64_t ticks_of(double ns, double step)
{
	double begin = chance_uniform() * step;

	return (uint64_t)(floor((begin + 20 + ns) / step) * step);
}

/* Loads of each level, ns: with some scatter. */
static double level_time(int level)
{
	static const double least[LEVELS] = {0, 3, 12, 90};

	return least[level] +
	       (level == LEVEL_MEMORY ? -40 * log(chance_uniform() + 1e-9) : 2 * chance_uniform());
}

static int learn(struct latency_levels *l, double step, int levels)
{
	latency_counts counts = {{{0}}};
	struct error e = {0};
	uint64_t sum = 0;

	memset(l, 0, sizeof(*l));
	l->tick_ns = 1;
	for (int i = 0; i < 4000; i++)
		sum += ticks_of(0, step);
	for (int f = 0; f < LATENCY_FORMS; f++) {
		l->floor[f] = (uint32_t)(sum / 4000);
		l->least[f] = (uint32_t)(20 / (uint64_t)step * (uint64_t)step);
	}
	for (int f = 0; f < LATENCY_FORMS; f++)
		for (int k = 0; k < LEVELS; k++)
			for (int i = 0; i < 4000; i++) {
				int bin = latencies_bin_of(l, l->least[f],
					ticks_of(level_time(k < levels ? k : 0), step));

				counts[f][k][bin < 0 ? 0 : bin]++;
			}
	return values_levels_learn(l, counts, &e);
}

static void test_bins(void)
{
	struct latency_levels l = {.tick_ns = 0.5};
	bool rising = true, same = true;

	for (unsigned b = 0; b < LATENCY_BINS; b++) {
		rising &= b == 0 || latencies_bin_ns(b) > latencies_bin_ns(b - 1);
		same &= latencies_bin((double)latencies_bin_ns(b)) == b;
	}
	ok(rising && same, "bins rise, and a bin's time is in it");
	ok(latencies_bin_ns(8) == 8 && latencies_bin_ns(9) == 10 && latencies_bin_ns(12) == 16,
		"four bins a doubling");
	ok(latencies_bin_of(&l, 40, 40) == 0 && latencies_bin_of(&l, 40, 10) == 0 &&
			latencies_bin_of(&l, 40, 56) == 8 && latencies_bin_of(&l, 50, 66) == 8,
		"ticks beyond the floor");
	ok(latencies_bin_of(&l, 40, 100000) < 0, "a load that was interrupted is left out");
}

static void test_levels(void)
{
	struct latency_levels l;

	ok(learn(&l, 1, LEVELS) == 0 && l.last[0] == 1 && l.last[1] == 2 && l.last[2] == 3 &&
			l.last[3] == 4,
		"a fine counter tells all levels apart");
	ok(learn(&l, 10, LEVELS) == 0 && l.last[0] == 1 && l.last[1] == 2 && l.last[2] == 3,
		"so does one of 10 ns: each level has its times as often as it takes long");
	ok(learn(&l, 80, LEVELS) == 0 && l.last[0] >= 2 && l.last[1] == 0 && l.last[3] == 4,
		"by a coarse one, L1 and L2 are one level");
	ok(learn(&l, 1, LEVELS - 1) == -1, "without a memory that takes longer, there are none");
}

/* Bursts with loads of these shares; sets the most that an estimated share is wrong by. */
static bool shares_found(
	double step, const double truth[LEVELS], double room, unsigned *covered, unsigned *judged)
{
	struct latencies l;
	struct experiment x;
	struct error e = {0};
	struct latency_levels levels;
	bool good;

	latencies_init(&l);
	if (learn(&levels, step, LEVELS) || experiment_init(&x, &e))
		return false;
	l.levels = levels;
	good = true;
	for (uint64_t burst = 1; burst <= 40; burst++)
		for (int i = 0; i < 50; i++) {
			double at = chance_uniform();
			int k = 0;

			while (k < LEVELS - 1 && at >= truth[k])
				at -= truth[k++];
			good &= latencies_add(&l, 1, 0x1000, 0, burst,
					ticks_of(level_time(k), step)) == 0;
		}
	good &= latencies_put(&l, &x) == 0 && experiment_values_renew(&x) == 0 &&
		latencies_put(&l, &x) == 0;
	good &= x.value_sites.count == 2;
	for (size_t i = 0; good && i < x.values.count; i++) {
		const struct experiment_value *v = experiment_value_at(&x, i);
		const struct experiment_value_site *s = experiment_value_site_at(&x, v->key.site);
		struct value_share share = value_share_fitted(s, v);
		double sum = 0;

		if (s->key.kind != VALUE_LEVEL)
			continue;
		for (uint64_t k = v->key.value & 15; k <= v->key.value >> 4; k++)
			sum += truth[k - 1];
		good &= fabs(share.share - sum) <= room && s->moments == 40;
		if (fabs(share.share - sum) > room)
			printf("# level %llx: %.3f, is %.3f\n", (unsigned long long)v->key.value,
				share.share, sum);
		*covered += share.low <= sum && share.high >= sum;
		++*judged;
	}
	experiment_fini(&x);
	latencies_fini(&l);
	return good;
}

static void test_shares(void)
{
	static const double some[][LEVELS] = {{1, 0, 0, 0}, {0, 0, 0, 1}, {0.5, 0.2, 0.2, 0.1},
		{0.1, 0.1, 0.3, 0.5}, {0, 0, 1, 0}};
	unsigned covered = 0, judged = 0;
	bool fine = true, coarse = true;

	for (size_t i = 0; i < sizeof(some) / sizeof(some[0]); i++) {
		fine &= shares_found(1, some[i], 0.05, &covered, &judged);
		coarse &= shares_found(10, some[i], 0.15, &covered, &judged);
	}
	ok(fine, "shares of levels by a fine counter");
	ok(coarse, "shares of levels by a coarse counter");
	covered = judged = 0;
	for (int i = 0; i < 30; i++)
		shares_found(1, some[2], 1, &covered, &judged);
	ok(judged >= 60 && covered * 100 >= judged * 80,
		"intervals of 95%% have %u of %u true shares", covered, judged);
}

int main(void)
{
	test_bins();
	test_levels();
	test_shares();
	return done();
}
