/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Eight entries at once, with the vector instructions of this build, and one by one. */
#include "../tap.h"
#include "model/random.h"
#include "model/ways.h"

static uint64_t seed = 1;

static uint64_t number_below(uint64_t n)
{
	return model_random_below(&seed, n);
}

static uint64_t any_number(void)
{
	return number_below(UINT64_C(1) << 32) << 32 | number_below(UINT64_C(1) << 32);
}

/* Few values: so that some agree, and several are least. */
static void fill(struct ways *w)
{
	for (unsigned i = 0; i < WAYS; i++)
		w->of[i] = (uint16_t)(any_number() & 0x8083);
}

static int same(const struct ways *a, const struct ways *b)
{
	return !memcmp(a, b, sizeof(*a));
}

static void test_places(void)
{
	unsigned wrong = 0;

	for (unsigned i = 0; i < 20000; i++) {
		struct ways w, x, y, one, other;
		uint64_t even = any_number(), odd = any_number();
		unsigned number = (unsigned)number_below(WAYS + 1);
		uint16_t bits = (uint16_t)any_number();

		fill(&w);
		ways_gather(&x, w.of, w.of + WAYS / 2);
		wrong += !same(&x, &w);
		ways_flip(&x, number, bits, one.of, one.of + WAYS / 2);
		ways_flip_plain(&x, number, bits, other.of, other.of + WAYS / 2);
		wrong += !same(&one, &other);
		ways_interleave(&x, even, odd);
		ways_interleave_plain(&y, even, odd);
		wrong += !same(&x, &y);
		fill(&x);
		wrong += ways_agree(&w, &x, 0x8003) != ways_agree_plain(&w, &x, 0x8003);
	}
	is_int(wrong, 0, "gathered, changed, interleaved and compared alike");
}

static void test_least(void)
{
	unsigned wrong = 0, later = 0;

	for (unsigned i = 0; i < 20000; i++) {
		struct ways w, x;
		unsigned start = (unsigned)number_below(WAYS);
		unsigned first = (unsigned)number_below(WAYS - start), best;

		fill(&w);
		best = ways_least(&w, start, first, 3);
		wrong += best != ways_least_plain(&w, start, first, 3) || best < start;
		later += best != start + first;
		for (unsigned k = start; k < WAYS; k++)
			wrong += (w.of[k] & 3) < (w.of[best] & 3);
		x = w;
		ways_reduce(&w, start, w.of[best] & 3);
		ways_reduce_plain(&x, start, x.of[best] & 3);
		wrong += !same(&w, &x);
	}
	is_int(wrong, 0, "the least of those from one on, and what is left of them");
	ok(later > 1000, "it is often not the first");
}

int main(void)
{
	test_places();
	test_least();
	return done();
}
