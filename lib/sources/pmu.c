/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Hardware counters through perf_event_open, any number of events.
 *
 * What fits the counters together is counted all the time.  Where not all do, the events are put
 * into groups (grouping.h) which the kernel gives turns, and each group has the anchor event,
 * instructions, besides its own: the anchor's total is the sum over the groups, since their turns
 * tile the time, and the estimate of each other event is scaled by it (estimate.h).  Cycles go into
 * every group too if they were asked for and that makes no more groups, as on processors with a
 * counter for nothing else.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sources/bank.h"
#include "sources/estimate.h"
#include "sources/grouping.h"
#include "sources/identities.h"
#include "sources/perf_open.h"
#include "sources/selftest.h"
#include "sources/source.h"

#define RESIDENTS_MAX 2
#define NANO          1e-9

/* One thing to count; several specs may share it. */
struct slot {
	struct perf_event_attr attr;
	bool resident; /* in every group */
	size_t group;  /* GROUP_NONE: it never fits */
	size_t index;  /* in the bank, unless resident */
	struct spread spread;
};

struct pmu_session {
	struct source_options options;
	struct event_spec *specs; /* borrowed */
	size_t count;
	size_t *slot_of; /* each spec's */
	struct slot *slots;
	size_t slot_count;
	size_t residents[RESIDENTS_MAX], resident_count; /* slots; the first is the anchor */
	size_t groups;
	size_t *first; /* each group's first event in the bank: its residents, then its members */
	struct bank bank;
	struct bank_value *values, *last;
	double rotation; /* seconds of a turn */
};

static bool counts_kernel(const struct source_options *o, const struct event_spec *spec)
{
	if (spec && spec->code.levels)
		return spec->code.levels & EVENT_KERNEL;
	/* On Linux, the exception level is the kernel's. */
	return o->kernel || o->exceptions ||
	       (spec && spec->event && (spec->event->flags & EVENT_KERNEL_SIDE));
}

static struct perf_event_attr attr_of(const struct source_options *o, const struct event_spec *spec)
{
	struct perf_event_attr attr = {
		.type = spec->code.type,
		.config = spec->code.config,
		.config1 = spec->code.config1,
		.config2 = spec->code.config2,
	};
	bool user = spec->code.levels ? (spec->code.levels & EVENT_USER) != 0 : o->user;

	attr.exclude_user = !user;
	attr.exclude_kernel = attr.exclude_hv = !counts_kernel(o, spec);
	return attr;
}

static struct perf_event_attr generic_attr(const struct source_options *o, uint64_t config)
{
	struct event_spec spec = {.code = {.type = PERF_TYPE_HARDWARE, .config = config}};

	return attr_of(o, &spec);
}

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

/* Raw codes and libpfm4 strings are taken as given; a row of the table is we who chose its
 * encoding. */
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
	attr = attr_of(options, spec);
	if (must_prove_itself(options, spec, &attr)) {
		int counted = selftest_event(&attr);

		if (counted > 0 || (counted < 0 && errno == EBUSY))
			return 0; /* if the counters are taken now, they may not be later */
		if (counted < 0)
			return perf_explain(errno, &attr, 0, NULL, why);
		error_set(
			why, ERR_UNSUPPORTED, "%s opens but counts nothing here", spec->code.text);
		return error_hint(why, "-source pmu counts it all the same");
	}
	if (!grouping_try(&one, 1) && errno != EBUSY)
		return perf_explain(errno, &attr, 0, NULL, why);
	return 0;
}

/* ---- which groups ---------------------------------------------------------------------------- */

static bool same(const struct perf_event_attr *a, const struct perf_event_attr *b)
{
	return a->type == b->type && a->config == b->config && a->config1 == b->config1 &&
	       a->config2 == b->config2 && a->exclude_user == b->exclude_user &&
	       a->exclude_kernel == b->exclude_kernel;
}

