/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Weights of bursts from anchors: of made-up programs, whose executions are known. */
#include <math.h>
#include <stdlib.h>

#include "../tap.h"

#ifdef __x86_64__
#include "branches/weigh.h"

enum { BURSTS = 200, HALF = BURSTS / 2 };

static double weigh_chance(void)
{
	static unsigned long long state = 7;

	state = state * 6364136223846793005u + 1442695040888963407u;
	return (double)(state >> 40) / (double)(1 << 24);
}

/* Two phases: bursts have 1000 executions of the first kind of code in the one, 400 of the second
 * in the other; they take 3 and 1.5 times as long as natively, which no clock tells. */
static void fill(struct weigh *w, double *other)
{
	for (int i = 0; i < BURSTS; i++) {
		int kind = i >= HALF;
		double count = (kind ? 400 : 1000) * (0.8 + 0.4 * weigh_chance());

		w->weight[i] = 50;
		w->count[kind * BURSTS + i] = count;
		other[i] = count * (kind ? 7 : 2);
		w->total[kind] += count * 50 * (kind ? 1.5 : 3);
	}
}

static void test_phases(void)
{
	double other[BURSTS], first[BURSTS] = {0}, variance, sum, truth;
	struct weigh w;

	is_int(weigh_make(&w, BURSTS, 2), 0, "weights of bursts");
	fill(&w, other);
	truth = 2 * w.total[0] + 7 * w.total[1];
	for (int i = 0; i < HALF; i++)
		first[i] = other[i];
	weigh_calibrate(&w);
	sum = weigh_sum(&w, other, &variance);
	ok(fabs(sum / truth - 1) < 0.01, "code that goes with anchors, in all phases: %g of %g",
		sum, truth);
	ok(sqrt(variance) / truth < 0.01, "its deviation is small: %g", sqrt(variance) / truth);
	sum = weigh_sum(&w, first, &variance);
	ok(fabs(sum / (2 * w.total[0]) - 1) < 0.01, "code of one phase: %g",
		sum / (2 * w.total[0]));
	weigh_free(&w);
}

/* As many anchors as bursts, each of which is in half of them: what goes with one of them is as
 * sure as that, though any count could be made of all of them. */
static void test_many_anchors(void)
{
	enum { FEW = 12 };
	double other[FEW], variance, sum;
	struct weigh w;

	is_int(weigh_make(&w, FEW, FEW), 0, "weights of few bursts");
	for (int i = 0; i < FEW; i++) {
		w.weight[i] = 50;
		for (int a = 0; a < FEW; a++) {
			w.count[a * FEW + i] = weigh_chance() < 0.5 ? 0 : 1000 * weigh_chance();
			w.total[a] += w.count[a * FEW + i] * 50;
		}
		other[i] = 3 * w.count[i];
	}
	weigh_calibrate(&w);
	sum = weigh_sum(&w, other, &variance);
	ok(fabs(sum / (3 * w.total[0]) - 1) < 0.05, "it goes with the first: %g",
		sum / (3 * w.total[0]));
	ok(sqrt(variance) / sum < 0.05, "which its deviation says: %g", sqrt(variance) / sum);
	weigh_free(&w);
}

/* Code that is executed in some bursts only, independently of the anchor. */
static void test_scatter(void)
{
	double other[BURSTS] = {0}, variance, sum;
	struct weigh w;

	is_int(weigh_make(&w, BURSTS, 1), 0, "one anchor");
	for (int i = 0; i < BURSTS; i++) {
		w.weight[i] = 10;
		w.count[i] = 500;
		w.total[0] += 500 * 20;
		other[i] = weigh_chance() < 0.1 ? 100 : 0;
	}
	weigh_calibrate(&w);
	sum = weigh_sum(&w, other, &variance);
	ok(sum > 0.1 * BURSTS * 100 * 20 / 3 && sum < 0.1 * BURSTS * 100 * 20 * 3,
		"rare code has the same factor: %g", sum);
	ok(sqrt(variance) / sum > 0.1 && sqrt(variance) / sum < 0.5, "and a large deviation: %g",
		sqrt(variance) / sum);
	weigh_free(&w);
}

/* Totals that are extrapolated are known less well, and so is code that goes with the anchor. */
static void test_doubt(void)
{
	double other[BURSTS], variance, sum;
	struct weigh w;

	is_int(weigh_make(&w, BURSTS, 1), 0, "an anchor in doubt");
	w.doubt[0] = 0.04;
	for (int i = 0; i < BURSTS; i++) {
		w.weight[i] = 10;
		w.count[i] = 500;
		w.total[0] += 500 * 20;
		other[i] = 3 * w.count[i];
	}
	weigh_calibrate(&w);
	sum = weigh_sum(&w, other, &variance);
	ok(sqrt(variance) / sum > 0.15 && sqrt(variance) / sum < 0.25, "its deviation: %g",
		sqrt(variance) / sum);
	weigh_free(&w);
}

