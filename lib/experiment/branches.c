/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "experiment/branches.h"

#include <inttypes.h>

#include "experiment/fields.h"
#include "experiment/private.h"

#define FIELD(row, field)                                                                          \
	.name = #field, .offset = offsetof(struct experiment_##row, field),                        \
	.size = sizeof(((struct experiment_##row *)0)->field)
#define KEY(row, field)                                                                            \
	.name = #field, .offset = offsetof(struct experiment_##row, key.field),                    \
	.size = sizeof(((struct experiment_##row *)0)->key.field), .key = 1
#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

enum { RUN_IMAGE, RUN_BEGIN, RUN_END };

static const struct row_field run_fields[] = {
	[RUN_IMAGE] = {KEY(run, image), .reference = ROW_IMAGE},
	[RUN_BEGIN] = {KEY(run, begin), .coding = ROW_STEP, .hex = 1},
	[RUN_END] = {KEY(run, end), .coding = ROW_DISTANCE, .from = RUN_BEGIN, .hex = 1},
	{KEY(run, to_image), .reference = ROW_IMAGE},
	{KEY(run, to), .coding = ROW_DISTANCE, .from = RUN_END, .hex = 1},
	{FIELD(run, count), .positive = 1},
	{FIELD(run, bursts)},
	{FIELD(run, rate), .coding = ROW_REAL},
	{FIELD(run, squares), .coding = ROW_REAL},
};

#define RATED_FIELDS 3 /* at the end of a run */

static const struct row_field rate_fields[] = {
	{KEY(rate, image), .reference = ROW_IMAGE},
	{KEY(rate, address), .coding = ROW_STEP, .hex = 1},
	{FIELD(rate, hits)},
	{FIELD(rate, nanoseconds)},
	{FIELD(rate, windows), .positive = 1},
	{FIELD(rate, span)},
};

static const struct row_field tally_fields[] = {
	{KEY(tally, kind)},
	{FIELD(tally, count)},
};

static void add_run(void *to, const void *row)
{
	struct experiment_run *a = to;

	const struct experiment_run *b = row;

	a->count = experiment_sum(a->count, b->count);
	a->bursts = experiment_sum(a->bursts, b->bursts);
	a->rate += b->rate;
	a->squares += b->squares;
}

static void add_rate(void *to, const void *row)
{
	struct experiment_rate *a = to;
	const struct experiment_rate *b = row;

	a->hits = experiment_sum(a->hits, b->hits);
	a->nanoseconds = experiment_sum(a->nanoseconds, b->nanoseconds);
	a->windows = experiment_sum(a->windows, b->windows);
	a->span = experiment_sum(a->span, b->span);
}

static void add_tally(void *to, const void *row)
{
	struct experiment_tally *a = to;

	a->count = experiment_sum(a->count, ((const struct experiment_tally *)row)->count);
}

#define KIND(section, told, name)                                                                  \
	{                                                                                          \
		.type = section, .word = told, .fields = name##_fields,                            \
		.field_count = COUNT(name##_fields), .size = sizeof(struct experiment_##name),     \
		.key_size = sizeof(((struct experiment_##name *)0)->key), .add = add_##name        \
	}

static const struct row_kind kinds[BRANCH_TABLES] = {
	[BRANCH_RUNS] = KIND("BRRA", "branch", run),
	[BRANCH_RATES] = KIND("BRAT", "rate", rate),
	[BRANCH_TALLIES] = KIND("BTAL", "tally", tally),
};

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

int experiment_add_run(struct experiment *x, const struct experiment_run *run)
{
	struct table *t = &x->branches.tables[BRANCH_RUNS];

	return row_add(t, &kinds[BRANCH_RUNS], run) < 0 ? -1 : 0;
}

int experiment_add_rate(struct experiment *x, const struct experiment_rate *rate)
{
	struct table *t = &x->branches.tables[BRANCH_RATES];

	return row_add(t, &kinds[BRANCH_RATES], rate) < 0 ? -1 : 0;
}

int experiment_add_tally(struct experiment *x, enum experiment_tally_kind kind, uint64_t count)
{
	struct experiment_tally tally = {.key = {.kind = kind}, .count = count};
	struct table *t = &x->branches.tables[BRANCH_TALLIES];

	return row_add(t, &kinds[BRANCH_TALLIES], &tally) < 0 ? -1 : 0;
}

uint64_t experiment_tally(const struct experiment *x, enum experiment_tally_kind kind)
{
	const struct table *t = &x->branches.tables[BRANCH_TALLIES];

	for (size_t i = 0; i < t->count; i++) {
		const struct experiment_tally *tally = table_at(t, i);

		if (tally->key.kind == kind)
			return tally->count;
	}
	return 0;
}

void experiment_branches_init(struct experiment *x)
{
	for (int i = 0; i < BRANCH_TABLES; i++)
		row_init(&x->branches.tables[i], &kinds[i]);
}

void experiment_branches_fini(struct experiment *x)
{
	for (int i = 0; i < BRANCH_TABLES; i++)
		table_fini(&x->branches.tables[i]);
}

int experiment_branches_settle(struct experiment *x, const uint32_t *images)
{
	const struct row_numbers n = {.to = {[ROW_IMAGE] = images}};

	for (int i = 0; i < BRANCH_TABLES; i++)
		if (x->branches.tables[i].count &&
			row_settle(&x->branches.tables[i], &kinds[i], &n, NULL))
			return -1;
	return 0;
}

int experiment_branches_merge(
	struct experiment *a, const struct experiment *b, const uint32_t *images, struct error *e)
{
	const struct row_numbers n = {.to = {[ROW_IMAGE] = images}};

	for (int i = 0; i < BRANCH_TABLES; i++)
		if (row_merge(&a->branches.tables[i], &b->branches.tables[i], &kinds[i], &n, NULL))
			return error_nomem(e);
	return 0;
}

const char *experiment_branches_type(int which)
{
	return kinds[which].type;
}

void experiment_branches_put(const struct experiment *x, int which, size_t row, struct strbuf *to)
{
	row_put(&x->branches.tables[which], &kinds[which], row, to);
}

bool experiment_branches_get(struct experiment *x, int which, struct cursor *c, bool *nomem)
{
	const struct row_numbers n = {.limit = {[ROW_IMAGE] = x->images.count}};

	if (which == BRANCH_RUNS_ALONE) {
		struct row_kind alone = kinds[BRANCH_RUNS];

		alone.field_count -= RATED_FIELDS;
		return row_get(&x->branches.tables[BRANCH_RUNS], &alone, &n, c, nomem);
	}
	return row_get(&x->branches.tables[which], &kinds[which], &n, c, nomem);
}

/* Tallies by their names; those of later versions by number. */
static void dump_tallies(const struct table *t, FILE *out)
{
	for (size_t i = 0; i < t->count; i++) {
		const struct experiment_tally *tally = table_at(t, i);

		if (tally->key.kind < TALLY_KINDS)
			fprintf(out, "tally %s", tally_words[tally->key.kind]);
		else
			fprintf(out, "tally %" PRIu32, tally->key.kind);
		fprintf(out, " count %" PRIu64 "\n", tally->count);
	}
}

void experiment_branches_dump(const struct experiment *x, FILE *out)
{
	for (int which = 0; which < BRANCH_TALLIES; which++)
		for (size_t i = 0; i < x->branches.tables[which].count; i++)
			row_dump(&x->branches.tables[which], &kinds[which], i, out);
	dump_tallies(&x->branches.tables[BRANCH_TALLIES], out);
}
