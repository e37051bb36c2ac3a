/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Between profile.c and the readers of model/wire/profile.h: profile_read.c reads the file and the
 * executed code, profile_read_run.c samples, threads and phases. Readers check all input: a read
 * beyond the end of a cursor makes it bad, and all later reads return 0.
 */
#ifndef SOURCES_PROFILE_READ_H
#define SOURCES_PROFILE_READ_H

#include <string.h>

#include "model/wire/profile.h"
#include "rows/coding.h"
#include "sources/profile.h"

/* Adds a row of one of the profile's own tables; its number, -1 when memory is out. */
long profile_row(struct profile *p, int which, const void *row);

/* Edges from the end of each block to the next, for what went on there without a branch.
 * Instructions are sorted.  -1 with *e set. */
int profile_add_sequence(struct profile *p, struct error *e);

/* ---- bytes ---- */

static inline uint8_t get_byte(struct cursor *c)
{
	if (c->at == c->end) {
		c->bad = true;
		return 0;
	}
	return *c->at++;
}

static inline int64_t get_sint(struct cursor *c)
{
	return unzigzag(get_uint(c));
}

/* limit: values beyond it are damage. */
static inline size_t get_count(struct cursor *c, size_t limit)
{
	uint64_t n = get_uint(c);

	if (n > limit)
		c->bad = true;
	return c->bad ? 0 : (size_t)n;
}

static inline const uint8_t *get_raw(struct cursor *c, size_t n)
{
	const uint8_t *at = c->at;

	if ((size_t)(c->end - c->at) < n) {
		c->bad = true;
		return NULL;
	}
	c->at += n;
	return at;
}

static inline size_t left(const struct cursor *c)
{
	return c->bad ? 0 : (size_t)(c->end - c->at);
}

/* ---- a file ---- */

/* One mapping, as the file numbers them. */
struct mapping {
	uint64_t start, length, bias;
	uint32_t image; /* in the experiment */
};

typedef VEC(uint32_t) read_numbers;

struct reading_file {
	struct profile *p;
	const struct model_profile_header *header;
	uint32_t process;
	VEC(struct mapping) mappings;
	VEC(pid_t) threads;
	read_numbers samplers; /* in the profile, of the file's */
	read_numbers nodes;    /* in the experiment, of the file's less one */
	read_numbers objects;  /* likewise */
	struct error *e;
	bool nomem;
};

static inline int out_of_memory(struct reading_file *f)
{
	f->nomem = true;
	return -1;
}

/* The next number of the file's is number `found` here; -1 if memory was out for it. */
static inline int profile_read_number(struct reading_file *f, read_numbers *numbers, long found)
{
	uint32_t *to = found < 0 ? NULL : vec_push(numbers);

	if (!to)
		return out_of_memory(f);
	*to = (uint32_t)found;
	return 0;
}

/* number: as in the file, 0 where none is known. */
static inline const struct mapping *mapping_of(const struct reading_file *f, uint64_t number)
{
	static const struct mapping unknown;

	return number && number <= f->mappings.count ? &f->mappings.data[number - 1] : &unknown;
}

/* ---- profile_read_run.c: sections, or entries of them (readers[] in profile_read.c) ---- */
int profile_read_events(struct reading_file *f, struct cursor *c);
int profile_read_nodes(struct reading_file *f, struct cursor *c);
int profile_read_samples(struct reading_file *f, struct cursor *c);
int profile_read_path_samples(struct reading_file *f, struct cursor *c);
int profile_read_data(struct reading_file *f, struct cursor *c);
int profile_read_slices(struct reading_file *f, struct cursor *c);
int profile_read_threads(struct reading_file *f, struct cursor *c);
int profile_read_calipers(struct reading_file *f, struct cursor *c);
int profile_read_uncounted(struct reading_file *f, struct cursor *c);
int profile_read_lost(struct reading_file *f, struct cursor *c);
/* number: as in the file, 0 for the root. */
uint32_t profile_node_at(const struct reading_file *f, struct cursor *c, uint64_t number);

/* ---- profile_read_objects.c: likewise ---- */
int profile_read_objects(struct reading_file *f, struct cursor *c);
int profile_read_object_places(struct reading_file *f, struct cursor *c);
int profile_read_object_touches(struct reading_file *f, struct cursor *c);
int profile_read_object_lines(struct reading_file *f, struct cursor *c);
int profile_read_objects_lost(struct reading_file *f, struct cursor *c);

#endif
