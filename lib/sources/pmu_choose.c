/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Events that fit the counters together are counted all the time. Otherwise each group has the
 * anchor event, instructions, besides its own. Cycles go into every group too if they were
 * requested and the number of groups stays the same, as on processors with a counter for cycles
 * alone.
 */
#include <stdlib.h>

#include "sources/pmu_session.h"

/* A tentative choice of residents: the other events remain to be grouped. */
struct trial {
	struct pmu_session *session;
	const size_t *others;
	const size_t *residents;
	size_t resident_count;
	struct perf_event_attr **attrs; /* room for all */
};

static bool pmu_choose_fits(void *context, const size_t *members, size_t count)
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
	groups = grouping_make(count, pmu_choose_fits, &t, group_of, e);
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

int pmu_choose_groups(struct pmu_session *s, struct error *e)
{
	size_t plain = s->slot_count, residents[RESIDENTS_MAX], groups;
	struct perf_event_attr anchor = pmu_generic_attr(&s->options, PERF_COUNT_HW_INSTRUCTIONS),
			       *one = &anchor;

	if (try_residents(s, NULL, 0, GROUP_NONE, e) != 0)
		return -1;
	if (s->groups == 0 || all_fit(s) || s->groups == 1 || !grouping_try(&one, 1))
		return 0;
	groups = s->groups;
	/* The anchor is an instruction count that is among the events, or an additional one. */
	residents[0] = plain;
	for (size_t i = 0; i < s->count && residents[0] == plain; i++) {
		const struct event_spec *spec = &s->specs[i];

		if (spec->event && !spec->code.levels &&
			(spec->event->number == EV_INSTRUCTIONS ||
				spec->event->number == EV_INSTRUCTIONS_15))
			residents[0] = s->slot_of[i];
	}
	if (residents[0] == plain)
		residents[0] = pmu_slot(s, &anchor);
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
