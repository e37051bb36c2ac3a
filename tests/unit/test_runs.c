/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Frequencies from straight runs seen in bursts, of chains whose frequencies are known. */
#include <math.h>
#include <stdlib.h>

#include "../tap.h"
#include "analysis/runs.h"
#include "flow_walks.h"

enum { PLACES = 40, STEP = 16 };

static struct analysis_runs *make(const struct analysis_run *runs, size_t count)
{
	struct error e;

	return analysis_runs_new(runs, count, &e);
}

/* Jumps from place to place, each place being a run of its own. */
static struct analysis_run hop(uint32_t from, uint32_t to, uint64_t count)
{
	return (struct analysis_run){.begin = (uint64_t)from * STEP,
		.end = (uint64_t)from * STEP + 8,
		.to = (uint64_t)to * STEP,
		.image = 1,
		.to_image = 1,
		.count = count};
}

static double at(const struct analysis_runs *r, uint32_t place)
{
	return analysis_runs_at(r, 1, (uint64_t)place * STEP + 4).flow;
}

/* What is left as often as it is entered is as frequent as it was seen. */
static void test_walk(void)
{
	struct analysis_run runs[PLACES * PLACES];
	uint32_t seen[PLACES][PLACES] = {0}, visits[PLACES] = {0}, place = 0;
	double worst = 0;
	struct analysis_runs *r;

	for (int i = 0; i < 100000 || place; i++) {
		uint32_t to = (place + 1 + dice(3) * dice(5)) % PLACES;

		seen[place][to]++;
		visits[place]++;
		place = to;
	}
	for (uint32_t i = 0; i < PLACES * PLACES; i++)
		runs[i] = hop(i / PLACES, i % PLACES, seen[i / PLACES][i % PLACES]);
	r = make(runs, PLACES * PLACES);
	for (uint32_t i = 0; i < PLACES; i++)
		worst = fmax(worst, fabs(at(r, i) / at(r, 0) * visits[0] / visits[i] - 1));
	ok(worst < 1e-9, "a walk that comes back is as frequent as it was seen");
	analysis_runs_free(r);
}

/* Bursts begin in the slow loop a hundred times as often as in the other, but each is left for the
 * other as often as that comes back. */
static void test_slow_and_fast(void)
{
	const struct analysis_run runs[] = {
		hop(0, 0, 99000), hop(0, 1, 1000), hop(1, 1, 900), hop(1, 0, 100)};
	struct analysis_runs *r = make(runs, 4);
	struct analysis_passage edge = analysis_runs_edge(r, 1, 8, 16, false);

	ok(fabs(at(r, 0) / at(r, 1) / 10 - 1) < 0.2,
		"shares of ways say how often, not how often bursts were there (%.3g)",
		at(r, 0) / at(r, 1));
	is_near(edge.flow / at(r, 0), 0.01, 1e-9, "a way has its share of what it leaves");
	is_int(edge.seen, 1000, "and is known to have been seen");
	analysis_runs_free(r);
}

static void test_segments(void)
{
	/* A run over two places, whose second one is jumped to as well. */
	const struct analysis_run runs[] = {
#define RUN(from, last, next, n)                                                                   \
	{.begin = from, .end = last, .to = next, .image = 1, .to_image = 1, .count = n}
		RUN(0, 40, 0, 30), RUN(0, 40, 20, 10), RUN(20, 40, 0, 10), RUN(100, 90, 0, 5),
		RUN(200, 210, 0, 0)
#undef RUN
	};
	struct analysis_runs *r = make(runs, 5);

	is_near(analysis_runs_at(r, 1, 30).flow / analysis_runs_at(r, 1, 4).flow, 1.25, 1e-9,
		"runs that pass a place where others begin are counted there");
	ok(!(analysis_runs_at(r, 1, 41).flow > 0) && !(analysis_runs_at(r, 1, 95).flow > 0) &&
			!(analysis_runs_at(r, 2, 4).flow > 0) &&
			!(analysis_runs_at(r, 1, 205).flow > 0),
		"what no sensible run passed has no frequency");
	is_int(analysis_runs_at(r, 1, 40).seen, 50, "ends of runs belong to them");
	analysis_runs_free(r);
	r = make(NULL, 0);
	ok(r && !(analysis_runs_at(r, 0, 0).flow > 0), "no runs at all");
	analysis_runs_free(r);
}

