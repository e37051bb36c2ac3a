/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Branch prediction: patterns of which it is known what a predictor of each kind makes. */
#include "../tap.h"
#include "model/state.h"
#include "model/ways.h"
#include "model_machine.h"

static struct run run;
static uint32_t indirect_history;
static uint64_t branches, missed; /* at the last call of permille */

static void begin(int kind)
{
	struct model_config config = kind ? zen4() : r10000();

	config.indirect_history = indirect_history;
	branches = missed = 0;
	run_begin(&run, &config);
}

static void conditional(uint64_t from, int taken)
{
	model_branch(run.model, MODEL_CONDITIONAL, from, from + 4, from - 64, taken);
}

/* Mispredictions in a thousand of the branches since the last call. */
static int permille(void)
{
	uint64_t b, n;

	model_sync(run.model);
	b = run.counts[EV_BRANCHES] - branches;
	n = run.counts[EV_MISPREDICTED_BRANCHES] - missed;
	branches += b;
	missed += n;
	return b ? (int)(n * 1000 / b) : 0;
}

static void trips(int loops, int trip_count)
{
	for (int i = 0; i < loops; i++)
		for (int j = 0; j < trip_count; j++)
			conditional(0x401000, j + 1 < trip_count);
}

static void short_loops(void)
{
	int n;

	begin(0);
	trips(1000, 3);
	n = permille();
	ok(n >= 330 && n <= 337, "two-bit counters miss the last of three trips: %d in 1000", n);
	run_end(&run);
	begin(1);
	trips(200, 3);
	permille();
	trips(1000, 3);
	is_int(permille(), 0, "tagged tables learn three trips");
	trips(200, 25);
	permille();
	trips(400, 25);
	n = permille();
	ok(n <= 2, "and 25 trips: %d in 1000", n);
	run_end(&run);
}

static void alternating(void)
{
	begin(1);
	for (int i = 0; i < 400; i++)
		conditional(0x402000, i & 1);
	permille();
	for (int i = 0; i < 1000; i++)
		conditional(0x402000, i & 1);
	is_int(permille(), 0, "alternation is learnt");
	run_end(&run);
}

static void correlated(void)
{
	uint64_t seed = 5;
	int n, taken;

	begin(1);
	for (int i = 0; i < 20000; i++) {
		if (i == 4000)
			permille();
		taken = (int)random_below(&seed, 2);
		conditional(0x403000, taken);
		conditional(0x403040, !taken);
	}
	n = permille();
	ok(n >= 200 && n <= 300,
		"of a random branch and one that follows it, half of the first: %d in 1000", n);
	run_end(&run);
}

static void random_outcomes(int kind)
{
	uint64_t seed = 11;
	int n;

	begin(kind);
	for (int i = 0; i < 20000; i++)
		conditional(0x404000, (int)random_below(&seed, 2));
	n = permille();
	ok(n >= 450 && n <= 550, "kind %d: nothing predicts coin tosses: %d in 1000", kind, n);
	run_end(&run);
}

/* Against two-bit counters as one writes them down. */
/* The same random outcomes again and again, with a branch between them that always goes one way. */
static void repeated_outcomes(void)
{
	static unsigned char outcome[4096];
	uint64_t seed = 5;
	int n;

	for (size_t i = 0; i < sizeof(outcome); i++)
		outcome[i] = (unsigned char)random_below(&seed, 2);
	begin(1);
	for (int round = 0; round < 24; round++) {
		if (round == 16)
			permille();
		for (size_t i = 0; i < sizeof(outcome); i++) {
			conditional(0x404000, outcome[i]);
			conditional(0x404020, 1);
		}
	}
	n = permille();
	ok(n <= 10, "4096 random outcomes are known after 16 rounds: %d in 1000", n);
	run_end(&run);
}

static void two_bit_counters(void)
{
	static int counter[512];
	uint64_t seed = 17, wrong = 0;

	begin(0);
	for (int i = 0; i < 200000; i++) {
		uint64_t from = 0x400000 + random_below(&seed, 600);
		int taken = random_below(&seed, 7) < from % 8;
		int *c = &counter[(from ^ from >> 2) % 512];

		wrong += (uint64_t)((*c >= 2) != taken);
		*c += taken ? *c < 3 : -(*c > 0);
		conditional(from, taken);
	}
	model_sync(run.model);
	is_int(run.counts[EV_MISPREDICTED_CONDITIONALS], wrong, "kind 0 is a two-bit counter");
	run_end(&run);
}

