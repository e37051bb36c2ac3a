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
	c->process = calloc(1, sizeof(*c->process));
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
	vec_fini(&c->native->spells);
	vec_fini(&c->native->counts);
	free(c->native);
	free(c->anchors);
	free(c->process);
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
	ok(counts_of(c, rates) < 1.3e7, "all together count little: %g", counts_of(c, rates));
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

/* A phase in which cheap anchors are expensive: not for long. */
static void test_phase(void)
{
	const double rates[RUNS] = {1e5, 1e5, 1e5};
	struct cache *c = make_log(rates);
	struct anchor *all = c->anchors->all;

	add_bursts(c, rates);
	for (unsigned a = 0; a < RUNS; a++)
		all[a].in = true;
	native_look_back(c);
	is_near(all[1].latest, 20e5, 1e3, "in the last burst");
	is_near(all[2].latest, 2e5, 1e3, "each by itself");
	ok(native_lasts(c) > 1e8, "all of them: for long");
	all[2].latest = 1e8;
	ok(native_lasts(c) < 6e6, "100 million a second now: for 5 ms: %g", native_lasts(c));
	all[2].in = false;
	ok(native_lasts(c) > 1e8, "without it, for long");
	c->native->heat = 1e9;
	ok(native_lasts(c) < 6e5, "after a surprise, for half a millisecond: %g", native_lasts(c));
	free_log(c);
}

enum { TURNS = 2000 };

/* Of anchors with these duties and in this order, the first two of which go together. */
static void test_draw(void)
{
	const double rates[RUNS] = {20e6, 20e6, 20e6}, duty[RUNS] = {0.2, 0.3, 0.2};
	struct cache *c = make_log(rates);
	unsigned in[RUNS] = {0}, together = 0, gap = 0, most = 0;
	bool want[ANCHORS_MAX], rested = false;

	add_bursts(c, rates);
	native_set_duties(c);
	is_int(abs(c->anchors->order[0] - c->anchors->order[1]), 1, "side by side");
	ok(c->anchors->order[2] == 2 || c->anchors->order[0] == 2, "the other one is not between");
	for (unsigned k = 0; k < RUNS; k++)
		c->anchors->all[k].duty = duty[k];
	for (int turn = 0; turn < TURNS; turn++) {
		native_draw(c, want, true);
		rested |= want[0] || want[1] || want[2];
		native_draw(c, want, false);
		for (unsigned k = 0; k < RUNS; k++)
			in[k] += want[k];
		together += want[0] && want[1];
		gap = want[0] || want[1] ? 0 : gap + 1;
		most = gap > most ? gap : most;
	}
	for (unsigned k = 0; k < RUNS; k++)
		is_near(in[k], duty[k] * TURNS, 3, "each has its share of the spells");
	is_int(together, 0, "those that go together are never in place together");
	ok(most <= 2, "one of them is in place at least in every third spell: %u", most);
	ok(!rested, "in a rest, none is");
	c->anchors->all[1].duty = 1;
	native_draw(c, want, true);
	ok(want[1] && !want[0], "but for those that always are");
	free_log(c);
}

static void test_many_threads(void)
{
	const double rates[RUNS] = {1e6, 0.5e6, 20e6};
	struct cache *c = make_log(rates);

	add_bursts(c, rates);
	c->locked = true;
	c->process->threads = TURN_THREADS + 1;
	native_set_duties(c);
	ok(c->anchors->all[0].duty >= 1 && c->anchors->all[1].duty >= 1 &&
			c->anchors->all[2].duty <= 0,
		"many threads: always or never");
	free_log(c);
}

/* ---- spells ---- */

static void add_spell(struct cache *c, double ns, const double *hits)
{
	struct native *n = c->native;

	for (unsigned a = 0; a < RUNS; a++) {
		n->counted[a].in = hits[a] >= 0;
		n->counted[a].now = hits[a] >= 0 ? hits[a] : 0;
	}
	n->open = ns;
	n->all += ns;
	native_close_spell(c);
}

static void test_spells(void)
{
	const double rates[RUNS] = {1e6, 1e6, 1e6}, first[RUNS] = {100, -1, 0},
		     second[RUNS] = {10, 7, -1};
	struct cache *c = make_log(rates);
	const struct native_count *own = c->native->counted;

	add_spell(c, 1e6, first);
	add_spell(c, 2e6, second);
	is_near(own[0].hits, 110, 1e-9, "hits of two spells");
	is_near(own[0].ns, 3e6, 1e-9, "and their time");
	is_near(c->anchors->all[0].latest, 5e3, 1e-9, "executions per second of the last");
	is_near(own[1].ns, 2e6, 1e-9, "one that was in place in the second");
	is_int((int)c->native->spells.count, 2, "two spells");
	is_int((int)c->native->counts.count, 4, "with the counts of those that were in place");
	free_log(c);
}

enum { SPELLS = 200 };

static struct weigh *weigh_log(struct cache *c)
{
	struct weigh *w = calloc(1, sizeof(*w));

	weigh_make(w, c->native->bursts.count, RUNS);
	w->usual = 1e-3;
	for (unsigned i = 0; i < c->native->bursts.count; i++)
		for (unsigned a = 0; a < RUNS; a++)
			w->count[a * w->bursts + i] = 10;
	return w;
}

