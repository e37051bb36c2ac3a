/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "experiment/values.h"

#include <stdlib.h>

#include "base/clock.h"
#include "experiment/private.h"

const char *const experiment_value_kinds[VALUE_KINDS] = {
	[VALUE_RESULT] = "result",
	[VALUE_OPERAND] = "operand",
	[VALUE_LOAD] = "load",
	[VALUE_STORE] = "store",
	[VALUE_ADDRESS] = "address",
	[VALUE_ARGUMENT] = "argument",
	[VALUE_RETURN] = "return",
	[VALUE_LATENCY] = "latency",
	[VALUE_DISTANCE] = "distance",
	[VALUE_CALLER] = "caller",
	[VALUE_OPERATION] = "operation",
	[VALUE_ACCESS] = "access",
	[VALUE_BRANCH] = "branch",
	[VALUE_PARTNER] = "partner",
	[VALUE_STRIDE] = "stride",
	[VALUE_LEVEL] = "level",
	[VALUE_WATCH] = "watch",
	[VALUE_REUSE] = "reuse",
	[VALUE_NEXT] = "next",
};

static const struct row_field site_fields[] = {
	{ROW_KEY(experiment_value_site, image), .coding = ROW_RISE, .reference = EXPERIMENT_IMAGES},
	{ROW_KEY(experiment_value_site, address), .coding = ROW_STEP, .hex = 1},
	{ROW_KEY(experiment_value_site, kind), .names = experiment_value_kinds,
		.names_count = VALUE_KINDS},
	{ROW_KEY(experiment_value_site, operand)},
	{ROW_KEY(experiment_value_site, form), .hex = 1},
	{ROW_FIELD(experiment_value_site, count)},
	{ROW_FIELD(experiment_value_site, moments)},
	{ROW_FIELD(experiment_value_site, squares)},
	{ROW_FIELD(experiment_value_site, least)},
	{ROW_FIELD(experiment_value_site, zeros)},
	{ROW_FIELD(experiment_value_site, pairs)},
	{ROW_FIELD(experiment_value_site, repeats)},
	{ROW_FIELD(experiment_value_site, high), .hex = 1, .own = 1},
	{ROW_FIELD(experiment_value_site, low_complement), .hex = 1, .own = 1},
	{ROW_FIELD(experiment_value_site, bits), .coding = ROW_WORDS, .hex = 1},
	{ROW_FIELD(experiment_value_site, cut), .own = 1, .limit = VALUE_GRADES + 1},
};

/* The greatest of several. */
static void add_value_site(void *to, void *row)
{
	struct experiment_value_site *a = to, *b = row;

	if (b->high > a->high)
		a->high = b->high;
	if (b->low_complement > a->low_complement)
		a->low_complement = b->low_complement;
	if (b->cut > a->cut)
		a->cut = b->cut;
}

const struct row_kind experiment_value_sites_kind = {
	ROW_KIND(experiment_value_site, site_fields, 5), .type = "VSIT", .word = "site",
	.numbered = true, .referred_to = true, .add = add_value_site};

static const struct row_field value_fields[] = {
	{ROW_KEY(experiment_value, site), .coding = ROW_RISE, .reference = EXPERIMENT_VALUE_SITES},
	{ROW_KEY(experiment_value, image), .reference = EXPERIMENT_IMAGES},
	{ROW_KEY(experiment_value, value), .hex = 1},
	{ROW_KEY(experiment_value, grade), .limit = VALUE_GRADES},
	{ROW_FIELD(experiment_value, over)},
	{ROW_FIELD(experiment_value, sure)},
	{ROW_FIELD(experiment_value, squares)},
	{ROW_FIELD(experiment_value, products)},
};

const struct row_kind experiment_values_kind = {
	ROW_KIND(experiment_value, value_fields, 4), .type = "VALU", .word = "value"};

int experiment_values_renew(struct experiment *x)
{
	row_fini(&x->values, &experiment_values_kind);
	row_fini(&x->value_sites, &experiment_value_sites_kind);
	return row_init(&x->value_sites, &experiment_value_sites_kind) ||
			       row_init(&x->values, &experiment_values_kind)
		       ? -1
		       : 0;
}

/* ---- sums of many files ---- */

#define CLASSES (VALUE_GRADES / VALUE_GRADE_HASHES)

uint32_t experiment_value_grade(uint64_t value, uint64_t count, uint64_t all)
{
	uint64_t parts = all && count < all ? (uint64_t)((double)count / (double)all * 64) : 64,
		 hash = value * 0x9e3779b97f4a7c15u;
	uint32_t class = 0, zeros = 0;

	for (; parts && class < CLASSES - 1; parts >>= 1)
		class ++;
	hash ^= hash >> 32;
	hash *= 0xd6e8feb86659fd93u;
	hash ^= hash >> 32;
	for (; !(hash & 1) && zeros < VALUE_GRADE_HASHES - 1; hash >>= 1)
		zeros++;
	return class * VALUE_GRADE_HASHES + zeros;
}

uint64_t experiment_value_cut(const uint32_t rows[VALUE_GRADES])
{
	uint64_t cut = VALUE_GRADES, all = 0;

	for (; cut && all + rows[cut - 1] <= VALUES_KEPT; cut--)
		all += rows[cut - 1];
	return cut;
}

double experiment_value_cut_share(uint64_t cut)
{
	uint64_t classes = (cut + VALUE_GRADE_HASHES - 1) / VALUE_GRADE_HASHES;

	if (!cut)
		return 0;
	return classes >= CLASSES ? 1 : (double)(1u << (classes - 1)) / 64;
}

