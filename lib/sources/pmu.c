/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Hardware counters through perf_event_open, any number of events.
 *
 * Events that fit the counters together are counted all the time. Otherwise the events are put into
 * groups (grouping.h) which the kernel gives turns, and each group has the anchor event,
 * instructions, besides its own. The anchor's total is the sum over the groups, since their turns
 * cover the whole time, and the estimate of each other event is scaled by it (estimate.h). Cycles
 * go into every group too if they were requested and the number of groups stays the same, as on
 * processors with a counter for cycles alone.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "sources/perf_open.h"
#include "sources/pmu_session.h"
#include "sources/selftest.h"

static int pmu_probe(const struct source_options *options, struct error *why)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_HARDWARE,
		.config = PERF_COUNT_HW_INSTRUCTIONS,
		.exclude_kernel = 1,
		.exclude_hv = 1};
	struct perf_event_attr *one = &attr;

	if (!options->forced)
		return selftest_pmu(why);
	return grouping_try(&one, 1) ? 0 : perf_explain(errno, &attr, 0, NULL, why);
}

/* Raw codes and libpfm4 strings are used as given; for a row of the table, we chose the encoding.
 */
static bool must_prove_itself(const struct source_options *o, const struct event_spec *spec,
	const struct perf_event_attr *attr)
{
	return spec->origin == EVENT_ORIGIN_TABLE && (spec->event->flags & EVENT_PROVOKED) &&
	       !o->forced && !attr->exclude_user;
}

static int pmu_accepts(
	const struct source_options *options, struct event_spec *spec, struct error *why)
{
	struct perf_event_attr attr, *one = &attr;

	if (!spec->encoded && event_encode(spec, why) != 0)
		return -1;
	attr = pmu_attr(options, spec);
	if (must_prove_itself(options, spec, &attr)) {
		int counted = selftest_event(&attr);

		if (counted > 0 || (counted < 0 && errno == EBUSY))
			return 0; /* if the counters are taken now, they may not be later */
		if (counted < 0)
			return perf_explain(errno, &attr, 0, NULL, why);
		error_set(
			why, ERR_UNSUPPORTED, "%s opens but counts nothing here", spec->code.text);
		return error_hint(why, "-source pmu counts it nevertheless");
	}
	if (!grouping_try(&one, 1) && errno != EBUSY)
		return perf_explain(errno, &attr, 0, NULL, why);
	return 0;
}

/* ---- the session ----------------------------------------------------------------------------- */

/* Milliseconds between turns, as the kernel's driver has it. */
static double rotation_seconds(void)
{
	static const char *const paths[] = {
		"/sys/bus/event_source/devices/cpu/perf_event_mux_interval_ms",
		"/sys/bus/event_source/devices/cpu_core/perf_event_mux_interval_ms",
		"/sys/bus/event_source/devices/armv8_pmuv3/perf_event_mux_interval_ms",
		"/sys/bus/event_source/devices/armv8_pmuv3_0/perf_event_mux_interval_ms",
	};
	double ms = 0;

	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]) && ms <= 0; i++) {
		char text[32];

		if (file_line(paths[i], text, sizeof(text)))
			ms = strtod(text, NULL);
	}
	return (ms > 0 ? ms : 4) * 1e-3;
}

static void pmu_close(void *session)
{
	struct pmu_session *s = session;

	if (!s)
		return;
	thread_rows_fini(&s->rows);
	bank_close(&s->bank);
	free(s->slot_of);
	free(s->slots);
	free(s->first);
	free(s->values);
	free(s->last);
	free(s);
}

static void *pmu_open(const struct source_options *options, struct event_spec *specs, size_t count,
	struct error *e)
{
	struct pmu_session *s = calloc(1, sizeof(*s));

