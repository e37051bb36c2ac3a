/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lists of frequent values, their bounds and sums; intervals of shares. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../chance.h"
#include "../tap.h"
#include "experiment/experiment.h"
#include "experiment/merge.h"
#include "values/interval.h"
#include "values/sites.h"

#define KINDS 64 /* different values */

static uint64_t draw(void)
{
	return chance_mixed() >> 16;
}

/* 0 to 63, the small ones more often. */
static unsigned uneven(void)
{
	unsigned a = (unsigned)(draw() % KINDS), b = (unsigned)(draw() % KINDS);

	return a * b / KINDS;
}

/* All rows of a value, of any grade. */
static struct experiment_value find(const struct experiment *x, uint64_t value)
{
	struct experiment_value all = {.over = 0};

	for (size_t i = 0; i < x->values.count; i++) {
		const struct experiment_value *v = experiment_value_at(x, i);

		if (v->key.value != value)
			continue;
		all.over += v->over;
		all.sure += v->sure;
		all.squares += v->squares;
		all.products += v->products;
	}
	return all;
}

/* Every value is within the bounds of its list. */
static bool bounds_hold(const struct experiment *x, const uint64_t *truth)
{
	const struct experiment_value_site *s = experiment_value_site_at(x, 0);

	for (unsigned v = 0; v < KINDS; v++) {
		const struct experiment_value l = find(x, v);
		uint64_t most = s->least + l.over, sure = l.sure;

		if (truth[v] < sure || truth[v] > most) {
			printf("# value %u: %llu is not in %llu to %llu\n", v,
				(unsigned long long)truth[v], (unsigned long long)sure,
				(unsigned long long)most);
			return false;
		}
	}
	return true;
}

/* One file: moments of n values each; adds the counts to truth. */
static int make(struct experiment *x, int moments, int n, uint64_t *truth)
{
	struct value_sites sites;
	struct error e;
	int rc = 0;

	value_sites_init(&sites);
	for (int m = 0; m < moments; m++) {
		value_sites_moment(&sites);
		for (int i = 0; i < n; i++) {
			struct value_told told = {
				.address = 0x40, .image = 1, .kind = VALUE_RESULT, .form = 32 << 8};

			told.raw = told.value = uneven();
			truth[told.value]++;
			rc |= value_sites_add(&sites, &told);
		}
	}
	rc |= experiment_init(x, &e);
	rc |= experiment_image(x,
		      &(struct experiment_image){EXPERIMENT_IMAGE_ELF, .path = (char *)"/a"},
		      &e) != 1;
	rc |= value_sites_put(&sites, x);
	value_sites_fini(&sites);
	return rc;
}

static void test_lists(void)
{
	uint64_t truth[KINDS] = {0}, all[KINDS] = {0};
	struct experiment sum, x;
	const struct experiment_value_site *s;
	struct error e;
	bool within = true, rc = false;

	rc |= experiment_merge_begin(&sum, &e) != 0;
	for (int f = 0; f < 20; f++) {
		memset(truth, 0, sizeof(truth));
		rc |= make(&x, 30, 40, truth) != 0;
		within = within && bounds_hold(&x, truth);
		rc |= experiment_merge(&sum, &x, 0, &e) != 0;
		for (int v = 0; v < KINDS; v++)
			all[v] += truth[v];
		experiment_fini(&x);
	}
	ok(!rc && within, "counts are within the bounds of lists");
	s = experiment_value_site_at(&sum, 0);
	ok(sum.value_sites.count == 1 && s->count == 20u * 30 * 40 && s->moments == 600,
		"20 files are one site");
	ok(bounds_hold(&sum, all), "and their sum is within its bounds");
	ok(s->least <= s->count / 16, "which are as good as those of one list");
	ok(s->bits[0] == KINDS - 1 && s->high < KINDS && ~s->low_complement == 0,
		"bits, the least and the greatest");
	experiment_fini(&sum);
}

/* ---- values of one place together ---- */

#define PLACES 6
#define RUN    500

/* Streams of different kinds: all alike, few values, uneven, in runs, growing, any. */
static uint64_t stream(unsigned kind, unsigned i)
{
	switch (kind) {
	case 0:
		return 7;
	case 1:
		return draw() % 5;
	case 2:
		return uneven();
	case 3:
		return i / 9 % 40;
	case 4:
		return 0x555500000000u + 24ull * i;
	default:
		return chance_mixed();
	}
}

/* As Space-Saving has it, for one list. */
struct plain_list {
	uint64_t value[VALUE_LIST], count[VALUE_LIST];
	unsigned listed;
};

static void plain_add(struct plain_list *l, uint64_t value)
{
	unsigned at = 0;

	while (at < l->listed && l->value[at] != value)
		at++;
	if (at == l->listed && l->listed < VALUE_LIST) {
		l->count[l->listed++] = 0;
	} else if (at == l->listed) {
		at = 0;
		for (unsigned i = 1; i < VALUE_LIST; i++)
			at = l->count[i] < l->count[at] ? i : at;
	}
	l->value[at] = value;
	l->count[at]++;
}

