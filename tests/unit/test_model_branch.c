/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Branch prediction: patterns of which it is known what a predictor of each kind makes. */
#include "../tap.h"
#include "model_machine.h"

static struct run run;
static uint64_t branches, missed; /* at the last call of permille */

static void begin(int kind)
{
	struct model_config config = kind ? zen4() : r10000();

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
	uint64_t seed = 3, program[64];
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

static void indirect(void)
{
	int n;

	is_int(dispatch(1, 1), 0, "one target");
	n = dispatch(1, 24);
	ok(n <= 5, "a path of 24 targets is learnt: %d in 1000", n);
	n = dispatch(0, 24);
	ok(n >= 600, "by address alone it is not: %d in 1000", n);
	begin(1);
	model_branch(run.model, MODEL_INDIRECT_CALL, 0x407000, 0x407002, 0x9000, 1);
	model_branch(run.model, MODEL_RETURN, 0x9000, 0x9001, 0x407002, 1);
	model_sync(run.model);
	is_int(run.counts[EV_INDIRECT_BRANCHES], 1, "an indirect call is an indirect branch");
	is_int(run.counts[EV_CALLS], 1, "and a call");
	is_int(run.counts[EV_MISPREDICTED_RETURNS], 0, "whose return is predicted");
	run_end(&run);
}

int main(void)
{
	short_loops();
	alternating();
	correlated();
	random_outcomes(0);
	random_outcomes(1);
	one_way();
	return_stack();
	indirect();
	return done();
}
