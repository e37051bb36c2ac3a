/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/watches.h"

#include <errno.h>
#include <linux/hw_breakpoint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/random.h"
#include "sources/perf_open.h"

#define PAGE_BYTES 4096u
#define HITS       4 /* of a watch: then it is off */
#define TRIED      3 /* of ourselves */

/* rax, rbx, rcx, rdx, rsi, rdi, rbp, rsp, and r8 to r15, as the kernel orders and numbers them. */
#define GENERAL_MASK 0xff00ffu
static const uint8_t general_of[16] = {0, 3, 1, 2, 6, 7, 5, 4, 8, 9, 10, 11, 12, 13, 14, 15};

struct watch_record {
	struct perf_event_header header;
	uint64_t id, ip;
	uint64_t value, running; /* of the event: counts, ns */
	uint64_t abi, general[16];
};

/* ---- one watch ---- */

static int watch_open(uint64_t address, unsigned size, unsigned type, pid_t tid, bool kernel)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_BREAKPOINT,
		.bp_type = type,
		.bp_addr = address,
		.bp_len = size,
		.sample_period = 1,
		.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_READ |
			       PERF_SAMPLE_REGS_USER,
		.read_format = PERF_FORMAT_TOTAL_TIME_RUNNING,
		.sample_regs_user = GENERAL_MASK,
		.disabled = 1,
		.exclude_hv = 1,
		.exclude_kernel = !kernel,
		.wakeup_events = 1};

	return perf_open(&attr, tid, -1, -1);
}

static void watch_end(struct watch *w)
{
	if (w->ring)
		munmap(w->ring, 2 * PAGE_BYTES);
	if (w->writes >= 0)
		close(w->writes);
	if (w->any >= 0)
		close(w->any);
	*w = (struct watch){.any = -1, .writes = -1};
}

/* On from now on. -1 with errno: none is free, or this is not permitted. */
static int watch_begin(struct watch *w, const struct value_touch *t, pid_t tid, bool kernel)
{
	int before;

	*w = (struct watch){.tid = tid, .any = -1, .writes = -1, .touch = *t};
	w->any = watch_open(t->address, t->size, HW_BREAKPOINT_RW, tid, kernel);
	if (w->any >= 0)
		w->writes = watch_open(t->address, t->size, HW_BREAKPOINT_W, tid, kernel);
	if (w->writes >= 0)
		w->ring = mmap(NULL, 2 * PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, w->any, 0);
	if (w->ring == MAP_FAILED)
		w->ring = NULL;
	if (w->ring && ioctl(w->writes, PERF_EVENT_IOC_SET_OUTPUT, w->any) == 0 &&
		ioctl(w->writes, PERF_EVENT_IOC_ID, &w->writes_id) == 0 &&
		ioctl(w->any, PERF_EVENT_IOC_REFRESH, HITS) == 0 &&
		ioctl(w->writes, PERF_EVENT_IOC_REFRESH, HITS) == 0)
		return 0;
	before = errno;
	watch_end(w);
	errno = before;
	return -1;
}

static void watch_hit_from(struct watch_hit *hit, const struct watch_record *r)
{
	*hit = (struct watch_hit){.next = r->ip, .ns = r->running};
	if (r->abi == PERF_SAMPLE_REGS_ABI_64)
		for (unsigned k = 0; k < 16; k++)
			hit->general[general_of[k]] = r->general[k];
}

/* An instruction that writes does so each time. */
static void note_write(struct watch_hit *hits, size_t count, uint64_t next)
{
	for (size_t i = 0; i < count; i++)
		if (hits[i].next == next)
			hits[i].writes = true;
}

/* Records so far; there is room in the ring for all. */
static size_t watch_read(const struct watch *w, struct watch_hit hits[HITS])
{
	const struct perf_event_mmap_page *page = w->ring;
	const char *data = (const char *)w->ring + PAGE_BYTES;
	uint64_t head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE), written[2 * HITS];
	size_t count = 0, writes = 0;
	struct watch_record r;

	for (uint64_t at = 0; at + sizeof(r.header) <= head && at < PAGE_BYTES;) {
		memset(&r, 0, sizeof(r));
		memcpy(&r.header, data + at, sizeof(r.header));
		if (r.header.size < sizeof(r.header) || at + r.header.size > head ||
			at + r.header.size > PAGE_BYTES)
			break;
		memcpy(&r, data + at, r.header.size < sizeof(r) ? r.header.size : sizeof(r));
		at += r.header.size;
		if (r.header.type != PERF_RECORD_SAMPLE)
			continue;
		if (r.id == w->writes_id && writes < 2 * HITS)
			written[writes++] = r.ip;
		else if (r.id != w->writes_id && count < HITS)
			watch_hit_from(&hits[count++], &r);
	}
	while (writes > 0)
		note_write(hits, count, written[--writes]);
	return count;
}

/* ---- trying ---- */

/* Of hits that follow each other at once. */
static double least_gap(const struct watch_hit *hits, size_t count)
{
	uint64_t least = UINT64_MAX;

	for (size_t i = 1; i < count; i++)
		if (hits[i].ns - hits[i - 1].ns < least)
			least = hits[i].ns - hits[i - 1].ns;
	return count > 1 ? (double)least : 0;
}

