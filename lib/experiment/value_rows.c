/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "experiment/values.h"

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
};

/* The greatest of several. */
static void add_value_site(void *to, void *row)
{
	struct experiment_value_site *a = to, *b = row;

	if (b->high > a->high)
		a->high = b->high;
	if (b->low_complement > a->low_complement)
		a->low_complement = b->low_complement;
}

const struct row_kind experiment_value_sites_kind = {
	ROW_KIND(experiment_value_site, site_fields, 5), .type = "VSIT", .word = "site",
	.numbered = true, .referred_to = true, .add = add_value_site};

static const struct row_field value_fields[] = {
	{ROW_KEY(experiment_value, site), .coding = ROW_RISE, .reference = EXPERIMENT_VALUE_SITES},
	{ROW_KEY(experiment_value, image), .reference = EXPERIMENT_IMAGES},
	{ROW_KEY(experiment_value, value), .hex = 1},
	{ROW_FIELD(experiment_value, over)},
	{ROW_FIELD(experiment_value, sure)},
	{ROW_FIELD(experiment_value, squares)},
	{ROW_FIELD(experiment_value, products)},
};

const struct row_kind experiment_values_kind = {
	ROW_KIND(experiment_value, value_fields, 3), .type = "VALU", .word = "value"};

bool experiment_value_is_secret(const struct experiment_value_site *site)
{
	if (site->key.form & VALUE_SHAPE)
		return false;
	switch (site->key.kind) {
	case VALUE_OPERATION:
	case VALUE_ACCESS:
	case VALUE_DISTANCE:
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
