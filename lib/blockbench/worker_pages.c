/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The pages that a block touches, each mapped when it first faults (BHive, 3.1). They are distinct
 * physical pages as long as those fit the first-level cache, so that a load hits a store only if
 * the block's addresses are equal; else all of them are one.
 */
#include <asm/unistd.h>
#include <linux/mman.h>

#include "blockbench/worker.h"

#define DIRTY_MAX 1024

struct pages pages;
static uint32_t dirty_count; /* DIRTY_MAX + 1: too many, whole pages then */
static volatile uint64_t *dirty[DIRTY_MAX];

void pages_init(void)
{
	pages.count = 0;
}

void pages_clear(bool single)
{
	for (unsigned i = 0; i < pages.count; i++)
		worker_syscall(__NR_munmap, (long)pages.address[i], PAGE, 0, 0, 0, 0);
	pages.count = 0;
	pages.single = single;
	dirty_count = 0;
}

static bool pages_inside(uint64_t address, uint64_t begin, uint64_t end)
{
	return address >= begin && address < end;
}

enum block_class pages_map(uint64_t address, bool write, unsigned distinct_max)
{
	uint64_t page = address & -PAGE, data = pages.single ? 0 : pages.count;
	long got;

	if (pages_inside(address, CODE_ADDRESS, CODE_ADDRESS + CODE_BYTES))
		return write ? BLOCK_OWN_CODE : BLOCK_ADDRESS;
	if (page >= ADDRESS_LIMIT || pages_inside(address, WORKER_ADDRESS, WORKER_END))
		return BLOCK_ADDRESS;
	if (pages.count == PAGES_MAX || (!pages.single && pages.count >= distinct_max))
		return BLOCK_PAGES;
	got = worker_syscall(__NR_mmap, (long)page, PAGE, PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_FIXED_NOREPLACE | MAP_POPULATE, FD_DATA, (long)(data * PAGE));
	if (got != (long)page)
		return BLOCK_ADDRESS;
	pages.address[pages.count++] = page;
	return BLOCK_OK;
}

static unsigned physical_pages(void)
{
	return pages.single && pages.count ? 1 : pages.count;
}

static void pages_fill_with(uint64_t page, uint64_t value)
{
	uint64_t count = PAGE / 8;

	__asm__ volatile("rep stosq" : "+D"(page), "+c"(count) : "a"(value) : "memory");
}

void pages_fill(uint64_t value)
{
	for (unsigned i = 0; i < physical_pages(); i++)
		pages_fill_with(pages.address[i], value);
}

void pages_fill_last(uint64_t value)
{
	if (pages.count && (!pages.single || pages.count == 1))
		pages_fill_with(pages.address[pages.count - 1], value);
}

void pages_note(uint64_t value)
{
	dirty_count = 0;
	for (unsigned i = 0; i < physical_pages(); i++) {
		uint64_t *p = (uint64_t *)pages.address[i];

		for (unsigned k = 0; k < PAGE / 8; k++) {
			if (p[k] == value)
				continue;
			if (dirty_count >= DIRTY_MAX) {
				dirty_count = DIRTY_MAX + 1;
				return;
			}
			dirty[dirty_count++] = &p[k];
		}
	}
}

void pages_restore(uint64_t value)
{
	if (dirty_count > DIRTY_MAX) {
		pages_fill(value);
		return;
	}
	for (uint32_t i = 0; i < dirty_count; i++)
		*dirty[i] = value;
}

void pages_flush(void)
{
	for (unsigned i = 0; i < physical_pages(); i++)
		for (unsigned k = 0; k < PAGE; k += 64)
			__asm__ volatile("clflush (%0)" ::"r"(pages.address[i] + k) : "memory");
}
