/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Samples and their paths, threads, caliper points, slices, and losses. */
#include <stddef.h>
#include <string.h>

#include "sources/profile_read.h"

/* ---- samples ---- */

int profile_read_events(struct reading_file *f, struct cursor *c)
{
	while (left(c)) {
		struct profile_sampler s = {.event = (uint32_t)get_count(c, EVENT_LIMIT - 1)};
		int64_t found;
		uint32_t *to;

		s.period = get_uint(c);
		s.skid = get_uint(c) != 0;
		if (c->bad)
			return 0;
		found = profile_sampler_add(f->p, &s);
		if (found < 0)
			return out_of_memory(f);
		to = vec_push(&f->samplers);
		if (!to)
			return out_of_memory(f);
		*to = (uint32_t)found;
	}
	return 0;
}

static uint32_t get_sampler(struct reading_file *f, struct cursor *c)
{
	uint64_t i = get_uint(c);

	if (i >= f->samplers.count)
		c->bad = true;
	return c->bad ? 0 : f->samplers.data[i];
}

uint32_t profile_node_at(const struct reading_file *f, struct cursor *c, uint64_t number)
{
	if (number > f->nodes.count)
		c->bad = true;
	return c->bad || !number ? PROFILE_ROOT : f->nodes.data[number - 1];
}

int profile_read_nodes(struct reading_file *f, struct cursor *c)
{
	f->p->stacks |= left(c) > 0;
	while (left(c)) {
		struct profile_node key = {.key = {.parent = profile_node_at(f, c, get_uint(c))}},
				    *node;
		const struct mapping *m = mapping_of(f, get_uint(c));
		uint32_t *to;

		key.key.image = m->image;
		key.key.address = get_uint(c) - m->bias;
		key.key.length = (uint32_t)get_count(c, 15);
		if (c->bad)
			return 0;
		node = table_add(&f->p->nodes, &key.key);
		to = vec_push(&f->nodes);
		if (!node || !to)
			return out_of_memory(f);
		*to = (uint32_t)(((char *)node - f->p->nodes.entries) / (ptrdiff_t)sizeof(*node));
	}
	return 0;
}

/* paths: each begins with its node. */
static int read_samples_of(struct reading_file *f, struct cursor *c, bool paths)
{
	while (left(c)) {
		struct profile_sample key = {.count = 0}, *to;
		uint64_t node = paths ? get_uint(c) : 1, thread, address;
		const struct mapping *m;

		key.key.node = node ? profile_node_at(f, c, node - 1) : PROFILE_PATH_LOST;
		key.key.sampler = get_sampler(f, c);
		thread = get_uint(c);
		key.key.process = (uint32_t)f->process;
		key.key.pid = f->header->pid;
		key.key.tid = thread < f->threads.count ? f->threads.data[thread] : 0;
		key.key.phase = get_uint(c);
		m = mapping_of(f, get_uint(c));
		address = get_uint(c);
		key.key.image = m->image;
		key.key.address = address - m->bias;
		key.count = get_uint(c);
		if (c->bad)
			return 0;
		to = table_add(&f->p->samples, &key.key);
		if (!to)
			return out_of_memory(f);
		to->count += key.count;
	}
	return 0;
}

int profile_read_samples(struct reading_file *f, struct cursor *c)
{
	return read_samples_of(f, c, false);
}

int profile_read_path_samples(struct reading_file *f, struct cursor *c)
{
	f->p->stacks |= left(c) > 0;
	return read_samples_of(f, c, true);
}

int profile_read_data(struct reading_file *f, struct cursor *c)
{
	while (left(c)) {
		struct profile_data key = {.key = {.sampler = get_sampler(f, c)}}, *to;
		uint64_t count;

		key.key.pid = f->header->pid;
		key.key.address = get_uint(c);
		count = get_uint(c);
		if (c->bad)
			return 0;
		to = table_add(&f->p->data, &key.key);
		if (!to)
			return out_of_memory(f);
		to->count += count;
	}
	return 0;
}

/* ---- slices, calipers, the rest ---- */

static void read_counts(struct cursor *c, uint64_t *counts)
{
	size_t n = get_count(c, EVENT_LIMIT);

	for (size_t i = 0; i < n && !c->bad; i++) {
		uint64_t event = get_uint(c), count = get_uint(c);

		if (event < EV_COUNT)
			counts[event] = count;
	}
}

int profile_read_slices(struct reading_file *f, struct cursor *c)
{
	if (left(c))
		f->p->processes.data[f->process].slice_cycles = get_uint(c);
	while (left(c)) {
		struct profile_slice *s = vec_push(&f->p->slices);

		if (!s)
			return out_of_memory(f);
		s->process = f->process;
		read_counts(c, s->counts);
	}
	return 0;
}

int profile_read_threads(struct reading_file *f, struct cursor *c)
{
	while (left(c)) {
		pid_t *tid = vec_push(&f->threads);

		if (!tid)
			return out_of_memory(f);
		*tid = (pid_t)get_uint(c);
	}
	return 0;
}

static int read_caliper(struct reading_file *f, struct cursor *c)
{
	size_t length = get_count(c, 1 << 20), threads;
	const uint8_t *name = get_raw(c, length);
	struct profile_caliper *to;
	pid_t tid = (pid_t)get_uint(c);

	threads = get_count(c, left(c));
	if (c->bad || !name)
		return c->bad = true, 0;
	to = vec_push(&f->p->calipers);
	if (!to)
		return out_of_memory(f);
	to->process = f->process;
	to->tid = tid;
	to->name = strndup((const char *)name, length);
	if (!to->name)
		return out_of_memory(f);
	for (size_t i = 0; i < threads && !c->bad; i++) {
		struct profile_caliper_thread *t = vec_push(&to->threads);

		if (!t)
			return out_of_memory(f);
		t->tid = (pid_t)get_uint(c);
		read_counts(c, t->counts);
	}
	return 0;
}

int profile_read_calipers(struct reading_file *f, struct cursor *c)
{
	while (left(c))
		if (read_caliper(f, c))
			return -1;
	return 0;
}

int profile_read_uncounted(struct reading_file *f, struct cursor *c)
{
	uint64_t counts[EVENT_LIMIT] = {0};

	if (left(c))
		read_counts(c, counts);
	for (size_t i = 0; i < EVENT_LIMIT; i++)
		f->p->uncounted[i] += counts[i];
	return 0;
}

int profile_read_lost(struct reading_file *f, struct cursor *c)
{
	struct profile_lost *l = &f->p->lost;
	uint64_t *const to[] = {&l->samples, &l->counts, &l->targets, &l->data, &l->calipers};

	for (size_t i = 0; i < sizeof(to) / sizeof(to[0]) && left(c); i++)
		*to[i] += get_uint(c);
	for (size_t i = 0; i < f->samplers.count && left(c); i++)
		f->p->samplers.data[f->samplers.data[i]].lost += get_uint(c);
	return 0;
}
