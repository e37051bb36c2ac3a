/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/rings.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sources/perf_open.h"

#define RECORD_MAX 65536

struct id {
	struct {
		uint64_t id;
	} key;
	uint32_t event;
};

int rings_init(struct rings *r, const struct record_format *format, size_t bytes, struct error *e)
{
	long cpus = sysconf(_SC_NPROCESSORS_CONF);

	memset(r, 0, sizeof(*r));
	r->format = *format;
	r->ids = (struct table){.entry_size = sizeof(struct id), .key_size = 8};
	r->page_size = (size_t)sysconf(_SC_PAGESIZE);
	r->bytes = r->page_size;
	while (r->bytes < bytes)
		r->bytes *= 2;
	r->scratch = malloc(RECORD_MAX);
	r->build_ids = true;
	r->tracepoint = -1;
	for (int cpu = 0; cpu < cpus; cpu++) {
		struct ring *ring = vec_push(&r->rings);

		if (!ring || !vec_push(&r->order))
			return error_nomem(e);
		*ring = (struct ring){.cpu = cpu, .fd = -1, .next = UINT64_MAX};
	}
	return r->scratch ? 0 : error_nomem(e);
}

/* The first event of a processor gets the ring; less memory is accepted if locked memory is
 * limited. */
static int map_ring(struct rings *r, struct ring *ring, int fd, struct error *e)
{
	struct pollfd *p = vec_push(&r->poll);
	size_t bytes;

	if (!p)
		return error_nomem(e);
	for (bytes = r->bytes; bytes >= r->page_size; bytes /= 2) {
		void *map =
			mmap(NULL, r->page_size + bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

		if (map == MAP_FAILED && (errno == EPERM || errno == ENOMEM))
			continue;
		if (map == MAP_FAILED)
			break;
		ring->fd = fd;
		ring->page = map;
		ring->data = (const char *)map + r->page_size;
		ring->size = bytes;
		*p = (struct pollfd){.fd = fd, .events = POLLIN};
		return 0;
	}
	error_sys(e, errno, "cannot map the kernel's buffer for samples");
	return error_hint(e, "several profilers together may exceed the limit of locked memory: "
			     "raise kernel.perf_event_mlock_kb or ulimit -l");
}

static int ring_remember(struct rings *r, int fd, uint32_t index, struct error *e)
{
	struct id *id, key = {{0}, 0};
	struct ring_event *slot = vec_push(&r->fds);

	if (!slot) {
		close(fd);
		return error_nomem(e);
	}
	*slot = (struct ring_event){fd, index};
	if (ioctl(fd, PERF_EVENT_IOC_ID, &key.key.id) != 0)
		return 0;
	id = table_add(&r->ids, &key.key);
	if (!id)
		return error_nomem(e);
	id->event = index;
	return 0;
}

static int open_one(struct rings *r, struct perf_event_attr *attr, pid_t pid, int cpu)
{
	int fd;

	attr->build_id = attr->mmap2 && r->build_ids;
	fd = perf_open(attr, pid, cpu, -1);
	if (fd >= 0 || !attr->build_id || (errno != EINVAL && errno != E2BIG))
		return fd;
	attr->build_id = 0;
	fd = perf_open(attr, pid, cpu, -1);
	if (fd >= 0)
		r->build_ids = false;
	return fd;
}

static uint32_t ring_watermark(const struct rings *r)
{
	size_t bytes = r->bytes / 4;

	return (uint32_t)(r->wakeup && r->wakeup < bytes ? r->wakeup : bytes);
}

int rings_open(
	struct rings *r, struct perf_event_attr *attr, pid_t pid, uint32_t index, struct error *e)
{
	bool any = false;

	while (r->types.count <= index) {
		uint64_t *type = vec_push(&r->types);

		if (!type) {
			errno = 0;
			return error_nomem(e);
		}
	}
	r->types.data[index] = attr->sample_type;
	for (size_t i = 0; i < r->rings.count; i++) {
		struct ring *ring = &r->rings.data[i];
		int fd;

		if (attr->watermark || !attr->wakeup_events)
			attr->wakeup_watermark = ring_watermark(r);
		fd = open_one(r, attr, pid, ring->cpu);
		if (fd < 0 && errno == ENODEV)
			continue; /* this processor is offline */
		if (fd < 0)
			return -1;
		any = true;
		if (attr->type == PERF_TYPE_TRACEPOINT)
			r->tracepoint = fd;
		if (ring_remember(r, fd, index, e) || (ring->fd < 0 && map_ring(r, ring, fd, e))) {
			errno = 0;
			return -1;
		}
		if (ring->fd != fd && ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, ring->fd) != 0)
			return -1;
		if (ring->size < r->bytes)
			r->bytes = ring->size;
	}
	if (!any)
		errno = ENODEV;
	return any ? 0 : -1;
}

void rings_enable(struct rings *r, bool on)
{
	for (size_t i = 0; i < r->fds.count; i++)
		ioctl(r->fds.data[i].fd, on ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE, 0);
}