static bool as_plain(const struct experiment *x, size_t site, const struct plain_list *l)
{
	const struct experiment_value_site *s = experiment_value_site_at(x, site);
	unsigned found = 0;

	for (size_t i = 0; i < x->values.count; i++) {
		const struct experiment_value *v = experiment_value_at(x, i);

		for (unsigned k = 0; v->key.site == site && k < l->listed; k++)
			found += l->value[k] == v->key.value && l->count[k] == v->over + s->least;
	}
	return found == l->listed;
}

static bool same_sites(const struct experiment *a, const struct experiment *b)
{
	bool same =
		a->value_sites.count == b->value_sites.count && a->values.count == b->values.count;

	for (size_t i = 0; same && i < a->value_sites.count; i++)
		same = memcmp(experiment_value_site_at(a, i), experiment_value_site_at(b, i),
			       sizeof(struct experiment_value_site)) == 0;
	for (size_t i = 0; same && i < a->values.count; i++)
		same = memcmp(experiment_value_at(a, i), experiment_value_at(b, i),
			       sizeof(struct experiment_value)) == 0;
	return same;
}

static void test_runs(void)
{
	struct value_sites one, run;
	struct plain_list lists[PLACES] = {0};
	struct experiment x, y;
	struct error e;
	bool plain = true;
	int rc = 0;

	value_sites_init(&one);
	value_sites_init(&run);
	for (unsigned m = 0; m < 40; m++) {
		struct value_told told = {.image = 1, .kind = VALUE_RESULT, .form = 64 << 8};
		uint64_t values[RUN];
		size_t count = m % 10 ? draw() % RUN : m / 10;

		value_sites_moment(&one);
		value_sites_moment(&run);
		told.address = m % PLACES;
		for (unsigned i = 0; i < count; i++) {
			values[i] = told.raw = told.value = stream(m % PLACES, m * RUN + i);
			plain_add(&lists[m % PLACES], values[i]);
			rc |= value_sites_add(&one, &told);
		}
		rc |= value_sites_add_run(&run, &told, values, count);
		if (!count) /* makes the site */
			rc |= value_sites_find(&one, &told) < 0;
	}
	rc |= experiment_init(&x, &e) | experiment_init(&y, &e);
	rc |= value_sites_put(&one, &x) | value_sites_put(&run, &y);
	value_sites_fini(&one);
	value_sites_fini(&run);
	ok(!rc && same_sites(&x, &y), "values that are added together are as those one by one");
	for (size_t i = 0; i < x.value_sites.count; i++)
		plain = plain &&
			as_plain(&x, i, &lists[experiment_value_site_at(&x, i)->key.address]);
	ok(plain && x.value_sites.count == PLACES, "lists have what Space-Saving has");
	experiment_fini(&x);
	experiment_fini(&y);
}

/* ---- many files, whose values are mostly their own ---- */

#define FILES 60
#define OURS  7 /* a value of all files, in 30% */

static int make_different(struct experiment *x, uint64_t *ours)
{
	struct value_sites sites;
	struct error e;
	int rc = 0;

	value_sites_init(&sites);
	for (int i = 0; i < 30; i++) {
		uint64_t own[14];

		value_sites_moment(&sites);
		for (int k = 0; k < 14; k++)
			own[k] = 1000 + draw() % 100000;
		for (int n = 0; n < 20; n++) {
			struct value_told told = {
				.address = 0x40, .image = 1, .kind = VALUE_RESULT, .form = 64 << 8};

			told.value = told.raw = n < 6 ? OURS : own[n - 6];
			*ours += n < 6;
			rc |= value_sites_add(&sites, &told);
		}
	}
	rc |= experiment_init(x, &e);
	rc |= experiment_image(x,
		      &(struct experiment_image){EXPERIMENT_IMAGE_ELF, .path = (char *)"/a"},
		      &e) != 1;
	rc |= value_sites_put(&sites, x);
	value_sites_fini(&sites);
	return rc;
}

/* Adds up files from..to in groups: in halves of halves, or one after the other, backwards. */
static int sum_of(struct experiment *sum, struct experiment *files, int from, int to, bool halves)
{
	struct experiment part;
	struct error e;
	int rc = experiment_merge_begin(sum, &e);

	for (int f = to; !halves && f-- > from;)
		rc |= experiment_merge(sum, &files[f], 0, &e);
	if (!halves || to - from == 1)
		return halves ? experiment_merge(sum, &files[from], 0, &e) : rc;
	for (int k = 0; k < 2; k++) {
		int middle = (from + to) / 2;

		rc |= sum_of(&part, files, k ? middle : from, k ? to : middle, true);
		rc |= experiment_merge(sum, &part, 0, &e);
		experiment_fini(&part);
	}
	return rc;
}

