/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The tables of an experiment. data.c and branches.c describe theirs. */
#include <stdlib.h>
#include <string.h>

#include "experiment/branches.h"
#include "experiment/order.h"
#include "experiment/private.h"
#include "experiment/time_slices.h"

static const struct row_field symbol_fields[] = {
	{ROW_KEY(experiment_symbol, image), .coding = ROW_RISE, .reference = EXPERIMENT_IMAGES},
	{ROW_KEY(experiment_symbol, address), .coding = ROW_STEP, .hex = 1},
	{ROW_FIELD(experiment_symbol, length), .own = 1},
	{ROW_FIELD(experiment_symbol, name), .coding = ROW_TEXT, .own = 1},
};

/* Of several names the least is kept, of its several lengths the greatest. */
static void add_symbol(void *to, void *row)
{
	struct experiment_symbol *a = to, *b = row;
	int order = a->name ? strcmp(a->name, b->name) : 1;
	char *name = a->name;

	if (order < 0 || (order == 0 && a->length >= b->length))
		return;
	a->length = b->length;
	a->name = b->name;
	b->name = name;
}

const struct row_kind experiment_symbols_kind = {ROW_KIND(experiment_symbol, symbol_fields, 2),
	.type = "SYMB", .word = "symbol", .add = add_symbol};

/* Row 0 is the root, which has no parent. Nodes have an encoding of their own in files. */
static const struct row_field node_fields[] = {
	{ROW_KEY(experiment_node, parent), .reference = EXPERIMENT_NODES},
	{ROW_KEY(experiment_node, image), .reference = EXPERIMENT_IMAGES},
	{ROW_KEY(experiment_node, address), .hex = 1},
};

const struct row_kind experiment_nodes_kind = {ROW_KIND(experiment_node, node_fields, 3),
	.type = "NODE", .word = "node", .fixed = 1, .numbered = true, .referred_to = true,
	.order = order_nodes};

/* These, too. */
static const struct row_field sample_fields[] = {
	{ROW_KEY(experiment_sample, metric), .reference = EXPERIMENT_METRICS},
	{ROW_KEY(experiment_sample, thread), .reference = EXPERIMENT_THREADS},
	{ROW_KEY(experiment_sample, phase), .reference = EXPERIMENT_PHASES},
	{ROW_KEY(experiment_sample, node), .reference = EXPERIMENT_NODES},
	{ROW_FIELD(experiment_sample, count), .positive = 1},
};

const struct row_kind experiment_samples_kind = {ROW_KIND(experiment_sample, sample_fields, 4),
	.type = "SAMP", .word = "sample", .referred_to = true, .order = order_samples};

static const struct row_field slice_fields[] = {
	{ROW_KEY(experiment_slice, sample), .reference = EXPERIMENT_SAMPLES},
	{ROW_KEY(experiment_slice, slice)},
	{ROW_FIELD(experiment_slice, count), .positive = 1},
};

/* Likewise. */
const struct row_kind experiment_slices_kind = {
	ROW_KIND(experiment_slice, slice_fields, 2), .type = "SLIC", .word = "slice"};

enum { EDGE_FROM_IMAGE, EDGE_FROM };

static const struct row_field edge_fields[] = {
	[EDGE_FROM_IMAGE] = {ROW_KEY_AS(experiment_edge, from_image, "image"),
		.reference = EXPERIMENT_IMAGES},
	[EDGE_FROM] = {ROW_KEY(experiment_edge, from), .coding = ROW_STEP, .hex = 1},
	{ROW_KEY_AS(experiment_edge, to_image, "image"), .reference = EXPERIMENT_IMAGES},
	{ROW_KEY(experiment_edge, to), .coding = ROW_DISTANCE, .from = EDGE_FROM, .hex = 1},
	{ROW_KEY(experiment_edge, kind)},
	{ROW_KEY(experiment_edge, taken)},
	{ROW_FIELD(experiment_edge, count), .positive = 1},
};

const struct row_kind experiment_edges_kind = {
	ROW_KIND(experiment_edge, edge_fields, 6), .type = "EDGE", .word = "edge"};

static const struct row_kind *const kinds[] = {
#define TABLE_KIND(number, name) [EXPERIMENT_##number] = &experiment_##name##_kind,
	EXPERIMENT_TABLE_LIST(TABLE_KIND)};

_Static_assert(EXPERIMENT_TABLES <= ROW_REFERENCES, "numbers of tables are references");

const struct row_kind *experiment_kind(int which)
{
	return kinds[which];
}

struct table *experiment_table(const struct experiment *x, int which)
{
	return (struct table *)(uintptr_t)&x->tables[which - EXPERIMENT_LISTS];
}

long experiment_row(struct experiment *x, int which, const void *row)
{
	return row_add(experiment_table(x, which), experiment_kind(which), row);
}

void experiment_limits(const struct experiment *x, struct row_numbers *n)
{
	for (int i = EXPERIMENT_FACTS; i < EXPERIMENT_LISTS; i++)
		n->limit[i] = experiment_list_vec(x, i)->count;
	for (int i = EXPERIMENT_LISTS; i < EXPERIMENT_TABLES; i++)
		n->limit[i] = experiment_table(x, i)->count;
}