/* Several anchors, each with a doubt of its own: they are known better together. Where they
 * disagree, by a factor, they are not. Returns the deviation of code that goes with all. */
static double deviation_of(int anchors, double factor)
{
	double other[BURSTS], variance, sum;
	struct weigh w;

	is_int(weigh_make(&w, BURSTS, (size_t)anchors), 0, "%d anchors that differ by %g", anchors,
		factor);
	w.open = 0.04;
	for (int i = 0; i < BURSTS; i++) {
		other[i] = 1000 * (0.8 + 0.4 * weigh_chance());
		w.weight[i] = 10;
		w.time[i] = 1;
		for (int a = 0; a < anchors; a++)
			w.count[a * BURSTS + i] = other[i] * (0.95 + 0.1 * weigh_chance());
	}
	for (int a = 0; a < anchors; a++) {
		w.doubt[a] = 0.01;
		w.total[a] = BURSTS * 1000 * 10. * (a % 2 ? factor : 1);
	}
	weigh_calibrate(&w);
	sum = weigh_sum(&w, other, &variance);
	weigh_free(&w);
	return sqrt(variance) / sum;
}

static void test_together(void)
{
	double one = deviation_of(1, 1), four = deviation_of(4, 1), apart = deviation_of(4, 2);

	ok(one > 0.07 && one < 0.13, "one anchor has its doubt: %g", one);
	ok(four < 0.7 * one, "four that agree are known better: %g", four);
	ok(apart > 1.5 * four, "four that disagree are not: %g", apart);
}

/* Four anchors in all bursts, whose executions differ by a factor that no weights explain: nor can
 * they those of code that goes with none of them. Returns its deviation. */
static double deviation_alone(double factor)
{
	double other[BURSTS] = {0}, variance, sum;
	struct weigh w;

	is_int(weigh_make(&w, BURSTS, 4), 0, "code beside anchors that differ by %g", factor);
	w.open = 0.01;
	for (int i = 0; i < BURSTS; i++) {
		other[i] = weigh_chance() < 0.2 ? 100 : 0;
		w.weight[i] = 10;
		w.time[i] = 1;
		for (int a = 0; a < 4; a++)
			w.count[a * BURSTS + i] = 1000;
	}
	for (int a = 0; a < 4; a++)
		w.total[a] = BURSTS * 1000 * 10. * (a % 2 ? factor : 1 / factor);
	weigh_calibrate(&w);
	sum = weigh_sum(&w, other, &variance);
	weigh_free(&w);
	return sqrt(variance) / sum;
}

static void test_alone(void)
{
	double agree = deviation_alone(1), differ = deviation_alone(3);

	ok(agree < 0.25, "anchors that agree: scatter only: %g", agree);
	ok(differ > 0.5, "anchors that weights cannot explain: %g", differ);
}

/* An anchor that is in few bursts, by chance in twice as many as it should be: the clock knows
 * better. One that is in all bursts knows better than the clock. */
static void test_chance(double bursts_with, double truth)
{
	double other[BURSTS], variance, sum;
	struct weigh w;

	is_int(weigh_make(&w, BURSTS, 1), 0, "an anchor in %g bursts", bursts_with);
	w.open = 0.04;
	for (int i = 0; i < BURSTS; i++) {
		w.weight[i] = 10;
		w.time[i] = 1;
		w.count[i] = i < bursts_with ? 100 : 0;
		other[i] = 1000;
	}
	w.total[0] = 100 * bursts_with * 10 / 2;
	weigh_calibrate(&w);
	sum = weigh_sum(&w, other, &variance) / (BURSTS * 1000 * 10.);
	ok(fabs(sum / truth - 1) < 0.1, "executions of other code: %g times those by the clock",
		sum);
	weigh_free(&w);
}

static void test_none(void)
{
	double other[3] = {1, 2, 3}, variance;
	struct weigh w;

	is_int(weigh_make(&w, 3, 1), 0, "an anchor that has counted nothing");
	for (int i = 0; i < 3; i++)
		w.weight[i] = i + 1;
	weigh_calibrate(&w);
	ok(weigh_sum(&w, other, &variance) == 14, "weights remain those by the clock");
	weigh_free(&w);
}

int main(void)
{
	test_phases();
	test_many_anchors();
	test_scatter();
	test_doubt();
	test_together();
	test_alone();
	test_chance(6, 1);
	test_chance(BURSTS, 0.5);
	test_none();
	return done();
}
#else
int main(void)
{
	skip("branches are not followed on this machine");
	return done();
}
#endif
