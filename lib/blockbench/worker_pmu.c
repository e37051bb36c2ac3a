/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The processor's own counters, read by rdpmc within the generated code: core cycles, and the
 * events for which BHive (3.3) discards measurements: misses of the first-level data cache and
 * accesses that cross lines. Opened before confinement, and tested with a chain of known length.
 */
#include <asm/unistd.h>
#include <linux/mman.h>
#include <linux/perf_event.h>

#include "blockbench/worker.h"

#define PMU_ADDRESS (WORKER_END - 0x10000)

static struct perf_event_mmap_page *pmu_counters[PMU_COUNTERS];

static uint32_t vendor(void)
{
	uint32_t a = 0, b, c, d;

	__asm__ volatile("cpuid" : "+a"(a), "=b"(b), "=c"(c), "=d"(d));
	return b;
}

/* Loads and stores that cross a line; the code depends on the maker. */
static uint64_t crossing(void)
{
	switch (vendor()) {
	case 0x756e6547: /* Genu(ineIntel): MEM_INST_RETIRED.SPLIT_LOADS */
		return 0x41d0;
	case 0x68747541: /* Auth(enticAMD): LsMisalLoads */
		return 0x0347;
	default:
		return 0;
	}
}

static int open_counter(enum pmu_counter which, uint32_t type, uint64_t config, int leader)
{
	struct perf_event_attr attr = {.type = type,
		.size = sizeof(attr),
		.config = config,
		.pinned = leader < 0,
		.exclude_kernel = 1,
		.exclude_hv = 1};
	long fd = worker_syscall(__NR_perf_event_open, (long)&attr, 0, -1, leader, 0, 0);
	uint64_t at = PMU_ADDRESS + which * PAGE;

	if (fd < 0)
		return -1;
	if (worker_syscall(__NR_mmap, (long)at, PAGE, PROT_READ, MAP_SHARED | MAP_FIXED, fd, 0) !=
		(long)at)
		return -1;
	pmu_counters[which] = (struct perf_event_mmap_page *)at;
	return (int)fd;
}

int pmu_open(void)
{
	const uint64_t l1_read_misses = PERF_COUNT_HW_CACHE_L1D | PERF_COUNT_HW_CACHE_OP_READ << 8 |
					PERF_COUNT_HW_CACHE_RESULT_MISS << 16;
	int leader = open_counter(PMU_CYCLES, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, -1);

	if (leader < 0)
		return -1;
	open_counter(PMU_MISSES, PERF_TYPE_HW_CACHE, l1_read_misses, leader);
	if (crossing())
		open_counter(PMU_CROSSING, PERF_TYPE_RAW, crossing(), leader);
	return pmu_number(PMU_CYCLES) < 0 ? -1 : 0;
}

int pmu_number(enum pmu_counter which)
{
	const volatile struct perf_event_mmap_page *page = pmu_counters[which];

	return page && page->cap_user_rdpmc && page->index ? (int)page->index - 1 : -1;
}

static uint32_t read_counter(int number)
{
	uint32_t low, high;

	__asm__ volatile("lfence; rdpmc; lfence" : "=a"(low), "=d"(high) : "c"(number) : "memory");
	return low;
}

/* A chain of 4096 additions takes as many cycles and little more. */
bool pmu_counts(void)
{
	int number = pmu_number(PMU_CYCLES);

	for (int attempt = 0; number >= 0 && attempt < 5; attempt++) {
		uint32_t begin = read_counter(number), cycles;
		uint64_t x = 0, y = 1;

		for (int i = 0; i < 64; i++)
			__asm__ volatile(".rept 64; add %1,%0; .endr" : "+r"(x) : "r"(y));
		cycles = read_counter(number) - begin;
		if (cycles >= 4096 && cycles < 4096 + 400)
			return true;
	}
	return false;
}