/* Settled, then otherwise, then settled again: a misprediction for each change. */
static void phases(void)
{
	begin(1);
	for (int i = 0; i < 5000; i++)
		conditional(0x408000, i / 1000 & 1);
	model_sync(run.model);
	ok(run.counts[EV_MISPREDICTED_CONDITIONALS] >= 4 &&
			run.counts[EV_MISPREDICTED_CONDITIONALS] <= 20,
		"five phases of a branch: %llu mispredictions",
		(unsigned long long)run.counts[EV_MISPREDICTED_CONDITIONALS]);
	run_end(&run);
}

/* The outcome is that of another branch so many branches ago. */
static int at_distance(int distance)
{
	uint64_t seed = 23;
	int n;

	begin(1);
	for (int i = 0; i < 60000; i++) {
		int taken = (int)random_below(&seed, 2);

		if (i == 40000)
			permille();
		conditional(0x409000, taken);
		for (int j = 1; j < distance; j++)
			conditional(0x409100 + 16 * j, j & 1);
		conditional(0x40a000, taken);
	}
	n = permille() * (distance + 1) - 500;
	run_end(&run);
	return n;
}

static void distances(void)
{
	static const int distance[] = {1, 4, 12, 30, 44};

	for (unsigned i = 0; i < sizeof distance / sizeof *distance; i++) {
		int n = at_distance(distance[i]);

		ok(n <= 80, "a branch that follows one %d branches ago: %d in 1000", distance[i],
			n);
	}
}

/* More branches than the base has room for, each with a pattern of its own: they share entries. */
static int crowd(int branches_in_all)
{
	int n;

	begin(1);
	for (int i = 0; i < 80; i++) {
		if (i == 60)
			permille();
		for (int b = 0; b < branches_in_all; b++)
			conditional(0x500000 + (uint64_t)b * 24, (i + b) % (2 + b % 3) == 0);
	}
	n = permille();
	run_end(&run);
	return n;
}

static void aliasing(void)
{
	int few = crowd(100), many = crowd(100000);

	ok(few <= 20, "a hundred regular branches are learnt: %d in 1000", few);
	ok(many > few + 50, "a hundred thousand are more than fit: %d in 1000", many);
	ok(many <= 600, "and get in each other's way no more than that: %d in 1000", many);
}

static void same_each_time(void)
{
	uint64_t first = 0, again = 0;

	for (int pass = 0; pass < 2; pass++) {
		uint64_t seed = 31;

		begin(1);
		for (int i = 0; i < 100000; i++) {
			uint64_t r = random_below(&seed, 4096);

			conditional(0x400000 + r / 8, (int)(r & r >> 5 & 1));
		}
		model_sync(run.model);
		*(pass ? &again : &first) = run.counts[EV_MISPREDICTED_CONDITIONALS];
		run_end(&run);
	}
	is_int(again, first, "the same branches give the same mispredictions");
}

/* What is written for the host's vectors, against what is written for none. */
static void ways(void)
{
	uint64_t seed = 41;
	int differ = 0;

	for (int i = 0; i < 20000; i++) {
		uint64_t even = random_next(&seed), odd = random_next(&seed);
		struct ways a, b, c, d;
		uint16_t mask = (uint16_t)(random_next(&seed) & random_next(&seed));
		uint16_t bits = (uint16_t)random_next(&seed);
		unsigned number = (unsigned)random_below(&seed, WAYS + 1);

		ways_interleave(&a, even, odd);
		ways_interleave_plain(&b, even, odd);
		differ += memcmp(&a, &b, sizeof a) != 0;
		ways_interleave(&c, odd, even & random_next(&seed) & random_next(&seed));
		c.of[i % WAYS] = a.of[i % WAYS];
		differ += ways_agree(&a, &c, mask) != ways_agree_plain(&a, &c, mask);
		differ += (ways_agree(&a, &c, 0xffff) >> i % WAYS & 1) == 0;
		ways_gather(&a, c.of + 4, b.of);
		ways_gather_plain(&d, c.of + 4, b.of);
		differ += memcmp(&a, &d, sizeof a) != 0;
		ways_flip(&d, number, bits, a.of, c.of + 4);
		ways_flip_plain(&d, number, bits, b.of, b.of + 4);
		differ += memcmp(a.of, b.of, 8) != 0 || memcmp(c.of + 4, b.of + 4, 8) != 0;
		differ += number && bits && !memcmp(&b, &d, sizeof b);
	}
	is_int(differ, 0, "sets of entries: the same with vectors and without");
}

