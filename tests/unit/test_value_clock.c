/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The clock of windows: what waits for what, and mispredicted branches. */
#include <string.h>

#include "../chance.h"
#include "../tap.h"
#include "values/private.h"

static struct value_clock c;

static double cycles_of(const struct step *steps, const struct execution *x, int count, int rounds)
{
	uint64_t before = c.retired;

	for (int i = 0; i < rounds * count; i++)
		value_clock_step(&c, &steps[i % count], &x[i % count]);
	return (double)(c.retired - before) / VALUE_CLOCK_CYCLE / rounds;
}

static struct step adds(unsigned to)
{
	return (struct step){.kind = STEP_EXECUTE,
		.latency = 1,
		.uses = (uint16_t)(1u << to),
		.sets = (uint16_t)(1u << to)};
}

static void test_dependences(void)
{
	const struct step chain[] = {adds(1), adds(1), adds(1)},
			  apart[] = {adds(1), adds(2), adds(3)};
	const struct step load[] = {
		{.kind = STEP_EXECUTE, .memory = true, .reads = true, .uses = 2, .sets = 2}};
	struct step store = {.kind = STEP_EXECUTE, .memory = true, .writes = true, .uses = 1 << 3};
	struct step reload = load[0];
	struct execution x[3] = {{.address = 0x1000}, {.address = 0x1000}, {.address = 0x1000}};

	value_clock_begin(&c);
	is_near(cycles_of(chain, x, 3, 1000), 3, 0.1, "each waits for the one before");
	is_near(cycles_of(apart, x, 3, 1000), 1, 0.1, "three chains beside each other");
	is_near(cycles_of(load, x, 1, 1000), 4, 0.1, "a chain of loads");
	reload.uses = 0;
	reload.sets = 1 << 3;
	{
		const struct step through[] = {store, reload};

		value_clock_begin(&c);
		is_near(cycles_of(through, x, 2, 1000), 4, 0.1, "through memory");
		x[1].address = 0x2008;
		ok(cycles_of(through, x, 2, 1000) < 1, "not at another address");
	}
}

static double branches_of(bool (*taken)(int))
{
	const struct step branch = {.kind = STEP_CONDITION, .pc = 0x4000};
	uint64_t before = c.retired;

	for (int i = 0; i < 2000; i++)
		value_clock_step(&c, &branch, &(struct execution){.taken = taken(i)});
	before = c.retired;
	for (int i = 0; i < 2000; i++)
		value_clock_step(&c, &branch, &(struct execution){.taken = taken(i)});
	return (double)(c.retired - before) / VALUE_CLOCK_CYCLE / 2000;
}

static bool always(int i)
{
	return i >= 0;
}

static bool every_fourth(int i)
{
	return i % 4 == 0;
}

static bool any(int i)
{
	(void)i;
	return chance_mixed() >> 63;
}

static void test_branches(void)
{
	value_clock_begin(&c);
	ok(branches_of(always) < 1.1, "a branch that is always taken");
	ok(branches_of(every_fourth) < 1.1, "one that is taken every fourth time");
	ok(branches_of(any) > 5, "one that nothing predicts");
	value_clock_begin(&c);
	ok(branches_of(every_fourth) < 1.1, "another window knows branches of windows before");
}

int main(void)
{
	test_dependences();
	test_branches();
	return done();
}
