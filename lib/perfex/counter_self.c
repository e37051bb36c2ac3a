/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the kernel tells every thread and process about itself, with no privilege and under any
 * seccomp filter: its CPU time and the events of getrusage(2).
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

#include "perfex/private.h"

enum { FIGURES = 4 };
static const int counter_self_numbers[FIGURES] = {
	EV_TASK_CLOCK, EV_PAGE_FAULTS, EV_MAJOR_FAULTS, EV_CONTEXT_SWITCHES};

struct session {
	int scope;
	bool on;
	size_t count;
	double begin[FIGURES], total[FIGURES]; /* at the last start; over earlier spans */
	int figure[];
};

static int figure_of(const struct event_spec *spec)
{
	for (int i = 0; spec->event && i < FIGURES; i++)
		if (counter_self_numbers[i] == spec->event->number)
			return i;
	return -1;
}

static int counter_self_accepts(int scope, struct event_spec *spec, struct error *why)
{
	(void)scope;
	if (figure_of(spec) >= 0)
		return 0;
	return error_set(why, ERR_UNSUPPORTED,
		"%s is not among what the kernel tells a thread about itself", spec->name);
}

static void *counter_self_open_session(
	int scope, struct event_spec *specs, size_t count, struct error *e)
{
	struct session *s = calloc(1, sizeof(*s) + count * sizeof(s->figure[0]));

	if (!s) {
		error_nomem(e);
		return NULL;
	}
	s->scope = scope;
	s->count = count;
	for (size_t i = 0; i < count; i++)
		s->figure[i] = figure_of(&specs[i]);
	return s;
}

static int figures_now(const struct session *s, double *now, struct error *e)
{
	bool process = s->scope == PERFEX_PROCESS;
	struct timespec t;
	struct rusage u;

	if (getrusage(process ? RUSAGE_SELF : RUSAGE_THREAD, &u) != 0 ||
		clock_gettime(process ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_THREAD_CPUTIME_ID, &t) !=
			0)
		return error_sys(e, errno, "cannot read the resource usage of this %s",
			process ? "process" : "thread");
	now[0] = (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
	now[1] = (double)(u.ru_minflt + u.ru_majflt);
	now[2] = (double)u.ru_majflt;
	now[3] = (double)(u.ru_nvcsw + u.ru_nivcsw);
	return 0;
}

static int counter_self_enable(void *session, bool on, struct error *e)
{
	struct session *s = session;
	double now[FIGURES] = {0};

	if (s->on == on)
		return 0;
	if (figures_now(s, on ? s->begin : now, e))
		return -1;
	for (int i = 0; !on && i < FIGURES; i++)
		s->total[i] += now[i] - s->begin[i];
	s->on = on;
	return 0;
}

static int counter_self_read_counts(void *session, struct count *counts, struct error *e)
{
	struct session *s = session;
	double now[FIGURES] = {0};

	if (s->on && figures_now(s, now, e))
		return -1;
	for (size_t i = 0; i < s->count; i++) {
		int f = s->figure[i];

		counts[i].quantity = quantity_exact(
			s->total[f] + (s->on ? now[f] - s->begin[f] : 0), LABEL_MEASURED);
	}
	return 0;
}

const struct counter_ops counter_self = {
	.source = "os",
	.accepts = counter_self_accepts,
	.open = counter_self_open_session,
	.enable = counter_self_enable,
	.read = counter_self_read_counts,
	.close = free,
};
