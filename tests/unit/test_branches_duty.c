/* SPDX-License-Identifier: GPL-2.0-or-later */
/* In which part of the time anchors are in place: of a made-up log of bursts. */
#include <stdlib.h>

#include "../tap.h"

#ifdef __x86_64__
#include "branches/native.h"

enum { BURSTS = 20, RUNS = 3 };

/* Each run has an anchor. */
static struct cache *make_log(const double *rates)
{
	struct cache *c = calloc(1, sizeof(*c));
	struct native *n = calloc(1, sizeof(*n));

	c->native = n;
	c->anchors = calloc(1, sizeof(*c->anchors));
	n->runs = TABLE_OF(struct native_run);
	for (unsigned k = 0; k < RUNS; k++) {
		const uint64_t at = 0x1000 * (k + 1);
		const struct native_run key = {.key = {at, at + 16, at}};

		table_add(&n->runs, &key.key);
		c->anchors->all[k] = (struct anchor){
			.address = at + 4, .counts = rates[k] * 1e-3, .seconds = 1e-3, .duty = 1};
	}
	c->anchors->count = RUNS;
	return c;
}

/* The first and the second run go together; the third is in every second burst. */
static void add_bursts(struct cache *c, const double *rates)
{
	struct native *n = c->native;

	for (unsigned i = 0; i < BURSTS; i++) {
		struct native_burst *burst = vec_push(&n->bursts);

		burst->first = n->entries.count;
		burst->seconds = 1e-3;
		for (uint32_t k = 0; k < RUNS; k++) {
			const struct native_entry own = {
				k, (uint32_t)(rates[k] * 1e-3 * (k == 2 ? i % 2 * 2 : i + 1))};

			if (own.count)
				vec_add(&n->entries, own);
		}
	}
}

static void free_log(struct cache *c)
{
	for (size_t i = 0; i < RUNS; i++)
		vec_fini(&((struct native_run *)table_at(&c->native->runs, i))->anchors);
	table_fini(&c->native->runs);
	vec_fini(&c->native->bursts);
	vec_fini(&c->native->entries);
	free(c->native);
	free(c->anchors);
	free(c);
}

static double counts_of(const struct cache *c, const double *rates)
{
	double sum = 0;

	for (unsigned k = 0; k < RUNS; k++)
		sum += rates[k] * c->anchors->all[k].duty;
	return sum;
}

static void test_shares(void)
{
	const double rates[RUNS] = {1e6, 20e6, 20e6};
	struct cache *c = make_log(rates);
	const struct anchor *all = c->anchors->all;

	add_bursts(c, rates);
	native_set_duties(c);
	ok(all[0].duty >= 1, "a cheap anchor is always in place");
	ok(all[1].duty > 0 && all[1].duty < all[2].duty / 2,
		"one that goes with it has less than one that does not: %g, %g", all[1].duty,
		all[2].duty);
	ok(counts_of(c, rates) < 1.1e7, "all together count little: %g", counts_of(c, rates));
	free_log(c);
}

/* What an anchor has counted itself is known better than what bursts say. */
static void test_counted(void)
{
	const double rates[RUNS] = {1e5, 1e5, 1e5};
	struct cache *c = make_log(rates);

	add_bursts(c, rates);
	c->native->counted[2] = (struct native_count){.hits = 8e6, .ns = 1e8};
	native_set_duties(c);
	ok(c->anchors->all[2].duty < 0.2, "80 million a second: %g", c->anchors->all[2].duty);
	free_log(c);
}

static void test_locked(void)
{
	const double rates[RUNS] = {1e6, 0.5e6, 20e6};
	struct cache *c = make_log(rates);

	add_bursts(c, rates);
	c->locked = true;
	native_set_duties(c);
	ok(c->anchors->all[0].duty >= 1 && c->anchors->all[1].duty >= 1 &&
			c->anchors->all[2].duty <= 0,
		"several threads: always or never");
	free_log(c);
}

/* A stretch stands for those in which the anchor was not in place. */
static void test_stretches(void)
{
	const double rates[RUNS] = {1e6, 1e6, 1e6};
	struct cache *c = make_log(rates);
	const struct native_count *own = c->native->counted;

	for (int i = 0; i < 2; i++) {
		c->anchors->all[0].duty = i ? 0.1 : 1;
		c->native->now = (struct stretch){.ns = 1e6, .active = {1}};
		c->native->counted[0].now = i ? 10 : 100;
		native_note(c, 1e-3);
	}
	ok(own[0].hits > 109.9 && own[0].hits < 110.1, "hits of two stretches: %g", own[0].hits);
	ok(own[0].sum > 199 && own[0].sum < 201, "the second one stands for ten: %g", own[0].sum);
	ok(own[0].time > 10.9e6 && own[0].time < 11.1e6, "in time as well: %g", own[0].time);
	ok(own[1].time <= 0, "an anchor that was not in place");
	free_log(c);
}

int main(void)
{
	test_shares();
	test_stretches();
	test_counted();
	test_locked();
	return done();
}
#else
int main(void)
{
	skip("branches are not followed on this machine");
	return done();
}
#endif
