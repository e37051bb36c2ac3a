/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A quick look at an experiment file finds what reading it finds: samples by image, address and
 * metric; in slices of any length; and a damaged file leads it nowhere.
 */
#include "../tap.h"

#include "experiment/glance.h"
#include "experiment_random.h"

struct sum { /* table entry */
	struct {
		uint64_t address;
		uint32_t image, metric;
	} key;
	uint64_t count;
};

static struct table sums_table(void)
{
	return (struct table){
		.entry_size = sizeof(struct sum), .key_size = sizeof(((struct sum *)0)->key)};
}

static void add(struct table *t, uint32_t image, uint64_t address, size_t metric, uint64_t n)
{
	struct sum key = {.key = {address, image, (uint32_t)metric}}, *own = table_add(t, &key.key);

	own->count += n;
}

static struct table sums_of(const struct experiment *x)
{
	struct table t = sums_table();

	for (size_t i = 0; i < x->samples.count; i++) {
		const struct experiment_sample *s = experiment_sample_at(x, i);
		const struct experiment_node *n = experiment_node_at(x, s->key.node);

		if (s->key.node)
			add(&t, n->key.image, n->key.address, s->key.metric, s->count);
	}
	return t;
}

struct look {
	struct table sums;
	size_t metrics;
	uint32_t image;
	uint64_t address;
	bool ordered;
};

static int take(void *context, uint32_t image, uint64_t address, const uint64_t *counts)
{
	struct look *l = context;

	if (l->image > image || (l->image == image && l->sums.count && l->address >= address))
		l->ordered = false;
	l->image = image;
	l->address = address;
	for (size_t k = 0; k < l->metrics; k++)
		if (counts[k])
			add(&l->sums, image, address, k, counts[k]);
	return 0;
}

static bool equal(const struct table *a, const struct table *b)
{
	if (a->count != b->count)
		return false;
	for (size_t i = 0; i < a->count; i++) {
		const struct sum *x = table_at(a, i), *y = table_find(b, &x->key);

		if (!y || y->count != x->count)
			return false;
	}
	return true;
}

static void check(const struct strbuf *file, uint64_t slice, const char *name)
{
	struct error e = {0};
	struct experiment x;
	struct experiment_glance *g = experiment_glance_new(file->data, file->length, &e);
	struct table want;
	struct look l = {.sums = sums_table(), .ordered = true};
	int rc = 1;

	if (!ok(g, "%s: opened %s", name, e.message))
		return;
	while (rc > 0)
		rc = experiment_glance_work(g, slice, slice == 1 ? UINT64_MAX : slice);
	ok(rc == 0 && experiment_glance_part(g) == 1, "%s: to its end", name);
	experiment_parse(&x, file->data, file->length, NULL, &e);
	want = sums_of(&x);
	l.metrics = x.metrics.count;
	experiment_glance_walk(g, take, &l);
	ok(equal(&want, &l.sums), "%s: the same samples (%zu and %zu places)", name, want.count,
		l.sums.count);
	ok(l.ordered, "%s: in order", name);
	is_int(experiment_glance_head(g)->images.count, x.images.count, "%s: images", name);
	table_fini(&want);
	table_fini(&l.sums);
	experiment_fini(&x);
	experiment_glance_close(g);
}

/* Deep paths over a few functions: many sections of nodes and of samples. */
static void large(struct strbuf *file)
{
	struct experiment x;
	struct chance c = chance_seed(7);
	struct experiment_image image = {
		.kind = EXPERIMENT_IMAGE_ELF, .path = (char *)"/bin/app", .build_id_length = 1};

	experiment_init(&x, NULL);
	experiment_image(&x, &image, NULL);
	experiment_metric(&x, &random_metrics[0], NULL);
	experiment_metric(&x, &random_metrics[1], NULL);
	for (int i = 0; i < 150000; i++) {
		long node = x.nodes.count > 1 ? (long)chance_below(&c, (uint32_t)x.nodes.count) : 0;

		node = experiment_node(
			&x, (uint32_t)node, 1, 0x1000 + 4ull * chance_below(&c, 9000));
		experiment_add(
			&x, chance_below(&c, 2), 0, 0, (uint32_t)node, 1 + chance_below(&c, 300));
	}
	experiment_encode(&x, file, NULL);
	experiment_fini(&x);
}

/* The first part of a file is like the rest: shares of what was seen are near to those of all. */
static void test_part(const struct strbuf *file)
{
	struct experiment_glance *g = experiment_glance_new(file->data, file->length, NULL);
	int rc = experiment_glance_work(g, UINT64_MAX, 1);

	ok(rc == 1 && experiment_glance_part(g) > 0 && experiment_glance_part(g) < 1,
		"a slice is a part of it: %.3f", experiment_glance_part(g));
	experiment_glance_close(g);
}

static void test_damage(const struct strbuf *file)
{
	char *copy = malloc(file->length);
	struct chance c = chance_seed(3);
	int looked = 0;

	for (int i = 0; i < 300; i++) {
		size_t size =
			i % 3 ? file->length : 1 + chance_below(&c, (uint32_t)file->length - 1);
		struct experiment_glance *g;

		memcpy(copy, file->data, file->length);
		for (uint32_t k = chance_below(&c, 8); k > 0; k--)
			copy[chance_below(&c, (uint32_t)file->length)] =
				(char)chance_below(&c, 256);
		g = experiment_glance_new(copy, size, NULL);
		looked += g != NULL;
		if (g)
			experiment_glance_work(g, UINT64_MAX, UINT64_MAX);
		experiment_glance_close(g);
	}
	ok(looked > 10, "%d damaged files", looked);
	free(copy);
}

int main(void)
{
	struct strbuf file = {0};

	for (uint64_t seed = 1; seed < 12; seed++) {
		struct experiment x;
		char name[40];

		random_experiment(&x, seed, (uint32_t)seed * 20);
		experiment_encode(&x, &file, NULL);
		experiment_fini(&x);
		snprintf(name, sizeof(name), "experiment %d", (int)seed);
		check(&file, UINT64_MAX, name);
		test_damage(&file);
		strbuf_fini(&file);
	}
	large(&file);
	check(&file, UINT64_MAX, "a large one");
	check(&file, 1, "in slices");
	test_part(&file);
	strbuf_fini(&file);
	ok(!experiment_glance_open("/nowhere/at/all", NULL), "no file");
	return done();
}
