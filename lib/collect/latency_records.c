/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/latency_records.h"

#include <stdio.h>
#include <string.h>

#include "collect/kept_levels.h"

/* Of a burst, for a module: it may have as many values. */
#define LOADS_MOST VALUE_MODULE_MOST

/* "L1 to last: 2.5 ns": of levels that are taken as one, the mean of the first. */
static int note_levels(struct latency_records *r, struct error *e)
{
	const struct latency_levels *l = &r->latencies.levels;
	char key[32], text[64];

	for (int k = 0; k < LEVELS; k++) {
		if (!l->last[k])
			continue;
		snprintf(key, sizeof(key), EXPERIMENT_VALUE_LEVEL, k + 1);
		snprintf(text, sizeof(text), "%d %.1f ns", l->last[k], l->mean_ns[k]);
		if (experiment_fact(r->experiment, key, text, e))
			return -1;
	}
	return 0;
}

int latency_records_begin(
	struct latency_records *r, struct branches_request *request, struct error *e)
{
	latencies_init(&r->latencies);
	r->wanted = true;
	request->latency = true;
	return kept_levels_find(&r->latencies.levels, e) ? -1 : note_levels(r, e);
}

/* The last entry of a trace is for what comes after it. */
int latency_records_flush(struct latency_records *r)
{
	uint64_t before = r->values ? r->values->module.spent : 0;
	int rc = 0;

	if (r->window.trace.count) {
		rc = vec_push(&r->window.trace) ? value_records_window(r->values, &r->window) : -1;
		r->values->spent.others += r->values->module.spent - before;
	}
	r->window.trace.count = r->window.seen.count = 0;
	return rc;
}

/* For the module: bursts become windows. */
static int keep_load(struct latency_records *r, const struct branch_record *record)
{
	const struct latency_levels *l = &r->latencies.levels;
	uint64_t floor = l->floor[record->windows];
	struct value_trace *t;

	if (record->id != r->burst && latency_records_flush(r))
		return -1;
	r->burst = record->id;
	r->window.pid = record->pid;
	r->window.time = record->time;
	if (r->window.trace.count >= LOADS_MOST)
		return 0;
	t = vec_push(&r->window.trace);
	if (!t)
		return -1;
	*t = (struct value_trace){.pc = record->begin,
		.length = (uint8_t)record->span,
		.size = (uint8_t)(record->span >> 8),
		.result = (uint8_t)(record->span >> 16),
		.result_bits = (uint8_t)(record->span >> 24),
		.flags = VP_LOADS | VP_TIMED,
		.latency = record->hits > floor ? (double)(record->hits - floor) * l->tick_ns : 0};
	memcpy(t->bytes, &record->end, sizeof(record->end));
	memcpy(t->bytes + sizeof(record->end), &record->to, sizeof(record->to));
	return 0;
}

int latency_records_add(
	struct latency_records *r, const struct process *p, const struct branch_record *record)
{
	const struct mapping *m = spaces_find(p, record->begin);
	long image = m ? images_register(r->spaces->images, m->image, r->experiment) : 0;

	if (image < 0)
		return -1;
	if (r->values && record->windows < LATENCY_FORMS &&
		latencies_bin_of(&r->latencies.levels, r->latencies.levels.floor[record->windows],
			record->hits) >= 0 &&
		keep_load(r, record))
		return -1;
	if (image == 0)
		return 0;
	return latencies_add(&r->latencies, (uint32_t)image,
		spaces_address(r->spaces, m, record->begin), record->windows, record->id,
		record->hits);
}

int latency_records_tally(
	struct latency_records *r, enum experiment_tally_kind kind, uint64_t count)
{
	static const struct {
		enum experiment_tally_kind from;
		enum experiment_value_tally_kind to;
	} kinds[] = {{TALLY_BURSTS, VALUE_TALLY_MOMENTS}, {TALLY_BURSTS_EMPTY, VALUE_TALLY_EMPTY},
		{TALLY_TRANSFERS, VALUE_TALLY_VALUES}, {TALLY_PROGRAM_NS, VALUE_TALLY_PROGRAM_NS},
		{TALLY_COST_NS, VALUE_TALLY_COST_NS}, {TALLY_STOP_NS, VALUE_TALLY_STOP_NS}};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (kinds[i].from == kind && count)
			return experiment_add_value_tally(r->experiment, kinds[i].to, count);
	return 0;
}

int latency_records_put(struct latency_records *r)
{
	return r->wanted ? latencies_put(&r->latencies, r->experiment) : 0;
}

void latency_records_fini(struct latency_records *r)
{
	if (r->wanted)
		latencies_fini(&r->latencies);
	vec_fini(&r->window.trace);
	vec_fini(&r->window.seen);
	memset(r, 0, sizeof(*r));
}
