/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sources/native_run.h"

#include <math.h>
#include <time.h>

#include "base/stats.h"
#include "machine/machine.h"
#include "sources/sources_run.h"

#define SECONDS_FOR_ALL 1.0

static double native_seconds(const struct timeval *t)
{
	return (double)t->tv_sec + (double)t->tv_usec * 1e-6;
}

/* The least, and up to the median. */
static struct quantity native_least(double *seconds, unsigned n)
{
	struct quantity q = {.label = LABEL_MEASURED};

	q.high = stats_median(seconds, n); /* sorted now */
	q.value = q.low = seconds[0];
	return q;
}

/* The part of `ticks` samples that are user's, with Wilson's interval. */
static struct quantity native_part(double part, double ticks)
{
	double n = fmax(ticks, 1), z = 1.96, spread = 1 + z * z / n;
	double middle = (part + z * z / (2 * n)) / spread;
	double half = z / spread * sqrt(part * (1 - part) / n + z * z / (4 * n * n));

	return (struct quantity){part, fmax(0, fmin(part, middle - half)),
		fmin(1, fmax(part, middle + half)), LABEL_MEASURED};
}

void native_times_of(
	const struct native_run *run, unsigned runs, double tick, struct native_times *t)
{
	double total[NATIVE_RUNS_MAX], elapsed[NATIVE_RUNS_MAX], user = 0, all = 0;
	struct quantity processor, part;

	t->runs = runs;
	for (unsigned i = 0; i < runs; i++) {
		user += run[i].user;
		all += total[i] = run[i].user + run[i].system;
		elapsed[i] = run[i].elapsed;
	}
	processor = native_least(total, runs);
	part = native_part(all > 0 ? user / all : 1, tick > 0 ? all / tick : all * 1e6);
	t->elapsed = native_least(elapsed, runs);
	t->user = (struct quantity){processor.value * part.value, processor.low * part.low,
		processor.high * part.high, LABEL_MEASURED};
	t->system = (struct quantity){processor.value * (1 - part.value),
		processor.low * (1 - part.high), processor.high * (1 - part.low), LABEL_MEASURED};
}

/* 1: it was interrupted. */
static int native_once(
	char *const *argv, int input, struct native_run *run, int *status, struct error *e)
{
	static const struct plan nothing = {.passes = 1};
	const struct run_request request = {.argv = argv, .input = input, .silent = true};
	const struct source_options options = {.user = true};
	struct run_result result;

	if (run_pass(&request, &nothing, 0, &options, NULL, &result, e))
		return -1;
	*run = (struct native_run){native_seconds(&result.usage.ru_utime),
		native_seconds(&result.usage.ru_stime), result.elapsed};
	*status = result.exit_status;
	run_result_fini(&result);
	return result.signal != 0;
}

int native_times_measure(char *const *argv, struct replay *input, struct native_times *t,
	bool *interrupted, struct error *e)
{
	struct native_run run[NATIVE_RUNS_MAX];
	double taken = 0, last = 0;
	struct timespec tick = {0, 0};
	unsigned runs = 0;
	uint64_t after;

	*t = (struct native_times){.clock_hz = machine_clock_now()};
	*interrupted = false;
	while (runs < NATIVE_RUNS_MAX && taken + last <= SECONDS_FOR_ALL && !t->exit_status) {
		int fd, rc = replay_again(input, &fd, e);

		if (rc == 0)
			rc = native_once(argv, fd, &run[runs], &t->exit_status, e);
		if (rc < 0)
			return -1;
		*interrupted = rc > 0;
		if (rc > 0)
			break;
		last = run[runs++].elapsed;
		taken += last;
	}
	clock_getres(CLOCK_MONOTONIC_COARSE, &tick);
	/* Times are those of the least disturbed run. */
	after = machine_clock_now();
	t->clock_hz = after > t->clock_hz ? after : t->clock_hz;
	if (runs)
		native_times_of(run, runs, (double)tick.tv_sec + (double)tick.tv_nsec * 1e-9, t);
	return 0;
}
