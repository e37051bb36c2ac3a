/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Samples and their paths, threads, caliper points, slices, and losses. */
#include <stdlib.h>
#include <string.h>

#include "sources/profile_read.h"

/* ---- samples ---- */

int profile_read_events(struct reading_file *f, struct cursor *c)
{
	struct profile_sampled s = {.key = {.event = (uint32_t)get_count(c, EVENT_LIMIT - 1)}};

	s.key.period = get_uint(c);
	s.key.skid = get_uint(c) != 0;
	return c->bad ? 0
		      : profile_read_number(
				f, &f->samplers, profile_row(f->p, PROFILE_SAMPLERS, &s));
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
	return c->bad || !number ? EXPERIMENT_ROOT : f->nodes.data[number - 1];
}

int profile_read_nodes(struct reading_file *f, struct cursor *c)
{
	uint32_t parent = profile_node_at(f, c, get_uint(c));
	const struct mapping *m = mapping_of(f, get_uint(c));
	uint64_t address = get_uint(c) - m->bias;
	size_t length = get_count(c, 15);
	struct profile_call call = {.length = 0}, *to;
	long node;

	f->p->stacks = true;
	if (c->bad)
		return 0;
	node = experiment_node(&f->p->x, parent, m->image, address + (length ? length - 1 : 0));
	call.key.node = (uint32_t)node;
	to = node < 0 ? NULL : table_add(&f->p->calls, &call);
	if (!to || profile_read_number(f, &f->nodes, node))
		return out_of_memory(f);
	/* In code that overlaps, a call may end where a signal interrupted. */
	to->length = length > to->length ? length : to->length;
	return 0;
}

/* paths: each begins with its node. */
static int read_samples_of(struct reading_file *f, struct cursor *c, bool paths)
{
	struct profile_sample key = {.key = {.process = f->process, .pid = f->header->pid}};
	uint64_t node = paths ? get_uint(c) : 1, thread, address;
	const struct mapping *m;

	key.key.lost = !node;
	key.key.node = node ? profile_node_at(f, c, node - 1) : EXPERIMENT_ROOT;
	key.key.sampler = get_sampler(f, c);
	thread = get_uint(c);
	key.key.tid = thread < f->threads.count ? f->threads.data[thread] : 0;
	key.key.phase = get_uint(c);
	m = mapping_of(f, get_uint(c));
	address = get_uint(c);
	key.key.image = m->image;
	key.key.address = address - m->bias;
	key.count = get_uint(c);
	return c->bad || profile_row(f->p, PROFILE_SAMPLES, &key) >= 0 ? 0 : out_of_memory(f);
}

int profile_read_samples(struct reading_file *f, struct cursor *c)
{
	return read_samples_of(f, c, false);
}

int profile_read_path_samples(struct reading_file *f, struct cursor *c)
{
	f->p->stacks = true;
	return read_samples_of(f, c, true);
}

int profile_read_data(struct reading_file *f, struct cursor *c)
{
	struct profile_data key = {.key = {.sampler = get_sampler(f, c), .pid = f->header->pid}};

	key.key.address = get_uint(c);
	key.count = get_uint(c);
	return c->bad || profile_row(f->p, PROFILE_DATA, &key) >= 0 ? 0 : out_of_memory(f);
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
	get_uint(c); /* their length in cycles */
	while (left(c)) {
		struct profile_slice *s = table_append(&f->p->slices);

		if (!s)
			return out_of_memory(f);
		s->key.process = f->process;
		s->key.number = (uint32_t)f->p->slices.count;
		read_counts(c, s->counts);
	}
	return 0;
}

int profile_read_threads(struct reading_file *f, struct cursor *c)
{
	pid_t *tid = vec_push(&f->threads);

	if (!tid)
		return out_of_memory(f);
	*tid = (pid_t)get_uint(c);
	return 0;
}

int profile_read_calipers(struct reading_file *f, struct cursor *c)
{
	size_t length = get_count(c, 1 << 20), threads;
	const uint8_t *name = get_raw(c, length);
	struct profile_caliper *to;
	pid_t tid = (pid_t)get_uint(c);
	char *own;

	threads = get_count(c, left(c));
	if (c->bad || !name)
		return c->bad = true, 0;
	own = strndup((const char *)name, length);
	to = own ? table_append(&f->p->calipers) : NULL;
	if (!to) {
		free(own);
		return out_of_memory(f);
	}
	to->key.process = f->process;
	to->key.number = (uint32_t)f->p->calipers.count;
	to->name = own;
	to->tid = tid;
	for (size_t i = 0; i < threads && !c->bad; i++) {
		struct profile_thread *t = table_append(&f->p->threads);

		if (!t)
			return out_of_memory(f);
		t->key.caliper = (uint32_t)f->p->calipers.count - 1;
		t->key.number = (uint32_t)i;
		t->tid = (pid_t)get_uint(c);
		read_counts(c, t->counts);
	}
	return 0;
}

int profile_read_uncounted(struct reading_file *f, struct cursor *c)
{
	uint64_t counts[EVENT_LIMIT] = {0};

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
		((struct profile_sampled *)table_at(&f->p->samplers, f->samplers.data[i]))->lost +=
			get_uint(c);
	return 0;
}