/*
 * A program of two phases. The first anchor is always in place, and executed in the first phase;
 * the second goes with it, but is in place seldom; the third is executed in the second phase.
 */
static void test_totals(void)
{
	const double rates[RUNS] = {1e5, 2e6, 3e6};
	struct cache *c = make_log(rates);
	struct weigh *w;

	add_bursts(c, rates);
	for (int i = 0; i < SPELLS; i++) {
		bool one = i < SPELLS / 4;
		const double hits[RUNS] = {one ? 100 : 0,
			i % 9 ? -1
			: one ? 2000
			      : 0,
			i % 25 ? -1
			: one  ? 0
			       : 3000};

		add_spell(c, 1e6, hits);
	}
	w = weigh_log(c);
	ok(native_totals(c, w) == 0, "totals");
	is_near(w->total[0], 5000, 1, "what was counted always");
	is_near(w->total[1], 1e5, 2e3, "in proportion to that");
	is_near(w->total[2], 4.5e5, 5e4, "what goes with nothing else: by time");
	ok(w->doubt[1] < w->doubt[2], "which is less certain: %g, %g", w->doubt[1], w->doubt[2]);
	weigh_free(w);
	free(w);
	free_log(c);
}

/* Bursts have the second anchor twice as often as the first, which is in place at the begin only.
 * That it is not executed after half of the time is known from the second one. */
static void test_partners(bool alike)
{
	const double rates[RUNS] = {2e7, 4e7, 3e6};
	struct cache *c = make_log(rates);
	struct weigh *w;

	add_bursts(c, rates);
	for (int i = 0; i < SPELLS; i++) {
		const double hits[RUNS] = {i < SPELLS / 10 && i % 5 == 0 ? 1000 : -1,
			i % 9            ? -1
			: i < SPELLS / 2 ? 2000
					 : 0,
			-1};

		add_spell(c, 1e6, hits);
	}
	w = weigh_log(c);
	for (unsigned i = 0; i < w->bursts; i++) {
		w->count[i] = 100;
		w->count[w->bursts + i] = alike || i % 2 ? 200 : 100;
	}
	ok(native_totals(c, w) == 0, "totals");
	is_near(w->total[1], 2e5, 1e4, "of the second one");
	if (alike)
		is_near(w->total[0], 1e5, 5e3, "of the first: half of it");
	else
		is_near(w->total[0], 2e5, 3e3, "of the first, if they do not go together: by time");
	weigh_free(w);
	free(w);
	free_log(c);
}

/* The anchor was made in the middle of the run. */
static void test_before(bool later)
{
	const double rates[RUNS] = {1e5, 2e6, 3e6}, hits[RUNS] = {-1, -1, 3000};
	struct cache *c = make_log(rates);
	struct weigh *w;

	add_bursts(c, rates);
	c->native->all = 100e6;
	c->anchors->all[2].since = 100e6;
	c->anchors->all[2].after = BURSTS / 2;
	for (int i = 0; i < SPELLS / 2; i++)
		add_spell(c, 1e6, hits);
	w = weigh_log(c);
	for (unsigned i = 0; i + 1 < BURSTS / 2 && later; i++)
		w->count[2 * w->bursts + i] = 0;
	ok(native_totals(c, w) == 0, "totals");
	if (later)
		ok(w->total[2] < 3.3e5, "no burst had it before: %g", w->total[2]);
	else
		is_near(w->total[2], 6e5, 1e3, "bursts had it before");
	ok(w->doubt[2] > 0.01, "and that is not certain: %g", w->doubt[2]);
	weigh_free(w);
	free(w);
	free_log(c);
}

/* The third anchor was made after half of the run, before which bursts were too short to say much.
 * The first one, which was there, has counted as much since, or nothing. */
static void test_phases(bool other)
{
	const double rates[RUNS] = {1e5, 2e6, 3e6}, old[RUNS] = {5000, -1, -1},
		     new[RUNS] = {other ? 0 : 5000, -1, 3000};
	struct cache *c = make_log(rates);
	struct weigh *w;

	add_bursts(c, rates);
	for (int i = 0; i < SPELLS; i++)
		add_spell(c, 1e6, i < SPELLS / 2 ? old : new);
	c->anchors->all[2].since = SPELLS / 2 * 1e6;
	c->anchors->all[2].after = BURSTS / 2;
	w = weigh_log(c);
	for (unsigned i = 0; i < BURSTS; i++) {
		w->weight[i] = 1;
		w->time[i] = SPELLS * 1e-3 / BURSTS;
		if (i + 1 >= BURSTS / 2)
			continue;
		w->count[2 * w->bursts + i] = 0;
		c->native->bursts.data[i].seconds = 1e-6;
	}
	ok(native_totals(c, w) == 0, "totals");
	if (other)
		is_near(w->total[2], 3e5, 1e3, "another phase: not executed before");
	else
		ok(w->total[2] > 4e5, "the same phase: executed before, too: %g", w->total[2]);
	weigh_free(w);
	free(w);
	free_log(c);
}

int main(void)
{
	test_shares();
	test_spells();
	test_totals();
	test_partners(true);
	test_partners(false);
	test_before(false);
	test_before(true);
	test_phases(false);
	test_phases(true);
	test_counted();
	test_phase();
	test_draw();
	test_many_threads();
	return done();
}
#else
int main(void)
{
	skip("branches are not followed on this machine");
	return done();
}
#endif
