/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Experiments out of files, ssexp(5). A section counts only if it is complete and its checksum is
 * right; if its contents are then invalid, the file is refused. Rows must be in the order of
 * experiment_settle, so that none occurs twice.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "experiment/order.h"
#include "experiment/private.h"

struct reader {
	struct experiment *x;
	uint64_t *addresses; /* the last one of each image */
	uint64_t sections;   /* up to the one that is read */
};

static void out_of_memory(struct cursor *c)
{
	c->bad = c->nomem = true;
}

/* ---- sections ---- */

static void read_run(struct reader *r, struct cursor *c)
{
	struct experiment *x = r->x;
	struct experiment_folded *f = &x->folded;

	free(x->type);
	x->type = get_string(c);
	x->began = get_uint(c);
	x->elapsed = get_uint(c);
	x->runs = get_u32(c);
	x->complete = get_uint(c) & 1;
	f->processes = get_uint(c);
	f->threads = get_uint(c);
	f->failed = get_uint(c);
	f->ranks = get_uint(c);
	f->rank_low = get_s32(c);
	f->rank_high = get_s32(c);
}

static void read_list(struct reader *r, int which, struct cursor *c)
{
	const struct experiment_list *l = &experiment_lists[which];
	struct experiment_vec *v = experiment_list_vec(r->x, which);
	struct row_numbers n;

	experiment_limits(r->x, &n);
	while (c->at < c->end && !c->bad) {
		void *row = vec_grow((void **)&v->data, &v->count, &v->capacity, l->kind.size, 1);

		if (!row) {
			out_of_memory(c);
			return;
		}
		row_get_record(row, &l->kind, &n, c);
		/* Fixed rows are not ordered. */
		if (!c->bad && v->count > l->fixed + 1)
			c->bad = experiment_list_order(r->x, which, v->count - 2, v->count - 1) >=
				 (l->ties ? 1 : 0);
	}
	/* A second period follows the first. */
	if (which == EXPERIMENT_METRICS && !c->bad && r->x->metrics.count)
		c->bad = r->x->metrics.data[0].flags & METRIC_BOTH;
}

/* Each entry takes a byte or more: an upper bound of the room needed. */
static bool read_reserve(struct table *t, struct cursor *c)
{
	if (table_reserve(t, (size_t)(c->end - c->at)) == 0)
		return true;
	out_of_memory(c);
	return false;
}

static void read_nodes(struct reader *r, struct cursor *c)
{
	struct table *t = &r->x->nodes;
	struct experiment_node last = *experiment_node_at(r->x, t->count - 1), *n;
	size_t images = r->x->images.count;
	uint64_t *addresses = r->addresses ? r->addresses : calloc(images, sizeof(*addresses));

	r->addresses = addresses;
	if (!addresses)
		out_of_memory(c);
	if (!addresses || !read_reserve(t, c))
		return;
	if (t->count == 1)
		last = (struct experiment_node){0};
	n = table_at(t, t->count);
	for (; c->at < c->end && !c->bad; n++, t->count++) {
		uint64_t first = get_uint(c);

		*n = last;
		if (first & 1) {
			/* Parents precede their children. */
			c->bad |= first >> 1 >= t->count - last.key.parent;
			n->key.parent += (uint32_t)(first >> 1);
			n->key.image = get_below(c, images);
			n->key.address = addresses[n->key.image] + (uint64_t)unzigzag(get_uint(c));
		} else {
			n->key.address = addresses[n->key.image] + (first >> 1);
		}
		addresses[n->key.image] = n->key.address;
		c->bad |= t->count > 1 && order_nodes(&last, n) >= 0;
		last = *n;
	}
}

static void read_histogram(struct reader *r, struct cursor *c)
{
	struct table *t = &r->x->samples;
	struct experiment_sample key = {0}, *s = table_at(t, t->count);
	uint64_t n, nodes = r->x->nodes.count, next = 0;

	key.key.metric = get_below(c, r->x->metrics.count);
	key.key.thread = get_below(c, r->x->threads.count);
	key.key.phase = get_below(c, r->x->phases.count);
	for (n = get_uint(c); n > 0 && !c->bad; n--, s++) {
		uint64_t first = get_uint(c);

		if (first >> 1 >= nodes - next) {
			c->bad = true;
			return;
		}
		key.key.node = (uint32_t)(next + (first >> 1));
		key.count = first & 1 ? get_uint(c) : 1;
		c->bad |= key.count == 0;
		if (c->bad)
			return;
		*s = key;
		t->count++;
		c->bad |= next == 0 && t->count > 1 && order_samples(s - 1, s) >= 0;
		next = key.key.node + 1;
	}
}

