/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names of `perf list` that are not those of a row, because processors differ in what they count by
 * them, with the row that comes nearest. Also names in perf's forms: cpu/NAME/, NAME:u, rNNN,
 * cpu/event=0xNN,umask=0xNN/.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "events/event.h"

enum { NONE = -1, RAW_TYPE = 4 /* PERF_TYPE_RAW */ };

#define STORES_TOO     "it includes what stores miss"
#define LOADS_TOO      "it includes what loads miss"
#define ALL_REFERENCES "it counts all references: loads, stores and instructions"
#define TRACEPOINT     "perfex counts no tracepoints"

static const char same[] = "the same";

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
	{"L1-icache-load-misses", EV_L1I_MISSES, same},
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
	{"iTLB-load-misses", EV_ITLB_WALKS, same},
	{"branch-loads", EV_BRANCHES, same},
	{"branch-load-misses", EV_MISPREDICTED_BRANCHES, "whatever was predicted wrong"},
	{"node-loads", EV_LL_DATA_MISSES, "from whatever memory"},
	{"node-load-misses", EV_LL_DATA_MISSES, "from whatever memory"},
	{"node-stores", EV_LL_DATA_MISSES, "from whatever memory, loads too"},
	{"node-store-misses", EV_LL_DATA_MISSES, "from whatever memory, loads too"},
	{"node-prefetches", EV_HARDWARE_PREFETCHES, "of all levels"},
	{"node-prefetch-misses", EV_HARDWARE_PREFETCHES, "of all levels"},
	{"L1-icache-prefetches", EV_HARDWARE_PREFETCHES, "of data, of all levels"},
	{"dTLB-prefetches", EV_HARDWARE_PREFETCHES, "of data, of all levels"},
	{"cgroup-switches", EV_CONTEXT_SWITCHES, "whatever group the other thread is in"},
	{"sched:sched_switch", EV_CONTEXT_SWITCHES, TRACEPOINT},
	{"exceptions:page_fault_user", EV_PAGE_FAULTS, TRACEPOINT},
	{"exceptions:page_fault_kernel", EV_PAGE_FAULTS, TRACEPOINT},
	{"user_time", EV_TASK_CLOCK, "with the time in the kernel (stime)"},
	{"tsc", EV_CYCLES, "at the clock that the core runs at"},
	{"duration_time", NONE, "the elapsed time is above each report"},
	{"alignment-faults", NONE, "the kernel has none on this machine"},
	{"emulation-faults", NONE, "the kernel has none on this machine"},
	{"dummy", NONE, "it counts nothing"},
	{"bpf-output", NONE, "it counts what a BPF program sends"},
	{"mem-loads", EV_LOADS, "counted, not sampled"},
	{"mem-stores", EV_STORES, "counted, not sampled"},
	{"slots", EV_MICRO_OPS, "those used, not those there were"},
	{"topdown-retiring", EV_MICRO_OPS, "micro-operations, not a share of slots"},
	{"topdown-bad-spec", EV_MISPREDICTED_BRANCHES, "mispredictions, not the slots they lose"},
	{"topdown-fe-bound", EV_FRONTEND_STALLS, "cycles, not slots"},
	{"topdown-be-bound", EV_BACKEND_STALLS, "cycles, not slots"},
	/* With a modifier, or in cpu//: alone, they are rows. */
	{"instructions", EV_INSTRUCTIONS, same},
	{"cycles", EV_CYCLES, same},
	{"cpu-cycles", EV_CYCLES, same},
	{"branches", EV_BRANCHES, same},
	{"branch-instructions", EV_BRANCHES, same},
	{"branch-misses", EV_MISPREDICTED_BRANCHES, same},
	{"stalled-cycles-frontend", EV_FRONTEND_STALLS, same},
	{"stalled-cycles-backend", EV_BACKEND_STALLS, same},
	{"page-faults", EV_PAGE_FAULTS, same},
	{"faults", EV_PAGE_FAULTS, same},
	{"major-faults", EV_MAJOR_FAULTS, same},
	{"context-switches", EV_CONTEXT_SWITCHES, same},
	{"cs", EV_CONTEXT_SWITCHES, same},
	{"cpu-migrations", EV_CPU_MIGRATIONS, same},
	{"task-clock", EV_TASK_CLOCK, same},
	/* Makers' own names, in perf's spelling: AMD, Intel, Arm. */
	{"ex_ret_instr", EV_INSTRUCTIONS, same},
	{"ex_ret_ops", EV_MICRO_OPS, same},
	{"ex_ret_brn", EV_BRANCHES, same},
	{"ex_ret_brn_misp", EV_MISPREDICTED_BRANCHES, same},
	{"ex_ret_cond", EV_CONDITIONAL_BRANCHES, same},
	{"ls_not_halted_cyc", EV_CYCLES, same},
	{"ls_l1_d_tlb_miss.all", EV_DTLB_MISSES, "those that the second level has"},
	{"ls_l1_d_tlb_miss.all_l2_miss", EV_DTLB_WALKS, same},
	{"bp_l1_tlb_miss_l2_tlb_miss", EV_ITLB_WALKS, same},
	{"bp_l1_tlb_miss_l2_tlb_hit", EV_ITLB_MISSES, same},
	{"ic_cache_fill_l2", EV_L1I_MISSES, same},
	{"ls_any_fills_from_sys.all", EV_L1D_MISSES, "with prefetches"},
	{"ls_dmnd_fills_from_sys.all", EV_L1D_MISSES, same},
	{"ls_dmnd_fills_from_sys.dram_io_near", EV_LL_DATA_MISSES, same},
	{"ls_dmnd_fills_from_sys.mem_io_local", EV_LL_DATA_MISSES, same},
	{"ls_dc_accesses", EV_LOADS, "stores are another event"},
	{"ls_dispatch.ld_dispatch", EV_ISSUED_LOADS, same},
	{"ls_dispatch.store_dispatch", EV_ISSUED_STORES, same},
	{"l2_cache_req_stat.ls_rd_blk_c", EV_L2D_MISSES, STORES_TOO},
	{"inst_retired.any", EV_INSTRUCTIONS, same},
	{"cpu_clk_unhalted.thread", EV_CYCLES, same},
	{"cpu_clk_unhalted.core", EV_CYCLES, same},
	{"br_inst_retired.all_branches", EV_BRANCHES, same},
	{"br_misp_retired.all_branches", EV_MISPREDICTED_BRANCHES, same},
	{"mem_inst_retired.all_loads", EV_LOADS, same},
	{"mem_inst_retired.all_stores", EV_STORES, same},
	{"mem_load_retired.l1_miss", EV_L1D_MISSES, STORES_TOO},
	{"mem_load_retired.l2_miss", EV_L2D_MISSES, STORES_TOO},
	{"mem_load_retired.l3_miss", EV_LL_DATA_MISSES, STORES_TOO},
	{"l1d.replacement", EV_L1D_MISSES, same},
	{"l2_rqsts.miss", EV_L2D_MISSES, "without those of instructions"},
	{"l2_rqsts.demand_data_rd_miss", EV_L2D_MISSES, STORES_TOO},
	{"longest_lat_cache.miss", EV_LL_DATA_MISSES, "without those of instructions"},
	{"longest_lat_cache.reference", EV_LL_REFERENCES, same},
	{"uops_retired.slots", EV_MICRO_OPS, same},
	{"uops_retired.retire_slots", EV_MICRO_OPS, same},
	{"dtlb_load_misses.walk_completed", EV_DTLB_WALKS, STORES_TOO},
	{"itlb_misses.walk_completed", EV_ITLB_WALKS, same},
	{"inst_retired", EV_INSTRUCTIONS, same},
	{"cpu_cycles", EV_CYCLES, same},
	{"l1d_cache_refill", EV_L1D_MISSES, same},
	{"l1i_cache_refill", EV_L1I_MISSES, same},
	{"l2d_cache_refill", EV_L2D_MISSES, "without those of instructions"},
	{"ll_cache_miss_rd", EV_LL_DATA_MISSES, STORES_TOO},
	{"br_retired", EV_BRANCHES, same},
	{"br_mis_pred_retired", EV_MISPREDICTED_BRANCHES, same},
	{"dtlb_walk", EV_DTLB_WALKS, same},
	{"itlb_walk", EV_ITLB_WALKS, same},
};