void rings_enable_event(struct rings *r, uint32_t index, bool on)
{
	for (size_t i = 0; i < r->fds.count; i++)
		if (r->fds.data[i].index == index)
			ioctl(r->fds.data[i].fd,
				on ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE, 0);
}

uint64_t rings_unread(const struct rings *r)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < r->rings.count; i++)
		if (r->rings.data[i].page)
			bytes += __atomic_load_n(
					 &r->rings.data[i].page->data_head, __ATOMIC_ACQUIRE) -
				 r->rings.data[i].tail;
	return bytes;
}

static uint32_t ring_event_of(const struct rings *r, uint64_t id)
{
	struct id key = {{id}, 0}, *found = table_find(&r->ids, &key.key);

	return found ? found->event : 0;
}

void rings_totals(const struct rings *r, uint64_t *totals)
{
	for (size_t i = 0; i < r->fds.count; i++) {
		/* read_format may add fields after the value */
		uint64_t id = 0, values[8] = {0};

		if (ioctl(r->fds.data[i].fd, PERF_EVENT_IOC_ID, &id) == 0 &&
			read(r->fds.data[i].fd, values, sizeof(values)) >=
				(ssize_t)sizeof(values[0]))
			totals[ring_event_of(r, id)] += values[0];
	}
}

/* ---- reading --------------------------------------------------------------------------------- */

/* The record at tail, in one piece; NULL: none is complete. */
static const struct perf_event_header *ring_peek(const struct rings *r, const struct ring *ring)
{
	size_t at = (size_t)(ring->tail & (ring->size - 1)), first = ring->size - at;
	const struct perf_event_header *h = (const void *)(ring->data + at);

	/* Records are multiples of 8 bytes, so a header is never cut in two. */
	if (ring->tail >= ring->head || h->size < sizeof(*h) || h->size % 8 ||
		h->size > ring->head - ring->tail)
		return NULL;
	if (h->size <= first)
		return h;
	{
		size_t size = h->size;

		memcpy(r->scratch, h, first);
		memcpy(r->scratch + first, ring->data, size - first);
	}
	return (const void *)r->scratch;
}

/* What cannot be parsed comes at once: time 0. */
static void look_ahead(const struct rings *r, struct ring *ring)
{
	const struct perf_event_header *h = ring_peek(r, ring);

	ring->next = h                         ? record_time(h, h->size, &r->format)
		     : ring->tail < ring->head ? 0
					       : UINT64_MAX;
}

/* ---- the order of rings: r->order is a heap, the ring with the oldest record first ------------
 */

static const struct ring *ring_at(const struct rings *r, size_t place)
{
	return &r->rings.data[r->order.data[place]];
}

/* Of equal times, the ring of the first processor. */
static bool is_older(const struct rings *r, size_t a, size_t b)
{
	uint64_t x = ring_at(r, a)->next, y = ring_at(r, b)->next;

	return x < y || (x == y && r->order.data[a] < r->order.data[b]);
}

static void order_sink(struct rings *r, size_t place)
{
	for (;;) {
		size_t child = 2 * place + 1, oldest = place;
		uint32_t moved = r->order.data[place];

		for (size_t end = child + 2; child < end && child < r->order.count; child++)
			if (is_older(r, child, oldest))
				oldest = child;
		if (oldest == place)
			return;
		r->order.data[place] = r->order.data[oldest];
		r->order.data[oldest] = moved;
		place = oldest;
	}
}

/* The first ring has passed records on. */
static void order_restore(struct rings *r)
{
	if (ring_at(r, 0)->next == UINT64_MAX)
		r->order.data[0] = r->order.data[--r->order.count];
	if (r->order.count)
		order_sink(r, 0);
}

/* The time of the oldest record of all rings but the first in order. */
static uint64_t order_second(const struct rings *r)
{
	uint64_t second = UINT64_MAX;

	for (size_t place = 1; place < 3 && place < r->order.count; place++)
		if (ring_at(r, place)->next < second)
			second = ring_at(r, place)->next;
	return second;
}

/* Finds what the kernel has written, and the order. */
static void rings_look(struct rings *r)
{
	r->order.count = 0;
	for (size_t i = 0; i < r->rings.count; i++) {
		struct ring *ring = &r->rings.data[i];

		if (!ring->page)
			continue;
		ring->head = __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE);
		look_ahead(r, ring);
		if (ring->next != UINT64_MAX)
			r->order.data[r->order.count++] =
				(uint32_t)i; /* rings_init has made room */
	}
	for (size_t place = r->order.count / 2; place-- > 0;)
		order_sink(r, place);
}

/* Events with call stacks have more fields in their samples than others; the identifier comes
 * first. */
static struct record_format format_of(const struct rings *r, const struct perf_event_header *h)
{
	struct record_format format = r->format;
	uint64_t id = 0;

	format.build_ids = r->build_ids;
	if (h->type != PERF_RECORD_SAMPLE)
		return format;
	if ((format.sample_type & PERF_SAMPLE_IDENTIFIER) && h->size >= sizeof(*h) + sizeof(id))
		memcpy(&id, h + 1, sizeof(id));
	format.sample_type = r->types.data[ring_event_of(r, id)];
	return format;
}

