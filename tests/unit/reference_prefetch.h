/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The prefetchers of reference_model.h: which lines they would have, told what they see. */
#ifndef TESTS_REFERENCE_PREFETCH_H
#define TESTS_REFERENCE_PREFETCH_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "model/model.h"

struct ref_stride {
	bool known;
	uint64_t who, last;
	int64_t distance;
};

struct ref_stream {
	bool known;
	uint64_t page, asked; /* asked: number of the last request */
	int64_t last, front, way;
	int64_t seen[8]; /* lines, each once, the latest first */
	unsigned seen_count;
	unsigned backward; /* requests running that went the other way */
};

/* 64 lines, by number. */
struct ref_near {
	bool known, loaded[64];
	uint64_t region;
	int64_t front, way;
};

struct ref_prefetchers {
	struct ref_near near[PREFETCH_ENTRIES_MAX];
	struct ref_stride strides[PREFETCH_ENTRIES_MAX];
	struct ref_stream streams[PREFETCH_ENTRIES_MAX];
	uint64_t asked; /* requests so far */
};

/* The addresses that a prefetcher wants. */
struct ref_wanted {
	unsigned count;
	uint64_t address[PREFETCH_LINES_MAX + 1];
};

static void ref_want(struct ref_wanted *w, uint64_t page_size, uint64_t near, uint64_t address)
{
	if (address / page_size == near / page_size)
		w->address[w->count++] = address;
}

static struct ref_wanted ref_want_next(
	uint64_t line, uint64_t line_size, uint32_t lines, uint64_t page_size)
{
	struct ref_wanted w = {0};

	for (uint64_t i = 1; i <= lines; i++)
		ref_want(&w, page_size, line, line + i * line_size);
	return w;
}

/* who: the instruction. */
static struct ref_wanted ref_want_stride(struct ref_prefetchers *p,
	const struct model_config *config, uint64_t who, uint64_t address)
{
	struct ref_wanted w = {0};
	struct ref_stride *s;
	int64_t distance, line = config->l1d.line;

	if (!who)
		who = (address & ~(uint64_t)(config->page_size - 1)) | 1;
	s = &p->strides[(uint32_t)who % config->l1d_stride.entries];
	if (!s->known || s->who != who) {
		*s = (struct ref_stride){true, who, address, 0};
		return w;
	}
	distance = (int64_t)(address - s->last);
	if (distance > -2 * line && distance < 2 * line)
		distance = distance >= 0 ? line : -line;
	if (s->distance == distance)
		ref_want(&w, config->page_size, address,
			address + (uint64_t)(distance * config->l1d_stride.ahead));
	s->distance = distance;
	s->last = address;
	return w;
}

static struct ref_near *ref_near_of(
	struct ref_prefetchers *p, const struct model_config *config, int64_t region)
{
	uint64_t r = (uint64_t)region;

	return &p->near[(uint32_t)(r ^ r / 32 ^ r / 2048) % config->l1d_stream.entries];
}

static bool ref_is_near(const struct ref_near *e, int64_t region)
{
	return e->known && e->region == (uint64_t)region;
}

/* Was the line with this number loaded lately? */
static bool ref_loaded(struct ref_prefetchers *p, const struct model_config *config, int64_t line)
{
	const struct ref_near *e = ref_near_of(p, config, line / 64);

	return line >= 0 && ref_is_near(e, line / 64) && e->loaded[line % 64];
}

static struct ref_wanted ref_want_near(
	struct ref_prefetchers *p, const struct model_config *config, uint64_t address)
{
	int64_t line = (int64_t)(address / config->l1d.line), region = line / 64, at = line % 64;
	int64_t ahead = config->l1d_stream.ahead, up = 0, down = 0, way;
	struct ref_near *e = ref_near_of(p, config, region);
	struct ref_wanted w = {0};

	if (!ref_is_near(e, region))
		*e = (struct ref_near){true, {false}, (uint64_t)region, 0, 0};
	if (e->loaded[at])
		memset(e->loaded, 0, sizeof(e->loaded));
	/* Near an edge, what was loaded beyond it counts, and a stream from there may go on. */
	way = at < 4 ? 1 : at >= 60 ? -1 : 0;
	if (way && !e->way && !memchr(e->loaded, true, sizeof(e->loaded))) {
		const struct ref_near *beside = ref_near_of(p, config, region - way);

		if (ref_is_near(beside, region - way) && beside->way == way) {
			e->way = way;
			e->front = beside->front;
		}
	}
	for (int64_t i = 1; i <= 4; i++) {
		up += ref_loaded(p, config, line - i);
		down += ref_loaded(p, config, line + i);
	}
	e->loaded[at] = true;
	if (up < 3 && down < 3)
		return w;
	way = up < down ? -1 : 1;
	if (e->way != way || e->front * way < line * way || e->front * way > line * way + 2 * ahead)
		e->front = line;
	e->way = way;
	for (uint32_t n = 0; n < config->l1d_stream.lines; n++) {
		uint64_t next = (uint64_t)(e->front + way) * config->l1d.line;

		if (e->front * way >= line * way + ahead ||
			(!config->stream_pages &&
				next / config->page_size != address / config->page_size))
			break;
		e->front += way;
		w.address[w.count++] = next;
	}
	return w;
}

