/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Miss registers: a stream of independent misses costs latency / misses each, and no less. */
#include "../tap.h"
#include "model_machine.h"

enum { LOADS = 4000, LATENCY = 240 };
static struct run run;

static uint64_t cycles_with(uint32_t misses, unsigned between)
{
	struct model_config c = zen4();
	uint64_t cycles;

	c.cores = 1;
	c.width = 4;
	c.window = 400; /* a hundred loads, so that the registers are what matters */
	c.memory_latency = LATENCY;
	c.dtlb.entries = c.itlb.entries = c.stlb.entries = 0;
	c.misses = misses;
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

int main(void)
{
	static const uint32_t misses[] = {1, 4, 10, 24, 64};
	uint64_t unlimited = cycles_with(0, 3);

	ok(unlimited < 4 * LOADS, "without a limit a whole window of them overlaps (%llu cycles)",
		(unsigned long long)unlimited);
	for (size_t i = 0; i < sizeof(misses) / sizeof(misses[0]); i++) {
		double want = (double)LOADS * LATENCY / misses[i];
		double got = (double)cycles_with(misses[i], 3);

		ok(fabs(got - want) < 0.1 * want, "%u at once: %.0f cycles, by Little's law %.0f",
			misses[i], got, want);
	}
	is_int(cycles_with(64, 39), cycles_with(0, 39),
		"misses that come slower than that do not wait");
	return done();
}
