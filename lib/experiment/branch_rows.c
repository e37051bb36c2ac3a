/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "experiment/branches.h"

#include "experiment/private.h"

enum { RUN_IMAGE, RUN_BEGIN, RUN_END };

static const struct row_field run_fields[] = {
	[RUN_IMAGE] = {ROW_KEY(experiment_run, image), .reference = EXPERIMENT_IMAGES},
	[RUN_BEGIN] = {ROW_KEY(experiment_run, begin), .coding = ROW_STEP, .hex = 1},
	[RUN_END] = {ROW_KEY(experiment_run, end), .coding = ROW_DISTANCE, .from = RUN_BEGIN,
		.hex = 1},
	{ROW_KEY(experiment_run, to_image), .reference = EXPERIMENT_IMAGES},
	{ROW_KEY(experiment_run, to), .coding = ROW_DISTANCE, .from = RUN_END, .hex = 1},
	{ROW_FIELD(experiment_run, count), .positive = 1},
	{ROW_FIELD(experiment_run, bursts)},
	{ROW_FIELD(experiment_run, rate), .coding = ROW_REAL},
	{ROW_FIELD(experiment_run, squares), .coding = ROW_REAL},
};

#define RATED_FIELDS 3 /* at the end of a run */
#define RUN_KIND     ROW_KIND(experiment_run, run_fields, 5)

const struct row_kind experiment_branch_runs_kind = {RUN_KIND, .type = "BRRA", .word = "branch"};
const struct row_kind experiment_runs_alone_kind = {.fields = run_fields,
	.field_count = sizeof(run_fields) / sizeof(run_fields[0]) - RATED_FIELDS,
	.keys = 5,
	.size = sizeof(struct experiment_run),
	.key_size = sizeof(((struct experiment_run *)0)->key),
	.type = "BRUN"};

static const struct row_field rate_fields[] = {
	{ROW_KEY(experiment_rate, image), .reference = EXPERIMENT_IMAGES},
	{ROW_KEY(experiment_rate, address), .coding = ROW_STEP, .hex = 1},
	{ROW_FIELD(experiment_rate, hits)},
	{ROW_FIELD(experiment_rate, nanoseconds)},
	{ROW_FIELD(experiment_rate, windows), .positive = 1},
	{ROW_FIELD(experiment_rate, span)},
};

const struct row_kind experiment_branch_rates_kind = {
	ROW_KIND(experiment_rate, rate_fields, 2), .type = "BRAT", .word = "rate"};

static const char *const tally_words[TALLY_KINDS] = {
	[TALLY_BURSTS] = "bursts",
	[TALLY_BURSTS_CUT] = "bursts-cut",
	[TALLY_BURSTS_EMPTY] = "bursts-empty",
	[TALLY_TRANSFERS] = "transfers",
	[TALLY_BURST_NS] = "burst-ns",
	[TALLY_WINDOWS] = "windows",
	[TALLY_WINDOW_NS] = "window-ns",
	[TALLY_STOPS] = "stops",
	[TALLY_STOP_NS] = "stop-ns",
	[TALLY_SAMPLES_LEFT_OUT] = "samples-left-out",
	[TALLY_PROGRAM_NS] = "program-ns",
	[TALLY_COST_NS] = "cost-ns",
	[TALLY_BURSTS_TIMED] = "bursts-timed",
	[TALLY_TIMED_NS] = "timed-ns",
	[TALLY_TIMED_TRANSFERS] = "timed-transfers",
	[TALLY_NATIVE_PAIRS] = "native-pairs",
	[TALLY_NATIVE] = "native",
	[TALLY_COPIED] = "copied",
};

/* Tallies of later versions are printed by number. */
static const struct row_field tally_fields[] = {
	{ROW_KEY(experiment_tally, kind), .names = tally_words, .names_count = TALLY_KINDS},
	{ROW_FIELD(experiment_tally, count)},
};

const struct row_kind experiment_branch_tallies_kind = {
	ROW_KIND(experiment_tally, tally_fields, 1), .type = "BTAL", .word = "tally"};

int experiment_add_tally(struct experiment *x, enum experiment_tally_kind kind, uint64_t count)
{
	struct experiment_tally tally = {.key = {.kind = kind}, .count = count};

	return row_add(&x->branch_tallies, &experiment_branch_tallies_kind, &tally) < 0 ? -1 : 0;
}

uint64_t experiment_tally(const struct experiment *x, enum experiment_tally_kind kind)
{
	const struct table *t = &x->branch_tallies;

	for (size_t i = 0; i < t->count; i++) {
		const struct experiment_tally *tally = table_at(t, i);

		if (tally->key.kind == kind)
			return tally->count;
	}
	return 0;
}