static void one_way(void)
{
	begin(1);
	for (int i = 0; i < 100; i++) {
		conditional(0x405000, 1);
		conditional(0x405100, 0);
	}
	model_sync(run.model);
	is_int(run.counts[EV_MISPREDICTED_CONDITIONALS], 1,
		"always taken: wrong once; never taken: not at all");
	is_int(run.counts[EV_TAKEN_BRANCHES], 100, "taken branches");
	is_int(run.counts[EV_DECODED_BRANCHES], 200, "event 6 are the conditional branches");
	run_end(&run);
}

static void calls(int depth)
{
	for (int i = 0; i < depth; i++)
		model_branch(run.model, MODEL_CALL, 0x1000 + 16 * i, 0x1005 + 16 * i,
			0x1010 + 16 * i, 1);
	for (int i = depth - 1; i >= 0; i--)
		model_branch(run.model, MODEL_RETURN, 0x8000, 0x8001, 0x1005 + 16 * i, 1);
}

static void return_stack(void)
{
	begin(1);
	calls(32);
	model_sync(run.model);
	is_int(run.counts[EV_RETURNS], 32, "returns");
	is_int(run.counts[EV_CALLS], 32, "calls");
	is_int(run.counts[EV_MISPREDICTED_RETURNS], 0,
		"as deep as the return stack: none is mispredicted");
	calls(40);
	model_sync(run.model);
	is_int(run.counts[EV_MISPREDICTED_RETURNS], 8, "eight deeper: the outermost eight are");
	model_branch(run.model, MODEL_CALL, 0x1000, 0x1005, 0x2000, 1);
	model_branch(run.model, MODEL_RETURN, 0x2000, 0x2001, 0x3333, 1);
	model_sync(run.model);
	is_int(run.counts[EV_MISPREDICTED_RETURNS], 9, "a return to elsewhere is");
	is_int(run.counts[EV_MISPREDICTED_BRANCHES], 9, "and in the sum");
	run_end(&run);
}

/* An interpreter's dispatch: one jump, targets in the order of a program of length `length`. */
static int dispatch(int kind, int length)
{
	uint64_t seed = 3, program[2048];
	int n;

	begin(kind);
	for (int i = 0; i < length; i++)
		program[i] = 0x500000 + 64 * random_below(&seed, 8);
	for (int i = 0; i < 400 * length; i++) {
		if (i == 200 * length)
			permille();
		model_branch(
			run.model, MODEL_INDIRECT_JUMP, 0x406000, 0x406002, program[i % length], 1);
	}
	n = permille();
	run_end(&run);
	return n;
}

/* Coin tosses, and jumps that go one way or the other for them; the tosses are not counted. */
static int after_condition(void)
{
	uint64_t seed = 13, before = 0;
	int n;

	begin(1);
	for (int i = 0; i < 20000; i++) {
		int taken = (int)random_below(&seed, 2);

		if (i == 16000) {
			model_sync(run.model);
			before = run.counts[EV_MISPREDICTED_INDIRECTS];
		}
		conditional(0x40b000, taken);
		model_branch(run.model, MODEL_INDIRECT_JUMP, 0x40b010, 0x40b012,
			taken ? 0x40c000 : 0xffffffffff600400, 1);
	}
	model_sync(run.model);
	n = (int)((run.counts[EV_MISPREDICTED_INDIRECTS] - before) / 4);
	run_end(&run);
	return n;
}

static void indirect_by_outcomes(void)
{
	int n;

	indirect_history = MODEL_INDIRECT_BY_OUTCOMES;
	is_int(dispatch(1, 1), 0, "by outcomes alone: one target");
	n = dispatch(1, 24);
	ok(n >= 600, "a path of 24 targets is not learnt: %d in 1000", n);
	n = after_condition();
	ok(n <= 100, "a jump that goes where a branch decided: %d in 1000", n);
	indirect_history = MODEL_INDIRECT_BY_TARGETS;
}

