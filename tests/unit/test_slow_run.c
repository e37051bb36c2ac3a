/* SPDX-License-Identifier: GPL-2.0-or-later */
/* When a run is long, and what is said then. */
#include "../tap.h"
#include "sources/slow_run.h"

static int is_long(double elapsed, double instructions, double expected)
{
	return slow_run_is_long(&(struct slow_run){
		.elapsed = elapsed, .instructions = instructions, .expected = expected});
}

static void when(void)
{
	ok(!is_long(4.9, 1e9, 0), "nothing is expected: not yet");
	ok(is_long(5.1, 1e9, 0), "nothing is expected: after half of a long time");
	ok(!is_long(0.5, 1e6, 1e12), "no estimate of the rest in the first second");
	ok(is_long(1.5, 1e8, 1e9), "a tenth in 1.5 s: long");
	ok(!is_long(1.5, 2e8, 1e9), "a fifth in 1.5 s: not long");
	ok(!is_long(6, 7e8, 1e9), "more than half in six seconds: not long");
	ok(is_long(6, 2e9, 1e9), "more than was expected: as if nothing was");
}

static const char *text_of(struct slow_run r)
{
	static char text[256];

	slow_run_text(&r, text, sizeof(text));
	return text;
}

static void what(void)
{
	is_str(text_of((struct slow_run){.elapsed = 5.1, .instructions = 5.1e8}),
		"a long run: 0.51 G instructions in 5 s", "what is known without a clock");
	is_str(text_of((struct slow_run){.elapsed = 6,
		       .instructions = 6e8,
		       .expected = 1.8e9,
		       .modelled = 0.15,
		       .faster = "-fast is faster"}),
		"a long run: 0.60 G instructions in 6 s, 0.15 s on the modelled processor, which "
		"is 40 times faster; about 12 s to go; -fast is faster",
		"all that can be known");
	slow_run_text(&(struct slow_run){.elapsed = 1}, (char[8]){0}, 8);
}

int main(void)
{
	when();
	what();
	return done();
}
