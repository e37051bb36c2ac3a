/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Ring buffers of any number of processors, written as the kernel writes them. */
#ifndef RINGS_FAKE_H
#define RINGS_FAKE_H

#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "collect/rings.h"

/* Rings in ordinary memory, as many as wanted: rings_fini unmaps them. */
static inline void rings_make(
	struct rings *r, const struct record_format *format, size_t count, size_t size)
{
	struct error e;

	if (rings_init(r, format, size, &e))
		abort();
	r->rings.count = r->order.count = 0;
	*(uint64_t *)vec_push(&r->types) = format->sample_type;
	for (size_t i = 0; i < count; i++) {
		char *map = mmap(NULL, r->page_size + size, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		struct ring ring = {.cpu = (int)i,
			.fd = -1,
			.page = (void *)map,
			.data = map + r->page_size,
			.size = size,
			.next = UINT64_MAX};

		if (map == MAP_FAILED || vec_add(&r->rings, ring) || !vec_push(&r->order))
			abort();
	}
}

/* Writes a record; false if the ring is full. */
static inline bool ring_put(struct ring *ring, const uint64_t *words, size_t count)
{
	uint64_t head = ring->page->data_head;

	if (head + 8 * count - ring->page->data_tail > ring->size)
		return false;
	for (size_t i = 0; i < count; i++)
		memcpy((char *)ring->data + ((head + 8 * i) & (ring->size - 1)), &words[i], 8);
	ring->page->data_head = head + 8 * count;
	return true;
}

/* words[0] becomes the header; size in bytes. */
static inline bool ring_put_record(
	struct ring *ring, uint32_t type, uint16_t misc, uint16_t size, uint64_t *words)
{
	struct perf_event_header h = {.type = type, .misc = misc, .size = size};

	memcpy(words, &h, sizeof(h));
	return ring_put(ring, words, (size_t)(size + 7) / 8);
}

#endif
