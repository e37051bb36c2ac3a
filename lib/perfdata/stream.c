/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The records of a file in sequence: perf's own are read in place, the kernel's are sorted by time.
 * Compressed records, and those in another format than this host's, are copied into blocks, which
 * live until their last record has been passed to the caller.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "perfdata/inflate.h"
#include "perfdata/perfdata_order.h"
#include "perfdata/private.h"

#define BLOCK ((size_t)256 << 10)
/* A limit on decompression: recordings do not shrink by more than this. */
#define GROWTH_MAX 4096
#define RECORD_MAX 65536

enum {
	RECORD_ATTR = 64,
	RECORD_TRACING_DATA = 66,
	RECORD_BUILD_ID = 67,
	RECORD_FINISHED_ROUND = 68,
	RECORD_AUXTRACE = 71,
	RECORD_EVENT_UPDATE = 78,
	RECORD_FEATURE = 80,
	RECORD_COMPRESSED = 81,
	RECORD_COMPRESSED2 = 83
};

struct block {
	size_t size, used;
	size_t waiting; /* records that are in the order */
	char data[];
};

struct stream {
	struct perfdata *p;
	struct order order;
	struct block *block; /* for copies, being filled */
	struct inflate *inflate;
	char part[RECORD_MAX]; /* the beginning of a record that continues in the next piece */
	size_t part_size;
	uint64_t in, out; /* compressed bytes, and what became of them */
	uint64_t last_id;
	uint32_t last_event;
	bool known; /* last_id is */
	int (*call)(void *context, const struct record *record, uint64_t offset);
	void *context;
};

struct header {
	uint32_t type;
	uint16_t misc, size;
};

static struct header header_at(const struct perfdata *p, const char *at)
{
	return (struct header){
		perfdata_u32(p, at), perfdata_u16(p, at + 4), perfdata_u16(p, at + 6)};
}

/* ---- records of the kernel ------------------------------------------------------------------- */

static uint32_t stream_event_of(struct stream *s, uint64_t id)
{
	const struct perfdata_id *found;

	if (!id || s->p->events.count < 2)
		return 0;
	if (s->known && id == s->last_id)
		return s->last_event;
	found = perfdata_find_id(s->p, id);
	s->last_id = id;
	s->last_event = found ? found->event : 0;
	s->known = true;
	return s->last_event;
}

static int hand_on(struct stream *s, const struct waiting *w)
{
	const struct perf_event_header *h = (const void *)w->data;
	struct record r;
	int rc = 0;

	if (record_parse(w->data, h->size, &s->p->events.data[w->event].format, &r) == 0) {
		r.event = w->event;
		/* The kernel's other records name their event in the payload. */
		if (r.type != PERF_RECORD_SAMPLE)
			r.event = stream_event_of(s, r.id);
		rc = s->call(s->context, &r, w->offset);
	} else if (r.type == PERF_RECORD_SAMPLE || r.type <= PERF_RECORD_FORK ||
		   r.type == PERF_RECORD_MMAP2) {
		s->p->malformed++;
	}
	if (w->block && --w->block->waiting == 0 && w->block != s->block)
		free(w->block);
	return rc;
}

static int on_waiting(void *context, const struct waiting *w)
{
	return hand_on(context, w);
}

static void stream_release(struct stream *s)
{
	if (s->block && s->block->waiting == 0)
		free(s->block);
	s->block = NULL;
}

static struct block *block_new(size_t size)
{
	struct block *b = malloc(sizeof(*b) + size);

	if (b)
		*b = (struct block){.size = size};
	return b;
}

/* A copy of the record, aligned, with its header turned. */
static int stage(struct stream *s, const struct header *h, struct waiting *w)
{
	size_t room = ((size_t)h->size + 7) & ~(size_t)7;
	struct perf_event_header own = {h->type, h->misc, h->size};
	char *copy;

	if (!s->block || s->block->size - s->block->used < room) {
		stream_release(s);
		s->block = block_new(BLOCK);
		if (!s->block)
			return -1;
	}
	copy = s->block->data + s->block->used;
	memcpy(copy, w->data, h->size);
	memcpy(copy, &own, sizeof(own));
	s->block->used += room;
	w->data = copy;
	w->block = s->block;
	return 0;
}

