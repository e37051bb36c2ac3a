/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The events to count, each once, even if several specs request it. */
#include "sources/pmu_session.h"

static bool counts_kernel(const struct source_options *o, const struct event_spec *spec)
{
	if (spec && spec->code.levels)
		return spec->code.levels & EVENT_KERNEL;
	/* On Linux, the exception level is the kernel's. */
	return o->kernel || o->exceptions ||
	       (spec && spec->event && (spec->event->flags & EVENT_KERNEL_SIDE));
}

struct perf_event_attr pmu_attr(const struct source_options *o, const struct event_spec *spec)
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

struct perf_event_attr pmu_generic_attr(const struct source_options *o, uint64_t config)
{
	struct event_spec spec = {.code = {.type = PERF_TYPE_HARDWARE, .config = config}};

	return pmu_attr(o, &spec);
}

static bool pmu_same(const struct perf_event_attr *a, const struct perf_event_attr *b)
{
	return a->type == b->type && a->config == b->config && a->config1 == b->config1 &&
	       a->config2 == b->config2 && a->exclude_user == b->exclude_user &&
	       a->exclude_kernel == b->exclude_kernel;
}

size_t pmu_slot(struct pmu_session *s, const struct perf_event_attr *attr)
{
	for (size_t i = 0; i < s->slot_count; i++)
		if (pmu_same(&s->slots[i].attr, attr))
			return i;
	s->slots[s->slot_count].attr = *attr;
	s->slots[s->slot_count].group = GROUP_NONE;
	return s->slot_count++;
}
