/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/latency_records.h"

#include <stdio.h>
#include <string.h>

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
	return values_levels_measure(&r->latencies.levels, e) ? -1 : note_levels(r, e);
}

int latency_records_add(
	struct latency_records *r, const struct process *p, const struct branch_record *record)
{
	const struct mapping *m = spaces_find(p, record->begin);
	long image = m ? images_register(r->spaces->images, m->image, r->experiment) : 0;

	if (image < 0)
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
	memset(r, 0, sizeof(*r));
}