/* block: that holds it; NULL: the file. */
static int add_record(struct stream *s, const struct header *h, const char *at, struct block *block,
	uint64_t offset)
{
	struct waiting w = {.data = at, .block = block, .offset = offset};
	const struct record_format *format;

	if (s->p->events.count == 0) {
		s->p->malformed++;
		return 0;
	}
	if ((s->p->swapped || (uintptr_t)at % 8) && stage(s, h, &w))
		return -1;
	format = &s->p->events.data[0].format;
	w.event = stream_event_of(s, record_id(w.data, h->size, format));
	if (h->type == PERF_RECORD_SAMPLE)
		format = &s->p->events.data[w.event].format;
	w.time = record_time(w.data, h->size, format);
	if (w.block)
		w.block->waiting++;
	/* perf's own records, about the time before, have no time; and if only samples have one
	 * (kernels before 2.6.38), the records cannot be sorted. */
	if (w.time == 0 || w.time == UINT64_MAX || s->p->events.data[0].format.bare)
		return hand_on(s, &w);
	if (order_add(&s->order, &w) == 0)
		return 0;
	if (w.block)
		w.block->waiting--;
	return -1;
}

/* ---- perf's own ------------------------------------------------------------------------------ */

/* An event of a pipe: attributes, then ids. */
static int on_attr(struct stream *s, const char *at, size_t size)
{
	uint32_t attr = size >= 16 ? perfdata_u32(s->p, at + 12) : 0;
	long event;

	if (attr < 64)
		attr = 64;
	if (attr > size - 8)
		return 0;
	event = perfdata_add_event(s->p, at + 8, attr);
	s->known = false;
	return event < 0 || perfdata_add_ids(
				    s->p, (uint32_t)event, at + 8 + attr, (size - 8 - attr) / 8)
		       ? -1
		       : 0;
}

/* An update of the event's name; other kinds of updates are ignored. */
static int on_update(struct stream *s, const char *at, size_t size)
{
	enum { NAME = 2 };
	const struct perfdata_id *id;

	if (size <= 24 || perfdata_u64(s->p, at + 8) != NAME)
		return 0;
	id = perfdata_find_id(s->p, perfdata_u64(s->p, at + 16));
	if (!id || s->p->events.data[id->event].name)
		return 0;
	return perfdata_set_name(s->p, id->event, at + 24, strnlen(at + 24, size - 24));
}

static int on_feature(struct stream *s, const char *at, size_t size)
{
	if (size < 16)
		return 0;
	return perfdata_feature(s->p, (unsigned)perfdata_u64(s->p, at + 8), at + 16, size - 16);
}

static int stream_walk(struct stream *s, const char *at, size_t size, struct block *block,
	uint64_t offset, size_t *done);

/* One block of a piece's contents. */
static int take_piece(struct stream *s, struct block *b, uint64_t offset)
{
	size_t done = 0, rest;
	int rc;

	b->waiting = 1; /* ours */
	rc = stream_walk(s, b->data, b->used, b, offset, &done);
	rest = b->used - done;
	/* There are no such records, and stream_walk has reported it; or it has stopped early. */
	if (rc || rest > sizeof(s->part))
		rest = 0;
	memcpy(s->part, b->data + done, rest);
	s->part_size = rest;
	if (--b->waiting == 0)
		free(b);
	return rc;
}

static int on_compressed(struct stream *s, const char *at, size_t size, uint64_t offset)
{
	if (!s->inflate)
		s->inflate = inflate_new();
	if (!s->inflate)
		return -1;
	inflate_feed(s->inflate, at, size);
	s->in += size;
	while (!s->p->damage.damaged) {
		struct block *b = block_new(BLOCK + sizeof(s->part));
		long n;

		if (!b)
			return -1;
		memcpy(b->data, s->part, s->part_size);
		b->used = s->part_size;
		n = inflate_read(s->inflate, b->data + b->used, b->size - b->used);
		if (n <= 0) {
			free(b);
			if (n < 0)
				perfdata_damage(s->p, "compressed data is damaged at byte %" PRIu64,
					offset);
			return 0;
		}
		b->used += (size_t)n;
		s->out += (uint64_t)n;
		if (s->out / GROWTH_MAX > s->in) {
			perfdata_damage(s->p, "invalid compressed data at byte %" PRIu64, offset);
			free(b);
			return 0;
		}
		if (take_piece(s, b, offset))
			return -1;
	}
	return 0;
}

static int on_compressed_too(struct stream *s, const char *at, size_t size, uint64_t offset)
{
	uint64_t used = size >= 16 ? perfdata_u64(s->p, at + 8) : 0;

	return size < 16 || used > size - 16 ? 0 : on_compressed(s, at + 16, (size_t)used, offset);
}

