/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The native caches, TLBs and coherence against their slow restatement, over random machines and
 * random traces of several threads. */
#include "../tap.h"
#include "reference_model.h"

#include "model/state.h"

static uint64_t pick(uint64_t *seed, const uint64_t *choices, uint64_t count)
{
	return choices[random_below(seed, count)];
}

static struct model_cache_config random_cache(uint64_t *seed, uint64_t most_lines, uint32_t line)
{
	uint32_t ways = 1 + (uint32_t)random_below(seed, 8);
	uint32_t sets = 1 + (uint32_t)random_below(seed, most_lines / ways);

	return (struct model_cache_config){sets * ways * line, ways, line, 10};
}

static struct model_tlb_config random_tlb(uint64_t *seed, uint64_t most)
{
	uint32_t ways = 1 + (uint32_t)random_below(seed, 4);

	if (!random_below(seed, 5))
		return (struct model_tlb_config){0, 0};
	return (struct model_tlb_config){
		ways * (uint32_t)(1 + random_below(seed, most / ways)), ways};
}

static void random_prefetchers(struct model_config *c, uint64_t *seed)
{
	if (!random_below(seed, 3))
		return;
	if (!random_below(seed, 3))
		c->l1i_next.lines = 1 + (uint32_t)random_below(seed, 3);
	if (!random_below(seed, 3))
		c->l1d_next.lines = 1 + (uint32_t)random_below(seed, 3);
	if (random_below(seed, 2))
		c->l1d_stride = (struct model_prefetcher){1 + (uint32_t)random_below(seed, 16),
			1 + (uint32_t)random_below(seed, 6), 0};
	if (random_below(seed, 2))
		c->l1d_stream = (struct model_prefetcher){1 + (uint32_t)random_below(seed, 8),
			1 + (uint32_t)random_below(seed, 12), 1 + (uint32_t)random_below(seed, 3)};
	c->l2_adjacent = (uint32_t)random_below(seed, 2);
	if (random_below(seed, 2))
		c->l2_stream = (struct model_prefetcher){1 + (uint32_t)random_below(seed, 16),
			1 + (uint32_t)random_below(seed, 20), 1 + (uint32_t)random_below(seed, 4)};
	c->stream_step = c->l2_stream.entries % 4;
	c->stream_pages = (uint32_t)random_below(seed, MODEL_STREAM_PAGES);
}

static struct model_tlb_config random_large(uint64_t *seed)
{
	switch (random_below(seed, 3)) {
	case 0:
		return (struct model_tlb_config){0, MODEL_LARGE_SHARED};
	case 1:
		return (struct model_tlb_config){0, MODEL_LARGE_SPLIT};
	default:
		return (struct model_tlb_config){4, 1 + (uint32_t)random_below(seed, 2)};
	}
}

static struct model_config random_machine(uint64_t *seed)
{
	static const uint64_t lines[] = {16, 32, 64};
	struct model_config c = zen4();
	uint32_t line = (uint32_t)pick(seed, lines, 3);

	c.cores = 1 + (uint32_t)random_below(seed, 4);
	c.l1i = random_cache(seed, 16, (uint32_t)pick(seed, lines, 3));
	c.l1d = random_cache(seed, 24, line);
	if (c.l1i.line > line)
		line = c.l1i.line;
	line <<= random_below(seed, 2);
	c.l2 = random_cache(seed, 64, line);
	if (!random_below(seed, 4))
		c.l2.size = 0;
	line <<= random_below(seed, 2);
	c.ll = random_cache(seed, 128, line);
	if (!random_below(seed, 4))
		c.ll.size = 0;
	c.itlb = random_tlb(seed, 8);
	c.dtlb = random_tlb(seed, 8);
	c.stlb = random_tlb(seed, 24);
	for (int i = 0; i < MODEL_LEVELS; i++)
		c.policy[i] = random_below(seed, 2) ? MODEL_LRU
						    : (uint32_t)random_below(seed, MODEL_POLICIES);
	c.l2_inclusion = (uint32_t)random_below(seed, MODEL_INCLUSIONS);
	c.ll_inclusion = (uint32_t)random_below(seed, MODEL_INCLUSIONS);
	random_prefetchers(&c, seed);
	c.large_pages = (uint32_t)random_below(seed, MODEL_PAGES_MODES);
	c.large_itlb = random_large(seed);
	c.large_dtlb = random_large(seed);
	c.large_stlb = random_large(seed);
	return c;
}

/* Near the last address, anywhere in a small region, in a region of the thread's own, or in one of
 * 2 MiB. */