/* The slot that counts attr; a new one if there is none. */
static size_t slot_find(struct pmu_session *s, const struct perf_event_attr *attr)
{
	for (size_t i = 0; i < s->slot_count; i++)
		if (same(&s->slots[i].attr, attr))
			return i;
	s->slots[s->slot_count].attr = *attr;
	s->slots[s->slot_count].group = GROUP_NONE;
	return s->slot_count++;
}

/* A choice of residents on trial: the others are what is left to be grouped. */
struct trial {
	struct pmu_session *session;
	const size_t *others;
	const size_t *residents;
	size_t resident_count;
	struct perf_event_attr **attrs; /* room for all */
};

static bool fits(void *context, const size_t *members, size_t count)
{
	struct trial *t = context;
	size_t n = 0;

	for (size_t i = 0; i < t->resident_count; i++)
		t->attrs[n++] = &t->session->slots[t->residents[i]].attr;
	for (size_t i = 0; i < count; i++)
		t->attrs[n++] = &t->session->slots[t->others[members[i]]].attr;
	return grouping_try(t->attrs, n);
}

static bool is_among(size_t i, const size_t *list, size_t count)
{
	for (size_t k = 0; k < count; k++)
		if (list[k] == i)
			return true;
	return false;
}

/*
 * Groups all slots but the residents.  Takes the result over if it has fewer groups than `limit`,
 * or leaves the session as it was.  0, or -1 when memory is out.
 */
static int try_residents(struct pmu_session *s, const size_t *residents, size_t resident_count,
	size_t limit, struct error *e)
{
	size_t n = s->slot_count, count = 0, groups, *others = calloc(n + 1, sizeof(*others)),
	       *group_of = calloc(n + 1, sizeof(*group_of));
	struct trial t = {s, others, residents, resident_count, calloc(n + 1, sizeof(*t.attrs))};

	groups = GROUP_NONE;
	if (!others || !group_of || !t.attrs) {
		error_nomem(e);
		goto out;
	}
	for (size_t i = 0; i < n; i++)
		if (!is_among(i, residents, resident_count))
			others[count++] = i;
	groups = grouping_make(count, fits, &t, group_of, e);
	if (groups == GROUP_NONE || groups == 0 || groups >= limit)
		goto out;
	s->groups = groups;
	s->resident_count = resident_count;
	for (size_t i = 0; i < n; i++)
		s->slots[i].resident = false;
	for (size_t i = 0; i < resident_count; i++) {
		s->residents[i] = residents[i];
		s->slots[residents[i]].resident = true;
	}
	for (size_t i = 0; i < count; i++)
		s->slots[others[i]].group = group_of[i];
out:
	free(others);
	free(group_of);
	free(t.attrs);
	return groups == GROUP_NONE ? -1 : 0;
}

static bool all_fit(const struct pmu_session *s)
{
	for (size_t i = 0; i < s->slot_count; i++)
		if (s->slots[i].group != 0)
			return false;
	return true;
}

static int choose_groups(struct pmu_session *s, struct error *e)
{
	size_t plain = s->slot_count, residents[RESIDENTS_MAX], groups;
	struct perf_event_attr anchor = generic_attr(&s->options, PERF_COUNT_HW_INSTRUCTIONS),
			       *one = &anchor;

	if (try_residents(s, NULL, 0, GROUP_NONE, e) != 0)
		return -1;
	if (s->groups == 0 || all_fit(s) || s->groups == 1 || !grouping_try(&one, 1))
		return 0;
	groups = s->groups;
	/* The anchor is an instruction count that is among the events, or one more. */
	residents[0] = plain;
	for (size_t i = 0; i < s->count && residents[0] == plain; i++) {
		const struct event_spec *spec = &s->specs[i];

		if (spec->event && !spec->code.levels &&
			(spec->event->number == EV_INSTRUCTIONS ||
				spec->event->number == EV_INSTRUCTIONS_15))
			residents[0] = s->slot_of[i];
	}
	if (residents[0] == plain)
		residents[0] = slot_find(s, &anchor);
	/* It may cost groups, but not more than twice as many: then time is the better anchor. */
	if (try_residents(s, residents, 1, 2 * groups + 1, e) != 0)
		return -1;
	if (!s->resident_count)
		return 0;
	for (size_t i = 0; i < s->count; i++) {
		const struct event_spec *spec = &s->specs[i];

		if (spec->event && !spec->code.levels &&
			(spec->event->number == EV_CYCLES || spec->event->number == EV_CYCLES_16)) {
			residents[1] = s->slot_of[i];
			return try_residents(s, residents, 2, s->groups + 1, e);
		}
	}
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
		FILE *f = fopen(paths[i], "re");

		if (!f)
			continue;
		if (fscanf(f, "%lf", &ms) != 1)
			ms = 0;
		fclose(f);
	}
	return (ms > 0 ? ms : 4) * 1e-3;
}