/* Bytes that follow the record without being part of its size; SIZE_MAX: invalid. */
static size_t tail_of(struct stream *s, const struct header *h, const char *at)
{
	uint64_t tail = 0;

	if (h->type == RECORD_AUXTRACE && h->size >= 16) {
		tail = perfdata_u64(s->p, at + 8);
		s->p->aux += tail;
	} else if (h->type == RECORD_TRACING_DATA && h->size >= 12) {
		tail = ((uint64_t)perfdata_u32(s->p, at + 8) + 7) & ~(uint64_t)7;
	}
	return tail > SIZE_MAX / 2 ? SIZE_MAX : (size_t)tail;
}

static int on_own(
	struct stream *s, const struct header *h, const char *at, bool nested, uint64_t offset)
{
	switch (h->type) {
	case RECORD_ATTR: /* of a file they are known */
		return s->p->pipe ? on_attr(s, at, h->size) : 0;
	case RECORD_BUILD_ID:
		return perfdata_add_build_id(s->p, at, h->size);
	case RECORD_FINISHED_ROUND: /* of one file; what others have may be older */
		return s->p->part_count ? 0 : order_round(&s->order, 0, on_waiting, s);
	case RECORD_EVENT_UPDATE:
		return on_update(s, at, h->size);
	case RECORD_FEATURE:
		return on_feature(s, at, h->size);
	case RECORD_COMPRESSED:
		return nested ? 0 : on_compressed(s, at + 8, h->size - 8u, offset);
	case RECORD_COMPRESSED2:
		return nested ? 0 : on_compressed_too(s, at, h->size, offset);
	default:
		return 0;
	}
}

/* ---- all ------------------------------------------------------------------------------------- */

/* Records up to the last complete one; *done is where it ends. */
static int stream_walk(struct stream *s, const char *at, size_t size, struct block *block,
	uint64_t offset, size_t *done)
{
	size_t i = 0;
	int rc = 0;

	while (rc == 0 && size - i >= sizeof(struct perf_event_header)) {
		struct header h = header_at(s->p, at + i);
		uint64_t where = block ? offset : offset + i;
		size_t tail;

		if (h.size < sizeof(struct perf_event_header)) {
			perfdata_damage(s->p,
				"a record of %u bytes at byte %" PRIu64
				": the records after it cannot be found",
				h.size, where);
			i = size;
			break;
		}
		if (h.size > size - i)
			break;
		tail = tail_of(s, &h, at + i);
		if (tail > size - i - h.size)
			break;
		if (h.type < PERF_RECORD_MAX && h.type)
			rc = add_record(s, &h, at + i, block, where);
		else
			rc = on_own(s, &h, at + i, block != NULL, where);
		i += h.size + tail;
	}
	*done = i;
	return rc;
}

/* Frees blocks that were never passed on. */
static void drop_waiting(struct stream *s)
{
	for (size_t i = 0; i < s->order.list.count; i++) {
		struct block *b = s->order.list.data[i].block;

		if (b && --b->waiting == 0 && b != s->block)
			free(b);
	}
	if (s->block) {
		s->block->waiting = 0;
		stream_release(s);
	}
	order_fini(&s->order);
	inflate_free(s->inflate);
}

/* All records of a file, which start at `begin`. */
static int walk_file(struct stream *s, const char *data, size_t begin, size_t end, size_t size)
{
	size_t done = 0;
	int rc = stream_walk(s, data + begin, end - begin, NULL, begin, &done);

	if (rc == 0 && done < end - begin)
		perfdata_damage(s->p, "truncated after byte %zu", size);
	if (rc == 0 && s->part_size)
		perfdata_damage(s->p, "compressed data ends within a record");
	inflate_free(s->inflate);
	s->inflate = NULL;
	s->part_size = 0;
	return rc;
}

int perfdata_stream(struct perfdata *p,
	int (*call)(void *context, const struct record *record, uint64_t offset), void *context)
{
	struct stream *s = calloc(1, sizeof(*s));
	int rc;

	if (!s)
		return -1;
	s->p = p;
	s->call = call;
	s->context = context;
	rc = walk_file(s, p->data, p->begin, p->end, p->size);
	for (size_t i = 0; rc == 0 && i < p->part_count; i++)
		rc = walk_file(s, p->parts[i].data, 0, p->parts[i].size, p->parts[i].size);
	if (p->directory && !p->part_count)
		perfdata_damage(p, "what perf record --threads wrote beside it is missing");
	if (rc == 0)
		rc = order_round(&s->order, 1, on_waiting, s);
	drop_waiting(s);
	free(s);
	return rc;
}
