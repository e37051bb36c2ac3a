/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Counts of the kernel's own: perf's software events, and the rusage of the command if those are
 * not available.
 *
 * Excluding kernel mode has a different effect on each. Clocks do not change. Page faults would be
 * only those of user-mode instructions, but a read(2) into fresh memory faults in the kernel.
 * Context switches and migrations always happen in the kernel, so none would be left. Therefore all
 * are opened with the kernel included. Where that is not allowed (perf_event_paranoid 2 and no
 * CAP_PERFMON) the clocks are opened without, and the others come from rusage, which counts the
 * same for the command and those descendants that were waited for. rusage cannot be stopped and
 * started, and does not exist for a process that is not our child. So it is used only for a whole
 * run; otherwise there is no count, only the reason.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "sources/bank.h"
#include "sources/perf_open.h"
#include "sources/source.h"
#include "sources/thread_rows.h"

struct os_row {
	int number; /* of the event table */
	uint64_t config;
	bool level_matters;                          /* excluding the kernel changes the count */
	double (*from_usage)(const struct rusage *); /* NULL: rusage does not have it */
};

static double usage_system(const struct rusage *u)
{
	return (double)u->ru_stime.tv_sec * 1e9 + (double)u->ru_stime.tv_usec * 1e3;
}

static double usage_faults(const struct rusage *u)
{
	return (double)(u->ru_minflt + u->ru_majflt);
}

static double usage_major(const struct rusage *u)
{
	return (double)u->ru_majflt;
}

static double usage_switches(const struct rusage *u)
{
	return (double)(u->ru_nvcsw + u->ru_nivcsw);
}

static double usage_minor(const struct rusage *u)
{
	return (double)u->ru_minflt;
}

#define NO_COUNTER UINT64_MAX /* rusage alone has it */

static const struct os_row os_rows[] = {
	{EV_TASK_CLOCK, PERF_COUNT_SW_TASK_CLOCK, false, clock_used_ns},
	{EV_PAGE_FAULTS, PERF_COUNT_SW_PAGE_FAULTS, true, usage_faults},
	{EV_MAJOR_FAULTS, PERF_COUNT_SW_PAGE_FAULTS_MAJ, true, usage_major},
	{EV_CONTEXT_SWITCHES, PERF_COUNT_SW_CONTEXT_SWITCHES, true, usage_switches},
	{EV_SYSTEM_TIME, NO_COUNTER, true, usage_system},
	{EV_CPU_MIGRATIONS, PERF_COUNT_SW_CPU_MIGRATIONS, true, NULL},
	/* By libpfm4's names only (perf::CPU-CLOCK ...). */
	{-1, PERF_COUNT_SW_CPU_CLOCK, false, NULL},
	{-1, PERF_COUNT_SW_PAGE_FAULTS_MIN, true, usage_minor},
	{-1, PERF_COUNT_SW_ALIGNMENT_FAULTS, true, NULL},
	{-1, PERF_COUNT_SW_EMULATION_FAULTS, true, NULL},
};

#define ROWS (sizeof(os_rows) / sizeof(os_rows[0]))

struct os_event {
	const struct os_row *row;
	size_t index;  /* in the bank; SIZE_MAX if it is not there */
	char why[160]; /* why not */
};

struct os_session {
	struct source_options options;
	struct os_event *events;
	size_t count;
	struct bank bank;
	struct bank_value *values;
	struct rows rows; /* with per_thread */
	bool whole_run;   /* counted from the exec on without a stop */
	bool have_usage;
	struct rusage usage;
};

static const struct os_row *os_row_of(const struct event_spec *spec)
{
	for (size_t i = 0; i < ROWS; i++) {
		if (spec->origin == EVENT_ORIGIN_TABLE) {
			if (spec->event && spec->event->number == os_rows[i].number)
				return &os_rows[i];
		} else if (spec->encoded && spec->code.type == PERF_TYPE_SOFTWARE &&
			   spec->code.config == os_rows[i].config) {
			return &os_rows[i];
		}
	}
	return NULL;
}

static int os_probe(const struct source_options *options, struct error *why)
{
	(void)options;
	(void)why;
	return 0; /* rusage, if nothing else */
}

static int os_accepts(
	const struct source_options *options, struct event_spec *spec, struct error *why)
{
	(void)options;
	if (os_row_of(spec))
		return 0;
	error_set(why, ERR_UNSUPPORTED, "the kernel does not count %s", spec->name);
	return error_hint(why, "-source pmu counts it on hardware that has it%s",
		spec->event && (spec->event->flags & EVENT_MODEL)
			? ", -source model on a modelled processor"
			: "");
}

static void os_close(void *session)
{
	struct os_session *s = session;

	if (!s)
		return;
	thread_rows_fini(&s->rows);
	bank_close(&s->bank);
	free(s->values);
	free(s->events);
	free(s);
}

static void *os_open(const struct source_options *options, struct event_spec *specs, size_t count,
	struct error *e)
{
	struct os_session *s = calloc(1, sizeof(*s));

	if (!s || !(s->events = calloc(count + 1, sizeof(*s->events))) ||
		!(s->values = calloc(count + 1, sizeof(*s->values)))) {
		os_close(s);
		error_nomem(e);
		return NULL;
	}
	s->options = *options;
	s->count = count;
	for (size_t i = 0; i < count; i++) {
		s->events[i].row = os_row_of(&specs[i]);
		if (!s->events[i].row) {
			os_accepts(options, &specs[i], e);
			os_close(s);
			return NULL;
		}
	}
	return s;
}

