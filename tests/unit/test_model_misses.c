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
	return done();
}
