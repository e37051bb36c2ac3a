/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hot_lists [RUNS]: lists of frequent values, ours (values/sites.h) and, as the paper on value
 * profiles has them, counting samples (Gibbons and Matias, "New Sampling-Based Summary Statistics
 * for Improving Approximate Query Answers", SIGMOD 1998), of streams whose shares are known. Prints
 * the error of the most frequent value's share, in points, as Markdown.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../chance.h"
#include "experiment/experiment.h"
#include "values/interval.h"
#include "values/sites.h"

#define VALUES  20000
#define HIGHEST 1000000
#define MOMENT  500 /* values of a window */
#define RAISE   1.5
/* What a count lacks of those before its value was listed, by the paper. */
#define MISSED(tau) (0.418 * (tau)-1)

struct stream {
	const char *name;
	uint64_t (*next)(const struct stream *s, unsigned number);
	double share;    /* of value 1 */
	unsigned length; /* of runs */
};

static uint64_t other(void)
{
	return 2 + chance_mixed() % HIGHEST;
}

static uint64_t one_value(const struct stream *s, unsigned number)
{
	(void)number;
	return chance_uniform() < s->share ? 1 : other();
}

/* Shares as 1/v^2. */
static uint64_t falling(const struct stream *s, unsigned number)
{
	(void)s;
	(void)number;
	return (uint64_t)(1 / (1 - chance_uniform()));
}

/* Value 1 has the given share of the second half only, another one that of the first. */
static uint64_t phases(const struct stream *s, unsigned number)
{
	if (chance_uniform() >= 2 * s->share)
		return other();
	return number < VALUES / 2 ? 0 : 1;
}

static uint64_t runs_of_values(const struct stream *s, unsigned number)
{
	static uint64_t now;

	if (number % s->length == 0)
		now = chance_uniform() < s->share ? 1 : other();
	return now;
}

static const struct stream streams[] = {
	{"one value, others of a million", one_value, 0.9, 0},
	{"", one_value, 0.3, 0},
	{"", one_value, 0.1, 0},
	{"value v has 1/v - 1/(v+1)", falling, 0.5, 0},
	{"two phases", phases, 0.4, 0},
	{"runs of 500", runs_of_values, 0.5, 500},
};

/* ---- counting samples ---- */

struct counting {
	struct {
		uint64_t value, count;
	} list[VALUE_LIST + 1];
	unsigned listed;
	double tau;
};

static void counting_raise(struct counting *c)
{
	double before = c->tau;
	unsigned kept = 0;

	c->tau *= RAISE;
	for (unsigned i = 0; i < c->listed; i++) {
		bool stays = chance_uniform() < before / c->tau;

		while (!stays && --c->list[i].count)
			stays = chance_uniform() < 1 / c->tau;
		if (c->list[i].count)
			c->list[kept++] = c->list[i];
	}
	c->listed = kept;
}

static void counting_add(struct counting *c, uint64_t value)
{
	for (unsigned i = 0; i < c->listed; i++)
		if (c->list[i].value == value) {
			c->list[i].count++;
			return;
		}
	if (chance_uniform() >= 1 / c->tau)
		return;
	c->list[c->listed].value = value;
	c->list[c->listed++].count = 1;
	while (c->listed > VALUE_LIST)
		counting_raise(c);
}

static double counting_share(const struct counting *c, uint64_t value)
{
	for (unsigned i = 0; i < c->listed; i++)
		if (c->list[i].value == value)
			return ((double)c->list[i].count + MISSED(c->tau)) / VALUES;
	return 0;
}

/* ---- ours ---- */

static double our_share(struct value_sites *sites, uint64_t value)
{
	struct experiment x;
	struct error e;
	double share = 0;

	if (experiment_init(&x, &e) || value_sites_put(sites, &x))
		exit(1);
	for (size_t i = 0; i < x.values.count; i++) {
		const struct experiment_value *v = experiment_value_at(&x, i);

		if (v->key.value == value)
			share = value_share_of(experiment_value_site_at(&x, 0), v).share;
	}
	experiment_fini(&x);
	return share;
}

/* ---- both ---- */

struct errors {
	double sum, squares;
};

static void errors_add(struct errors *e, double points)
{
	e->sum += points;
	e->squares += points * points;
}

static void one_run(const struct stream *s, struct errors errors[2])
{
	const struct value_told of = {.address = 64, .image = 1, .form = 64 << 8};
	struct counting counting = {.tau = 1};
	static uint64_t values[VALUES];
	struct value_sites sites;
	double truth = 0;

	value_sites_init(&sites);
	for (unsigned i = 0; i < VALUES; i++) {
		values[i] = s->next(s, i);
		truth += values[i] == 1;
		counting_add(&counting, values[i]);
	}
	for (unsigned i = 0; i < VALUES; i += MOMENT) {
		value_sites_moment(&sites);
		if (value_sites_add_run(&sites, &of, values + i, MOMENT))
			exit(1);
	}
	errors_add(&errors[0], 100 * (our_share(&sites, 1) - truth / VALUES));
	errors_add(&errors[1], 100 * (counting_share(&counting, 1) - truth / VALUES));
	value_sites_fini(&sites);
}

int main(int argc, char **argv)
{
	int runs = argc > 1 ? atoi(argv[1]) : 200;

	printf("| values | share | Space-Saving: mean, deviation | counting samples: mean, "
	       "deviation "
	       "|\n|---|---|---|---|\n");
	for (size_t i = 0; i < sizeof(streams) / sizeof(streams[0]); i++) {
		struct errors errors[2] = {{0, 0}, {0, 0}};

		for (int r = 0; r < runs; r++)
			one_run(&streams[i], errors);
		printf("| %s | %.0f%%", streams[i].name, 100 * streams[i].share);
		for (int k = 0; k < 2; k++) {
			double mean = errors[k].sum / runs;

			printf(" | %+.2f, %.2f", mean,
				sqrt(fmax(0, errors[k].squares / runs - mean * mean)));
		}
		printf(" |\n");
	}
	return 0;
}
