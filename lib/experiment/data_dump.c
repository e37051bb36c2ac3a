/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rows of data space for people and tests. */
#include <inttypes.h>

#include "experiment/data.h"

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

static void dump_object(const struct experiment *x, size_t row, FILE *out)
{
	const struct experiment_object *o = experiment_object_at(x, row);

	fprintf(out,
		"object %zu %s image %" PRIu32 " node %" PRIu32 " address %" PRIx64 " size %" PRIu64
		" thread %" PRIu32 " blocks %" PRIu64 " bytes %" PRIu64 " begins %" PRIu64 "\n",
		row, object_kinds[o->key.kind], o->key.image, o->key.node, o->key.address,
		o->key.size, o->key.thread, o->blocks, o->bytes, o->begins);
}

static void dump_place(const struct experiment *x, size_t row, FILE *out)
{
	const struct experiment_place *p = experiment_place_at(x, row);

	fprintf(out,
		"place object %" PRIu32 " scale %" PRIu32 " line %" PRId64 " metric %" PRIu32
		" count %" PRIu64 "\n",
		p->key.object, p->key.scale, p->key.line, p->key.metric, p->count);
}

static void dump_touch(const struct experiment *x, size_t row, FILE *out)
{
	const struct experiment_touch *t = experiment_touch_at(x, row);

	fprintf(out,
		"touch object %" PRIu32 " image %" PRIu32 " address %" PRIx64 " metric %" PRIu32
		" count %" PRIu64 " least %" PRId64 " most %" PRId64 " apart %" PRIu64 "\n",
		t->key.object, t->key.image, t->key.address, t->key.metric, t->count, t->least,
		t->most, t->apart);
}

static void dump_line(const struct experiment *x, size_t row, FILE *out)
{
	const struct experiment_line *l = experiment_line_at(x, row);

	fprintf(out,
		"line %zu object %" PRIu32 " offset %" PRId64 " bytes %" PRIu64 " requests %" PRIu64
		" needed %" PRIu64 " useless %" PRIu64 "\n",
		row, l->key.object, l->key.offset, l->key.bytes, l->requests, l->needed,
		l->useless);
}

static void dump_end(const struct experiment *x, size_t row, FILE *out)
{
	const struct experiment_end *e = experiment_end_at(x, row);

	fprintf(out,
		"end line %" PRIu32 " thread %" PRIu32 " object %" PRIu32 " image %" PRIu32
		" address %" PRIx64 " requests %" PRIu64 " loads %" PRIu64 " stores %" PRIu64
		" read %016" PRIx64 "%016" PRIx64 " written %016" PRIx64 "%016" PRIx64 "\n",
		e->key.line, e->key.thread, e->key.object, e->key.image, e->key.address,
		e->requests, e->loads, e->stores, e->read[1], e->read[0], e->written[1],
		e->written[0]);
}

void experiment_data_dump(const struct experiment *x, int which, size_t row, FILE *out)
{
	static void (*const dump[])(const struct experiment *, size_t, FILE *) = {
		[DATA_OBJECTS] = dump_object,
		[DATA_PLACES] = dump_place,
		[DATA_TOUCHES] = dump_touch,
		[DATA_LINES] = dump_line,
		[DATA_ENDS] = dump_end,
	};

	dump[which](x, row, out);
}