static void pmu_close(void *session)
{
	struct pmu_session *s = session;

	if (!s)
		return;
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
		attr = attr_of(options, &specs[i]);
		s->slot_of[i] = slot_find(s, &attr);
	}
	if (choose_groups(s, e) != 0)
		goto fail;
	s->rotation = rotation_seconds();
	return s;
fail:
	pmu_close(s);
	return NULL;
}

static int pmu_prepare(void *session, struct launch *launch, struct error *e)
{
	(void)session;
	(void)launch;
	(void)e;
	return 0;
}

static int add(struct pmu_session *s, size_t slot, size_t *leader, struct error *e)
{
	struct perf_event_attr *attr = &s->slots[slot].attr;

	if (bank_add(&s->bank, attr, *leader) != 0)
		return perf_explain(errno, attr, s->bank.running ? s->bank.pid : 0, NULL, e);
	if (*leader == BANK_LEADER)
		*leader = s->bank.count - 1;
	s->slots[slot].index = s->bank.count - 1;
	return 0;
}

static int pmu_attach(void *session, pid_t pid, bool running, struct error *e)
{
	struct pmu_session *s = session;

	if (bank_begin(&s->bank, pid, running, s->options.per_thread, s->options.from_exec, e) != 0)
		return -1;
	s->bank.alone = s->options.alone;
	s->first = calloc(s->groups + 1, sizeof(*s->first));
	if (!s->first)
		return error_nomem(e);
	for (size_t g = 0; g < s->groups; g++) {
		size_t leader = BANK_LEADER;

		s->first[g] = s->bank.count;
		for (size_t i = 0; i < s->resident_count; i++)
			if (add(s, s->residents[i], &leader, e) != 0)
				return -1;
		for (size_t i = 0; i < s->slot_count; i++)
			if (!s->slots[i].resident && s->slots[i].group == g &&
				add(s, i, &leader, e) != 0)
				return -1;
	}
	s->values = calloc(s->bank.count + 1, sizeof(*s->values));
	s->last = calloc(s->bank.count + 1, sizeof(*s->last));
	return s->values && s->last ? 0 : error_nomem(e);
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

/* Once a turn: oftener would see nothing new, more seldom would see turns run together. */
static double pmu_tick_interval(void *session)
{
	struct pmu_session *s = session;

	return s->groups > 1 ? fmax(s->rotation, 2e-3) : 0;
}

/* What the event with that index saw since the last tick. */
static struct observation since_last(const struct pmu_session *s, size_t index, size_t group)
{
	const struct bank_value *v = &s->values[index], *l = &s->last[index];
	struct observation o = {
		.value = (double)(v->value - l->value),
		.running = (double)(v->running - l->running) * NANO,
		.enabled = (double)(v->enabled - l->enabled) * NANO,
	};
	size_t anchor = s->first[group];

	o.anchor = s->resident_count ? (double)(s->values[anchor].value - s->last[anchor].value)
				     : o.running;
	return o;
}

static int pmu_tick(void *session, struct error *e)
{
	struct pmu_session *s = session;

	if (bank_read(&s->bank, s->values, e) != 0)
		return -1;
	for (size_t i = 0; i < s->slot_count; i++) {
		struct slot *slot = &s->slots[i];
		struct observation o;

		if (slot->resident || slot->group == GROUP_NONE)
			continue;
		o = since_last(s, slot->index, slot->group);
		spread_add(&slot->spread, &o, s->rotation * (double)s->groups);
	}
	memcpy(s->last, s->values, s->bank.count * sizeof(*s->last));
	return 0;
}

/*
 * A resident's total: its counts in all groups tile the run.  Between turns there are gaps, which
 * are the kernel's own work of switching and, if somebody else took the counters, longer: what was
 * seen is the lower limit, what would have been seen in those gaps too is the upper.
 */
static struct quantity resident_total(const struct pmu_session *s, size_t which)
{
	struct quantity q = {0, 0, 0, LABEL_NONE};
	double seen = 0, running = 0, enabled = 0;

	for (size_t g = 0; g < s->groups; g++) {
		const struct bank_value *v = &s->values[s->first[g] + which];

		seen += (double)v->value;
		running += (double)v->running;
		enabled = fmax(enabled, (double)v->enabled);
	}
	if (running <= 0)
		return q;
	q.label = LABEL_SCALED;
	q.low = seen;
	q.value = q.high = seen * fmax(1, enabled / running);
	return q;
}

static void say_why_not(const struct pmu_session *s, const struct slot *slot, struct count *c)
{
	bool others_ran = false;

	for (size_t g = 0; g < s->groups; g++)
		others_ran |= s->values[s->first[g]].running > 0;
	if (slot->group == GROUP_NONE && !slot->resident)
		snprintf(c->why, sizeof(c->why),
			"counters taken: it never got one (NMI watchdog, another profiler?)");
	else if (others_ran)
		snprintf(c->why, sizeof(c->why),
			"the run was too short: its turn on the counters never came (-passes)");
	else
		snprintf(c->why, sizeof(c->why),
			"counters taken all the time (NMI watchdog, another profiler?)");
}

static void count_slot(
	const struct pmu_session *s, const struct slot *slot, double anchor_total, struct count *c)
{
	memset(c, 0, sizeof(*c));
	if (slot->resident)
		c->quantity = resident_total(s, slot == &s->slots[s->residents[0]] ? 0 : 1);
	else if (slot->group != GROUP_NONE && s->values[slot->index].enabled == 0)
		c->quantity = quantity_exact(0, LABEL_MEASURED); /* nothing ran, nothing happened */
	else if (slot->group != GROUP_NONE)
		c->quantity = spread_estimate(&slot->spread,
			s->resident_count ? anchor_total : slot->spread.total.enabled);
	if (c->quantity.label == LABEL_NONE)
		say_why_not(s, slot, c);
	c->short_run = c->quantity.label == LABEL_SCALED && !slot->resident &&
		       spread_is_short(&slot->spread);
}

static int pmu_read(void *session, struct reading *r, struct error *e)
{
	struct pmu_session *s = session;
	double anchor_total;

	if (pmu_tick(s, e) != 0)
		return -1;
	anchor_total = s->resident_count ? resident_total(s, 0).value : 0;
	r->enabled_seconds = 0;
	for (size_t k = 0; k < s->bank.count; k++)
		r->enabled_seconds = fmax(r->enabled_seconds, (double)s->values[k].enabled * NANO);
	for (size_t i = 0; i < s->count; i++)
		count_slot(s, &s->slots[s->slot_of[i]], anchor_total, &r->counts[i]);
	identities_clamp(s->specs, r->counts, s->count);
	return 0;
}

static int pmu_finish(void *session, const struct rusage *usage, struct error *e)
{
	(void)session;
	(void)usage;
	(void)e;
	return 0;
}

const struct source_ops source_pmu = {
	.name = "pmu",
	.native = true,
	.probe = pmu_probe,
	.accepts = pmu_accepts,
	.open = pmu_open,
	.prepare = pmu_prepare,
	.attach = pmu_attach,
	.enable = pmu_enable,
	.tick_interval = pmu_tick_interval,
	.tick = pmu_tick,
	.groups = pmu_groups,
	.read = pmu_read,
	.finish = pmu_finish,
	.close = pmu_close,
};
