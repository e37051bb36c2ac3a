/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sources/ring.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define RECORD_MAX 65536 /* its size is 16 bits */

int ring_map(struct ring *r, int fd, size_t pages)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *p = mmap(NULL, (1 + pages) * page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	memset(r, 0, sizeof(*r));
	if (p == MAP_FAILED)
		return -1;
	r->page = p;
	r->size = pages * page;
	return 0;
}

static char *data(const struct ring *r)
{
	return (char *)r->page + (size_t)sysconf(_SC_PAGESIZE);
}

/* The record at tail, in one piece; NULL when memory is out. */
static const struct perf_event_header *record_at(struct ring *r, uint64_t tail)
{
	size_t at = tail & (r->size - 1), rest = r->size - at;
	/* Records are multiples of 8 bytes, so a header never wraps. */
	const struct perf_event_header *h = (const void *)(data(r) + at);

	if (h->size <= rest)
		return h;
	if (!r->straight && !(r->straight = malloc(RECORD_MAX)))
		return NULL;
	memcpy(r->straight, h, rest);
	memcpy(r->straight + rest, data(r), h->size - rest);
	return (const void *)r->straight;
}

int ring_drain(struct ring *r, void (*take)(void *context, const struct perf_event_header *record),
	void *context)
{
	uint64_t head, tail;

	if (!r->page)
		return 0;
	head = __atomic_load_n(&r->page->data_head, __ATOMIC_ACQUIRE);
	tail = r->page->data_tail;
	while (tail < head) {
		const struct perf_event_header *h = record_at(r, tail);

		if (!h)
			return -1;
		if (h->size <
			sizeof(*h)) /* never, if the kernel is right; but no endless loop if not */
			break;
		tail += h->size;
		take(context, h);
	}
	__atomic_store_n(&r->page->data_tail, head, __ATOMIC_RELEASE);
	return 0;
}

void ring_unmap(struct ring *r)
{
	if (r->page)
		munmap(r->page, (size_t)sysconf(_SC_PAGESIZE) + r->size);
	free(r->straight);
	memset(r, 0, sizeof(*r));
}
