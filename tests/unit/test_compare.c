/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Two profiles compared: known values; how often there is a false alarm; programs that are in step
 * with one of the periods. */
#include <stdlib.h>

#include "../tap.h"
#include "base/stats.h"
#include "experiment/compare.h"
#include "experiment_random.h"

/* ---- chi-square ---- */

/* Closed forms: one degree of freedom, and even numbers of them. */
static double by_hand(double x, int df)
{
	double sum = 0, term = 1;

	if (df == 1)
		return erfc(sqrt(x / 2));
	for (int k = 0; k < df / 2; k++) {
		sum += term;
		term *= x / 2 / (k + 1);
	}
	return sum * exp(-x / 2);
}

static void test_chi_square(void)
{
	static const int degrees[] = {1, 2, 4, 10, 50, 200};
	/* Abramowitz and Stegun, table 26.8 */
	static const struct {
		double p, x, df;
	} table[] = {{0.05, 3.84146, 1}, {0.05, 18.3070, 10}, {0.001, 29.5883, 10},
		{0.95, 3.94030, 10}, {0.05, 11.0705, 5}, {0.01, 135.807, 100},
		{0.995, 67.3276, 100}};
	double worst = 0;

	for (size_t i = 0; i < sizeof(degrees) / sizeof(degrees[0]); i++)
		for (double x = 0.01; x < 600; x *= 1.3) {
			double want = by_hand(x, degrees[i]);
			double off = fabs(stats_chi_square(x, degrees[i]) / want - 1);

			worst = off > worst ? off : worst;
		}
	ok(worst < 1e-10, "as the closed forms to %.1e", worst);
	worst = 0;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		double off = fabs(stats_chi_square(table[i].x, table[i].df) / table[i].p - 1);

		worst = off > worst ? off : worst;
	}
	ok(worst < 1e-4, "as the printed table to %.1e", worst);
	ok(stats_chi_square(0, 5) == 1 && stats_chi_square(1e6, 3) == 0 &&
			fabs(stats_chi_square(100000, 100000) - 0.5) < 0.01,
		"at the ends");
}

/* ---- tables ---- */

static void make_profile(struct experiment *x)
{
	struct error e;

	experiment_init(x, &e);
	for (int i = 0; i < 2; i++)
		experiment_metric(x, &random_metrics[1 + i], &e);
}

static void add(struct experiment *x, uint32_t metric, uint64_t address, uint64_t count)
{
	experiment_add(x, metric, 0, 0, (uint32_t)experiment_node(x, 0, 0, address), count);
}

static uint64_t by_address(const struct experiment *x, size_t sample, uint64_t *key, void *data)
{
	const struct experiment_sample *s = experiment_sample_at(x, sample);

	*key = experiment_node_at(x, s->key.node)->key.address;
	return !data || *key != *(uint64_t *)data ? s->count : 0;
}

static void test_table(void)
{
	/* 2 x 3 table, by hand: expected 20, 30, 50 and 40, 60, 100. */
	static const uint64_t first[] = {30, 30, 40}, second[] = {30, 60, 110};
	const double want = 100. / 20 + 0 + 100. / 50 + 100. / 40 + 0 + 100. / 100;
	uint64_t left_out = 9;
	struct experiment x;
	struct comparison c;
	struct error e;

	make_profile(&x);
	for (uint64_t i = 0; i < 3; i++) {
		add(&x, 0, i, first[i]);
		add(&x, 1, i, second[i]);
	}
	add(&x, 0, left_out, 1000);
	ok(experiment_compare(&c, &x, 0, &x, 1, by_address, &left_out, &e) == 0, "compared");
	is_int(c.cells, 3, "cells");
	is_int(c.samples[0] * 1000 + c.samples[1], 100200, "samples");
	is_near(c.statistic, want, 1e-9, "chi-square");
	is_near(c.p, exp(-want / 2), 1e-12, "p");
	is_int(c.groups.data[0].key, 0, "the first group differs most");
	is_near(c.groups.data[0].residual, 10 / sqrt(20 * (200. / 300) * (240. / 300)), 1e-9,
		"its residual");
	is_int(c.groups.data[2].key, 1, "the second not at all");
	is_near(c.difference, sqrt((want - 2) * 300 / (100. * 200)), 1e-9, "difference");
	compare_fini(&c);
	experiment_fini(&x);
}

static void test_small(void)
{
	struct experiment x;
	struct comparison c;
	struct error e;

	make_profile(&x);
	experiment_compare(&c, &x, 0, &x, 1, by_address, NULL, &e);
	ok(c.p == 1 && c.cells == 0 && c.groups.count == 0, "nothing to compare");
	compare_fini(&c);
	for (uint64_t i = 0; i < 50; i++)
		add(&x, 0, i, 1);
	experiment_compare(&c, &x, 0, &x, 1, by_address, NULL, &e);
	ok(c.p == 1 && c.cells == 0 && c.groups.count == 50, "one profile is empty");
	compare_fini(&c);
	for (uint64_t i = 0; i < 50; i++)
		add(&x, 1, i + 1, 1);
	experiment_compare(&c, &x, 0, &x, 1, by_address, NULL, &e);
	ok(c.p == 1 && c.cells == 1 && c.groups.data[0].pooled,
		"fifty addresses with one sample each make no test");
	compare_fini(&c);
	add(&x, 0, 100, 40);
	add(&x, 1, 100, 50);
	experiment_compare(&c, &x, 0, &x, 1, by_address, NULL, &e);
	ok(c.cells == 2 && c.p > 0.3, "together against a large one they do");
	compare_fini(&c);
	experiment_fini(&x);
}