static int jump_varies(int times, uint64_t to)
{
	for (int i = 0; i < times; i++)
		model_branch(run.model, MODEL_INDIRECT_JUMP, 0x400200, 0x400202, to, 1);
	return (int)run.model->core->predictor.varied;
}

static void indirect_of_several(void)
{
	begin(1);
	is_int(jump_varies(100, 0x5000), 0, "an indirect jump has one target");
	is_int(jump_varies(1, 0x6000), 0, "another one, mispredicted");
	is_int(jump_varies(100, 0x5000), 1, "from then on it has several");
	run_end(&run);
	begin(1);
	jump_varies(1, 0x6000);
	is_int(jump_varies(100, 0x5000), 0,
		"not if only the first was elsewhere, as of a function that is bound late");
	run_end(&run);
}

static void indirect(void)
{
	int n;

	is_int(dispatch(1, 1), 0, "one target");
	n = dispatch(1, 24);
	ok(n <= 5, "a path of 24 targets is learnt: %d in 1000", n);
	n = dispatch(1, 1000);
	ok(n <= 20, "and one of 1000, as on processors of today: %d in 1000", n);
	n = dispatch(0, 24);
	ok(n >= 600, "by address alone it is not: %d in 1000", n);
	n = after_condition();
	ok(n <= 100, "a jump that goes where a branch decided: %d in 1000", n);
	begin(1);
	model_branch(run.model, MODEL_INDIRECT_CALL, 0x407000, 0x407002, 0x9000, 1);
	model_branch(run.model, MODEL_RETURN, 0x9000, 0x9001, 0x407002, 1);
	model_sync(run.model);
	is_int(run.counts[EV_INDIRECT_BRANCHES], 1, "an indirect call is an indirect branch");
	is_int(run.counts[EV_CALLS], 1, "and a call");
	is_int(run.counts[EV_MISPREDICTED_RETURNS], 0, "whose return is predicted");
	run_end(&run);
}

/* The same by hand: a counter by seven bits of the address and the last seven outcomes. */
static void as_cachegrind(void)
{
	static uint8_t counters[1 << 14];
	struct model_config config = zen4();
	uint64_t seed = 9, expected = 0, last = 0;
	unsigned history = 0;

	config.predictor_kind = MODEL_PREDICTOR_CACHEGRIND;
	config.predictor_bits = 14;
	run_begin(&run, &config);
	for (int i = 0; i < 50000; i++) {
		uint64_t from = 0x400000 + random_below(&seed, 1000);
		unsigned taken = random_below(&seed, 10) < from % 10;
		uint8_t *counter = &counters[(from & 127) << 7 | (history & 127)];

		expected += (*counter >= 2) != taken;
		*counter = (uint8_t)(taken ? *counter + (*counter < 3) : *counter - (*counter > 0));
		history = history << 1 | taken;
		conditional(from, (int)taken);
	}
	model_sync(run.model);
	is_int(run.counts[EV_MISPREDICTED_CONDITIONALS], expected, "as cachegrind predicts");
	expected = 0;
	for (int i = 0; i < 1000; i++) {
		uint64_t to = 0x500000 + random_below(&seed, 2);

		expected += to != last;
		last = to;
		model_branch(run.model, MODEL_INDIRECT_JUMP, 0x400123, 0x400125, to, 1);
	}
	model_branch(run.model, MODEL_RETURN, 0x9000, 0x9001, 0x407002, 1);
	model_sync(run.model);
	is_int(run.counts[EV_MISPREDICTED_INDIRECTS], expected,
		"an indirect branch goes where it went");
	is_int(run.counts[EV_MISPREDICTED_RETURNS], 0, "and returns are right");
	run_end(&run);
}

int main(void)
{
	short_loops();
	alternating();
	correlated();
	random_outcomes(0);
	random_outcomes(1);
	repeated_outcomes();
	two_bit_counters();
	phases();
	distances();
	aliasing();
	same_each_time();
	ways();
	one_way();
	return_stack();
	indirect();
	indirect_by_outcomes();
	indirect_of_several();
	as_cachegrind();
	return done();
}