/*
 * Takes the next record of a ring. false: nothing is to be passed on.
 * A sample that cannot be parsed becomes a record that one was lost; so does all that the ring has
 * if where the next record begins is unknown.
 */
static bool ring_take(const struct rings *r, struct ring *ring, struct record *record)
{
	const struct perf_event_header *h = ring_peek(r, ring);
	struct record_format format;
	bool good;

	if (!h) {
		*record = (struct record){.type = PERF_RECORD_LOST, .lost = 1};
		ring->tail = ring->head;
		return true;
	}
	format = format_of(r, h);
	ring->tail += h->size;
	good = record_parse(h, h->size, &format, record) == 0;
	if (good)
		record->event = record->id ? ring_event_of(r, record->id) : 0;
	else if (record->type == PERF_RECORD_SAMPLE)
		*record = (struct record){.type = PERF_RECORD_LOST, .lost = 1};
	else
		return false;
	return true;
}

/* Records of one ring, as long as they are the oldest. */
static int drain_one(struct rings *r, struct ring *ring, uint64_t until,
	int (*call)(void *context, const struct record *record), void *context)
{
	int rc = 0;

	while (rc == 0 && ring->next != UINT64_MAX && ring->next <= until) {
		struct record record;

		if (ring_take(r, ring, &record))
			rc = call(context, &record);
		look_ahead(r, ring);
	}
	__atomic_store_n(&ring->page->data_tail, ring->tail, __ATOMIC_RELEASE);
	return rc;
}

int rings_drain(struct rings *r, uint64_t limit,
	int (*call)(void *context, const struct record *record), void *context)
{
	rings_look(r);
	while (r->order.count && ring_at(r, 0)->next <= limit) {
		uint64_t second = order_second(r);
		struct ring *ring = &r->rings.data[r->order.data[0]];

		if (drain_one(r, ring, second < limit ? second : limit, call, context))
			return -1;
		order_restore(r);
	}
	return 0;
}

static bool has_ring(const struct rings *r, int fd)
{
	for (size_t i = 0; i < r->rings.count; i++)
		if (r->rings.data[i].fd == fd)
			return true;
	return false;
}

void rings_drop_ended(struct rings *r)
{
	size_t kept = 0;

	for (size_t i = 0; i < r->fds.count; i++) {
		struct pollfd p = {.fd = r->fds.data[i].fd};

		if (poll(&p, 1, 0) == 1 && (p.revents & POLLHUP) && !has_ring(r, p.fd))
			close(p.fd);
		else
			r->fds.data[kept++] = r->fds.data[i];
	}
	/* With more than one event, records would need their numbers. */
	if (kept < r->fds.count && r->types.count == 1)
		table_fini(&r->ids);
	r->fds.count = kept;
}

/*
 * The last user of a tracepoint waits in close until no processor can be in it, some 30 ms. So an
 * event of it is sent through a socket whose other end is sent with it: when both ends are closed,
 * they cannot be received, and the kernel's collector of such sockets closes the event. Linux 6.9
 * and later do that in the background, as do 6.1 and 6.6 since mid 2025; others within our close.
 * Returns the end that is to be closed last; -1: there is none.
 */
static int rings_leave_tracepoint(const struct rings *r)
{
	union {
		struct cmsghdr head;
		char bytes[CMSG_SPACE(2 * sizeof(int))];
	} control = {.head = {.cmsg_len = CMSG_LEN(2 * sizeof(int)),
			     .cmsg_level = SOL_SOCKET,
			     .cmsg_type = SCM_RIGHTS}};
	struct iovec byte = {"", 1};
	struct msghdr message = {.msg_iov = &byte,
		.msg_iovlen = 1,
		.msg_control = control.bytes,
		.msg_controllen = sizeof(control.bytes)};
	int ends[2], sent[2];

	if (!r->fds.count || r->tracepoint < 0 ||
		socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, ends) != 0)
		return -1;
	sent[0] = ends[1];
	sent[1] = r->tracepoint;
	memcpy(CMSG_DATA(&control.head), sent, sizeof(sent));
	sendmsg(ends[0], &message, MSG_NOSIGNAL); /* if it fails, we wait */
	close(ends[1]);
	return ends[0];
}

void rings_fini(struct rings *r)
{
	int left = rings_leave_tracepoint(r);

	for (size_t i = 0; i < r->rings.count; i++)
		if (r->rings.data[i].page)
			munmap(r->rings.data[i].page, r->page_size + r->rings.data[i].size);
	for (size_t i = 0; i < r->fds.count; i++)
		close(r->fds.data[i].fd);
	if (left >= 0)
		close(left);
	vec_fini(&r->rings);
	vec_fini(&r->order);
	vec_fini(&r->fds);
	vec_fini(&r->types);
	vec_fini(&r->poll);
	table_fini(&r->ids);
	free(r->scratch);
	memset(r, 0, sizeof(*r));
}
