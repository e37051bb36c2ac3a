/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/collect_values.h"

bool collect_wants(const struct collect_request *r, unsigned flags)
{
	for (size_t i = 0; i < r->metrics->list.count; i++)
		if (r->metrics->list.data[i].flags & flags)
			return true;
	return false;
}

static struct values_config values_wanted(
	const struct collect_request *r, const struct value_module *m)
{
	unsigned usual = r->values.module || r->values.watch ? VALUES_TRACED : VALUES_LENGTH,
		 length = r->values.length ? r->values.length : usual;

	return (struct values_config){.skip = m->path ? m->config.skip : VALUES_SKIP,
		.length = m->path ? m->config.length : length,
		.timed = true,
		/* Watched accesses are near: few others of the same bytes come before them. */
		.spread = r->values.watch ? 0 : VALUES_SPREAD,
		.trace = m->path != NULL,
		.touches = r->values.watch};
}

int collect_values_load(const struct collect_request *r, struct sampler *s, struct error *e)
{
	const struct values_config config = values_wanted(r, &s->values.module);

	return r->values.module ? value_records_load(
					  &s->values, r->values.module, &config, r->values.rate, e)
				: 0;
}

static int add_visits(const struct collect_request *r, struct sampler *s,
	struct branches_request *request, struct error *e)
{
	const struct value_module *m = &s->values.module;
	const struct values_config config = values_wanted(r, m);
	struct error why;

	request->rate = m->path ? m->config.rate : r->values.rate;
	request->visit = value_records_visit;
	request->renewed = value_records_renewed;
	request->quiet = NULL;
	request->context = &s->values;
	s->branches.values = &s->values;
	if (value_records_begin(&s->values, &config, e))
		return -1;
	s->values.sites.shape = r->values.shape;
	if (r->values.watch && value_records_watch(&s->values, &why))
		collect_say(r, 0, "no watched addresses, only values: %s", why.message);
	return 0;
}

static int add_log(const struct collect_request *r, struct sampler *s,
	struct branches_request *request, struct error *e)
{
	request->values = true;
	s->branches.logged = &s->values;
	if (value_records_begin_log(&s->values, e))
		return -1;
	s->values.sites.shape = r->values.shape;
	return 0;
}

/* A module sees the loads of each burst. */
static int add_latencies(const struct collect_request *r, struct sampler *s,
	struct branches_request *request, struct error *e)
{
	const struct value_module *m = &s->values.module;

	request->rate = m->path ? m->config.rate : r->values.rate;
	if (m->path) {
		if (value_records_begin_lists(&s->values, e))
			return -1;
		s->values.sites.shape = r->values.shape;
		s->latencies.values = &s->values;
	}
	return latency_records_begin(&s->latencies, request, e);
}

int collect_values_begin(const struct collect_request *r, struct sampler *s,
	struct branches_request *request, struct error *e)
{
	if (!collect_wants(r, METRIC_VALUES))
		return 0;
	if (collect_wants(r, METRIC_BRANCHES))
		return add_log(r, s, request, e);
	return r->values.latency ? add_latencies(r, s, request, e) : add_visits(r, s, request, e);
}