/* The name in perf's form: of cpu/NAME/k what is between the slashes; without a modifier. Names
 * have no more than `size` bytes. Does the modifier ask for the kernel alone? */
static bool perf_name(const char *text, char *name, size_t size)
{
	const char *slash = strchr(text, '/'), *modifier = "";
	size_t length;

	if (slash)
		text = slash + 1;
	length = slash ? strcspn(text, "/") : strlen(text);
	snprintf(name, size, "%.*s", (int)length, text);
	if (slash && text[length])
		modifier = text + length + 1;
	length = strcspn(name, ":");
	if (name[length] &&
		strspn(name + length + 1, "ukhGHpPDISeW") == strlen(name + length + 1)) {
		name[length] = '\0';
		modifier = text + length + 1;
	}
	return strchr(modifier, 'k') && !strchr(modifier, 'u');
}

/* The number of NAME=0xNN in a list; 0: there is none. */
static uint64_t perf_field(const char *list, const char *field)
{
	const char *at = strstr(list, field);

	return at ? strtoull(at + strlen(field), NULL, 16) : 0;
}

/* A raw code: rNNN, or event=0xNN,umask=0xNN; 0: it is none. AMD's events have 12 bits. */
static uint64_t perf_code(const char *name)
{
	uint64_t event;

	if (*name == 'r' && name[1] && !name[1 + strspn(name + 1, "0123456789abcdefABCDEF")])
		return strtoull(name + 1, NULL, 16);
	if (strncmp(name, "config=", 7) == 0)
		return strtoull(name + 7, NULL, 16);
	event = perf_field(name, "event=");
	return (event & 0xff) | (event & 0xf00) << 24 | perf_field(name, "umask=") << 8;
}