/* 0 if open; else errno, and *leader stays. */
static int os_add(struct os_session *s, struct os_event *event, bool exclude_kernel, size_t *leader)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.config = event->row->config,
		.exclude_kernel = exclude_kernel,
		.exclude_hv = exclude_kernel,
	};

	if (bank_add(&s->bank, &attr, *leader) != 0)
		return errno;
	event->index = s->bank.events.count - 1;
	if (*leader == BANK_LEADER)
		*leader = event->index;
	return 0;
}

/* The event is not counted: why. */
static void os_refuse(struct os_event *event, const struct error *why)
{
	event->index = SIZE_MAX;
	snprintf(event->why, sizeof(event->why), "%.*s", (int)sizeof(event->why) - 1, why->message);
}

/* Opens one event, without the kernel's part if that is forbidden (*forbidden: it is known to be).
 * 0 with *why set: it cannot be counted. -1: the process is gone. */
static int os_open_event(struct os_session *s, struct os_event *event, pid_t pid, bool running,
	size_t *leader, bool *forbidden, struct error *why)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE};
	int errnum = *forbidden ? EACCES : os_add(s, event, false, leader);

	if (!errnum)
		return 0;
	if (errnum == ESRCH)
		return perf_explain(errnum, &attr, pid, NULL, why);
	*forbidden = errnum == EACCES || errnum == EPERM;
	attr.exclude_kernel = *forbidden && !event->row->level_matters;
	if (attr.exclude_kernel && (errnum = os_add(s, event, true, leader)) == 0)
		return 0;
	perf_explain(errnum, &attr, running ? pid : 0, NULL, why);
	return 0;
}

static int os_attach(void *session, pid_t pid, bool running, struct error *e)
{
	struct os_session *s = session;
	size_t leader = BANK_LEADER, refused = 0;
	struct error refusal = {0};
	bool forbidden = false;

	if (bank_begin(&s->bank, pid, running, &s->options, e) != 0)
		return -1;
	s->whole_run = s->options.from_exec && !running;
	for (size_t i = 0; i < s->count; i++) {
		struct os_event *event = &s->events[i];
		struct error why = {0};
		bool counter = event->row->config != NO_COUNTER;

		if (!counter) {
			error_set(&why, ERR_UNSUPPORTED,
				"the kernel reports it only for a command that has ended");
		} else if (os_open_event(s, event, pid, running, &leader, &forbidden, &why)) {
			if (e)
				*e = why;
			return -1;
		}
		if (why.code == ERR_NONE)
			continue;
		os_refuse(event, &why);
		/* There is no rusage of a process that is not our child. */
		if (running && (refused++ == 0 || (counter && !event->row->level_matters)))
			refusal = why;
	}
	if (refused && refused == s->count) {
		if (e)
			*e = refusal;
		return -1;
	}
	return 0;
}

static int os_enable(void *session, bool on, struct error *e)
{
	struct os_session *s = session;

	if (!on)
		s->whole_run = false;
	return bank_enable(&s->bank, on, e);
}

static int os_thread(void *session, enum trace_news news, pid_t pid, pid_t tid, const char *command,
	struct error *e)
{
	struct os_session *s = session;

	return thread_rows_hear(&s->rows, &s->bank, news, pid, tid, command, e);
}

static void count_from_usage(
	const struct os_session *s, const struct os_event *event, struct count *c)
{
	if (event->row->from_usage && s->have_usage && s->whole_run) {
		c->quantity = quantity_exact(event->row->from_usage(&s->usage), LABEL_MEASURED);
		snprintf(c->why, sizeof(c->why),
			"from rusage: the command and the descendants it waited for");
		return;
	}
	c->quantity = quantity_exact(0, LABEL_NONE);
	snprintf(c->why, sizeof(c->why), "%s", event->why);
}

static void os_count_thread(void *session, const struct bank_value *values, struct count *counts)
{
	const struct os_session *s = session;

	for (size_t i = 0; i < s->count; i++) {
		const struct os_event *event = &s->events[i];

		if (event->index == SIZE_MAX)
			snprintf(counts[i].why, sizeof(counts[i].why), "%s", event->why);
		else
			counts[i].quantity =
				quantity_exact((double)values[event->index].value, LABEL_MEASURED);
	}
}

static int os_read(void *session, struct reading *r, struct error *e)
{
	struct os_session *s = session;

	if (bank_read(&s->bank, s->values, e) != 0)
		return -1;
	r->enabled_seconds = 0;
	for (size_t i = 0; i < s->count; i++) {
		const struct os_event *event = &s->events[i];
		const struct bank_value *v;

		if (event->index == SIZE_MAX) {
			count_from_usage(s, event, &r->counts[i]);
			continue;
		}
		v = &s->values[event->index];
		r->counts[i].quantity = quantity_exact((double)v->value, LABEL_MEASURED);
		if ((double)v->enabled * 1e-9 > r->enabled_seconds)
			r->enabled_seconds = (double)v->enabled * 1e-9;
	}
	thread_rows_judge(&s->rows, r->counts, s->count);
	return s->options.per_thread
		       ? thread_rows_report(&s->rows, &s->bank, r, os_count_thread, s, e)
		       : 0;
}

static int os_finish(void *session, const struct rusage *usage, struct error *e)
{
	struct os_session *s = session;

	(void)e;
	s->have_usage = usage != NULL;
	if (usage)
		s->usage = *usage;
	return 0;
}

const struct source_ops source_os = {
	.name = "os",
	.native = true,
	.probe = os_probe,
	.accepts = os_accepts,
	.open = os_open,
	.attach = os_attach,
	.thread = os_thread,
	.enable = os_enable,
	.read = os_read,
	.finish = os_finish,
	.close = os_close,
};
