/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The events of a session, opened on every processor, and their ring buffers, one per processor.
 * Events are inherited by all threads and processes that are created later. Records are passed on
 * in order of time.
 */
#ifndef COLLECT_RINGS_H
#define COLLECT_RINGS_H

#include <linux/perf_event.h>
#include <poll.h>
#include <stdbool.h>

#include "base/error.h"
#include "base/table.h"
#include "base/vec.h"
#include "collect/records.h"

struct ring {
	int cpu, fd; /* of its first event */
	struct perf_event_mmap_page *page;
	const char *data;
	size_t size;
	uint64_t tail, head; /* read so far, known to be written */
	uint64_t next;       /* time of the record at tail; UINT64_MAX: there is none */
};

struct ring_event {
	int fd;
	uint32_t index; /* as it was opened */
};

struct rings {
	struct record_format format; /* without fields that only some events have */
	VEC(uint64_t) types;         /* sample types, by index of the event */
	VEC(struct ring) rings;
	VEC(uint32_t)
	order; /* indices of the rings that have a record, as a heap: while draining */
	VEC(struct ring_event) fds; /* of all events, on all processors */
	VEC(struct pollfd) poll;
	struct table ids; /* of the kernel -> index of the event */
	size_t page_size;
	size_t bytes;   /* requested for each ring, a power of two */
	size_t wakeup;  /* bytes after which a ring wakes us, at most; 0: a quarter of it */
	char *scratch;  /* a record that goes over the end of its ring */
	bool build_ids; /* the kernel reports those of mappings */
	int tracepoint; /* an event of one, in fds; -1 */
};

/* Finds the processors. bytes: of each ring, rounded up to a power of two; less if the kernel
 * grants no more. */
int rings_init(struct rings *r, const struct record_format *format, size_t bytes, struct error *e);
/*
 * Opens attr as event number `index` for pid (-1: all) on all processors. A kernel without
 * build-ids of mappings is asked without them. -1 with errno as perf_open has it (e is not set),
 * or with errno 0 and *e set.
 */
int rings_open(
	struct rings *r, struct perf_event_attr *attr, pid_t pid, uint32_t index, struct error *e);
void rings_enable(struct rings *r, bool on);
/* Likewise, of the events that were opened with that number. */
void rings_enable_event(struct rings *r, uint32_t index, bool on);
/* Bytes of records that are not yet passed on. */
uint64_t rings_unread(const struct rings *r);
/* Adds the total counts, of all processes that inherited the events, to totals[index]. */
void rings_totals(const struct rings *r, uint64_t *totals);
/*
 * Passes on all records with times up to limit, in order, each with its event (the first if its id
 * is unknown), in time that grows with the logarithm of the number of rings. What is malformed is
 * passed on as PERF_RECORD_LOST of one. call returns 0, or -1 to stop.
 */
int rings_drain(struct rings *r, uint64_t limit,
	int (*call)(void *context, const struct record *record), void *context);
/* Closes events of threads that have ended, and of all that inherited them; those that have rings
 * stay. */
void rings_drop_ended(struct rings *r);
void rings_fini(struct rings *r);

#endif