/* Stores that must be seen, and their time. */
static int watches_try(struct watches *w, struct error *e)
{
	static volatile uint64_t word;
	const struct value_touch touch = {.address = (uintptr_t)&word, .size = sizeof(word)};
	struct watch_hit hits[HITS];
	struct watch watch;
	size_t seen;

	if (watch_begin(&watch, &touch, 0, w->kernel))
		return error_sys(e, errno, "the kernel gives no debug registers");
	for (unsigned k = 0; k < TRIED; k++)
		word = k;
	seen = watch_read(&watch, hits);
	w->ns_of_hit = least_gap(hits, seen);
	watch_end(&watch);
	for (size_t i = 0; i < seen; i++)
		seen = hits[i].writes ? seen : 0;
	return seen == TRIED
		       ? 0
		       : error_set(e, ERR_UNSUPPORTED,
				 "debug registers do not work here: of %d stores, %zu were seen",
				 TRIED, seen);
}

int watches_begin(struct watches *w, struct error *e)
{
	struct error why;

	for (size_t i = 0; i < WATCHES; i++)
		w->list[i] = (struct watch){.any = -1, .writes = -1};
	w->chance = 88172645463325252u ^ (uint64_t)getpid() << 20;
	w->kernel = true;
	if (watches_try(w, &why)) {
		w->kernel = false;
		if (watches_try(w, &why))
			return error_set(e, why.code,
				"%s; a debugger may have them, or the virtual machine none: prof "
				"-redundant needs none",
				why.message);
	}
	w->wanted = true;
	return 0;
}

/* ---- visits ---- */

static double watches_chance(struct watches *w)
{
	return (double)((random_next(&w->chance) >> 11) + 1) * 0x1p-53;
}

/* The code before each place, as much as can be read. */
static void read_code(int memory, struct watch_hit *hits, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct watch_hit *h = &hits[i];
		size_t size = sizeof(h->code);

		/* Of two pages, the first may not be mapped. */
		if (pread(memory, h->code, size, (off_t)(h->next - size)) != (ssize_t)size) {
			size = h->next % PAGE_BYTES;
			if (size >= sizeof(h->code) ||
				pread(memory, h->code + sizeof(h->code) - size, size,
					(off_t)(h->next - size)) != (ssize_t)size)
				size = 0;
		}
		h->known = (uint8_t)size;
	}
}

/* false: it stays. over: it is to end. */
static bool watch_settle(struct watches *w, struct watch *one, bool over,
	const struct branches_visit *visit, struct value_window *window, uint64_t *cost)
{
	struct watch_hit hits[HITS];
	size_t count = watch_read(one, hits);
	enum watch_fate fate;

	if (count)
		read_code(visit->memory, hits, count);
	fate = value_watch_tell(&one->touch, hits, count, HITS, over, w->ns_of_hit, window);
	if (fate == WATCH_WAITS)
		return false;
	w->told[VALUE_TALLY_WATCHED]++;
	w->told[VALUE_TALLY_WATCH_MISSED] += fate == WATCH_MISSED;
	w->told[VALUE_TALLY_WATCH_UNKNOWN] += fate == WATCH_UNKNOWN;
	*cost += (uint64_t)((double)count * w->ns_of_hit);
	watch_end(one);
	return true;
}

static struct watch *watch_of(struct watches *w, pid_t tid, bool store)
{
	for (size_t i = 0; i < WATCHES; i++)
		if (w->list[i].tid == tid && w->list[i].touch.writes == store)
			return &w->list[i];
	return NULL;
}

/* An unused place; failing that, the one that was set first: its thread may have ended. */
static struct watch *watch_slot(struct watches *w)
{
	struct watch *eldest = &w->list[0];

	for (size_t i = 0; i < WATCHES; i++) {
		if (!w->list[i].tid)
			return &w->list[i];
		if (w->list[i].visits > eldest->visits)
			eldest = &w->list[i];
	}
	watch_end(eldest);
	return eldest;
}

static void watch_anew(struct watches *w, const struct branches_visit *visit,
	struct value_window *window, bool store, uint64_t *cost)
{
	struct watch *one = watch_of(w, visit->tid, store);
	const struct value_touch *touch = value_watch_choose(window, store, watches_chance(w));

	if (!touch)
		return;
	if (one && watches_chance(w) * ++one->visits > 1)
		return;
	if (one)
		watch_settle(w, one, true, visit, window, cost);
	one = watch_slot(w);
	if (watch_begin(one, touch, visit->tid, w->kernel) == 0)
		one->pid = visit->pid;
}

uint64_t watches_visit(
	struct watches *w, const struct branches_visit *visit, struct value_window *window)
{
	uint64_t cost = 0;

	for (size_t i = 0; i < WATCHES; i++)
		if (w->list[i].pid == visit->pid)
			watch_settle(w, &w->list[i], false, visit, window, &cost);
	watch_anew(w, visit, window, true, &cost);
	watch_anew(w, visit, window, false, &cost);
	return cost;
}

void watches_renew(struct watches *w, pid_t pid)
{
	for (size_t i = 0; i < WATCHES; i++)
		if (w->list[i].tid && w->list[i].pid == pid)
			watch_end(&w->list[i]);
}

void watches_fini(struct watches *w)
{
	for (size_t i = 0; w->wanted && i < WATCHES; i++)
		watch_end(&w->list[i]);
	w->wanted = false;
}