/* Two loops between which hardly a way was seen. */
static void test_evidence(void)
{
	const struct analysis_run runs[] = {
		hop(0, 0, 10000), hop(0, 1, 1), hop(1, 1, 10000), hop(1, 0, 1)};
	struct analysis_runs *r = make(runs, 4);
	uint32_t first = analysis_runs_segment(r, 1, 0), second = analysis_runs_segment(r, 1, 16);
	double before;

	for (int i = 0; i < 20; i++) {
		analysis_runs_observe(r, first, log(8 / at(r, 0)), 100);
		analysis_runs_observe(r, second, log(2 / at(r, 1)), 100);
		ok(analysis_runs_settle(r, true) == 0, "settled");
	}
	ok(fabs(at(r, 0) - 8) < 0.2 && fabs(at(r, 1) - 2) < 0.05,
		"what is told moves what is tied by few ways (%.3g, %.3g)", at(r, 0), at(r, 1));
	ok(analysis_runs_at(r, 1, 0).deviation > 0.03 && analysis_runs_at(r, 1, 0).deviation < 0.3,
		"as sure as what was told (%.2g)", analysis_runs_at(r, 1, 0).deviation);
	before = at(r, 1) / at(r, 0);
	analysis_runs_scale(r, 3);
	is_near(at(r, 1) / at(r, 0), before, 1e-9, "scaled alike");
	analysis_runs_free(r);
}

/* A program of phases that go round for a while: bursts of some hundred transfers at random moments
 * of its time.  Truth is known; so is what a burst takes. */
enum { PHASES = 6, LOOPS = 5, BURSTS = 400, LENGTH = 300, FIRST = 1000, ROUNDS = 40 };

struct story {
	double share[PHASES];        /* of time */
	double times[PHASES][LOOPS]; /* executions a nanosecond, of each place in its phase */
};

static void tell_story(struct story *s)
{
	double sum = 0;

	for (int p = 0; p < PHASES; p++) {
		s->share[p] = 1 + dice(20);
		sum += s->share[p];
		for (int i = 0; i < LOOPS; i++)
			s->times[p][i] = (1 + dice(30)) / 100.0;
	}
	for (int p = 0; p < PHASES; p++)
		s->share[p] /= sum;
}

static double chance(void)
{
	return (dice(1u << 15) + 0.5) / (1u << 15);
}

/* Of one place: how often a burst of so many ns meets it, about as often as it should. */
static double met(double usual)
{
	double sum = 0;

	for (int i = 0; i < 12; i++)
		sum += chance();
	return floor(fmax(usual + (sum - 6) * sqrt(usual), 0));
}

