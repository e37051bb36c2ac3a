/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What data misses are about. */
#include <string.h>

#include "sources/profile_read.h"

/* The object as the profile numbers it; 0: none. */
static uint32_t get_object(struct reading_file *f, struct cursor *c)
{
	uint64_t number = get_v(c);

	if (number > f->object_count)
		c->bad = true;
	return c->bad || !number ? 0 : (uint32_t)(f->objects + number);
}

static char *get_text(struct reading_file *f, struct cursor *c)
{
	size_t length = get_count(c, left(c));
	const uint8_t *at = get_raw(c, length);
	char *text;

	if (c->bad)
		return NULL;
	text = strndup((const char *)at, length);
	f->nomem |= !text;
	return text;
}

static int read_object(struct reading_file *f, struct cursor *c)
{
	struct profile_object o = {.kind = (uint32_t)get_count(c, MODEL_OBJECT_KINDS - 1)}, *to;
	const struct mapping *m = mapping_of(f, get_v(c));

	o.image = m->image;
	o.address = get_v(c);
	if (o.kind == MODEL_OBJECT_STACK)
		o.address -= m->bias;
	o.size = get_v(c);
	o.thread = (uint32_t)get_count(c, UINT32_MAX);
	o.node = profile_node_at(f, c, get_v(c));
	o.blocks = get_v(c);
	o.bytes = get_v(c);
	o.begins = (uint32_t)get_count(c, 64);
	o.name = get_text(f, c);
	if (c->bad || f->nomem)
		return f->nomem ? -1 : 0;
	to = vec_push(&f->p->objects);
	if (!to)
		return out_of_memory(f);
	*to = o;
	f->object_count++;
	return 0;
}

int profile_read_objects(struct reading_file *f, struct cursor *c)
{
	if (!f->object_count)
		f->objects = f->p->objects.count - 1;
	while (left(c))
		if (read_object(f, c))
			return -1;
	return 0;
}

int profile_read_object_places(struct reading_file *f, struct cursor *c)
{
	while (left(c)) {
		struct profile_object_place p = {.object = get_object(f, c)}, *to;
		size_t n;

		p.line = get_z(c);
		p.scale = (uint32_t)get_count(c, 57);
		n = get_count(c, EVENT_LIMIT);
		for (size_t i = 0; i < n && !c->bad; i++) {
			p.event = (uint32_t)get_count(c, EVENT_LIMIT - 1);
			p.count = get_v(c);
			if (c->bad)
				break;
			to = vec_push(&f->p->object_places);
			if (!to)
				return out_of_memory(f);
			*to = p;
		}
	}
	return 0;
}

int profile_read_object_touches(struct reading_file *f, struct cursor *c)
{
	while (left(c)) {
		struct profile_object_touch t = {.object = get_object(f, c)}, *to;
		const struct mapping *m = mapping_of(f, get_v(c));
		size_t n;

		t.image = m->image;
		t.address = get_v(c) - m->bias;
		t.least = get_z(c);
		t.most = get_z(c);
		t.apart = get_v(c);
		n = get_count(c, EVENT_LIMIT);
		for (size_t i = 0; i < n && !c->bad; i++) {
			t.event = (uint32_t)get_count(c, EVENT_LIMIT - 1);
			t.count = get_v(c);
			if (c->bad)
				break;
			to = vec_push(&f->p->object_touches);
			if (!to)
				return out_of_memory(f);
			*to = t;
		}
	}
	return 0;
}

static int read_end(struct reading_file *f, struct cursor *c)
{
	struct profile_object_end e = {.thread = (uint32_t)get_count(c, UINT32_MAX)}, *to;
	const struct mapping *m;

	e.object = get_object(f, c);
	m = mapping_of(f, get_v(c));
	e.image = m->image;
	e.address = get_v(c) - m->bias;
	e.requests = get_v(c);
	e.loads = get_v(c);
	e.stores = get_v(c);
	for (int i = 0; i < PROFILE_MASK_WORDS; i++)
		e.read[i] = get_v(c);
	for (int i = 0; i < PROFILE_MASK_WORDS; i++)
		e.written[i] = get_v(c);
	if (c->bad)
		return 0;
	to = vec_push(&f->p->object_ends);
	if (!to)
		return out_of_memory(f);
	*to = e;
	return 0;
}

int profile_read_object_lines(struct reading_file *f, struct cursor *c)
{
	while (left(c)) {
		struct profile_object_line l = {.object = get_object(f, c)}, *to;
		size_t n;

		l.offset = get_z(c);
		l.bytes = get_v(c);
		l.requests = get_v(c);
		l.needed = get_v(c);
		l.useless = get_v(c);
		l.first = f->p->object_ends.count;
		n = get_count(c, left(c));
		for (size_t i = 0; i < n && !c->bad; i++)
			if (read_end(f, c))
				return -1;
		l.count = f->p->object_ends.count - l.first;
		if (c->bad)
			return 0;
		to = vec_push(&f->p->object_lines);
		if (!to)
			return out_of_memory(f);
		*to = l;
	}
	return 0;
}

int profile_read_objects_lost(struct reading_file *f, struct cursor *c)
{
	if (left(c))
		f->p->lost.objects += get_v(c);
	return 0;
}
