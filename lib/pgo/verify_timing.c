/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Steps 3 and 4: time and the model. Efron, "Bootstrap methods: another look at the jackknife"
 * (1979): rounds are drawn with replacement; the interval is that of the middle 95% of the gains.
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json_read.h"
#include "base/order.h"
#include "base/random.h"
#include "base/stats.h"
#include "pgo/verify_private.h"

enum { DRAWS = 2000, PER_ROUND = 2, LIMIT_SLOWER = 10 };
static const double ELAPSED_LOSS = 0.01; /* of the old time: what refuses */
static const double SHORT_RUN = 0.02;    /* seconds: below, starting a process is most of it */
static const double MODEL_LOSS = 0.005;  /* of cycles: more than the model's own differences */

static double gain_of(double *a, double *b, size_t n)
{
	double old = stats_median(a, n), new = stats_median(b, n);

	return old > 0 ? 1 - new / old : 0;
}

struct verify_interval verify_gain(const double *a, const double *b, size_t rounds, size_t per)
{
	size_t n = rounds * per;
	double *x = calloc(2 * n + DRAWS + 1, sizeof(*x)), *y, *gains;
	struct verify_interval g = {NAN, NAN, NAN};
	uint64_t state = 0x9e3779b97f4a7c15u;

	if (!x)
		return g;
	y = x + n;
	gains = y + n;
	memcpy(x, a, n * sizeof(*x));
	memcpy(y, b, n * sizeof(*y));
	g.value = gain_of(x, y, n);
	for (size_t k = 0; k < DRAWS; k++) {
		for (size_t i = 0; i < rounds; i++) {
			size_t from = (random_next(&state) >> 11) % rounds;

			memcpy(x + i * per, a + from * per, per * sizeof(*x));
			memcpy(y + i * per, b + from * per, per * sizeof(*y));
		}
		gains[k] = gain_of(x, y, n);
	}
	qsort(gains, DRAWS, sizeof(*gains), order_doubles);
	g.low = gains[DRAWS / 40];
	g.high = gains[DRAWS - 1 - DRAWS / 40];
	free(x);
	return g;
}

static const struct verify_command *timed_command(const struct verification *v)
{
	if (v->request->timed)
		return v->request->timed;
	return v->request->test_count ? &v->request->tests[0] : NULL;
}

/* Times of rounds: PER_ROUND values each. */
struct timed {
	double *cpu, *elapsed;
};

/* One run; an end other than the old image's is a reason, for a test of its own. */
static int time_once(struct verification *v, const char *image, int *status, double *cpu,
	double *elapsed, struct error *e)
{
	struct trial_result r;
	char text[80];

	if (verify_run_once(v, timed_command(v), image, NULL, NULL, &r, e))
		return -1;
	*cpu = r.cpu;
	*elapsed = r.elapsed;
	if (*status < 0)
		*status = r.status;
	trial_status_text(&r, text, sizeof(text));
	if (r.late || r.status != *status) {
		if (image == v->request->new)
			return verify_reason(v, "when it is timed: %s", text);
		return error_set(
			e, ERR_CANNOT_RUN, "when it is timed, the old image ends by %s", text);
	}
	return 0;
}

/* Old, new, new, old. */
static int time_round(struct verification *v, const struct timed *old, const struct timed *new,
	size_t round, int *status, struct error *e)
{
	static const size_t second[4] = {0, 0, 1, 1};

	for (int i = 0; i < 4 && !v->result->reasons.count; i++) {
		bool is_new = i == 1 || i == 2;
		const struct timed *to = is_new ? new : old;
		size_t at = PER_ROUND * round + second[i];

		if (time_once(v, is_new ? v->request->new : v->request->old, status, &to->cpu[at],
			    &to->elapsed[at], e))
			return -1;
	}
	return 0;
}

