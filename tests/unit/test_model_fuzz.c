/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Random configurations: each is either refused with a text or survives a random trace with extreme
 * addresses and sizes.  What this finds, the sanitizers say (make check SAN=address,undefined).
 */
#include "../tap.h"
#include "model_machine.h"

static uint32_t odd_value(uint64_t *seed)
{
	switch (random_below(seed, 6)) {
	case 0:
		return 0;
	case 1:
		return (uint32_t)random_next(seed);
	case 2:
		return 1u << random_below(seed, 32);
	case 3:
		return (1u << random_below(seed, 32)) - 1;
	default:
		return (uint32_t)random_below(seed, 100);
	}
}

static void change(struct model_config *c, uint64_t *seed)
{
	uint32_t words[sizeof(*c) / 4];

	memcpy(words, c, sizeof(words));
	words[1 + random_below(seed, sizeof(words) / 4 - 1)] = odd_value(seed);
	memcpy(c, words, sizeof(words));
}

/* Values that single changed words hardly ever make possible together. */
static void random_hierarchy(struct model_config *c, uint64_t *seed)
{
	if (random_below(seed, 2))
		return;
	for (int i = 0; i < MODEL_LEVELS; i++)
		c->policy[i] = (uint32_t)random_below(seed, 4);
	c->policy[MODEL_DTLB] = c->policy[MODEL_ITLB] = MODEL_RANDOM;
	c->l2_inclusion = (uint32_t)random_below(seed, 2);
	c->ll_inclusion = (uint32_t)random_below(seed, 3);
	c->large_pages = MODEL_PAGES_KERNEL;
	c->large_dtlb = (struct model_tlb_config){32, 4};
	c->l1i_next.lines = (uint32_t)random_below(seed, 3);
	c->l1d_next.lines = (uint32_t)random_below(seed, 3);
	c->l1d_stride = (struct model_prefetcher){16, 4, 0};
	c->l2_adjacent = (uint32_t)random_below(seed, 2);
	c->l2_stream = (struct model_prefetcher){16, 20, 2};
}

static uint64_t any_address(uint64_t *seed)
{
	switch (random_below(seed, 4)) {
	case 0:
		return random_next(seed);
	case 1:
		return UINT64_MAX - random_below(seed, 8192);
	case 2:
		return random_below(seed, 8192);
	default:
		return 0x10000 + random_below(seed, 65536);
	}
}

static uint64_t counts[MODEL_CORES_MAX * 2][EVENT_LIMIT];

static void survive(const struct model_config *c, uint64_t *seed)
{
	size_t size = (model_size(c) + 63) & ~(size_t)63;
	char *memory = calloc(1, size + 128);
	struct model *m;

	if (!memory)
		return;
	m = model_init((void *)(((uintptr_t)memory + 63) & ~(uintptr_t)63), c);
	model_sync(m); /* before there is a thread */
	for (int i = 0; i < 1500; i++) {
		uint64_t address = any_address(seed);

		if (i % 100 == 0) {
			unsigned thread = (unsigned)random_below(seed, MODEL_CORES_MAX * 2);

			model_switch_thread(m, thread, counts[thread]);
		}
		model_instruction(m, any_address(seed), (unsigned)random_below(seed, 20),
			(unsigned)(random_below(seed, 4) ? 0 : random_below(seed, 512)), 1, 0);
		model_load(m, address, (unsigned)random_below(seed, 4097));
		model_store(m, any_address(seed), (unsigned)random_below(seed, i % 8 ? 65 : 4097));
		model_prefetch(m, address);
		if (i % 64 == 0)
			model_map(m, any_address(seed), random_next(seed) >> random_below(seed, 64),
				(unsigned)random_below(seed, 64));
		if (i % 64 == 1)
			model_system_call(m);
		if (i % 64 == 2)
			model_unmap(
				m, any_address(seed), random_next(seed) >> random_below(seed, 64));
		model_branch(m, (enum model_branch_kind)random_below(seed, 6), address, address + 4,
			any_address(seed), (int)random_below(seed, 2));
	}
	model_sync(m);
	free(memory);
}

int main(void)
{
	uint64_t seed = 1234567;
	int refused = 0, survived = 0;

	for (int i = 0; i < 3000; i++) {
		struct model_config c = random_below(&seed, 2) ? zen4() : r10000();
		const char *why;

		c.ll.size >>= 5; /* 1 MiB tells as much, and takes less time */
		c.cores = 1 + (uint32_t)random_below(&seed, 4);
		if (!random_below(&seed, 4)) {
			c.flavour = MODEL_CACHEGRIND;
			c.l2.size = 0;
			c.ll = (struct model_cache_config){262144, 8, 64, 40};
		} else {
			random_hierarchy(&c, &seed);
		}
		c.execution.kernel_flush = random_below(&seed, 2) ? 50 : 0;
		for (uint64_t n = random_below(&seed, 5); n > 0; n--)
			change(&c, &seed);
		why = model_check(&c);
		refused += why != NULL;
		if (why)
			continue;
		if (model_size(&c) > (size_t)64 << 20)
			continue;
		survived++;
		if (survived <= 200)
			survive(&c, &seed);
	}
	ok(refused > 500, "impossible configurations are refused: %d", refused);
	ok(survived > 300, "the others are modelled: %d", survived);
	return done();
}