/* Share of places whose true frequency is within twice the deviation. */
static void test_rates(void)
{
	double covered = 0, all = 0, off = 0, scatter = 0;

	for (int round = 0; round < ROUNDS; round++) {
		struct analysis_run runs[PHASES * LOOPS];
		double squares[PHASES * LOOPS] = {0};
		struct analysis_runs *r;
		struct story s;

		tell_story(&s);
		for (uint32_t i = 0; i < PHASES * LOOPS; i++)
			runs[i] = hop(FIRST + i, FIRST + (i + 1) % (PHASES * LOOPS), 0);
		for (int burst = 0; burst < BURSTS; burst++) {
			double where = chance(), ns = LENGTH * (0.5 + chance());
			int p = 0;

			for (; p + 1 < PHASES && where > s.share[p]; p++)
				where -= s.share[p];
			for (int i = 0; i < LOOPS; i++) {
				double count = met(s.times[p][i] * ns), rate = count / ns;

				runs[p * LOOPS + i].count += (uint64_t)count;
				runs[p * LOOPS + i].rate += rate / BURSTS;
				squares[p * LOOPS + i] += rate * rate;
			}
		}
		for (int i = 0; i < PHASES * LOOPS; i++)
			runs[i].variance =
				(squares[i] / BURSTS - runs[i].rate * runs[i].rate) / (BURSTS - 1);
		r = make(runs, PHASES * LOOPS);
		for (uint32_t i = 0; i < PHASES * LOOPS; i++) {
			double truth = s.share[i / LOOPS] * s.times[i / LOOPS][i % LOOPS];
			struct analysis_passage x =
				analysis_runs_at(r, 1, (uint64_t)(FIRST + i) * STEP + 4);

			if (!x.seen)
				continue;
			all++;
			covered += fabs(log(x.flow / truth)) < 2 * x.deviation;
			off += log(x.flow / truth) * log(x.flow / truth);
			scatter += x.deviation * x.deviation;
		}
		analysis_runs_free(r);
	}
	ok(all > 0.95 * ROUNDS * PHASES * LOOPS, "bursts in phases meet most of them");
	ok(covered > 0.9 * all && covered < 0.99 * all,
		"95%% of frequencies are within two deviations of the truth (%.3g%%)",
		100 * covered / all);
	ok(off < 1.5 * scatter && scatter < 1.5 * off, "deviations are as large as errors (%.3g)",
		sqrt(off / scatter));
}

/* Runs that pass one place were met together: they do not even out. */
static void test_together(void)
{
	struct analysis_run runs[] = {hop(1, 2, 1000000), hop(1, 3, 1000000)};
	struct analysis_runs *r;

	for (int i = 0; i < 2; i++) {
		runs[i].rate = 10;
		runs[i].variance = 1;
	}
	r = make(runs, 2);
	ok(analysis_runs_rated(r), "rates are frequencies");
	is_near(at(r, 1), 20, 1e-9, "which add up");
	is_near(analysis_runs_at(r, 1, STEP + 4).deviation, 0.1, 0.001,
		"deviations of what was met together add up");
	analysis_runs_free(r);
	for (int i = 0; i < 2; i++) {
		runs[i].count = 100;
		runs[i].rate = 100;
		runs[i].variance = 100;
	}
	r = make(runs, 2);
	is_near(analysis_runs_at(r, 1, STEP + 4).deviation, sqrt(200) / 200, 0.001,
		"of what is met by chance only, variances");
	analysis_runs_free(r);
}

static void test_nonsense(void)
{
	bool fine = true;

	for (int round = 0; round < 200; round++) {
		struct analysis_run runs[60];
		size_t n = dice(60);
		struct analysis_runs *r;

		for (size_t i = 0; i < n; i++)
			runs[i] = (struct analysis_run){.begin = dice(300),
				.end = dice(300),
				.to = dice(300),
				.image = dice(3),
				.to_image = dice(3),
				.count = dice(5) ? dice(9) : UINT64_MAX / 4,
				.rate = round % 2 ? 0
					: dice(4) ? dice(9)
						  : -INFINITY,
				.variance = dice(4) ? dice(9) : NAN};
		r = make(runs, n);
		for (uint32_t i = 0; i < analysis_runs_count(r); i++)
			analysis_runs_observe(r, i, (double)dice(9) - 4, dice(3));
		fine &= analysis_runs_settle(r, true) == 0;
		for (uint32_t i = 0; i < 300; i++) {
			double x = analysis_runs_at(r, 1, i).flow;

			fine &= isfinite(x) && x >= 0;
		}
		analysis_runs_free(r);
	}
	ok(fine, "runs that no program can have made give finite frequencies");
}

int main(void)
{
	test_walk();
	test_slow_and_fast();
	test_segments();
	test_evidence();
	test_rates();
	test_together();
	test_nonsense();
	return done();
}