/* Sites that have too many rows get a number, from 1 on; how many there are. */
static uint32_t number_large(const struct experiment *x, uint32_t *number)
{
	uint32_t large = 0;

	for (size_t i = 0; i < x->values.count; i++)
		number[experiment_value_at(x, i)->key.site]++;
	for (size_t i = 0; i < x->value_sites.count; i++)
		number[i] = number[i] > VALUES_KEPT ? ++large : 0;
	return large;
}

static int raise_cuts(struct experiment *x)
{
	uint32_t *number = calloc(x->value_sites.count + 1, sizeof(*number)), large;
	uint32_t(*rows)[VALUE_GRADES] = NULL;
	int rc = -1;

	if (!number)
		return -1;
	large = number_large(x, number);
	rows = calloc(large + (size_t)1, sizeof(*rows));
	if (!rows)
		goto out;
	for (size_t i = 0; large && i < x->values.count; i++) {
		const struct experiment_value *v = experiment_value_at(x, i);

		rows[number[v->key.site]][v->key.grade]++;
	}
	for (size_t i = 0; large && i < x->value_sites.count; i++) {
		struct experiment_value_site *s = table_at(&x->value_sites, i);
		uint64_t cut = number[i] ? experiment_value_cut(rows[number[i]]) : 0;

		s->cut = cut > s->cut ? cut : s->cut;
	}
	rc = 0;
out:
	free(number);
	free(rows);
	return rc;
}

int experiment_cut_values(struct experiment *x)
{
	struct experiment_value *all = (void *)x->values.entries;
	size_t count = 0;

	if (!x->values.count)
		return 0;
	if (raise_cuts(x))
		return -1;
	for (size_t i = 0; i < x->values.count; i++)
		if (all[i].key.grade >= experiment_value_site_at(x, all[i].key.site)->cut)
			all[count++] = all[i];
	if (count < x->values.count) {
		x->values.count = count;
		table_changed(&x->values);
	}
	return 0;
}

bool experiment_value_is_secret(const struct experiment_value_site *site)
{
	if (site->key.form & VALUE_SHAPE)
		return false;
	switch (site->key.kind) {
	case VALUE_OPERATION:
	case VALUE_ACCESS:
	case VALUE_DISTANCE:
	case VALUE_LATENCY:
	case VALUE_LEVEL:
	case VALUE_WATCH:
	case VALUE_REUSE:
		return false;
	case VALUE_BRANCH:
		return (site->key.form & 0xff) == VALUE_PLACE;
	default:
		return true;
	}
}

bool experiment_has_secrets(const struct experiment *x)
{
	for (size_t i = 0; i < x->value_sites.count; i++)
		if (experiment_value_is_secret(experiment_value_site_at(x, i)))
			return true;
	return false;
}

static const char *const tally_words[VALUE_TALLIES] = {
	[VALUE_TALLY_MOMENTS] = "moments",
	[VALUE_TALLY_EMPTY] = "moments-empty",
	[VALUE_TALLY_INSTRUCTIONS] = "instructions",
	[VALUE_TALLY_VALUES] = "values",
	[VALUE_TALLY_ENDED_CALL] = "ended-call",
	[VALUE_TALLY_ENDED_FAULT] = "ended-fault",
	[VALUE_TALLY_ENDED_REFUSED] = "ended-refused",
	[VALUE_TALLY_ENDED_ROOM] = "ended-room",
	[VALUE_TALLY_PROGRAM_NS] = "program-ns",
	[VALUE_TALLY_COST_NS] = "cost-ns",
	[VALUE_TALLY_STOP_NS] = "stop-ns",
	[VALUE_TALLY_WATCHED] = "watched",
	[VALUE_TALLY_WATCH_MISSED] = "watch-missed",
	[VALUE_TALLY_WATCH_UNKNOWN] = "watch-unknown",
};

/* Tallies of later versions are printed by number. */
static const struct row_field tally_fields[] = {
	{ROW_KEY(experiment_value_tally, kind), .names = tally_words, .names_count = VALUE_TALLIES},
	{ROW_FIELD(experiment_value_tally, count)},
};

const struct row_kind experiment_value_tallies_kind = {
	ROW_KIND(experiment_value_tally, tally_fields, 1), .type = "VTAL", .word = "value-tally"};

int experiment_add_value_tally(
	struct experiment *x, enum experiment_value_tally_kind kind, uint64_t count)
{
	struct experiment_value_tally tally = {.key = {.kind = kind}, .count = count};

	return row_add(&x->value_tallies, &experiment_value_tallies_kind, &tally) < 0 ? -1 : 0;
}

int experiment_count_cost(struct experiment *x)
{
	uint64_t before = x->cost_until;

	if (!before)
		return 0;
	x->cost_until = clock_of(CLOCK_PROCESS_CPUTIME_ID);
	before += x->cost_of_clock;
	x->cost_of_clock = 0;
	return experiment_add_value_tally(
		x, VALUE_TALLY_COST_NS, x->cost_until > before ? x->cost_until - before : 0);
}

uint64_t experiment_value_tally(const struct experiment *x, enum experiment_value_tally_kind kind)
{
	const struct table *t = &x->value_tallies;

	for (size_t i = 0; i < t->count; i++) {
		const struct experiment_value_tally *tally = table_at(t, i);

		if (tally->key.kind == kind)
			return tally->count;
	}
	return 0;
}
