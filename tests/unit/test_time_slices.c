/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Times of samples in slices: their number, their sums, and the room that they take. */
#include <stdlib.h>

#include "../tap.h"
#include "experiment/merge.h"
#include "experiment_random.h"

#define MS 1000000u

static void slices_begin(struct experiment *x)
{
	struct error e;

	experiment_init(x, &e);
	experiment_metric(x, &random_metrics[1], &e);
	/* Some hundred bytes of facts, images and names are in each file. */
	experiment_fact(x, "command", "a command and its arguments, which take so much room", &e);
	for (uint64_t i = 0; i < 12; i++)
		experiment_symbol(x, 0, i, 16, "_ZN7program8functionEv", &e);
}

static uint64_t slices_sum(const struct experiment *x, uint32_t from, uint32_t to)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < x->slices.count; i++) {
		const struct experiment_slice *s = experiment_slice_at(x, i);

		sum += s->key.slice >= from && s->key.slice < to ? s->count : 0;
	}
	return sum;
}

/* count samples of each node, at random in so many ns from `begin` on. */
static void slices_fill(struct experiment *x, uint64_t seed, uint32_t nodes, uint32_t count,
	uint64_t begin, uint64_t length)
{
	struct chance c = chance_seed(seed);

	for (uint32_t i = 0; i < nodes; i++) {
		const struct experiment_sample s = {
			.key = {.node = (uint32_t)experiment_node(x, 0, 0, 16 * i)}, .count = 1};

		for (uint32_t k = 0; k < count; k++)
			experiment_add_at(x, &s, begin + chance_next(&c) % length);
	}
}

static void test_growth(void)
{
	struct experiment x;
	bool good = true;

	slices_begin(&x);
	for (uint64_t i = 0; i < 100000; i++) {
		const struct experiment_sample s = {
			.key = {.node = (uint32_t)experiment_node(&x, 0, 0, i % 50)}, .count = 1};
		uint64_t slices;

		experiment_add_at(&x, &s, i * MS);
		slices = experiment_slices_end(&x) >> x.slicing.shift;
		good = good && slices <= EXPERIMENT_SLICES_MOST &&
		       (i < 100 || slices > EXPERIMENT_SLICES_MOST / 2);
	}
	ok(good, "a growing run has between half of the slices and all");
	is_int(slices_sum(&x, 0, UINT32_MAX), 100000, "no sample is lost");
	is_int(slices_sum(&x, 0, 1), ((1u << x.slicing.shift) + MS - 1) / MS,
		"a slice has those of its time");
	experiment_fini(&x);
}

static void test_between(void)
{
	struct experiment x;
	struct experiment_sample s = {.count = 1000};

	slices_begin(&x);
	experiment_add_between(&x, &s, 1000ull * MS, 11000ull * MS);
	is_int(slices_sum(&x, 0, UINT32_MAX), 1000, "spread samples are all there");
	is_int(slices_sum(&x, 0, (uint32_t)((6000ull * MS) >> x.slicing.shift)), 497,
		"half of them in the first half, to a slice");
	s.count = 7;
	experiment_add_between(&x, &s, 3, 3);
	is_int(slices_sum(&x, 0, 1), 7, "a moment has its samples");
	experiment_add_between(&x, &s, 9, 3);
	is_int(slices_sum(&x, 0, 1), 14, "so has an end before the beginning");
	is_int(experiment_sample_at(&x, 0)->count, 1014, "and each counts as a sample");
	experiment_fini(&x);
}

/* Bytes with slices, and without; *levels: the times the slices can be halved. */
static double slices_ratio(struct experiment *x, unsigned *slices)
{
	struct experiment bare;
	size_t with = 0, without = 0;
	struct error e;

	experiment_copy(&bare, x, &e);
	row_fini(&bare.slices, &experiment_slices_kind);
	row_init(&bare.slices, &experiment_slices_kind);
	free(random_bytes(x, &with));
	free(random_bytes(&bare, &without));
	*slices = (unsigned)(experiment_slices_end(x) >> x->slicing.shift);
	experiment_fini(&bare);
	return (double)with / (double)without;
}

static void test_room(void)
{
	static const struct {
		uint32_t nodes, count;
		unsigned least;
		const char *name;
	} cases[] = {
		{1, 1, 1, "one sample"},
		{3, 300000, 2, "three addresses, a million samples"},
		{100, 20, 16, "a usual profile"},
		{1000, 100, 2, "a flat one"},
		{20000, 2, 129, "many addresses, of few samples each"},
	};
	struct experiment x;
	unsigned slices;
	double ratio;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		slices_begin(&x);
		slices_fill(&x, i + 1, cases[i].nodes, cases[i].count, 0, 10000ull * MS);
		ratio = slices_ratio(&x, &slices);
		ok(ratio > 1 && ratio <= 2, "%s: the file is at most twice as large (%.2f)",
			cases[i].name, ratio);
		ok(slices >= cases[i].least, "%s: %u slices", cases[i].name, slices);
		experiment_fini(&x);
	}
}

/* A file's experiment: what is written is what later sums are made of. */
static void slices_reread(struct experiment *x)
{
	struct error e = {0};
	size_t size = 0;
	char *bytes = random_bytes(x, &size);

	experiment_fini(x);
	if (experiment_parse(x, bytes, size, NULL, &e))
		ok(false, "reading again: %s", e.message);
	free(bytes);
}

static char *slices_merged(
	const struct experiment *runs, const int *order, bool between, size_t *size)
{
	struct experiment sum;
	struct error e;
	char *bytes;

	experiment_merge_begin(&sum, &e);
	for (int i = 0; i < 3; i++) {
		experiment_merge(&sum, &runs[order[i]], 0, &e);
		if (between)
			slices_reread(&sum);
	}
	bytes = random_bytes(&sum, size);
	experiment_fini(&sum);
	return bytes;
}

static void test_sums(void)
{
	static const int orders[][3] = {{0, 1, 2}, {2, 1, 0}, {1, 2, 0}};
	struct experiment runs[3];
	bool same = true;
	char *first;
	size_t size;

	for (int i = 0; i < 3; i++) {
		slices_begin(&runs[i]);
		slices_fill(&runs[i], (uint64_t)i, 20 + 200 * (uint32_t)i, 400, 0,
			(1000ull << 2 * i) * MS);
		slices_reread(&runs[i]);
	}
	first = slices_merged(runs, orders[0], false, &size);
	for (int i = 0; i < 6; i++) {
		size_t n;
		char *bytes = slices_merged(runs, orders[i / 2], i % 2, &n);

		same = same && n == size && memcmp(bytes, first, n) == 0;
		free(bytes);
	}
	ok(same, "sums are equal bytes in any order, written between or not");
	free(first);
	for (int i = 0; i < 3; i++)
		experiment_fini(&runs[i]);
}

/* Damaged files have any times. */
static void test_far(void)
{
	struct experiment x;
	struct experiment_sample s = {.count = 5};

	slices_begin(&x);
	for (uint32_t i = 1; i < 200; i++)
		experiment_add_at(&x, &s, i * MS);
	experiment_add_at(&x, &s, 1ull << 62);
	is_int(slices_sum(&x, 0, 1), 995,
		"what was early is in the first slice when another is far");
	is_int(slices_sum(&x, 1, UINT32_MAX), 5, "and this one alone");
	experiment_add_at(&x, &s, UINT64_MAX);
	is_int(slices_sum(&x, 0, UINT32_MAX), 1005, "the last of all times has a slice");
	experiment_fini(&x);
}

int main(void)
{
	test_growth();
	test_far();
	test_between();
	test_room();
	test_sums();
	return done();
}
