/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Throughput: a stream of independent misses costs latency / misses each and an interval of its
 * supplier, and no less; taken branches cost theirs. */
#include "../tap.h"
#include "model_machine.h"

enum { LOADS = 4000, LATENCY = 240 };
static struct run run;

static uint64_t cycles_with(uint32_t misses, uint32_t interval, unsigned between)
{
	struct model_config c = zen4();
	uint64_t cycles;

	c.cores = 1;
	c.width = 4;
	c.window = 400; /* a hundred loads, so that the registers are what matters */
	c.memory_latency = LATENCY;
	c.dtlb.entries = c.itlb.entries = c.stlb.entries = 0;
	c.misses = misses;
	c.memory_interval = interval;
	run_begin(&run, &c);
	for (unsigned i = 0; i < LOADS; i++) {
		for (unsigned k = 0; k <= between; k++)
			model_instruction(run.model, 0x401000 + 4 * (k % 16), 4, 0, 1, 0);
		model_load(run.model, 0x10000000 + (uint64_t)i * 64, 8);
	}
	model_sync(run.model);
	cycles = run.counts[EV_CYCLES];
	run_end(&run);
	return cycles;
}

static uint64_t cycles_of_loop(uint32_t interval, unsigned body)
{
	struct model_config c = zen4();
	uint64_t cycles;

	c.cores = 1;
	c.width = 4;
	c.taken_interval = interval;
	run_begin(&run, &c);
	for (unsigned i = 0; i < LOADS; i++) {
		for (unsigned k = 0; k < body; k++)
			model_instruction(run.model, 0x401000 + 4 * k, 4, 0, 1, 0);
		model_branch(run.model, MODEL_CONDITIONAL, 0x401000 + 4 * (body - 1),
			0x401000 + 4 * body, 0x401000, 1);
	}
	model_sync(run.model);
	cycles = run.counts[EV_CYCLES];
	run_end(&run);
	return cycles;
}

/* Of lines in turn that are `steps` (0: the end) apart, the percentage that a stream fetched. */
static int fetched_ahead(uint32_t step, const int *steps)
{
	struct model_config c = zen4();
	uint64_t address = 0x10000000, missed;
	int n = 0;

	c.cores = 1;
	c.stream_step = step;
	c.stream_pages = 1;
	c.l2_stream = (struct model_prefetcher){.entries = 32, .ahead = 64, .lines = 2};
	run_begin(&run, &c);
	for (unsigned i = 0; i < LOADS; i++) {
		model_load(run.model, address, 8);
		address += (uint64_t)(64 * (int64_t)steps[n]);
		n = steps[n + 1] ? n + 1 : 0;
	}
	model_sync(run.model);
	missed = run.counts[EV_L2D_MISSES];
	run_end(&run);
	return (int)(100 * (LOADS - missed) / LOADS);
}

/* Chains through lines of memory on a Zen 5, nanoseconds: 1: 2.4, 1 and 2: 3.1, 1, 2 and 2: 3.4, 3
 * and back 1: 2.6; 1 and 3: 86, 1 and 4: 94, at random 158. */
static void streams(void)
{
	ok(fetched_ahead(1, (int[]){1, 0}) > 98, "each line: all");
	ok(fetched_ahead(1, (int[]){1, 2, 0}) > 98, "two lines of three: all");
	ok(fetched_ahead(1, (int[]){1, 2, 2, 0}) > 98, "three lines of five: all");
	ok(fetched_ahead(1, (int[]){3, -1, 0}) > 98, "pairs in the other order: all");
	ok(fetched_ahead(1, (int[]){-1, 0}) > 98, "downwards: all");
	ok(fetched_ahead(1, (int[]){1, 3, 0}) < 1, "two lines of four: none");
	ok(fetched_ahead(1, (int[]){2, 0}) < 1, "each other line: none");
	ok(fetched_ahead(2, (int[]){2, 0}) > 98, "but with steps of two, all");
	ok(fetched_ahead(0, (int[]){1, 3, 0}) > 98, "and with any steps");
}

int main(void)
{
	static const uint32_t intervals[] = {8, 20, 50};
	static const uint32_t misses[] = {1, 4, 10, 24, 64};
	uint64_t unlimited = cycles_with(0, 0, 3);

	ok(unlimited < 4 * LOADS, "without a limit a whole window of them overlaps (%llu cycles)",
		(unsigned long long)unlimited);
	for (size_t i = 0; i < sizeof(misses) / sizeof(misses[0]); i++) {
		double want = (double)LOADS * LATENCY / misses[i];
		double got = (double)cycles_with(misses[i], 0, 3);

		ok(fabs(got - want) < 0.1 * want, "%u at once: %.0f cycles, by Little's law %.0f",
			misses[i], got, want);
	}
	is_int(cycles_with(64, 0, 39), cycles_with(0, 0, 39),
		"misses that come slower than that do not wait");
	for (size_t i = 0; i < sizeof(intervals) / sizeof(intervals[0]); i++) {
		double want = (double)LOADS * intervals[i];
		double got = (double)cycles_with(0, intervals[i], 3);

		ok(fabs(got - want) < 0.1 * want, "a line every %u cycles: %.0f cycles for %d",
			intervals[i], got, LOADS);
	}
	is_int(cycles_with(0, 8, 39), cycles_with(0, 0, 39), "lines that come slower do not wait");
	is_near((double)cycles_of_loop(2, 2), 2 * LOADS, 500,
		"a loop of two instructions takes the two cycles of its taken branch (and the "
		"first "
		"fetch)");
	is_int(cycles_of_loop(2, 16), cycles_of_loop(0, 16),
		"a loop of sixteen, four to a cycle, does not notice");
	streams();
	return done();
}
