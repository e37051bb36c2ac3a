/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/branch_records.h"

#include <stdlib.h>
#include <string.h>

#include "collect/stops.h"
#include "experiment/branches.h"

/* For this time after a burst, caches are affected by it. */
#define AFTER 1000000u
/* Bytes of straight code; more is damage. */
#define STRAIGHT_LONGEST (64u << 10)

static int branch_keep(struct branch_records *r, const struct branch_record *record)
{
	struct branch_record *slot;
	struct branch_quiet *quiet;

	if (record->kind == BRANCH_QUIET) {
		quiet = vec_push(&r->quiet);
		if (quiet)
			*quiet = (struct branch_quiet){
				record->begin, record->end + AFTER, record->pid};
		return quiet ? 0 : -1;
	}
	slot = vec_push(&r->pending);
	if (slot)
		*slot = *record;
	return slot ? 0 : -1;
}

int branch_records_take(struct branch_records *r, uint64_t *known)
{
	const struct branch_record *records;
	size_t count, left = r->pending.count - r->next;
	int rc = 0;

	*known = UINT64_MAX;
	if (!r->branches)
		return 0;
	if (r->next)
		memmove(r->pending.data, r->pending.data + r->next,
			left * sizeof(*r->pending.data));
	r->pending.count = left;
	r->next = 0;
	*known = branches_horizon(r->branches);
	records = branches_take(r->branches, &count);
	for (size_t i = 0; i < count; i++)
		if (rc || branch_keep(r, &records[i])) {
			free(records[i].owned);
			rc = -1;
		}
	return rc;
}

/* The image of an address of process p; 0 if unknown; -1 when memory is out. */
static long resolve(struct branch_records *r, struct process *p, uint64_t pc, uint64_t *address)
{
	const struct mapping *m = spaces_find(p, pc);
	long image;

	*address = pc;
	if (!m)
		return 0;
	image = images_register(r->spaces->images, m->image, r->experiment);
	if (image > 0)
		*address = spaces_address(r->spaces, m, pc);
	return image;
}

/* The key of a run, all 0 if its image is unknown. */
static int find_run(struct branch_records *r, struct process *p, const struct branch_record *record,
	struct experiment_run *run)
{
	uint64_t end;
	long image = resolve(r, p, record->begin, &run->key.begin),
	     end_image = resolve(r, p, record->end, &end),
	     to_image = resolve(r, p, record->to, &run->key.to);

	if (image < 0 || end_image < 0 || to_image < 0)
		return -1;
	if (image == 0 || end_image != image) {
		memset(&run->key, 0, sizeof(run->key));
		return 0;
	}
	run->key.image = (uint32_t)image;
	run->key.end = end;
	run->key.to_image = (uint32_t)to_image;
	if (to_image == 0)
		run->key.to = 0; /* addresses of memory differ from run to run */
	return 0;
}

static int branch_add_run(
	struct branch_records *r, struct process *p, const struct branch_record *record)
{
	struct experiment_run run = {.count = 1};

	if (find_run(r, p, record, &run))
		return -1;
	return run.key.image && experiment_row(r->experiment, EXPERIMENT_RUNS, &run) < 0 ? -1 : 0;
}

int branch_records_stack(struct branch_records *r, struct process *p, const struct record *record)
{
	const uint64_t *branches = record->sample.branches;
	uint64_t added = 0;

	/* The last one taken is first: code is straight from the target of one to the one before.
	 */
	for (size_t i = 1; i < record->sample.branch_count; i++) {
		const struct branch_record one = {.begin = branches[3 * i + 1],
			.end = branches[3 * (i - 1)],
			.to = branches[3 * (i - 1) + 1]};
		struct experiment_run run = {.count = 1};

		if (one.end < one.begin || one.end - one.begin > STRAIGHT_LONGEST)
			continue; /* what is between was not recorded */
		if (find_run(r, p, &one, &run))
			return -1;
		if (!run.key.image)
			continue;
		if (experiment_row(r->experiment, EXPERIMENT_RUNS, &run) < 0)
			return -1;
		added++;
	}
	if (!added)
		return 0;
	return experiment_add_tally(r->experiment, TALLY_BURSTS, 1) ||
			       experiment_add_tally(r->experiment, TALLY_TRANSFERS, added)
		       ? -1
		       : 0;
}

static int branch_add_way(
	struct branch_records *r, struct process *p, const struct branch_record *record)
{
	struct experiment_run run = {.count = 0}, *slot;

	while (r->ways.count < record->id) {
		slot = vec_push(&r->ways);
		if (!slot)
			return -1;
		memset(slot, 0, sizeof(*slot));
	}
	if (find_run(r, p, record, &run))
		return -1;
	r->ways.data[record->id - 1] = run;
	return 0;
}

static int add_met(struct branch_records *r, const struct branch_record *record)
{
	struct experiment_run run;

	if (record->id > r->ways.count || !r->ways.data[record->id - 1].key.image)
		return 0;
	run = r->ways.data[record->id - 1];
	run.count = record->hits;
	run.bursts = record->windows;
	run.rate = record->rate;
	run.squares = record->squares;
	return experiment_row(r->experiment, EXPERIMENT_RUNS, &run) < 0 ? -1 : 0;
}

static int add_site(struct branch_records *r, struct process *p, const struct branch_record *record)
{
	struct branch_site *site;
	long image;

	while (r->sites.count < record->id) {
		site = vec_push(&r->sites);
		if (!site)
			return -1;
	}
	site = &r->sites.data[record->id - 1];
	image = resolve(r, p, record->begin, &site->address);
	if (image >= 0)
		site->image = (uint32_t)image;
	return image < 0 ? -1 : 0;
}

