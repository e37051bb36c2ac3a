/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "monitor/monitor_clock.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "sources/perf_open.h"

#define SHARE 0.5 /* of the budget, for samples; the rest is for reading them */
#define ROOM  0.8 /* of the budget, which more samples may take */

const char *const monitor_clock_names[] = {"auto", "tick", "cpu", NULL};

/* Samples a second of cpu-clock. Few different ones, so that what is stored adds up; none goes with
 * the timers of programs. */
static const unsigned rates[] = {199, 97, 49, 19, 9, 5, 2, 1};
#define RATES (sizeof(rates) / sizeof(rates[0]))

/* Which the kernel reports as the resolution of its coarse clock. */
static uint64_t tick_period(void)
{
	struct timespec t = {0};

	clock_getres(CLOCK_MONOTONIC_COARSE, &t);
	return (uint64_t)t.tv_nsec;
}

void monitor_clock_pace(struct monitor_clock *c, double budget)
{
	double longest = c->cost / (budget * SHARE); /* ns between samples, at least */
	size_t i = 0;

	if (c->kind == MONITOR_CLOCK_TICK) {
		c->every = 1 + (unsigned)(longest / (double)tick_period());
		c->watch.period = c->paced = tick_period() * c->every;
		return;
	}
	while (i + 1 < RATES && (double)SECOND / rates[i] < longest)
		i++;
	c->watch.period = c->paced = SECOND / rates[i];
}

bool monitor_clock_slower(struct monitor_clock *c)
{
	size_t i = 0;

	if (c->watch.period >= SECOND)
		return false;
	if (c->kind == MONITOR_CLOCK_TICK) {
		c->every *= 2;
		c->watch.period = tick_period() * c->every;
		return true;
	}
	while (i + 1 < RATES && SECOND / rates[i] < 2 * c->watch.period)
		i++;
	c->watch.period = SECOND / rates[i];
	return true;
}

bool monitor_clock_faster(struct monitor_clock *c)
{
	size_t i = RATES - 1;

	if (c->watch.period <= c->paced)
		return false;
	if (c->kind == MONITOR_CLOCK_TICK) {
		c->every /= 2;
		c->watch.period = tick_period() * c->every;
		return true;
	}
	while (i && SECOND / rates[i] >= c->watch.period)
		i--;
	c->watch.period = SECOND / rates[i];
	return true;
}

int monitor_clock_wanted(double budget, double share, double samples)
{
	if (share > budget)
		return samples > share / 2 || share - samples / 2 <= budget ? -1 : 0;
	return share + 2 * samples <= budget * ROOM;
}

/* A test of what it will be opened for. */
static int monitor_clock_works(const struct monitor_clock *c, bool own)
{
	struct perf_event_attr attr = monitor_clock_attr(c);
	int cpu = 0, fd;

	do
		fd = perf_open(&attr, own ? 0 : -1, cpu++, -1);
	while (fd < 0 && errno == ENODEV && cpu < sysconf(_SC_NPROCESSORS_CONF));
	if (fd >= 0)
		close(fd);
	return fd < 0 ? -1 : 0;
}

static int choose_tick(struct monitor_clock *c, bool own, struct error *e)
{
	struct perf_event_attr attr;

	c->kind = MONITOR_CLOCK_TICK;
	c->every = 1;
	c->watch = (struct watch_clock){.period = tick_period(), .tick = true};
	if (monitor_tick_number(MONITOR_TICK, &c->config, e))
		return -1;
	c->unlimited = monitor_clock_works(c, own) != 0 && errno == EINVAL;
	if (monitor_clock_works(c, own) == 0 && monitor_cost(c, &c->cost) == 0)
		return 0;
	attr = monitor_clock_attr(c);
	if (errno != EACCES && errno != EPERM)
		return perf_explain(errno, &attr, 0, NULL, e);
	error_set(e, ERR_PERMISSION, "the kernel forbids the tracepoint of its timer");
	return error_hint(e, "run it as root, or setcap cap_perfmon+ep ssrun");
}

static int choose_cpu(struct monitor_clock *c, bool own, struct error *e)
{
	struct perf_event_attr attr;

	c->kind = MONITOR_CLOCK_CPU;
	c->config = PERF_COUNT_SW_CPU_CLOCK;
	c->watch = (struct watch_clock){.period = SECOND};
	for (int user_only = 0; user_only < (own ? 2 : 1); user_only++) {
		c->user_only = user_only;
		if (monitor_clock_works(c, own) == 0 && monitor_cost(c, &c->cost) == 0)
			return 0;
	}
	if (!own && (errno == EACCES || errno == EPERM)) {
		error_set(e, ERR_PERMISSION, "the kernel forbids sampling the whole system");
		return error_hint(e, "as root: sysctl kernel.perf_event_paranoid=0, or setcap "
				     "cap_perfmon+ep ssrun; or -user, for your own processes");
	}
	attr = monitor_clock_attr(c);
	return perf_explain(errno, &attr, 0, NULL, e);
}

int monitor_clock_choose(struct monitor_clock *c, enum monitor_clock_kind wanted, bool own,
	double budget, struct error *e)
{
	struct error why;
	int rc = -1;

	memset(c, 0, sizeof(*c));
	if (wanted != MONITOR_CLOCK_CPU) {
		rc = choose_tick(c, own, &why);
		if (rc && wanted == MONITOR_CLOCK_TICK) {
			*e = why;
			return -1;
		}
		if (rc)
			snprintf(c->lacks, sizeof(c->lacks), "%.120s: %.120s", why.message,
				why.hint);
	}
	if (rc && choose_cpu(c, own, e))
		return -1;
	monitor_clock_pace(c, budget);
	return 0;
}
