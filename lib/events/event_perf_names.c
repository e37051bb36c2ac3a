/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names of `perf list` that are not those of a row, because processors differ in what they count by
 * them, with the row that comes nearest.
 */
#include <strings.h>

#include "events/event.h"

#define STORES_TOO     "it includes what stores miss"
#define LOADS_TOO      "it includes what loads miss"
#define ALL_REFERENCES "it counts all references: loads, stores and instructions"

static const struct {
	const char *name;
	int number;
	const char *difference;
} perf_names[] = {
	{"cache-references", EV_LL_REFERENCES, "on some processors perf counts another level"},
	{"cache-misses", EV_LL_DATA_MISSES, "without those of instructions"},
	{"bus-cycles", EV_CYCLES, "of the core's clock"},
	{"ref-cycles", EV_CYCLES, "at the clock that the core runs at"},
	{"cpu-clock", EV_TASK_CLOCK, "the same in a command that is alone on its processor"},
	{"minor-faults", EV_PAGE_FAULTS, "it includes major ones"},
	{"L1-dcache-loads", EV_LOADS, "graduated ones"},
	{"L1-dcache-load-misses", EV_L1D_MISSES, STORES_TOO},
	{"L1-dcache-stores", EV_STORES, "graduated ones"},
	{"L1-dcache-store-misses", EV_L1D_MISSES, LOADS_TOO},
	{"L1-dcache-prefetches", EV_HARDWARE_PREFETCHES, "of all levels"},
	{"L1-dcache-prefetch-misses", EV_HARDWARE_PREFETCHES, "of all levels"},
	{"L1-icache-load-misses", EV_L1I_MISSES, "the same"},
	{"L1-icache-loads", EV_INSTRUCTIONS, "instructions, not lines that were fetched"},
	{"LLC-loads", EV_LL_REFERENCES, ALL_REFERENCES},
	{"LLC-stores", EV_LL_REFERENCES, ALL_REFERENCES},
	{"LLC-load-misses", EV_LL_DATA_MISSES, STORES_TOO},
	{"LLC-store-misses", EV_LL_DATA_MISSES, LOADS_TOO},
	{"LLC-prefetches", EV_HARDWARE_PREFETCHES, "of all levels"},
	{"LLC-prefetch-misses", EV_HARDWARE_PREFETCHES, "of all levels"},
	{"dTLB-loads", EV_LOADS, "each load asks the TLB"},
	{"dTLB-stores", EV_STORES, "each store asks the TLB"},
	{"dTLB-load-misses", EV_DTLB_WALKS, STORES_TOO},
	{"dTLB-store-misses", EV_DTLB_WALKS, LOADS_TOO},
	{"iTLB-loads", EV_INSTRUCTIONS, "instructions, not what they ask the TLB"},
	{"iTLB-load-misses", EV_ITLB_WALKS, "the same"},
	{"branch-loads", EV_BRANCHES, "the same"},
	{"branch-load-misses", EV_MISPREDICTED_BRANCHES, "whatever was predicted wrong"},
	{"node-loads", EV_LL_DATA_MISSES, "from whatever memory"},
	{"node-load-misses", EV_LL_DATA_MISSES, "from whatever memory"},
	{"mem-loads", EV_LOADS, "counted, not sampled"},
	{"mem-stores", EV_STORES, "counted, not sampled"},
};

const struct event *event_perf_nearest(const char *name, const char **difference)
{
	for (size_t i = 0; i < sizeof(perf_names) / sizeof(perf_names[0]); i++) {
		if (strcasecmp(perf_names[i].name, name) != 0)
			continue;
		*difference = perf_names[i].difference;
		return event_by_number(perf_names[i].number);
	}
	return NULL;
}
