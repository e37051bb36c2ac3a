/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The cachegrind flavour against its rules, restated with block numbers in lists: what is referred
 * to goes to the front of its set's list, what is behind the last way has left the cache.
 */
#include "../tap.h"
#include "model_machine.h"

struct lists {
	struct model_cache_config shape;
	uint64_t sets, *blocks; /* shape.ways of each set; UINT64_MAX: nothing */
};

static void lists_new(struct lists *l, const struct model_cache_config *shape)
{
	uint64_t count = shape->size / shape->line;

	l->shape = *shape;
	l->sets = count / shape->ways;
	l->blocks = malloc(count * sizeof(*l->blocks));
	memset(l->blocks, 0xff, count * sizeof(*l->blocks));
}

static bool block_misses(struct lists *l, uint64_t block)
{
	uint64_t *set = l->blocks + block % l->sets * l->shape.ways;
	uint32_t at = 0;
	bool missed;

	while (at < l->shape.ways && set[at] != block)
		at++;
	missed = at == l->shape.ways;
	memmove(set + 1, set, (missed ? at - 1 : at) * sizeof(*set));
	set[0] = block;
	return missed;
}

static bool misses(struct lists *l, uint64_t address, unsigned size)
{
	uint64_t first = address / l->shape.line, last = (address + size - 1) / l->shape.line;
	bool missed = block_misses(l, first);

	if (last != first)
		missed |= block_misses(l, last);
	return missed;
}

/* Lines that are next to each other come into one of four sets of the last level. */
static uint64_t apart(uint64_t address, uint64_t sets)
{
	uint64_t line = address / 64;

	return (line / 4 * sets + line % 4) * 64 + address % 64;
}

/* packed: the last level has so many sets that the model packs them. */
static int compare(uint64_t number, int packed)
{
	static struct run run;
	uint64_t seed = number * UINT64_C(0x9E3779B97F4A7C15) + 7, address = 0x10000, at = 0x20000;
	struct model_config c = zen4();
	struct model_cache_config *caches[3] = {&c.l1i, &c.l1d, &c.ll};
	struct lists lists[3];
	uint64_t counts[6] = {0};
	unsigned least = 4096, i;
	int wrong;

	c.flavour = MODEL_CACHEGRIND;
	c.l2.size = 0;
	for (i = 0; i < 3; i++) {
		uint32_t line = 16u << random_below(&seed, 4),
			 ways = 1 + (uint32_t)random_below(&seed, 9);
		uint32_t sets = 1u << random_below(&seed, i == 2 ? 7 : 5);

		if (packed && i == 2) {
			line = 64;
			ways += 7;
			sets = 4096u << random_below(&seed, 3);
		}
		*caches[i] = (struct model_cache_config){sets * ways * line, ways, line, 10};
		lists_new(&lists[i], caches[i]);
		least = line < least ? line : least;
	}
	run_begin(&run, &c);
	for (i = 0; i < 20000; i++) {
		uint64_t choice = random_below(&seed, 8);
		bool fetch = choice < 3;
		uint64_t a;
		unsigned size = 1 + (unsigned)random_below(&seed, fetch ? 15 : 32), cut;
		uint64_t *where = fetch ? &at : &address;

		if (choice == 3)
			size = 1 + (unsigned)random_below(&seed, 512);
		if (random_below(&seed, 4))
			*where += random_below(&seed, 24);
		else
			*where = 0x10000 + random_below(&seed, 0x8000);
		if (!random_below(&seed, 500))
			run_thread(&run, (unsigned)random_below(
						 &seed, 3)); /* one set of caches all the same */
		a = packed ? apart(*where, lists[2].sets) : *where;
		if (fetch)
			model_instruction(run.model, a, size,
				random_below(&seed, 9) ? 0 : MODEL_REPEATED, 1, 0);
		else if (random_below(&seed, 2))
			model_load(run.model, a, size);
		else
			model_store(run.model, a, size);
		cut = size < least ? size : least;
		if (misses(&lists[fetch ? 0 : 1], a, cut)) {
			counts[fetch ? 0 : 1]++;
			counts[4]++;
			if (misses(&lists[2], a, cut))
				counts[fetch ? 2 : 3]++;
		}
	}
	for (i = 0; i < EVENT_LIMIT; i++)
		run.counts[i] += run.others[1][i] + run.others[2][i];
	wrong = run.counts[EV_L1I_MISSES] != counts[0] || run.counts[EV_L1D_MISSES] != counts[1] ||
		run.counts[EV_LL_INSTRUCTION_MISSES] != counts[2] ||
		run.counts[EV_LL_DATA_MISSES] != counts[3] ||
		run.counts[EV_LL_REFERENCES] != counts[4] ||
		run.counts[EV_L2I_MISSES] != counts[2] || run.counts[EV_L2D_MISSES] != counts[3] ||
		run.counts[EV_L2_REFERENCES] != counts[4];
	for (i = 0; i < 3; i++)
		free(lists[i].blocks);
	run_end(&run);
	return wrong;
}

/* Worked by hand: two ways of two sets of 16 bytes, and four ways of one set behind. */
static void by_hand(void)
{
	static struct run run;
	struct model_config c = zen4();

	c.flavour = MODEL_CACHEGRIND;
	c.l2.size = 0;
	c.l1d = (struct model_cache_config){64, 2, 16, 1};
	c.ll = (struct model_cache_config){64, 4, 16, 1};
	run_begin(&run, &c);
	model_load(run.model, 0x1008, 16); /* 100 and 101: one miss, in each */
	is_int(run.counts[EV_L1D_MISSES], 1, "an access that crosses lines is one miss");
	is_int(run.counts[EV_LL_DATA_MISSES], 1, "and one miss of LL");
	model_load(run.model, 0x1000, 8);
	model_load(run.model, 0x1010, 8);
	is_int(run.counts[EV_L1D_MISSES], 1, "both its lines are there");
	model_load(run.model, 0x1000, 64); /* cut to 100 alone */
	is_int(run.counts[EV_L1D_MISSES], 1, "a long access is cut to a line");
	model_load(run.model, 0x1020, 1);  /* set 0: 102 100 */
	model_store(run.model, 0x1040, 1); /* set 0: 104 102, LL: 104 102 101 100 */
	is_int(run.counts[EV_LL_DATA_MISSES], 3, "two lines more from memory");
	model_load(run.model, 0x1000, 1);
	is_int(run.counts[EV_L1D_MISSES], 4, "the least recent line has left L1");
	is_int(run.counts[EV_LL_DATA_MISSES], 3, "but LL has it");
	run_end(&run);
}

int main(void)
{
	int wrong = 0;

	by_hand();
	for (uint64_t number = 1; number <= 40; number++)
		wrong += compare(number, number > 30);
	is_int(wrong, 0, "40 random geometries agree with the restated rules on 800000 accesses");
	return done();
}