static void read_samples(struct reader *r, struct cursor *c)
{
	if (!read_reserve(&r->x->samples, c))
		return;
	while (c->at < c->end && !c->bad)
		read_histogram(r, c);
}

static void read_data_lost(struct reader *r, struct cursor *c)
{
	r->x->data.lost = get_uint(c);
}

static void read_rows_read(
	struct reader *r, struct cursor *c, struct table *t, const struct row_kind *kind)
{
	struct row_numbers n;

	experiment_limits(r->x, &n);
	row_get(t, kind, &n, c);
}

static void read_runs_alone(struct reader *r, struct cursor *c)
{
	read_rows_read(r, c, experiment_table(r->x, EXPERIMENT_RUNS), &experiment_runs_alone_kind);
}

static void read_end_read(struct reader *r, struct cursor *c)
{
	c->bad |= get_uint(c) != r->sections - 1;
}

/* ---- the file ---- */

/* Sections that are not tables of rows, in the order of the file, and the table that they
 * precede. */
static const struct {
	enum experiment_rows before, list; /* list: where read is NULL */
	char type[5];
	void (*read)(struct reader *r, struct cursor *c);
} others[] = {
	{EXPERIMENT_LISTS, 0, "RUN ", read_run},
	{EXPERIMENT_LISTS, EXPERIMENT_FACTS, "FACT", NULL},
	{EXPERIMENT_LISTS, EXPERIMENT_IMAGES, "IMAG", NULL},
	{EXPERIMENT_LISTS, EXPERIMENT_METRICS, "METR", NULL},
	{EXPERIMENT_LISTS, EXPERIMENT_PROCESSES, "PROC", NULL},
	{EXPERIMENT_LISTS, EXPERIMENT_THREADS, "THRD", NULL},
	{EXPERIMENT_LISTS, EXPERIMENT_PHASES, "PHAS", NULL},
	{EXPERIMENT_OBJECTS, EXPERIMENT_DATA_METRICS, "DMET", NULL},
	{EXPERIMENT_RUNS, 0, "DLOS", read_data_lost},
	{EXPERIMENT_RUNS, 0, "BRUN", read_runs_alone},
	{EXPERIMENT_TABLES, 0, "END ", read_end_read},
};

enum { OTHERS = sizeof(others) / sizeof(others[0]) };

/* The position of sections in a file: tables follow the others. */
static int place_of_table(int table)
{
	return table * (OTHERS + 1) + OTHERS;
}

static int place_of_other(int i)
{
	return (int)others[i].before * (OTHERS + 1) + i;
}

#define FIRST place_of_other(0)
#define LAST  place_of_other(OTHERS - 1)

struct section {
	int place; /* -1: not known */
	bool repeats;
	const char *type;
	enum experiment_rows table; /* if read is NULL */
	void (*read)(struct reader *r, struct cursor *c);
};

static struct section find_section(const uint8_t *type)
{
	for (int i = 0; i < OTHERS; i++)
		if (memcmp(others[i].type, type, 4) == 0)
			return (struct section){.place = place_of_other(i),
				.repeats = others[i].read == read_runs_alone,
				.type = others[i].type,
				.table = others[i].list,
				.read = others[i].read};
	for (int i = EXPERIMENT_LISTS; i < EXPERIMENT_TABLES; i++)
		if (memcmp(experiment_kind(i)->type, type, 4) == 0)
			return (struct section){.place = place_of_table(i),
				.repeats = true,
				.type = experiment_kind(i)->type,
				.table = (enum experiment_rows)i};
	return (struct section){.place = -1};
}

static void read_section(struct reader *r, const struct section *s, struct cursor *c)
{
	if (s->read)
		s->read(r, c);
	else if (s->table < EXPERIMENT_LISTS)
		read_list(r, s->table, c);
	else if (s->table == EXPERIMENT_NODES)
		read_nodes(r, c);
	else if (s->table == EXPERIMENT_SAMPLES)
		read_samples(r, c);
	else if (s->table == EXPERIMENT_SLICES)
		time_slices_get(r->x, c);
	else
		read_rows_read(r, c, experiment_table(r->x, s->table), experiment_kind(s->table));
}

bool experiment_is_file(const void *data, size_t size)
{
	return size >= CODING_PREFIX && memcmp(data, CODING_MAGIC, sizeof(CODING_MAGIC) - 1) == 0;
}

