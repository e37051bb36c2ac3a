/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "kernels/sample.h"

#include <math.h>

#include "base/stats.h"

#define YARD        32768 /* adds: nine microseconds at 3.7 GHz */
#define RUNS_MAX    1000
#define RUNS_MIN    4
#define AGREEMENT   0.02 /* of the two yardsticks of a run */
#define ROUND_SHORT 2    /* minimum of seconds for another round */

static double yard_ns(void)
{
	double begin = rig_now_ns();

	kernel_adds(YARD);
	return (rig_now_ns() - begin) / YARD;
}

/* The quantile of the runs that gives a probe's figure: the least disturbed ones. Lines that pass
 * between cores may also arrive early, if they were not in their intended place: for these, the
 * median. */
static double typical_run(int number)
{
	return number >= PROBE_TRANSFER_CHASE && number <= PROBE_OWN_LOCK ? 0.5 : 0.1;
}

static double quantile(double *x, int n, double part)
{
	stats_median(x, (size_t)n); /* sorts */
	return n ? x[(int)(n * part)] : NAN;
}

struct run {
	double each;               /* nanoseconds */
	double cycle, cycle_after; /* a cycle, by the better and the worse of the two yardsticks */
};

/* The figure of this number of runs; *cycle_ns is the length of a cycle. A yardstick that is
 * longer than others was disturbed itself, and would make its run look short. */
static double reduce(const struct run *run, int count, int number, double *cycle_ns)
{
	double x[RUNS_MAX];
	int good = 0;

	for (int i = 0; i < count; i++)
		x[i] = run[i].cycle;
	*cycle_ns = quantile(x, count, 0.1);
	for (int strict = 1; strict >= 0 && good < RUNS_MIN; strict--) {
		good = 0;
		for (int i = 0; i < count; i++)
			if (!strict || run[i].cycle_after < (1 + AGREEMENT) * *cycle_ns)
				x[good++] =
					run[i].each / (probe_in_cycles(number) ? run[i].cycle : 1);
	}
	return quantile(x, good, typical_run(number));
}

/* One probe, for this time. */
static void sample_probe(struct rig *r, int number, double seconds, double *value, double *cycle_ns)
{
	static const int patience = 3; /* times the time, when runs are few */
	struct run run[RUNS_MAX];
	double begin = rig_now_ns(), before, after;
	int count = 0;

	probe_warm(r, number);
	before = yard_ns();
	while (count < RUNS_MAX) {
		double start = rig_now_ns(), things = probe_run(r, number), end = rig_now_ns();

		if (!(things > 0)) {
			*value = NAN;
			return;
		}
		after = yard_ns();
		run[count].each = (r->own_ns >= 0 ? r->own_ns : end - start) / things;
		run[count].cycle = fmin(before, after);
		run[count++].cycle_after = fmax(before, after);
		before = after;
		if (end - begin > seconds * 1e9 &&
			(count >= 2 * RUNS_MIN || end - begin > patience * seconds * 1e9))
			break;
	}
	*value = reduce(run, count, number, cycle_ns);
}

int samples_take(struct samples *s, struct rig *r, const int *probes, int count, int rounds,
	double seconds, struct progress *progress, struct error *e)
{
	double begin = rig_now_ns(), slice, cycle_ns[PROBE_COUNT];

	if (!rounds)
		rounds = (int)(seconds / ROUND_SHORT);
	s->rounds = rounds < 3 ? 3 : rounds > ROUNDS_MAX ? ROUNDS_MAX : rounds;
	for (int i = 0; i < PROBE_COUNT; i++)
		for (int round = 0; round < s->rounds; round++)
			s->value[i][round] = NAN;
	for (int round = 0; round < s->rounds; round++) {
		int known = 0;

		if (round > 0 && rig_shuffle(r, e))
			return -1;
		for (int i = 0; i < count; i++) {
			/* Starts each round at another probe, and divides the remaining time. */
			int number = probes[(i + round * 17) % count];
			int left = (s->rounds - round) * count - i;

			slice = (seconds - (rig_now_ns() - begin) * 1e-9) / left * 0.9;
			cycle_ns[known] = NAN;
			sample_probe(r, number, slice > 0 ? slice : 0, &s->value[number][round],
				&cycle_ns[known]);
			known += !isnan(cycle_ns[known]);
			progress_step(progress, (rig_now_ns() - begin) * 1e-9 / seconds,
				probe_name(number));
		}
		s->clock_hz[round] = 1e9 / stats_median(cycle_ns, (size_t)known);
	}
	return 0;
}

/* The lower quartile of a probe's rounds: other programs may disturb many rounds in a row. */
static double sample_settled(const struct samples *s, int probe)
{
	double x[ROUNDS_MAX];

	if (probe < 0)
		return 0;
	for (int i = 0; i < s->rounds; i++)
		if (isnan(x[i] = s->value[probe][i]))
			return NAN;
	return quantile(x, s->rounds, fmax(typical_run(probe), 0.25));
}

struct figure samples_difference(const struct samples *s, int a, int b, int c, int d)
{
	struct figure f = {.value = sample_settled(s, a) - sample_settled(s, b) -
				    (sample_settled(s, c) - sample_settled(s, d))};
	const int term[] = {a, b, c, d}, sign[] = {1, -1, -1, 1}, n = s->rounds;
	double x[ROUNDS_MAX] = {0};

	for (int i = 0; i < n; i++)
		for (int k = 0; k < 4; k++)
			x[i] += term[k] >= 0 ? sign[k] * s->value[term[k]][i] : 0;
	if (isnan(f.value))
		return (struct figure){NAN, NAN, NAN};
	stats_median(x, (size_t)n); /* sorts */
	f.spread = x[3 * n / 4] - x[n / 4];
	f.least_spread = x[n / 2] - x[n / 4];
	return f;
}

double samples_clock(const struct samples *s)
{
	double x[ROUNDS_MAX];

	for (int i = 0; i < s->rounds; i++)
		x[i] = s->clock_hz[i];
	return stats_median(x, (size_t)s->rounds);
}
