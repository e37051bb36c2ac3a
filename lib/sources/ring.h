/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The ring buffer that the kernel writes a perf event's records into.
 */
#ifndef SOURCES_RING_H
#define SOURCES_RING_H

#include <linux/perf_event.h>
#include <stddef.h>

struct ring {
	struct perf_event_mmap_page *page; /* NULL: not mapped */
	size_t size;                       /* of the data behind it, a power of two */
	char *straight;                    /* where a record that wraps is put together */
};

/* Maps pages (a power of two) of data; -1 with errno (EPERM: over perf_event_mlock_kb). */
int ring_map(struct ring *r, int fd, size_t pages);
/* Hands all records to take, in the order of writing, and frees their place.  A record is valid
 * during the call. Returns 0; -1 when memory is out. */
int ring_drain(struct ring *r, void (*take)(void *context, const struct perf_event_header *record),
	void *context);
void ring_unmap(struct ring *r);

#endif
