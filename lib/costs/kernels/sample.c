/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "costs/kernels/sample.h"

#include <math.h>

#include "base/stats.h"

#define YARD        32768 /* adds: nine microseconds at 3.7 GHz */
#define RUNS_MAX    1000
#define RUNS_MIN    4
#define AGREEMENT   0.02 /* of the two yardsticks of a run */
#define ROUND_SHORT 2    /* seconds below which another round is not worth having */

static double yard_ns(void)
{
	double begin = now_ns();

	kernel_adds(YARD);
	return (now_ns() - begin) / YARD;
}

static double decile(double *x, int n)
{
	stats_median(x, (size_t)n); /* sorts */
	return n ? x[n / 10] : NAN;
}

/* One probe, for so long; its figure in *value, the length of a cycle in *cycle_ns. */
static void sample(struct rig *r, int number, double seconds, double *value, double *cycle_ns)
{
	static const int patience = 4; /* times the time, when every run is disturbed */
	double figure[RUNS_MAX], loose[RUNS_MAX], cycles[RUNS_MAX];
	double begin = now_ns(), before, after, each;
	int good = 0, all = 0;

	probe_warm(r, number);
	before = yard_ns();
	while (all < RUNS_MAX) {
		double start = now_ns(), count = probe_run(r, number), end = now_ns();

		if (!(count > 0)) {
			*value = NAN;
			return;
		}
		after = yard_ns();
		each = (r->own_ns >= 0 ? r->own_ns : end - start) / count;
		if (probe_in_cycles(number))
			each /= fmin(before, after);
		loose[all] = each;
		cycles[all++] = fmin(before, after);
		if (fabs(after - before) < AGREEMENT * fmin(before, after))
			figure[good++] = each;
		before = after;
		if (end - begin > seconds * 1e9 &&
			(good >= RUNS_MIN || end - begin > patience * seconds * 1e9))
			break;
	}
	*value = good ? decile(figure, good) : decile(loose, all);
	*cycle_ns = decile(cycles, all);
}

int samples_take(struct samples *s, struct rig *r, double seconds, struct progress *progress,
	struct error *e)
{
	double begin = now_ns(), slice, cycle_ns[PROBE_COUNT];
	int rounds = (int)(seconds / ROUND_SHORT);

	s->rounds = rounds < 3 ? 3 : rounds > ROUNDS_MAX ? ROUNDS_MAX : rounds;
	for (int round = 0; round < s->rounds; round++) {
		int known = 0;

		if (round > 0 && rig_shuffle(r, e))
			return -1;
		for (int i = 0; i < PROBE_COUNT; i++) {
			/* Begin each round elsewhere, and share out what time is left. */
			int number = (i + round * 17) % PROBE_COUNT;
			int left = (s->rounds - round) * PROBE_COUNT - i;

			slice = (seconds - (now_ns() - begin) * 1e-9) / left * 0.9;
			cycle_ns[known] = NAN;
			sample(r, number, slice > 0 ? slice : 0, &s->value[number][round],
				&cycle_ns[known]);
			known += !isnan(cycle_ns[known]);
			progress_step(
				progress, (now_ns() - begin) * 1e-9 / seconds, probe_name(number));
		}
		s->clock_hz[round] = 1e9 / stats_median(cycle_ns, (size_t)known);
	}
	return 0;
}

static struct figure figure_of(double *x, int n)
{
	struct figure f = {.value = stats_median(x, (size_t)n)};

	f.spread = x[(3 * n) / 4] - x[n / 4];
	return f;
}

struct figure samples_difference2(const struct samples *s, int a, int b, int c, int d)
{
	double x[ROUNDS_MAX];

	for (int i = 0; i < s->rounds; i++) {
		x[i] = s->value[a][i];
		x[i] -= b >= 0 ? s->value[b][i] : 0;
		x[i] -= c >= 0 ? s->value[c][i] : 0;
		x[i] += d >= 0 ? s->value[d][i] : 0;
		if (isnan(x[i]))
			return (struct figure){NAN, NAN};
	}
	return figure_of(x, s->rounds);
}

struct figure samples_difference(const struct samples *s, int plus, int minus)
{
	return samples_difference2(s, plus, minus, -1, -1);
}

double samples_clock(const struct samples *s)
{
	double x[ROUNDS_MAX];

	for (int i = 0; i < s->rounds; i++)
		x[i] = s->clock_hz[i];
	return stats_median(x, (size_t)s->rounds);
}