static void test_many_files(void)
{
	static struct experiment files[FILES];
	struct experiment sums[3];
	struct strbuf bytes[3] = {{0}};
	const struct experiment_value_site *s;
	struct experiment_value v;
	struct value_share share;
	uint64_t ours = 0;
	struct error e;
	int rc = 0;

	for (int f = 0; f < FILES; f++)
		rc |= make_different(&files[f], &ours);
	rc |= sum_of(&sums[0], files, 0, FILES, false);
	rc |= sum_of(&sums[1], files, 0, FILES, true);
	for (int f = 0; f < FILES / 2; f++) {
		struct experiment other = files[f];

		files[f] = files[(f * 7 + 3) % FILES];
		files[(f * 7 + 3) % FILES] = other;
	}
	rc |= sum_of(&sums[2], files, 0, FILES, true);
	for (int k = 0; k < 3; k++)
		rc |= experiment_encode(&sums[k], &bytes[k], &e);
	ok(rc == 0, "sums of %d files", FILES);
	s = experiment_value_site_at(&sums[0], 0);
	printf("# %zu rows are kept, from grade %llu on\n", sums[0].values.count,
		(unsigned long long)s->cut);
	ok(sums[0].values.count <= VALUES_KEPT && s->cut, "have a limited number of rows");
	for (int k = 1; k < 3; k++)
		ok(bytes[k].length == bytes[0].length &&
				memcmp(bytes[k].data, bytes[0].data, bytes[0].length) == 0,
			"and are equal bytes in another %s", k == 1 ? "grouping" : "order");
	v = find(&sums[0], OURS);
	ok(v.sure == ours && s->count == FILES * 600u, "what is frequent in all of them is whole");
	share = value_share_of(s, &v);
	ok(share.low <= 0.3 && share.high >= 0.3 && share.high < 0.45,
		"its share is in its interval: %.3f to %.3f", share.low, share.high);
	for (int f = 0; f < FILES; f++)
		experiment_fini(&files[f]);
	for (int k = 0; k < 3; k++) {
		experiment_fini(&sums[k]);
		strbuf_fini(&bytes[k]);
	}
}

static void test_intervals(void)
{
	unsigned covered = 0, independent = 0, trials = 400;

	/* Runs: a moment's values are mostly equal, and 30% of the program's instructions are in
	 * phases with the value 1. These take 1.22 times the cycles of the others, or the others of
	 * them, so moments are in them with 34.3% or 26%. */
	for (unsigned t = 0; t < trials; t++) {
		unsigned seen = t % 2 ? 343 : 260;
		struct experiment_value_site s = {.least = 0};
		struct experiment_value one = {.over = 0};
		struct value_share share;
		double p, half;

		for (int m = 0; m < 120; m++) {
			uint64_t n = 20 + draw() % 60,
				 x = draw() % 1000 < seen ? n - draw() % 4 : draw() % 4;

			s.count += n;
			s.moments++;
			s.squares += n * n;
			one.over += x;
			one.sure += x;
			one.squares += x * x;
			one.products += x * n;
		}
		share = value_share_of(&s, &one);
		p = (0.3 * (49.5 - 1.5) + 0.7 * 1.5) / 49.5;
		covered += share.low <= p && p <= share.high;
		half = 1.96 * sqrt(share.share * (1 - share.share) / (double)s.count);
		independent += fabs(share.share - p) <= half;
	}
	printf("# 95%% intervals cover %.1f%%, as if values were independent %.1f%%\n",
		100.0 * covered / trials, 100.0 * independent / trials);
	ok(covered >= trials * 91 / 100 && covered <= trials * 99 / 100,
		"intervals of values that come in runs");
	ok(independent < trials * 50 / 100, "which are wider than those of independent values");
}

static void test_corners(void)
{
	struct experiment_value_site s = {.count = 3, .moments = 2, .squares = 5};
	struct experiment_value v = {.over = 3, .sure = 3, .squares = 5, .products = 5};
	struct value_share share = value_share_of(&s, &v);

	ok(share.few && share.low == 0 && share.high == 1 && share.share == 1,
		"a few moments say nothing");
	s = (struct experiment_value_site){.count = 1000, .moments = 100, .squares = 10000};
	v = (struct experiment_value){
		.over = 1000, .sure = 1000, .squares = 10000, .products = 10000};
	share = value_share_of(&s, &v);
	ok(share.share == 1 && share.high == 1 && share.low > 0.95 && share.low < 0.999,
		"one value always: as sure as moments are many");
	s.count = 0;
	share = value_share_of(&s, NULL);
	ok(share.share == 0, "no values");
	share = value_share_counted(&s, 0, 0);
	ok(share.share == 0, "of none");
	/* What a damaged file may claim. */
	s = (struct experiment_value_site){.count = 5, .moments = UINT64_MAX, .least = UINT64_MAX};
	v = (struct experiment_value){.over = UINT64_MAX, .squares = UINT64_MAX};
	share = value_share_of(&s, &v);
	ok(share.share >= 0 && share.share <= 1 && share.low >= 0 && share.high <= 1,
		"impossible sums give shares between 0 and 1");
}

int main(void)
{
	test_lists();
	test_runs();
	test_many_files();
	test_intervals();
	test_corners();
	return done();
}