static int check_prefix(const uint8_t *data, size_t size, struct error *e)
{
	unsigned major, minor;

	if (!experiment_is_file(data, size))
		return error_set(e, ERR_PARSE, "this is not an experiment file");
	major = (unsigned)get_fixed(data + 8, 2);
	minor = (unsigned)get_fixed(data + 10, 2);
	if (major == CODING_MAJOR)
		return 0;
	error_set(e, ERR_UNSUPPORTED,
		"the experiment file is of version %u.%u, and this program reads version %u", major,
		minor, CODING_MAJOR);
	return error_hint(e, "use the prof that belongs to the ssrun that wrote it");
}

__attribute__((format(printf, 2, 3))) static int damaged(
	struct experiment_damage *damage, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	damage->damaged = true;
	vsnprintf(damage->message, sizeof(damage->message), format, ap);
	va_end(ap);
	return 1;
}

/* A section from byte *at on: 0, and *at after it; 1: damaged. */
static int next_section(const uint8_t *data, size_t size, size_t *at, struct cursor *c,
	struct experiment_damage *damage)
{
	size_t left = size - *at, length;
	uLong sum;

	if (left < CODING_SECTION)
		return damaged(damage, "truncated after byte %zu", *at);
	length = (size_t)get_fixed(data + *at + 4, 4);
	if (length > left - CODING_SECTION)
		return damaged(damage, "truncated in the section at byte %zu", *at);
	sum = crc32(crc32(0, NULL, 0), data + *at, 8);
	if (length)
		sum = crc32_z(sum, data + *at + CODING_SECTION, length);
	if (sum != get_fixed(data + *at + 8, 4))
		return damaged(damage, "corrupted: wrong checksum of the section at byte %zu", *at);
	*c = (struct cursor){
		.at = data + *at + CODING_SECTION, .end = data + *at + CODING_SECTION + length};
	*at += CODING_SECTION + length;
	return 0;
}

static bool is_large(const uint8_t *type)
{
	struct section s = find_section(type);

	return s.table == EXPERIMENT_NODES || s.table == EXPERIMENT_SAMPLES ||
	       s.table == EXPERIMENT_EDGES || s.place == LAST;
}

/* Up to the end; or, if head is set, up to the first section of nodes and samples, whose position
 * is stored in *head. */
static int read_sections_read(struct reader *r, const uint8_t *data, size_t size, size_t *head,
	struct experiment_damage *damage, struct error *e)
{
	size_t at = CODING_PREFIX;
	int last = -1;

	while (last != LAST) {
		size_t begin = at;
		struct section s;
		struct cursor c;

		if (head && size - at >= CODING_SECTION && is_large(data + at)) {
			*head = at;
			return last >= 0 ? 0 : error_set(e, ERR_PARSE, "it has no first section");
		}
		if (next_section(data, size, &at, &c, damage))
			return last >= 0 ? 0 : error_set(e, ERR_PARSE, "%s", damage->message);
		s = find_section(data + begin);
		if (last < 0 && s.place < 0)
			return error_set(e, ERR_PARSE, "the first section is not \"RUN \"");
		r->sections++;
		if (s.place < 0)
			continue;
		c.bad = s.place < last || (s.place == last && !s.repeats) ||
			(last < 0 && s.place != FIRST);
		if (!c.bad)
			read_section(r, &s, &c);
		if (c.nomem)
			return error_nomem(e);
		if (c.bad)
			return error_set(e, ERR_PARSE, "the section %s at byte %zu makes no sense",
				s.type, begin);
		last = s.place;
	}
	if (at < size)
		damaged(damage, "corrupted: %zu bytes after its end", size - at);
	return 0;
}

int experiment_parse(struct experiment *x, const void *data, size_t size,
	struct experiment_damage *damage, struct error *e)
{
	struct experiment_damage own = {0};
	struct reader r = {.x = x};
	int status;

	if (check_prefix(data, size, e) || experiment_init(x, e))
		return -1;
	status = read_sections_read(&r, data, size, NULL, &own, e);
	free(r.addresses);
	if (status == 0 && own.damaged && !damage)
		status = error_set(e, ERR_PARSE, "%s", own.message);
	if (status)
		experiment_fini(x);
	else
		x->damaged = own.damaged;
	if (damage)
		*damage = own;
	return status;
}

int experiment_parse_head(
	struct experiment *x, const void *data, size_t size, size_t *at, struct error *e)
{
	struct experiment_damage damage = {0};
	struct reader r = {.x = x};
	int status;

	if (check_prefix(data, size, e) || experiment_init(x, e))
		return -1;
	status = read_sections_read(&r, data, size, at, &damage, e);
	free(r.addresses);
	if (status == 0 && damage.damaged)
		status = error_set(e, ERR_PARSE, "%s", damage.message);
	if (status)
		experiment_fini(x);
	return status;
}