/* A program that waits uses no CPU time. */
static int judge_elapsed(struct verification *v, const struct timed *old, const struct timed *new)
{
	struct verify_result *r = v->result;

	r->elapsed = verify_gain(old->elapsed, new->elapsed, r->rounds, PER_ROUND);
	if (r->elapsed.high < -ELAPSED_LOSS)
		return verify_reason(v,
			"it waits longer: %.1f%% more elapsed time (95%%: %.1f to %.1f%%)",
			-100 * r->elapsed.value, -100 * r->elapsed.high, -100 * r->elapsed.low);
	return 0;
}

static int judge_time(struct verification *v, double *old, double *new, size_t rounds)
{
	struct verify_result *r = v->result;
	double *parts = calloc(2 * rounds, sizeof(*parts));
	double noise;

	if (!parts)
		return -1;
	for (size_t i = 0; i < rounds; i++) {
		parts[i] = old[2 * i];
		parts[rounds + i] = old[2 * i + 1];
	}
	r->rounds = rounds;
	r->noise = verify_gain(parts, parts + rounds, rounds, 1);
	r->gain = verify_gain(old, new, rounds, PER_ROUND);
	free(parts);
	r->old_seconds = stats_median(old, 2 * rounds);
	r->new_seconds = stats_median(new, 2 * rounds);
	noise = fabs(r->noise.value);
	if (!(r->gain.high >= 0))
		return verify_reason(v, "it is slower: %.1f%% more time", -100 * r->gain.value);
	if (!(r->gain.low > v->request->least))
		return verify_reason(v,
			"no gain of more than %.1f%% of the time can be seen: %.1f%% (95%%: %.1f "
			"to "
			"%.1f%%)",
			100 * v->request->least, 100 * r->gain.value, 100 * r->gain.low,
			100 * r->gain.high);
	if (!(r->gain.low > noise))
		return verify_reason(v,
			"a gain of %.1f%% (95%%: %.1f to %.1f%%) is not above noise: runs of the "
			"old "
			"image differ by %.1f%%",
			100 * r->gain.value, 100 * r->gain.low, 100 * r->gain.high, 100 * noise);
	return 0;
}

static int timed_init(struct timed *t, size_t rounds)
{
	t->cpu = calloc(PER_ROUND * rounds + 1, sizeof(*t->cpu));
	t->elapsed = calloc(PER_ROUND * rounds + 1, sizeof(*t->elapsed));
	return t->cpu && t->elapsed ? 0 : -1;
}

static void timed_fini(const struct timed *t)
{
	free(t->cpu);
	free(t->elapsed);
}

/* Before the rounds: what is timed prints the same, caches are warm, and the limit is known. */
static int time_first(struct verification *v, int *status, struct error *e)
{
	double first = 0, elapsed;

	if (v->request->timed && verify_timed_output(v, v->request->timed, e))
		return -1;
	if (v->result->reasons.count)
		return 0;
	if (time_once(v, v->request->old, status, &first, &elapsed, e))
		return -1;
	if (v->request->limit <= 0 && LIMIT_SLOWER * first > 10)
		v->limit = LIMIT_SLOWER * first;
	if (first < SHORT_RUN)
		return verify_note(v,
			"a run takes %.0f ms: most of that is the start of a process; time a "
			"longer one",
			1000 * first);
	return 0;
}

int verify_timing(struct verification *v, struct error *e)
{
	size_t rounds = v->request->rounds;
	struct timed old = {NULL, NULL}, new = {NULL, NULL};
	double limit = v->limit;
	int status = -1, rc = timed_init(&old, rounds) || timed_init(&new, rounds) ? -1 : 0;

	if (rc)
		error_nomem(e);
	else if (!rounds || !timed_command(v))
		rc = verify_reason(v, "it was not timed");
	else
		rc = time_first(v, &status, e);
	for (size_t i = 0; i < rounds && rc == 0 && !v->result->reasons.count; i++) {
		if (v->request->progress)
			progress_step(v->request->progress, (double)i / (double)rounds, "timing");
		rc = time_round(v, &old, &new, i, &status, e);
	}
	if (rc == 0 && !v->result->reasons.count)
		rc = judge_time(v, old.cpu, new.cpu, rounds);
	if (rc == 0 && !v->result->reasons.count)
		rc = judge_elapsed(v, &old, &new);
	v->limit = limit;
	timed_fini(&old);
	timed_fini(&new);
	return rc;
}

