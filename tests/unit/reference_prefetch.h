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
	uint64_t page;
	int64_t last, front, way;
};

struct ref_prefetchers {
	struct ref_stride strides[PREFETCH_ENTRIES_MAX];
	struct ref_stream streams[PREFETCH_ENTRIES_MAX];
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

static struct ref_wanted ref_want_stream(
	struct ref_prefetchers *p, const struct model_config *config, uint64_t address)
{
	uint64_t page = address / config->page_size;
	int64_t lines = config->page_size / config->l2.line;
	int64_t line = (int64_t)(address / config->l2.line) % lines, way, distance;
	struct ref_stream *s = &p->streams[(uint32_t)page % config->l2_stream.entries];
	struct ref_wanted w = {0};

	if (!s->known || s->page != page) {
		*s = (struct ref_stream){.known = true, .page = page, .last = line};
		return w;
	}
	if (line == s->last)
		return w;
	way = line > s->last ? 1 : -1;
	s->last = line;
	if (s->way != way) {
		s->way = way;
		s->front = line;
		return w;
	}
	for (uint32_t n = 0; n < config->l2_stream.lines; n++) {
		distance = (s->front - line) * way;
		if (distance < 0)
			s->front = line;
		if (distance >= (int64_t)config->l2_stream.ahead || s->front + way < 0 ||
			s->front + way >= lines)
			break;
		s->front += way;
		ref_want(&w, config->page_size, address,
			page * config->page_size + (uint64_t)s->front * config->l2.line);
	}
	return w;
}

#endif
