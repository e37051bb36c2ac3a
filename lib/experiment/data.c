/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "experiment/data.h"

#include "experiment/private.h"

static const char *const object_kinds[EXPERIMENT_OBJECT_KINDS] = {
	[EXPERIMENT_OBJECT_UNKNOWN] = "unknown",
	[EXPERIMENT_OBJECT_VARIABLE] = "variable",
	[EXPERIMENT_OBJECT_IMAGE] = "image",
	[EXPERIMENT_OBJECT_HEAP] = "heap",
	[EXPERIMENT_OBJECT_STACK] = "stack",
	[EXPERIMENT_OBJECT_THREAD] = "thread",
	[EXPERIMENT_OBJECT_MAPPING] = "mapping",
	[EXPERIMENT_OBJECT_BREAK] = "break",
};

static const struct row_field object_fields[] = {
	{ROW_KEY(experiment_object, kind), .limit = EXPERIMENT_OBJECT_KINDS, .names = object_kinds,
		.names_count = EXPERIMENT_OBJECT_KINDS},
	{ROW_KEY(experiment_object, image), .reference = EXPERIMENT_IMAGES},
	{ROW_KEY(experiment_object, node), .reference = EXPERIMENT_NODES},
	{ROW_KEY(experiment_object, address), .hex = 1},
	{ROW_KEY(experiment_object, size)},
	{ROW_KEY(experiment_object, thread)},
	{ROW_FIELD(experiment_object, blocks)},
	{ROW_FIELD(experiment_object, bytes)},
	{ROW_FIELD(experiment_object, begins), .limit = EXPERIMENT_SEVERAL + 1, .own = 1},
};

static void add_object(void *to, void *row)
{
	struct experiment_object *a = to;
	const struct experiment_object *b = row;

	if (!a->blocks)
		a->begins = b->begins;
	else if (b->blocks && a->begins != b->begins)
		a->begins = EXPERIMENT_SEVERAL;
}

/* Row 0 is the unknown object. */
const struct row_kind experiment_objects_kind = {ROW_KIND(experiment_object, object_fields, 6),
	.type = "DOBJ", .word = "object", .fixed = 1, .numbered = true, .referred_to = true,
	.add = add_object};

static const struct row_field place_fields[] = {
	{ROW_KEY(experiment_place, object), .reference = EXPERIMENT_OBJECTS},
	{ROW_KEY(experiment_place, scale), .limit = EXPERIMENT_SCALE_MAX + 1},
	{ROW_KEY(experiment_place, line), .coding = ROW_SINT},
	{ROW_KEY(experiment_place, metric), .reference = EXPERIMENT_DATA_METRICS},
	{ROW_FIELD(experiment_place, count), .positive = 1},
};

const struct row_kind experiment_places_kind = {
	ROW_KIND(experiment_place, place_fields, 4), .type = "DPLA", .word = "place"};

static const struct row_field touch_fields[] = {
	{ROW_KEY(experiment_touch, object), .reference = EXPERIMENT_OBJECTS},
	{ROW_KEY(experiment_touch, image), .reference = EXPERIMENT_IMAGES},
	{ROW_KEY(experiment_touch, address), .hex = 1},
	{ROW_KEY(experiment_touch, metric), .reference = EXPERIMENT_DATA_METRICS},
	{ROW_FIELD(experiment_touch, count), .positive = 1},
	{ROW_FIELD(experiment_touch, least), .coding = ROW_SINT, .own = 1},
	{ROW_FIELD(experiment_touch, most), .coding = ROW_SINT, .own = 1},
	{ROW_FIELD(experiment_touch, apart), .own = 1},
};

static uint64_t data_divisor(uint64_t a, uint64_t b)
{
	while (b) {
		uint64_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

static void add_touch(void *to, void *row)
{
	struct experiment_touch *a = to;
	const struct experiment_touch *b = row;

	if (!a->count) {
		a->least = b->least;
		a->most = b->most;
		a->apart = b->apart;
	} else {
		uint64_t distance = a->least < b->least ? (uint64_t)b->least - (uint64_t)a->least
							: (uint64_t)a->least - (uint64_t)b->least;

		a->apart = data_divisor(data_divisor(a->apart, b->apart), distance);
		a->least = a->least < b->least ? a->least : b->least;
		a->most = a->most > b->most ? a->most : b->most;
	}
}

const struct row_kind experiment_touches_kind = {ROW_KIND(experiment_touch, touch_fields, 4),
	.type = "DTOU", .word = "touch", .add = add_touch};

static const struct row_field line_fields[] = {
	{ROW_KEY(experiment_line, object), .reference = EXPERIMENT_OBJECTS},
	{ROW_KEY(experiment_line, offset), .coding = ROW_SINT},
	{ROW_KEY(experiment_line, bytes)},
	{ROW_FIELD(experiment_line, requests)},
	{ROW_FIELD(experiment_line, needed)},
	{ROW_FIELD(experiment_line, useless)},
};

const struct row_kind experiment_lines_kind = {ROW_KIND(experiment_line, line_fields, 3),
	.type = "DLIN", .word = "line", .numbered = true, .referred_to = true};

static const struct row_field end_fields[] = {
	{ROW_KEY(experiment_end, line), .reference = EXPERIMENT_LINES},
	{ROW_KEY(experiment_end, thread)},
	{ROW_KEY(experiment_end, object), .reference = EXPERIMENT_OBJECTS},
	{ROW_KEY(experiment_end, image), .reference = EXPERIMENT_IMAGES},
	{ROW_KEY(experiment_end, address), .hex = 1},
	{ROW_FIELD(experiment_end, requests)},
	{ROW_FIELD(experiment_end, loads)},
	{ROW_FIELD(experiment_end, stores)},
	{ROW_FIELD(experiment_end, read), .coding = ROW_WORDS},
	{ROW_FIELD(experiment_end, written), .coding = ROW_WORDS},
};

const struct row_kind experiment_ends_kind = {
	ROW_KIND(experiment_end, end_fields, 5), .type = "DEND", .word = "end"};