static uint64_t random_address(uint64_t *seed, uint64_t *last, unsigned thread)
{
	switch (random_below(seed, 9)) {
	case 0:
	case 1:
	case 2:
	case 3:
		*last += random_below(seed, 48);
		break;
	case 4:
		*last = random_below(seed, 16) * 0x200000 + random_below(seed, 4) * 4096 +
			random_below(seed, 256);
		break;
	case 5:
	case 6:
		*last = 0x100000 + random_below(seed, 0x4000);
		break;
	default:
		*last = 0x200000 + thread * 0x40000 + random_below(seed, 24) * 4096 +
			random_below(seed, 256);
		break;
	}
	return *last;
}

/* A last level with so many sets that the model packs them. */
static struct model_config packed_machine(uint64_t *seed)
{
	struct model_config c = random_machine(seed);
	uint32_t ways = 8 + (uint32_t)random_below(seed, 9);
	uint32_t sets = 8192 << random_below(seed, 2);

	if (random_below(seed, 2))
		sets += (uint32_t)random_below(seed, 1000);
	c.l2 = random_cache(seed, 64, 64);
	c.ll = (struct model_cache_config){sets * ways * 64, ways, 64, 10};
	c.policy[MODEL_LL] = MODEL_LRU;
	/* These lines are in as many pages. */
	if (random_below(seed, 2)) {
		c.dtlb.ways = c.dtlb.entries = 32 + (uint32_t)random_below(seed, 98);
		c.policy[MODEL_DTLB] = MODEL_LRU;
	}
	return c;
}

/* Lines that are next to each other come into one of four sets of the last level, in the upper half
 * of what programs can address. */
static uint64_t apart(uint64_t address, const struct model_config *c)
{
	uint64_t line = address / 64, sets = c->ll.size / c->ll.line / c->ll.ways;

	return 0x400000000000 + (line / 4 * sets + line % 4) * 64 + address % 64;
}

static int compare(uint64_t number, unsigned accesses, int packed)
{
	static struct run run;
	uint64_t seed = number * UINT64_C(0x9E3779B97F4A7C15) + 1, last[2] = {0x100000, 0x101000};
	struct model_config config;
	struct reference *r;
	int event = -1;

	do
		config = packed ? packed_machine(&seed) : random_machine(&seed);
	while (model_check(&config));
	/* As long as any walk. */
	config.execution.kernel_flush = number % 2 ? 10000 : 0;
	r = ref_new(&config);
	run_begin(&run, &config);
	run.model->seen = NULL; /* no access is a page fault */
	r->cores[0].active = true;
	for (unsigned i = 0; i < accesses && event < 0; i++) {
		uint64_t choice = random_below(&seed, 64), address;
		unsigned size = 1u << random_below(&seed, 6);

		if (i % 256 == 100) {
			uint64_t length = random_below(&seed, 0x1000000);
			bool large = random_below(&seed, 3) != 0;

			address = random_below(&seed, 32) * 0x100000;
			model_map(run.model, address, length, large ? 21 : 12);
			ref_map(r, address, length, large);
		}
		if (i % 512 == 200 && config.execution.kernel_flush) {
			model_system_call(run.model);
			ref_system_call(r);
		}
		if (choice == 0) {
			r->core = (unsigned)random_below(&seed, config.cores);
			run_thread(&run, r->core);
			r->cores[r->core].active = true;
		} else if (choice < 24) {
			address = random_address(&seed, &last[0], 8);
			address = packed ? apart(address, &config) : address;
			size = 1 + (unsigned)random_below(&seed, 15);
			model_instruction(run.model, address, size, 0, 1, 0);
			ref_fetch(r, address, size);
		} else {
			address = random_address(&seed, &last[1], r->core);
			address = packed ? apart(address, &config) : address;
			if (choice == 24)
				size = 1 + (unsigned)random_below(&seed, 700);
			if (choice < 44) {
				model_store(run.model, address, size);
				ref_data(r, address, size, true);
			} else {
				model_load(run.model, address, size);
				ref_data(r, address, size, false);
			}
		}
		if (i % 64 == 0 || i == accesses - 1)
			event = ref_difference(&run, r, config.cores);
	}
	ref_free(r);
	run_end(&run);
	return event;
}

static int wrong_of(uint64_t machines, int packed)
{
	int wrong = 0;

	for (uint64_t number = 1; number <= machines; number++) {
		int event = compare(number, 4000, packed);

		if (event >= 0) {
			printf("# %s %llu differs in event %d\n",
				packed ? "packed machine" : "machine", (unsigned long long)number,
				event);
			wrong++;
		}
	}
	return wrong;
}

int main(void)
{
	is_int(wrong_of(200, 0), 0,
		"200 random machines of up to 4 cores agree with the reference on 800000 accesses");
	is_int(wrong_of(60, 1), 0, "60 machines with a large last level agree with it on 240000");
	return done();
}
