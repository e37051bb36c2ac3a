/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What counts of waits and samples when a program suspends, restarts and clears. */
#include <linux/perf_event.h>

#include "../metrics.h"
#include "../tap.h"
#include "base/error.h"
#include "collect/sampler.h"
#include "experiment/pauses.h"
#include "experiment/time_slices.h"

#define BEGAN 1000000 /* ns */
#define TICK  1000    /* of the clock of waits */
#define PID   7

struct story {
	struct experiment x;
	struct sampler s;
	bool made;
};

static void story_begin(struct story *t)
{
	const struct experiment_metric metric = METRIC_TIME(METRIC_WALL);

	memset(t, 0, sizeof(*t));
	t->made = ok(
		experiment_init(&t->x, NULL) == 0 && experiment_metric(&t->x, &metric, NULL) == 0,
		"an experiment");
	sampler_init_past(&t->s, &t->x, NULL, false);
	t->s.spaces.began = BEGAN;
	t->s.blocking = true;
	blocked_init(&t->s.blocked, &t->s.spaces, 0, TICK);
	if (vec_push(&t->s.events))
		t->s.events.data[0] = (struct sampler_event){.metric = 0};
}

static void point(struct story *t, uint64_t time, enum point_kind kind)
{
	const struct phase_point p = {.time = BEGAN + time, .kind = kind};

	t->made &= vec_add(&t->s.phases.pending, p) == 0;
}

static void turn(struct story *t, pid_t tid, uint64_t time, bool out)
{
	const struct record r = {.type = PERF_RECORD_SWITCH,
		.pid = PID,
		.tid = tid,
		.time = BEGAN + time,
		.turn = {.out = out}};

	t->made &= sampler_take(&t->s, &r) == 0;
}

static void ends(struct story *t, pid_t tid, uint64_t time)
{
	const struct record r = {
		.type = PERF_RECORD_EXIT, .pid = PID, .tid = tid, .time = BEGAN + time};

	t->made &= sampler_take(&t->s, &r) == 0;
}

static void sampled(struct story *t, uint64_t time)
{
	const struct record r = {
		.type = PERF_RECORD_SAMPLE, .pid = PID, .tid = PID, .time = BEGAN + time};

	t->made &= sampler_take(&t->s, &r) == 0;
}

/* What is in the experiment then. */
static void story_end(struct story *t, uint64_t time, uint64_t waited, const char *name)
{
	uint64_t pauses = 0, samples = 0, slices = 0;

	t->made &= sampler_end(&t->s, BEGAN + time, NULL) == 0;
	ok(t->made, "all is taken");
	for (size_t i = 0; i < t->x.pauses.count; i++)
		pauses += experiment_pause_at(&t->x, i)->time;
	for (size_t i = 0; i < t->x.samples.count; i++)
		samples += experiment_sample_at(&t->x, i)->count;
	for (size_t i = 0; i < t->x.slices.count; i++) {
		const struct experiment_slice *slice = experiment_slice_at(&t->x, i);

		slices += slice->key.sample < t->x.samples.count ? slice->count : 1000000;
	}
	is_int(pauses, waited, "%s: pauses", name);
	is_int(samples, waited / TICK, "%s: samples", name);
	is_int(slices, waited / TICK, "%s: their times", name);
	sampler_fini(&t->s);
	experiment_fini(&t->x);
}

static void test_suspended(void)
{
	struct story t;

	story_begin(&t);
	turn(&t, PID, 10000, true);
	point(&t, 30000, POINT_SUSPEND);
	point(&t, 70000, POINT_RESTART);
	turn(&t, PID, 80000, false);
	story_end(&t, 90000, 30000, "a wait across a suspension");

	story_begin(&t);
	turn(&t, PID, 10000, true);
	point(&t, 30000, POINT_SUSPEND);
	point(&t, 40000, POINT_CALIPER);
	turn(&t, PID, 60000, false);
	point(&t, 70000, POINT_RESTART);
	turn(&t, PID, 75000, true);
	turn(&t, PID, 80000, false);
	story_end(&t, 90000, 25000, "one that ends in it, behind a caliper point");

	story_begin(&t);
	point(&t, 10000, POINT_SUSPEND);
	turn(&t, PID, 20000, true);
	point(&t, 30000, POINT_RESTART);
	turn(&t, PID, 50000, false);
	story_end(&t, 90000, 20000, "one that begins in it");

	story_begin(&t);
	turn(&t, PID, 10000, true);
	point(&t, 30000, POINT_SUSPEND);
	ends(&t, PID, 60000);
	turn(&t, PID + 1, 65000, true);
	point(&t, 70000, POINT_RESTART);
	point(&t, 75000, POINT_SUSPEND);
	story_end(&t, 90000, 25000, "a thread that ends in it, and one that does not");

	story_begin(&t);
	turn(&t, PID, 10000, true);
	point(&t, 30000, POINT_END);
	point(&t, 35000, POINT_CALIPER);
	ends(&t, PID, 60000);
	story_end(&t, 90000, 20000, "the end of the experiment");
}

static void test_cleared(void)
{
	struct story t;

	story_begin(&t);
	turn(&t, PID, 10000, true);
	turn(&t, PID, 25000, false);
	sampled(&t, 26000);
	turn(&t, PID, 30000, true);
	point(&t, 40000, POINT_CLEAR);
	turn(&t, PID, 50000, false);
	turn(&t, PID, 60000, true);
	turn(&t, PID, 65000, false);
	story_end(&t, 90000, 15000, "what was before a clearing");
}

int main(void)
{
	test_suspended();
	test_cleared();
	return done();
}
