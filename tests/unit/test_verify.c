/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Verification: which lines count, and intervals of gains. */
#include "../tap.h"

#include <math.h>
#include <string.h>

#include "pgo/verify_private.h"

static struct verify_bytes bytes(const char *text)
{
	return (struct verify_bytes){text, strlen(text)};
}

static void compared(const char *first, const char *second, const char *new,
	enum verify_difference want, size_t line, size_t left, const char *name)
{
	size_t at, out;
	enum verify_difference got =
		verify_compare(bytes(first), bytes(second), bytes(new), &at, &out);

	ok(got == want && at == line && out == left, "%s: %d line %zu, left %zu", name, (int)got,
		at, out);
}

static void test_outputs(void)
{
	compared("a\nb\n", "a\nb\n", "a\nb\n", VERIFY_SAME, 0, 0, "equal");
	compared("", "", "", VERIFY_SAME, 0, 0, "empty");
	compared("", "", "x", VERIFY_DIFFERS, 1, 0, "something instead of nothing");
	compared("x", "x", "", VERIFY_DIFFERS, 1, 0, "nothing instead of something");
	compared("a\nb\n", "a\nb\n", "a\nb", VERIFY_DIFFERS, 2, 0, "no newline at the end");
	compared("a\nb\n", "a\nb\n", "a\nb\nc\n", VERIFY_DIFFERS, 3, 0, "a line more");
	compared("a\nb\n", "a\nb\n", "a\n", VERIFY_DIFFERS, 2, 0, "a line less");
	compared("a\n1\n", "a\n2\n", "a\n3\n", VERIFY_LEFT_OUT, 0, 1, "a line that varies");
	compared("a\n1\n", "a\n2\n", "b\n1\n", VERIFY_DIFFERS, 1, 0, "another one differs");
	compared("1\na\n", "2\na\n", "3\nb\n", VERIFY_DIFFERS, 2, 1, "behind one that varies");
	compared("1\na\n", "2\na\n", "3\n", VERIFY_DIFFERS, 2, 1, "a line less, behind it");
	compared(
		"a\n1\n", "a\n2\n", "a\n", VERIFY_DIFFERS, 2, 0, "the line that varies is missing");
	compared("a\n", "a\nb\n", "c\n", VERIFY_LEFT_OUT, 0, 1, "as many lines as it happens");
}

static void test_intervals(void)
{
	double old[40], new[40];
	struct verify_interval g, again;

	for (int i = 0; i < 40; i++) {
		old[i] = 1 + 0.01 * (i % 5);
		new[i] = 0.8 * old[i];
	}
	g = verify_gain(old, new, 20, 2);
	ok(fabs(g.value - 0.2) < 1e-9, "a fifth less: %g", g.value);
	ok(g.low <= g.value && g.value <= g.high && g.high - g.low < 0.05, "its interval: %g to %g",
		g.low, g.high);
	again = verify_gain(old, new, 20, 2);
	ok(memcmp(&g, &again, sizeof(g)) == 0, "the same interval again");
	g = verify_gain(old, old, 20, 2);
	ok(fabs(g.value) < 1e-9 && g.low <= 0 && g.high >= 0, "nothing: %g to %g", g.low, g.high);
	/* one run out of many that was disturbed */
	new[7] = 50;
	g = verify_gain(old, new, 20, 2);
	ok(g.low > 0.15, "a disturbed run changes little: %g", g.low);
	/* two speeds of the machine, each round wholly in one */
	for (int i = 0; i < 40; i++) {
		old[i] = (i / 2) % 2 ? 1 : 2;
		new[i] = old[i];
	}
	g = verify_gain(old, new, 20, 2);
	ok(g.low <= 0.001 && g.high >= -0.001, "rounds at two speeds are no gain: %g to %g", g.low,
		g.high);
}

int main(void)
{
	test_outputs();
	test_intervals();
	return done();
}
