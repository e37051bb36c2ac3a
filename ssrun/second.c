/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The second run of -explain. Whatever happens to it, the first run's experiment is already in its
 * file, and the exit status is the first run's.
 */
#include <string.h>

#include "base/say.h"
#include "collect/collect_explain.h"
#include "ssrun.h"

/* How many times as long runs on the model take: those of many misses most. */
enum { FASTEST = 4, SLOWEST = 150 };

/* "40 s", "12 min". */
static void duration(double seconds, char *text, size_t size)
{
	if (seconds < 120)
		snprintf(text, size, "%.0f s", seconds < 1 ? 1 : seconds);
	else if (seconds < 7200)
		snprintf(text, size, "%.0f min", seconds / 60);
	else
		snprintf(text, size, "%.0f h", seconds / 3600);
}

static void announce_second(const struct options *o, const struct machine *m, double elapsed)
{
	char least[32], most[32];
	bool same;

	duration(elapsed * FASTEST, least, sizeof(least));
	duration(elapsed * SLOWEST, most, sizeof(most));
	same = strcmp(least, most) == 0;
	if (!o->quiet)
		say("a second run, on a model of %s, counts misses and the causes of waits: about "
		    "%s%s%s, ^C leaves it out; its output is discarded",
			machine_called(m), least, same ? "" : " to ", same ? "" : most);
}

/* A clock that knows causes, unless the user wants another, or the machine cannot have it. */
static int find_machine(const struct options *o, struct machine *m, struct error *e)
{
	if (o->clock)
		return machine_find_clock(o->machine, o->clock, m, e);
	if (machine_find_clock(o->machine, collect_explain_clock, m, e) == 0)
		return 0;
	return machine_find_clock(o->machine, machine_clocks[MODEL_CLOCK_FIRST_ORDER], m, e);
}

/* The command did something else than before: what it changed itself may be the reason. */
static void compare_ends(const struct options *o, const struct collect_result *first, int status)
{
	if (status == first->exit_status || o->quiet)
		return;
	say("the second run ended with status %d, the first with %d: does the command depend on "
	    "what its first run changed? Its modelled counts may be of something else",
		status, first->exit_status);
}

int second_run(const struct options *o, const struct collect_request *native,
	const struct collect_result *first, struct replay *input, struct experiment *x)
{
	struct collect_explain c = {.native = native};
	struct machine machine;
	struct error e = {0};

	if (first->interrupted) {
		if (!o->quiet)
			say("interrupted: no second run, so the experiment has no modelled counts");
		return -1;
	}
	if (replay_again(input, &c.input, &e) == 0 && find_machine(o, &machine, &e) == 0) {
		announce_second(o, &machine, first->elapsed);
		c.machine = &machine;
		if (collect_explain(&c, x, &e) == 0) {
			compare_ends(o, first, c.exit_status);
			return 0;
		}
	}
	say("the experiment has no modelled counts, only the first run: %s", e.message);
	if (e.hint[0])
		say("  %s", e.hint);
	return -1;
}