/* ---- the model ---- */

/* Cycles that perfex counted; -1: its file has none. */
static int cycles_counted(const char *path, struct verify_interval *cycles)
{
	const struct json_object *events, *count = NULL;
	struct json_object *all;
	struct error e = {0};
	size_t length;
	char *text = file_read(path, 0, &length, &e);

	all = text ? json_parse(text, length, path, &e) : NULL;
	events = json_member(all, "events");
	for (size_t i = 0; i < json_length(events); i++)
		if (json_to_number(json_member(json_element(events, i), "number"), -1) == 0)
			count = json_member(json_element(events, i), "count");
	cycles->value = json_to_number(json_member(count, "value"), 0);
	cycles->low = json_to_number(json_member(count, "low"), cycles->value);
	cycles->high = json_to_number(json_member(count, "high"), cycles->value);
	if (all)
		json_free(all);
	free(text);
	return cycles->value > 0 ? 0 : -1;
}

static int model_once(struct verification *v, const struct verify_command *c, const char *image,
	struct verify_interval *cycles, struct error *e)
{
	char *path = verify_path(v, ".model");
	const char *const words[] = {v->request->perfex, "-q", "-json", "-o", path, "-source",
		"model", "-clock", "retirement", "-e", "0", v->request->machine ? "-machine" : NULL,
		v->request->machine, NULL};
	struct trial_result r;
	int rc = path ? 0 : error_nomem(e);

	if (rc == 0)
		rc = verify_run_under(v, (char *const *)(uintptr_t)words, c, image, &r, e);
	if (rc == 0 && cycles_counted(path, cycles))
		cycles->value = 0;
	if (path)
		unlink(path);
	free(path);
	return rc;
}

static int judge_model(
	struct verification *v, struct verify_interval old, struct verify_interval new)
{
	struct verify_result *r = v->result;

	r->modelled = true;
	r->old_cycles = old.value;
	r->new_cycles = new.value;
	r->model = (struct verify_interval){
		1 - new.value / old.value, 1 - new.high / old.low, 1 - new.low / old.high};
	if (r->model.value < -MODEL_LOSS && r->model.high < 0)
		return verify_reason(
			v, "the model sees a loss: %.1f%% more cycles", -100 * r->model.value);
	return 0;
}

/* What is timed if it is short enough, else a test that is. NULL: there is none. */
static const struct verify_command *modelled_command(const struct verification *v)
{
	if (v->request->modelled)
		return v->request->modelled;
	if (v->result->old_seconds <= MODEL_LONGEST)
		return timed_command(v);
	return v->modelled ? &v->request->tests[v->modelled - 1] : NULL;
}

int verify_model(struct verification *v, struct error *e)
{
	const struct verify_command *c = modelled_command(v);
	struct verify_interval old, new;

	if (!v->request->perfex)
		return verify_note(v, "nothing was modelled");
	if (!c)
		return verify_note(v,
			"nothing was modelled: a run takes %.1f s, and the model some 300 times "
			"that; -model gives a shorter one",
			v->result->old_seconds);
	if (c != v->request->modelled && c != timed_command(v) &&
		verify_note(v, "the model ran test %zu, which is shorter", v->modelled))
		return -1;
	if (v->request->progress)
		progress_step(v->request->progress, 0, "the model");
	if (model_once(v, c, v->request->old, &old, e) ||
		model_once(v, c, v->request->new, &new, e))
		return -1;
	if (!(old.value > 0) || !(new.value > 0))
		return verify_note(v, "nothing was modelled: perfex counted no cycles");
	return judge_model(v, old, new);
}
