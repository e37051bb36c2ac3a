/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Coherence as users meet it: false sharing, private data, read sharing, hand-over, a stale
 * directory. */
#include "../tap.h"
#include "model_machine.h"

static struct run run;

static void begin(const struct model_config *config)
{
	run_begin(&run, config);
	run_thread(&run, 1);
	run_thread(&run, 0);
}

static uint64_t total(int event, unsigned threads)
{
	uint64_t sum = run.counts[event];

	for (unsigned t = 1; t < threads; t++)
		sum += run.others[t][event];
	return sum;
}

/* Each of two threads adds to its own counter, `apart` bytes from the other's, 100 times in each of
 * 50 turns. */
static void two_counters(uint64_t apart)
{
	for (int turn = 0; turn < 100; turn++) {
		unsigned thread = turn % 2;

		run_thread(&run, thread);
		for (int i = 0; i < 100; i++) {
			model_instruction(run.model, 0x401000, 4, 0, 1, 0);
			model_load(run.model, 0x10000 + thread * apart, 8);
			model_store(run.model, 0x10000 + thread * apart, 8);
		}
	}
	model_sync(run.model);
}

static void false_sharing(void)
{
	struct model_config config = zen4();
	uint64_t cycles;

	begin(&config);
	two_counters(8);
	is_int(run.counts[EV_INTERVENTIONS], 50,
		"sharing a line: each turn of thread 1 takes it from thread 0");
	is_int(run.others[1][EV_INTERVENTIONS], 49, "and each turn of thread 0 takes it back");
	is_int(total(EV_INTERVENTION_HITS, 2), 99, "always found");
	is_int(total(EV_STORES_TO_SHARED, 2), 99, "loaded first, so shared when stored to");
	is_int(total(EV_INVALIDATION_HITS, 2), 99, "the other's copy is invalidated");
	is_int(total(EV_L1D_MISSES, 2), 100, "a miss each turn");
	cycles = total(EV_CYCLES, 2);
	run_end(&run);

	begin(&config);
	two_counters(64);
	is_int(total(EV_INTERVENTIONS, 2) + total(EV_INVALIDATIONS, 2), 0,
		"a line apart: no requests");
	is_int(total(EV_STORES_TO_SHARED, 2), 0, "no stores to shared lines");
	is_int(total(EV_L1D_MISSES, 2), 2, "two misses in all");
	ok(total(EV_CYCLES, 2) < cycles, "and fewer cycles: %llu, not %llu",
		(unsigned long long)total(EV_CYCLES, 2), (unsigned long long)cycles);
	run_end(&run);

	config = r10000();
	begin(&config);
	two_counters(64);
	ok(total(EV_INVALIDATION_HITS, 2) > 90,
		"64 bytes apart still share the R10000's secondary line");
	run_end(&run);
	begin(&config);
	two_counters(128);
	is_int(total(EV_INVALIDATIONS, 2), 0, "128 bytes apart do not");
	run_end(&run);
}

/* A program that writes what it executes. */
static void own_code(void)
{
	struct model_config config = zen4();

	run_begin(&run, &config);
	model_instruction(run.model, 0x10000, 4, 0, 1, 0);
	model_store(run.model, 0x10020, 8);
	model_instruction(run.model, 0x10004, 4, 0, 1, 0);
	is_int(run.counts[EV_L1I_MISSES], 2, "a store takes the line from L1I");
	is_int(run.counts[EV_L1_WRITEBACK_QUADWORDS], 4, "and a fetch from L1D");
	model_instruction(run.model, 0x10008, 4, 0, 1, 0);
	is_int(run.counts[EV_L1I_MISSES], 2, "once");
	run_end(&run);

	begin(&config);
	model_instruction(run.model, 0x10000, 4, 0, 1, 0);
	run_thread(&run, 1);
	model_store(run.model, 0x10020, 8);
	is_int(run.counts[EV_INVALIDATION_HITS], 1, "so does another core's");
	run_thread(&run, 0);
	model_instruction(run.model, 0x10004, 4, 0, 1, 0);
	is_int(run.counts[EV_L1I_MISSES], 2, "which is fetched again");
	run_end(&run);
}

static void store_only(void)
{
	struct model_config config = zen4();

	begin(&config);
	for (int turn = 0; turn < 10; turn++) {
		run_thread(&run, turn % 2);
		model_store(run.model, 0x10000, 8);
	}
	is_int(total(EV_INTERVENTION_HITS, 2), 9,
		"a store that misses takes the line from its owner");
	is_int(total(EV_INVALIDATIONS, 2), 0, "without an invalidation besides");
	is_int(total(EV_L1_WRITEBACK_QUADWORDS, 2) + total(EV_L2_WRITEBACK_QUADWORDS, 2), 0,
		"modified data that are handed on are not written back");
	run_end(&run);
}

