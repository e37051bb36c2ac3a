/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The objects of data misses. */
#include <stdlib.h>
#include <string.h>

#include "events/event.h"
#include "sources/profile_read.h"

/* Numbers of kinds in files are those of experiments. */
#define SAME_KIND(name)                                                                            \
	_Static_assert((int)MODEL_OBJECT_##name == (int)EXPERIMENT_OBJECT_##name, "kinds differ")
SAME_KIND(UNKNOWN);
SAME_KIND(VARIABLE);
SAME_KIND(IMAGE);
SAME_KIND(HEAP);
SAME_KIND(STACK);
SAME_KIND(THREAD);
SAME_KIND(MAPPING);
SAME_KIND(BREAK);
SAME_KIND(KINDS);
_Static_assert(sizeof(((struct experiment_end *)0)->read) == 16, "masks of two numbers");

/* The object as the experiment numbers it; 0: none. */
static uint32_t get_object(struct reading_file *f, struct cursor *c)
{
	size_t number = get_count(c, f->objects.count);

	return number ? f->objects.data[number - 1] : 0;
}

/* The image and the address in it of an instruction. */
static uint64_t get_code(struct reading_file *f, struct cursor *c, uint32_t *image)
{
	const struct mapping *m = mapping_of(f, get_uint(c));

	*image = m->image;
	return get_uint(c) - m->bias;
}

/* Files that are mapped are images too. */
static uint32_t file_image(struct reading_file *f, const uint8_t *name, size_t length)
{
	struct experiment_image image = {.kind = EXPERIMENT_IMAGE_FILE};
	long found;

	if (!length)
		return 0;
	image.path = strndup((const char *)name, length);
	found = image.path ? experiment_image(&f->p->x, &image, NULL) : -1;
	free(image.path);
	f->nomem |= found < 0;
	return found < 0 ? 0 : (uint32_t)found;
}

int profile_read_objects(struct reading_file *f, struct cursor *c)
{
	struct experiment_object o = {
		.key = {.kind = (uint32_t)get_count(c, MODEL_OBJECT_KINDS - 1)}};
	const struct mapping *m = mapping_of(f, get_uint(c));
	size_t length;
	const uint8_t *name;

	o.key.image = m->image;
	o.key.address = get_uint(c);
	if (o.key.kind == EXPERIMENT_OBJECT_STACK)
		o.key.address -= m->bias;
	o.key.size = get_uint(c);
	o.key.thread = (uint32_t)get_count(c, UINT32_MAX);
	o.key.node = profile_node_at(f, c, get_uint(c));
	o.blocks = get_uint(c);
	o.bytes = get_uint(c);
	o.begins = get_count(c, EXPERIMENT_SEVERAL);
	name = get_bytes(c, &length);
	if (c->bad)
		return 0;
	if (o.key.kind == EXPERIMENT_OBJECT_MAPPING)
		o.key.image = file_image(f, name, length);
	return profile_read_number(
		f, &f->objects, f->nomem ? -1 : experiment_row(&f->p->x, EXPERIMENT_OBJECTS, &o));
}

/* The experiment's metric of an event; -1 when memory is out. */
static long profile_read_metric(struct experiment *x, int event)
{
	const struct event *known = event_by_number(event);
	const struct experiment_metric m = {.event = event,
		.name = (char *)(known ? known->name : "unknown event"),
		.short_name = (char *)(known ? known->short_name : "?"),
		.unit = (char *)(known ? known->unit : "events"),
		.source = (char *)"model",
		.note = (char *)"",
		.label = LABEL_MODEL,
		.flags = METRIC_EXACT,
		.period = 1};

	for (size_t i = 0; i < x->data.metrics.count; i++)
		if (x->data.metrics.data[i].event == event)
			return (long)i;
	return experiment_data_metric(x, &m, NULL);
}

/* Counts of events: a row for each that is not 0. metric and count are fields of the row. */
static int read_events(struct reading_file *f, struct cursor *c, int which, const void *row,
	uint32_t *metric, uint64_t *count)
{
	size_t n = get_count(c, EVENT_LIMIT);

	for (size_t i = 0; i < n && !c->bad; i++) {
		int event = (int)get_count(c, EVENT_LIMIT - 1);
		long found;

		*count = get_uint(c);
		if (c->bad || !*count)
			continue;
		found = profile_read_metric(&f->p->x, event);
		*metric = (uint32_t)found;
		if (found < 0 || experiment_row(&f->p->x, which, row) < 0)
			return out_of_memory(f);
	}
	return 0;
}

int profile_read_object_places(struct reading_file *f, struct cursor *c)
{
	struct experiment_place p = {.key = {.object = get_object(f, c)}};

	p.key.line = get_sint(c);
	p.key.scale = (uint32_t)get_count(c, EXPERIMENT_SCALE_MAX);
	return read_events(f, c, EXPERIMENT_PLACES, &p, &p.key.metric, &p.count);
}

int profile_read_object_touches(struct reading_file *f, struct cursor *c)
{
	struct experiment_touch t = {.key = {.object = get_object(f, c)}};

	t.key.address = get_code(f, c, &t.key.image);
	t.least = get_sint(c);
	t.most = get_sint(c);
	t.apart = get_uint(c);
	return read_events(f, c, EXPERIMENT_TOUCHES, &t, &t.key.metric, &t.count);
}

static int profile_read_objects_read_end(struct reading_file *f, struct cursor *c, uint32_t line)
{
	struct experiment_end e = {
		.key = {.line = line, .thread = (uint32_t)get_count(c, UINT32_MAX)}};

	e.key.object = get_object(f, c);
	e.key.address = get_code(f, c, &e.key.image);
	e.requests = get_uint(c);
	e.loads = get_uint(c);
	e.stores = get_uint(c);
	for (int i = 0; i < EXPERIMENT_MASK_WORDS; i++)
		e.read[i] = get_uint(c);
	for (int i = 0; i < EXPERIMENT_MASK_WORDS; i++)
		e.written[i] = get_uint(c);
	if (!c->bad && experiment_row(&f->p->x, EXPERIMENT_ENDS, &e) < 0)
		return out_of_memory(f);
	return 0;
}

int profile_read_object_lines(struct reading_file *f, struct cursor *c)
{
	struct experiment_line l = {.key = {.object = get_object(f, c)}};
	size_t n;
	long line;

	l.key.offset = get_sint(c);
	l.key.bytes = get_uint(c);
	l.requests = get_uint(c);
	l.needed = get_uint(c);
	l.useless = get_uint(c);
	n = get_count(c, left(c));
	if (c->bad)
		return 0;
	line = experiment_row(&f->p->x, EXPERIMENT_LINES, &l);
	if (line < 0)
		return out_of_memory(f);
	for (size_t i = 0; i < n && !c->bad; i++)
		if (profile_read_objects_read_end(f, c, (uint32_t)line))
			return -1;
	return 0;
}

int profile_read_objects_lost(struct reading_file *f, struct cursor *c)
{
	f->p->x.data.lost += get_uint(c);
	return 0;
}