/* ---- sampled programs ---- */

enum { PROCEDURES = 20, PERIOD = 1009, FINE = 211, TRIALS = 600 };

/* A program as pieces of work in procedures, and a sample of it at every period-th event. */
struct sampler {
	struct experiment *x;
	uint64_t time, next[2];
	uint64_t periods[2];
};

static void run_piece(struct sampler *s, uint64_t procedure, uint64_t length)
{
	s->time += length;
	for (uint32_t i = 0; i < 2; i++)
		for (; s->next[i] < s->time; s->next[i] += s->periods[i])
			add(s->x, i, procedure, 1);
}

static void begin_program(struct sampler *s, struct experiment *x, struct chance *c)
{
	make_profile(x);
	*s = (struct sampler){.x = x, .periods = {PERIOD, FINE}};
	for (int i = 0; i < 2; i++)
		s->next[i] = chance_below(c, (uint32_t)s->periods[i]);
}

typedef void program(struct sampler *s, struct chance *c);

/* Pieces of all lengths, in procedures as chance has it. */
static void irregular(struct sampler *s, struct chance *c)
{
	while (s->time < 400 * PERIOD) {
		uint32_t length = 1 + chance_below(c, 300);

		run_piece(s, chance_below(c, PROCEDURES) % (1 + chance_below(c, PROCEDURES)),
			chance_below(c, 4) ? length : 10 * length);
	}
}

/* Loops of a fixed length which has nothing in common with either period, each for a while. */
static void loops(struct sampler *s, struct chance *c)
{
	uint64_t length[4], procedure = 0;

	while (s->time < 800 * PERIOD) {
		for (int i = 0; i < 4; i++)
			length[i] = 3 + chance_below(c, 40);
		for (int i = 0; i < 1000; i++)
			for (uint64_t j = 0; j < 4; j++)
				run_piece(s, (procedure + j) % PROCEDURES, length[j]);
		procedure++;
	}
}

/* A loop as long as the coarse period: each pass is sampled at the same place. */
static void resonant(struct sampler *s, struct chance *c)
{
	for (int i = 0; i < 600; i++)
		for (uint64_t j = 0; j < 8; j++)
			run_piece(s, j, PERIOD / 8 + (j == 7 ? PERIOD % 8 : 0));
	(void)c;
}

/* The same with some noise now and then. */
static void nearly_resonant(struct sampler *s, struct chance *c)
{
	for (int i = 0; i < 600; i++) {
		for (uint64_t j = 0; j < 8; j++)
			run_piece(s, j, PERIOD / 8 + (j == 7 ? PERIOD % 8 : 0));
		run_piece(s, 8, i % 64 ? 0 : chance_below(c, 100));
	}
}

static double alarms(program *run, int trials, double level, double *difference)
{
	struct chance c = chance_seed(11);
	int count = 0;

	*difference = 0;
	for (int i = 0; i < trials; i++) {
		struct experiment x;
		struct comparison compared;
		struct sampler s;
		struct error e;

		begin_program(&s, &x, &c);
		run(&s, &c);
		experiment_compare(&compared, &x, 0, &x, 1, by_address, NULL, &e);
		count += compared.p < level;
		*difference += compared.difference / trials;
		compare_fini(&compared);
		experiment_fini(&x);
	}
	return (double)count / trials;
}

/* Samples that are independent: false alarms are as frequent as p says. */
static void test_independent(void)
{
	struct chance c = chance_seed(5);
	int below[3] = {0};

	for (int trial = 0; trial < TRIALS; trial++) {
		struct experiment x;
		struct comparison compared;
		struct error e;

		make_profile(&x);
		for (uint32_t i = 0; i < 2; i++)
			for (int n = 0; n < (i ? 1500 : 300); n++)
				add(&x, i, chance_below(&c, 2 + chance_below(&c, 30)), 1);
		experiment_compare(&compared, &x, 0, &x, 1, by_address, NULL, &e);
		below[0] += compared.p < 0.5;
		below[1] += compared.p < 0.05;
		below[2] += compared.p < 0.01;
		compare_fini(&compared);
		experiment_fini(&x);
	}
	/* within three standard deviations */
	ok(abs(below[0] - TRIALS / 2) < 3 * 12.3 && abs(below[1] - TRIALS / 20) < 3 * 5.4 &&
			below[2] < TRIALS / 100 + 3 * 2.5,
		"independent samples: p < 0.5, 0.05, 0.01 in %.1f%%, %.1f%%, %.1f%%",
		100. * below[0] / TRIALS, 100. * below[1] / TRIALS, 100. * below[2] / TRIALS);
}

static void test_programs(void)
{
	double difference, rate = alarms(irregular, TRIALS, 0.05, &difference);

	ok(rate <= 0.05 + 3 * 0.0089, "an irregular program: p < 0.05 in %.1f%% of runs",
		100 * rate);
	rate = alarms(loops, 100, 0.05, &difference);
	ok(rate <= 0.05 + 3 * 0.022, "loops without resonance: in %.1f%%", 100 * rate);
	rate = alarms(resonant, 50, 1e-6, &difference);
	ok(rate == 1 && difference > 1,
		"a loop as long as a period: p < 1e-6 in %.0f%%, shares off by %.1f", 100 * rate,
		difference);
	rate = alarms(nearly_resonant, 50, 1e-6, &difference);
	ok(rate == 1, "and with some noise: in %.0f%%, by %.2f", 100 * rate, difference);
}

int main(void)
{
	test_chi_square();
	test_table();
	test_small();
	test_independent();
	test_programs();
	return done();
}