	if (!s || !(s->slot_of = calloc(count + 1, sizeof(*s->slot_of))) ||
		!(s->slots = calloc(count + 2, sizeof(*s->slots)))) {
		error_nomem(e);
		goto fail;
	}
	s->options = *options;
	s->specs = specs;
	s->count = count;
	for (size_t i = 0; i < count; i++) {
		struct perf_event_attr attr;

		if (!specs[i].encoded && event_encode(&specs[i], e) != 0)
			goto fail;
		attr = pmu_attr(options, &specs[i]);
		s->slot_of[i] = pmu_slot(s, &attr);
	}
	if (pmu_choose_groups(s, e) != 0)
		goto fail;
	s->rotation = rotation_seconds();
	return s;
fail:
	pmu_close(s);
	return NULL;
}

static int pmu_add(
	struct pmu_session *s, const struct perf_event_attr *attr, size_t leader, struct error *e)
{
	if (bank_add(&s->bank, attr, leader) == 0)
		return 0;
	return perf_explain(errno, attr, s->bank.running ? s->bank.pid : 0, NULL, e);
}

static int pmu_add_group(struct pmu_session *s, size_t g, struct error *e)
{
	size_t leader = BANK_LEADER;

	s->first[g] = s->bank.events.count;
	for (size_t i = 0; i < s->resident_count; i++) {
		if (pmu_add(s, &s->slots[s->residents[i]].attr, leader, e) != 0)
			return -1;
		s->slots[s->residents[i]].index = i;
		leader = s->first[g];
	}
	for (size_t i = 0; i < s->slot_count; i++) {
		if (s->slots[i].resident || s->slots[i].group != g)
			continue;
		if (pmu_add(s, &s->slots[i].attr, leader, e) != 0)
			return -1;
		s->slots[i].index = s->bank.events.count - 1;
		leader = s->first[g];
	}
	return 0;
}

static int pmu_attach(void *session, pid_t pid, bool running, struct error *e)
{
	struct pmu_session *s = session;

	if (bank_begin(&s->bank, pid, running, &s->options, e) != 0)
		return -1;
	s->first = calloc(s->groups + 1, sizeof(*s->first));
	if (!s->first)
		return error_nomem(e);
	for (size_t g = 0; g < s->groups; g++)
		if (pmu_add_group(s, g, e) != 0)
			return -1;
	s->values = calloc(s->bank.events.count + 1, sizeof(*s->values));
	s->last = calloc(s->bank.events.count + 1, sizeof(*s->last));
	return s->values && s->last ? 0 : error_nomem(e);
}

static int pmu_thread(void *session, enum trace_news news, pid_t pid, pid_t tid,
	const char *command, struct error *e)
{
	struct pmu_session *s = session;

	return thread_rows_hear(&s->rows, &s->bank, news, pid, tid, command, e);
}

static int pmu_enable(void *session, bool on, struct error *e)
{
	struct pmu_session *s = session;

	return bank_enable(&s->bank, on, e);
}

static size_t pmu_groups(void *session)
{
	struct pmu_session *s = session;

	return s->groups;
}

/* Once per turn: more often gives nothing new, less often joins turns. */
static double pmu_tick_interval(void *session)
{
	struct pmu_session *s = session;

	return s->groups > 1 ? fmax(s->rotation, 2e-3) : 0;
}

static int pmu_tick(void *session, struct error *e)
{
	struct pmu_session *s = session;

	return s->groups > 1 ? pmu_observe(s, e) : 0;
}

static int pmu_read(void *session, struct reading *r, struct error *e)
{
	struct pmu_session *s = session;

	return pmu_observe(s, e) != 0 ? -1 : pmu_report(s, r, e);
}

const struct source_ops source_pmu = {
	.name = "pmu",
	.native = true,
	.probe = pmu_probe,
	.accepts = pmu_accepts,
	.open = pmu_open,
	.attach = pmu_attach,
	.thread = pmu_thread,
	.enable = pmu_enable,
	.tick_interval = pmu_tick_interval,
	.tick = pmu_tick,
	.groups = pmu_groups,
	.read = pmu_read,
	.close = pmu_close,
};