/* With stream_step, of at most 64 lines. */
static uint64_t ref_stream_page(const struct model_config *config)
{
	uint64_t most = UINT64_C(64) * config->l2.line;

	return config->stream_step && most < config->page_size ? most : config->page_size;
}

/* The page's stream. create: perhaps a new one, in place of the one of its four that was asked
 * least recently. */
static struct ref_stream *ref_stream_of(
	struct ref_prefetchers *p, const struct model_config *config, uint64_t page, bool create)
{
	uint32_t entries = config->l2_stream.entries, ways = entries < 4 ? entries : 4;
	uint32_t first = entries > 4 ? 4 * ((uint32_t)page % (entries / 4)) : 0;
	struct ref_stream *oldest = &p->streams[first];

	for (uint32_t i = first; i < first + ways; i++) {
		if (p->streams[i].known && p->streams[i].page == page)
			return &p->streams[i];
		if (p->streams[i].asked < oldest->asked)
			oldest = &p->streams[i];
	}
	if (create)
		*oldest = (struct ref_stream){.page = page};
	return create ? oldest : NULL;
}

static void ref_stream_on(
	struct ref_wanted *w, const struct model_config *config, struct ref_stream *s, int64_t line)
{
	int64_t lines = (int64_t)(ref_stream_page(config) / config->l2.line), way = s->way;
	int64_t distance;

	for (uint32_t n = 0; n < config->l2_stream.lines; n++) {
		distance = (s->front - line) * way;
		if (distance < 0)
			s->front = line;
		if (distance >= (int64_t)config->l2_stream.ahead)
			break;
		if (!config->stream_pages && (s->front + way < 0 || s->front + way >= lines))
			break;
		s->front += way;
		w->address[w->count++] =
			s->page * ref_stream_page(config) + (uint64_t)s->front * config->l2.line;
	}
}

static struct ref_wanted ref_want_stream(
	struct ref_prefetchers *p, const struct model_config *config, uint64_t address)
{
	uint64_t page = address / ref_stream_page(config);
	int64_t lines = (int64_t)(ref_stream_page(config) / config->l2.line);
	int64_t line = (int64_t)(address / config->l2.line) % lines, way;
	struct ref_stream *s = ref_stream_of(p, config, page, true), *before;
	struct ref_wanted w = {0};

	s->asked = ++p->asked;
	if (!s->known) {
		s->known = true;
		s->last = s->seen[0] = line;
		s->seen_count = 1;
		for (way = -1; config->stream_pages && way <= 1; way += 2) {
			before = ref_stream_of(p, config, page - (uint64_t)way, false);
			if (!before || before->way != way ||
				(before->front - way * lines - line) * way < 0)
				continue;
			s->way = way;
			s->front = before->front - way * lines;
			ref_stream_on(&w, config, s, line);
			break;
		}
		return w;
	}
	if (line == s->last)
		return w;
	way = line > s->last ? 1 : -1;
	if (config->stream_step) {
		bool mine = s->way > 0 ? line <= s->front : s->way < 0 ? line >= s->front : false;
		unsigned below = 0, above = 0, i;

		for (i = 0; i < s->seen_count; i++) {
			int64_t apart = line - s->seen[i], most = 3 * (int64_t)config->stream_step;

			below += apart > 0 && apart <= most;
			above += apart < 0 && -apart <= most;
		}
		s->backward = way == s->way ? 0 : s->backward + 1;
		mine = mine && llabs(s->front - line) <= 2 * (int64_t)config->l2_stream.ahead &&
		       s->backward <= 2;
		s->last = line;
		for (i = 0; i < s->seen_count && s->seen[i] != line; i++)
			;
		if (i == s->seen_count) {
			memmove(s->seen + 1, s->seen, 7 * sizeof(*s->seen));
			s->seen[0] = line;
			s->seen_count += s->seen_count < 8;
		}
		if (!mine && below < 2 && above < 2)
			return w;
		if (!mine) {
			s->way = below < 2 ? -1 : above < 2 ? 1 : way;
			s->front = line;
			s->backward = 0;
		}
		ref_stream_on(&w, config, s, line);
		return w;
	}
	s->last = line;
	if (s->way != way) {
		s->way = way;
		s->front = line;
		return w;
	}
	ref_stream_on(&w, config, s, line);
	return w;
}

#endif
