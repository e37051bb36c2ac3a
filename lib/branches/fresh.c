/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whether the originals of copies are unchanged, and whether a thread may run copies at all.
 *
 * A program may make its code writable, change it, and undo that between two bursts. A page that
 * was written to (by the program, or by our breakpoints) is no longer the file's: pagemap shows
 * it, and such pages are compared.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <unistd.h>

#include "base/order.h"
#include "branches/cache.h"

#define ENTRIES     512
#define APART       64 /* pages: more distant ones need another call */
#define PRESENT     (1ull << 63)
#define SWAPPED     (1ull << 62)
#define OF_FILE     (1ull << 61)
#define AT_CRITICAL 8 /* bytes: offset in struct rseq of the critical section's description */

#ifndef PTRACE_GET_RSEQ_CONFIGURATION
#define PTRACE_GET_RSEQ_CONFIGURATION 0x420f
#endif

struct rseq_place { /* as the kernel reports it */
	uint64_t address;
	uint32_t size, signature, flags, zero;
};

bool fresh_critical(const struct held *f)
{
	struct rseq_place place = {0};
	uint64_t section = 0;

	if (ptrace(PTRACE_GET_RSEQ_CONFIGURATION, f->tid, (void *)sizeof(place), &place) <= 0 ||
		!place.address)
		return false;
	return process_read(f->process->memory, place.address + AT_CRITICAL, &section,
		       sizeof(section)) &&
	       section;
}

static bool fresh_same(struct cache *c, uint64_t number)
{
	const struct code_page *page = table_find(&c->pages, &number);
	uint8_t bytes[CODE_PAGE];

	return !page || (branches_read_code(c->b, c->process, number * CODE_PAGE, bytes,
				 CODE_PAGE) == page->have &&
				memcmp(bytes, page->bytes, page->have) == 0);
}

/* The number of pages from page i on that are examined together. */
static size_t near(const struct cache *c, size_t i)
{
	uint64_t first = c->page_numbers.data[i], last = first;

	while (i + 1 < c->page_numbers.count && c->page_numbers.data[i + 1] - last < APART &&
		c->page_numbers.data[i + 1] - first < ENTRIES)
		last = c->page_numbers.data[++i];
	return last - first + 1;
}

bool fresh_originals(struct cache *c)
{
	uint64_t entries[ENTRIES] = {0}, first = 0, have = 0;
	char path[64];
	bool fresh = true;

	if (!c->page_numbers.count)
		return true;
	if (c->pagemap < 0) {
		snprintf(path, sizeof(path), "/proc/%d/pagemap", (int)c->process->pid);
		c->pagemap = open(path, O_RDONLY | O_CLOEXEC);
	}
	if (c->pagemap < 0)
		return false;
	if (!c->pages_sorted)
		qsort(c->page_numbers.data, c->page_numbers.count, sizeof(uint64_t), order_u64);
	c->pages_sorted = true;
	for (size_t i = 0; i < c->page_numbers.count && fresh; i++) {
		uint64_t number = c->page_numbers.data[i], entry = PRESENT;

		if (number - first >= have) {
			size_t size = 8 * near(c, i);
			ssize_t n = pread(c->pagemap, entries, size, (off_t)(number * 8));

			first = number;
			have = n > 0 ? (uint64_t)n / 8 : 0;
		}
		if (number - first < have)
			entry = entries[number - first];
		if (entry & (PRESENT | SWAPPED) && !(entry & OF_FILE))
			fresh = fresh_same(c, number);
	}
	return fresh;
}