/* The family whose codes this processor has; of one that is not known, that of its maker. */
static const char *perf_family(void)
{
	const char *family = event_host_family();

	if (strcmp(family, "generic") != 0)
		return family;
#ifdef __x86_64__
	return __builtin_cpu_is("amd") ? "zen4" : "spr";
#else
	return "neoverse-n1";
#endif
}

/* The row that this processor counts by a raw code; NULL: none. */
static const struct event *perf_row(uint64_t code)
{
	const char *family = perf_family();

	for (int i = 0; code && i < EV_COUNT; i++) {
		struct event_code row;
		struct error e = {0};

		if (i != EV_CYCLES_16 && i != EV_INSTRUCTIONS_15 &&
			event_encode_for(family, i, &row, &e) == 0 && row.type == RAW_TYPE &&
			row.config == code)
			return event_by_number(i);
	}
	return NULL;
}

/* SYSTEM:NAME, as in /sys/kernel/tracing/events: of the systems that every kernel has. */
static bool is_tracepoint(const char *name)
{
	static const char *const systems[] = {"sched", "syscalls", "raw_syscalls", "exceptions",
		"irq", "irq_vectors", "timer", "block", "kmem", "net", "sock", "tcp", "skb",
		"power", "signal", "task", "workqueue", "writeback", "filemap", "page_fault",
		"vmscan", "kvm", "ext4", "xfs", "btrfs", "nfs", "futex", "lock", "mmap", "rcu",
		"probe", "sdt"};
	size_t length = strcspn(name, ":");

	for (size_t i = 0; name[length] && i < sizeof(systems) / sizeof(systems[0]); i++)
		if (strlen(systems[i]) == length && strncmp(name, systems[i], length) == 0)
			return true;
	return false;
}

const struct event *event_perf_nearest(const char *text, const char **difference)
{
	const struct event *row;
	char name[128];

	bool kernel = perf_name(text, name, sizeof(name));

	*difference = NULL;
	for (size_t i = 0; i < sizeof(perf_names) / sizeof(perf_names[0]); i++) {
		if (strcasecmp(perf_names[i].name, name) != 0)
			continue;
		*difference = perf_names[i].difference;
		if (kernel && *difference == same)
			*difference = "in user mode, not in the kernel";
		return perf_names[i].number == NONE ? NULL : event_by_number(perf_names[i].number);
	}
	row = perf_row(perf_code(name));
	if (row)
		*difference = "by this code";
	else if (strncmp(name, "mem:", 4) == 0)
		*difference = "accesses to one address are not counted";
	else if (is_tracepoint(name))
		*difference = TRACEPOINT "; ssrun -totaltime, then prof -waits, reports waits";
	else if (strncmp(name, "tma_", 4) == 0 || strncmp(name, "power/", 6) == 0)
		*difference = "perfex -a -y reports where the time goes";
	return row;
}

const struct event *event_perf_same(const char *name)
{
	const char *difference;
	const struct event *row = event_perf_nearest(name, &difference);

	return difference == same ? row : NULL;
}

void event_user_row(struct event_spec *spec)
{
	const struct event *row;

	if (spec->origin != EVENT_ORIGIN_PFM || !spec->encoded ||
		(spec->code.levels && spec->code.levels != EVENT_USER))
		return;
	row = event_perf_same(spec->name);
	if (!row || !(row->flags & EVENT_MODEL))
		return;
	spec->origin = EVENT_ORIGIN_TABLE;
	spec->event = row;
	spec->encoded = false;
	snprintf(spec->name, sizeof(spec->name), "%s", row->name);
}

int event_perf_hint(const char *name, struct error *e)
{
	const char *difference;
	const struct event *row = event_perf_nearest(name, &difference);

	if (row)
		error_hint(e, "what comes nearest is -e %s, %s: %s", row->short_name, row->name,
			difference);
	else if (difference)
		error_hint(e, "nothing comes near it: %s", difference);
	return difference ? -1 : 0;
}