static int branch_add_rate(struct branch_records *r, const struct branch_record *record)
{
	struct experiment_rate rate = {.hits = record->hits,
		.nanoseconds = record->ns,
		.windows = record->windows,
		.span = record->span};

	if (record->id > r->sites.count || !r->sites.data[record->id - 1].image)
		return 0;
	rate.key.image = r->sites.data[record->id - 1].image;
	rate.key.address = r->sites.data[record->id - 1].address;
	return experiment_row(r->experiment, EXPERIMENT_RATES, &rate) < 0 ? -1 : 0;
}

/* The first stub that ends after this address. */
static size_t find_stub(const struct branch_records *r, pid_t pid, uint64_t address)
{
	return vec_search(i, r->stubs.count,
		r->stubs.data[i].pid < pid ||
			(r->stubs.data[i].pid == pid && r->stubs.data[i].end <= address));
}

static int add_stub(struct branch_records *r, const struct branch_record *record)
{
	size_t at = find_stub(r, record->pid, record->begin);
	struct branch_stub *own;

	if (!vec_push(&r->stubs))
		return -1;
	own = &r->stubs.data[at];
	memmove(own + 1, own, (r->stubs.count - 1 - at) * sizeof(*own));
	*own = (struct branch_stub){record->begin, record->end, record->to, record->pid};
	return 0;
}

uint64_t branch_records_origin(const struct branch_records *r, pid_t pid, uint64_t address)
{
	size_t at = find_stub(r, pid, address);
	const struct branch_stub *stub = at < r->stubs.count ? &r->stubs.data[at] : NULL;

	return stub && stub->pid == pid && address >= stub->begin ? stub->to : address;
}

static void charge_values(struct branch_records *r, struct value_records *values)
{
	if (values->spent.own || values->spent.others)
		branches_charge(r->branches, values->spent);
	values->spent = (struct branches_charge){0};
}

static int branch_add_load(
	struct branch_records *r, const struct process *p, const struct branch_record *record)
{
	struct value_records *values = r->latencies->values;
	int rc = latency_records_add(r->latencies, p, record);

	if (values)
		charge_values(r, values);
	return rc;
}

static int branch_add_values(
	struct branch_records *r, const struct process *p, const struct branch_values *values)
{
	int rc = value_records_log(r->logged, p, values);

	charge_values(r, r->logged);
	return rc;
}

static int add_maps(struct branch_records *r, struct process *p, const struct branch_record *record)
{
	p->mappings.count = 0;
	return spaces_read_maps(r->spaces, p, record->text);
}

static int branch_add(struct branch_records *r, const struct branch_record *record)
{
	struct process *p;

	if (record->kind >= BRANCH_SAMPLE && record->kind != BRANCH_MAPS)
		return stops_record(record, r->take, r->context);
	if (record->kind == BRANCH_TALLY && r->only_samples)
		return 0;
	if (record->kind == BRANCH_TALLY && r->values)
		return value_records_tally(r->values, record->id, record->hits);
	if (record->kind == BRANCH_TALLY && r->latencies->wanted)
		return latency_records_tally(r->latencies, record->id, record->hits);
	if (record->kind == BRANCH_TALLY)
		return experiment_add_tally(r->experiment, record->id, record->hits);
	if (record->kind == BRANCH_RATE)
		return branch_add_rate(r, record);
	if (record->kind == BRANCH_MET)
		return add_met(r, record);
	if (record->kind == BRANCH_STUB)
		return add_stub(r, record);
	p = spaces_process(r->spaces, record->pid, record->time);
	if (!p)
		return -1;
	if (record->kind == BRANCH_VALUES)
		return branch_add_values(r, p, record->values);
	if (record->kind == BRANCH_LOAD)
		return branch_add_load(r, p, record);
	if (record->kind == BRANCH_MAPS)
		return add_maps(r, p, record);
	return record->kind == BRANCH_RUN   ? branch_add_run(r, p, record)
	       : record->kind == BRANCH_WAY ? branch_add_way(r, p, record)
					    : add_site(r, p, record);
}

bool branch_records_due(const struct branch_records *r, uint64_t time)
{
	return r->next < r->pending.count && r->pending.data[r->next].time < time;
}

int branch_records_advance(struct branch_records *r, uint64_t time)
{
	for (; branch_records_due(r, time); r->next++) {
		int rc = branch_add(r, &r->pending.data[r->next]);

		free(r->pending.data[r->next].owned);
		r->pending.data[r->next].owned = NULL;
		if (rc)
			return -1;
	}
	return 0;
}

bool branch_records_quiet(struct branch_records *r, pid_t pid, uint64_t time)
{
	size_t kept = 0;
	bool quiet = false;

	for (size_t i = 0; i < r->quiet.count; i++) {
		struct branch_quiet q = r->quiet.data[i];

		quiet |= q.pid == pid && time >= q.begin && time < q.end;
		if (q.end > time)
			r->quiet.data[kept++] = q;
	}
	r->quiet.count = kept;
	return quiet;
}

void branch_records_fini(struct branch_records *r)
{
	branches_free(r->branches);
	for (; r->next < r->pending.count; r->next++)
		free(r->pending.data[r->next].owned);
	vec_fini(&r->pending);
	vec_fini(&r->quiet);
	vec_fini(&r->sites);
	vec_fini(&r->stubs);
	vec_fini(&r->ways);
	memset(r, 0, sizeof(*r));
}
