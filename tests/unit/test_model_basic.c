/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The modelled processor: counts of small programs that can be worked out by hand, and refused
 * configurations. */
#include <stdlib.h>

#include "../tap.h"
#include "model/fast.h"
#include "model_machine.h"

static void instruction_mix(void)
{
	struct model_config config = zen4();
	static struct run r;
	struct model *m;

	run_begin(&r, &config);
	m = r.model;
	model_instruction(m, 0x401000, 4, 0, 1, 0);
	model_instruction(m, 0x401004, 4, MODEL_FP | MODEL_VECTOR, 1, 4);
	model_instruction(m, 0x401008, 4, MODEL_DIVIDE, 2, 0);
	model_instruction(m, 0x40100c, 4, MODEL_LOCKED, 4, 0);
	model_load(m, 0x10000, 8);
	model_store(m, 0x10000, 8);
	model_instruction(m, 0x401010, 4, 0, 1, 0);
	model_store(m, 0x2003c, 8);
	model_instruction(m, 0x401014, 2, MODEL_SYSCALL, 1, 0);
	model_instruction(m, 0x401016, 2, 0, 1, 0);
	model_store(m, 0x30000, 8);
	model_instruction(m, 0x401016, 2, MODEL_REPEATED, 1, 0);
	model_store(m, 0x30008, 8);
	model_sync(m);
	is_int(r.counts[EV_INSTRUCTIONS], 7, "a repeated iteration is no instruction");
	is_int(r.counts[EV_INSTRUCTIONS_15], 7, "event 15 is event 17");
	is_int(r.counts[EV_LOADS], 1, "loads");
	is_int(r.counts[EV_STORES], 4, "stores, those of repeated iterations too");
	is_int(r.counts[EV_SPLIT_ACCESSES], 1, "one access crosses a line");
	is_int(r.counts[EV_L1D_MISSES], 4, "one miss for each line touched first");
	is_int(r.counts[EV_L1I_MISSES], 1, "one instruction line");
	is_int(r.counts[EV_FP_OPERATIONS], 4, "floating-point operations");
	is_int(r.counts[EV_FP_INSTRUCTIONS], 1, "floating-point instructions");
	is_int(r.counts[EV_VECTOR_INSTRUCTIONS], 1, "vector instructions");
	is_int(r.counts[EV_DIVIDES], 1, "divides");
	is_int(r.counts[EV_DIVIDER_CYCLES], config.divide_latency, "divider cycles");
	is_int(r.counts[EV_MICRO_OPS], 11, "micro-ops");
	is_int(r.counts[EV_LOCKED_INSTRUCTIONS], 1, "locked instructions");
	is_int(r.counts[EV_STORE_CONDITIONALS], 1, "event 20 are the locked instructions");
	is_int(r.counts[EV_SYSTEM_CALLS], 1, "system calls");
	is_int(r.counts[EV_DTLB_WALKS], 3, "data pages");
	is_int(r.counts[EV_ITLB_WALKS], 1, "instruction pages");
	is_int(r.counts[EV_TLB_MISSES], 4, "all walks");
	run_end(&r);
}

static void refused(const char *what, struct model_config config, const char *why)
{
	is_str(model_check(&config), why, "%s is refused", what);
}

static void configurations(void)
{
	struct model_config config = zen4();

	ok(model_check(&config) == NULL, "zen4 is a machine");
	config = r10000();
	ok(model_check(&config) == NULL, "r10000 is a machine");
	config = zen4();
	config.version++;
	refused("another version", config, "the description has another version");
	config = zen4();
	config.parts = MODEL_PART_CACHES;
	refused("parts without execution", config, "execution is always a part of the model");
	config = zen4();
	config.parts = MODEL_PARTS_ALL & ~MODEL_PART_STORES;
	refused("a clock without a store buffer", config,
		"the clock needs all other parts of the model");
	config = zen4();
	config.l1d.ways = 0;
	refused("no ways", config, "L1D needs between 1 and 4096 ways");
	config = zen4();
	config.l1i.line = 48;
	refused("a line of 48 bytes", config,
		"L1I line must be a power of two from 16 bytes to a page");
	config = zen4();
	config.l1i.size = 0;
	refused("no L1I", config, "L1I is missing");
	config = zen4();
	config.l2.size += 64;
	refused("an odd size", config, "L2 size must be a multiple of ways times line");
	config = zen4();
	config.l2.line = 32;
	refused("a short line behind a long one", config,
		"L2 line must not be shorter than those of L1");
	config = zen4();
	config.dtlb.ways = 7;
	refused("an odd TLB", config, "DTLB entries must be a multiple of its ways (1 to 4096)");
	config = zen4();
	config.width = 0;
	refused("no width", config, "width must be from 1 to 64 instructions a cycle");
	config = zen4();
	config.cores = 65;
	refused("65 cores", config, "cores must be from 1 to 64");
	config = zen4();
	config.flavour = MODEL_CACHEGRIND;
	refused("cachegrind with an L2", config, "cachegrind's caches have no L2");
}

static void claims(void)
{
	struct model_config config = zen4();

	ok(model_counts_event(&config, EV_L2D_MISSES), "zen4 counts L2 misses");
	ok(model_counts_event(&config, EV_INTERVENTIONS), "with several cores, interventions");
	ok(!model_counts_event(&config, EV_ISSUED_LOADS), "issued instructions cannot be known");
	config.cores = 1;
	ok(!model_counts_event(&config, EV_INTERVENTIONS), "with one core there are none to count");
	config = r10000();
	ok(!model_counts_event(&config, EV_LL_REFERENCES), "r10000 has no last level");
	config.flavour = MODEL_CACHEGRIND;
	ok(!model_counts_event(&config, EV_L1_WRITEBACK_QUADWORDS),
		"cachegrind knows no write-backs");
}

static void parts(void)
{
	const struct model_config config = zen4();
	unsigned bad = 0;

	/* Other parts are needed exactly by what execution does not determine. */
	for (unsigned i = 0; i < EV_PAGE_FAULTS; i++)
		if (model_counts_event(&config, (int)i) &&
			!model_fast_exact(i) != (model_event_parts(i) != MODEL_PART_EXECUTION))
			bad = i + 1;
	ok(!bad, "events that execution determines need no other part");
	ok(model_event_parts(EV_L2D_MISSES) == (MODEL_PART_EXECUTION | MODEL_PART_CACHES),
		"misses need caches");
	ok(model_event_parts(EV_CYCLES) == MODEL_PARTS_ALL, "cycles need everything");
}

int main(void)
{
	instruction_mix();
	configurations();
	claims();
	parts();
	return done();
}