static void read_sharing(void)
{
	struct model_config config = zen4();

	begin(&config);
	for (int i = 0; i < 64; i++)
		model_store(run.model, 0x10000 + 64 * i, 8);
	for (unsigned thread = 1; thread < 5; thread++) {
		run_thread(&run, thread);
		for (int turn = 0; turn < 10; turn++)
			for (int i = 0; i < 64; i++)
				model_load(run.model, 0x10000 + 64 * i, 8);
	}
	is_int(run.counts[EV_INTERVENTION_HITS], 64, "only the first reader needs the writer");
	is_int(run.counts[EV_L2_WRITEBACK_QUADWORDS], 64 * 4, "which writes its data back then");
	is_int(total(EV_INVALIDATIONS, 5), 0, "reading invalidates nothing");
	run_thread(&run, 0);
	model_store(run.model, 0x10000, 8);
	is_int(run.counts[EV_STORES_TO_SHARED], 1, "a store to what others read");
	is_int(total(EV_INVALIDATION_HITS, 5), 4, "invalidates four copies");
	run_thread(&run, 3);
	model_load(run.model, 0x10000, 8);
	is_int(run.others[3][EV_L1D_MISSES], 65, "so that one reader misses again");
	run_end(&run);
}

static void shared_code(void)
{
	struct model_config config = zen4();

	begin(&config);
	for (unsigned thread = 0; thread < 4; thread++) {
		run_thread(&run, thread);
		for (int i = 0; i < 256; i++)
			model_instruction(run.model, 0x401000 + 16 * i, 4, 0, 1, 0);
	}
	is_int(total(EV_INTERVENTIONS, 4) + total(EV_INVALIDATIONS, 4), 0,
		"threads that run the same code ask nothing");
	run_end(&run);
}

/* A line that a core dropped clean is still asked for. */
static void stale(void)
{
	struct model_config config = zen4();

	config.l1d = (struct model_cache_config){1024, 1, 64, 4};
	config.l2 = (struct model_cache_config){4096, 1, 64, 14};
	begin(&config);
	run_thread(&run, 1);
	model_load(run.model, 0x10000, 8); /* thread 1 owns it ... */
	model_load(run.model, 0x20000, 8); /* ... and drops it, clean */
	run_thread(&run, 0);
	model_load(run.model, 0x10000, 8);
	is_int(run.others[1][EV_INTERVENTIONS], 1,
		"the directory still believes in a dropped clean line");
	is_int(run.others[1][EV_INTERVENTION_HITS], 0, "which is not there");
	run_thread(&run, 1);
	model_store(run.model, 0x30000, 8);
	model_load(run.model, 0x40000, 8); /* 30000 is written back: the directory hears of that */
	run_thread(&run, 0);
	model_load(run.model, 0x30000, 8);
	is_int(run.others[1][EV_INTERVENTIONS], 1, "but not in one that was written back");
	run_end(&run);
}

static void clean_stores(void)
{
	struct model_config config = zen4();

	config.l1d = (struct model_cache_config){128, 2, 64, 4};
	run_begin(&run, &config);
	model_load(run.model, 0x10000, 8);
	model_store(run.model, 0x10000, 8);
	model_store(run.model, 0x10008, 8);
	is_int(run.counts[EV_STORES_TO_CLEAN], 1, "the first store to a clean line");
	model_load(run.model, 0x20000, 8);
	model_load(run.model, 0x30000, 8); /* 10000 leaves L1 */
	is_int(run.counts[EV_L1_WRITEBACK_QUADWORDS], 4, "64 bytes are four quadwords");
	model_load(run.model, 0x10000, 8);
	model_store(run.model, 0x10000, 8);
	is_int(run.counts[EV_STORES_TO_CLEAN], 1, "the second level had it modified");
	model_store(run.model, 0x40000, 8);
	is_int(run.counts[EV_STORES_TO_CLEAN], 1, "a store that misses does not count");
	is_int(run.counts[EV_STORES_TO_SHARED], 0, "one thread shares nothing");
	run_end(&run);
}

/* More threads than cores: those on one core share its caches. */
static void round_robin(void)
{
	struct model_config config = zen4();

	config.cores = 2;
	begin(&config);
	model_store(run.model, 0x10000, 8);
	run_thread(&run, 2);
	model_store(run.model, 0x10000, 8);
	is_int(run.others[2][EV_L1D_MISSES], 0, "thread 2 runs on the core of thread 0");
	run_thread(&run, 3);
	model_load(run.model, 0x10000, 8);
	is_int(run.others[2][EV_INTERVENTIONS], 1,
		"a request is charged to the thread that ran there last");
	is_int(run.counts[EV_INTERVENTIONS], 0, "and to no other");
	run_end(&run);
}

int main(void)
{
	false_sharing();
	store_only();
	read_sharing();
	shared_code();
	stale();
	clean_stores();
	round_robin();
	own_code();
	return done();
}
