/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Times of a command by itself: what runs give, and which runs there are. */
#include "../tap.h"
#include "sources/native_run.h"

#include <unistd.h>

static void sums(void)
{
	static const struct native_run run[] = {
		{0.50, 0.00, 0.60}, {0.30, 0.10, 0.45}, {0.30, 0.20, 0.55}, {0.90, 0.00, 0.50}};
	struct native_times t;

	native_times_of(run, 3, 0.004, &t);
	is_int((int)t.runs, 3, "three runs");
	is_near(t.user.value + t.system.value, 0.4, 1e-12, "the least disturbed on the processor");
	is_near(t.user.value, 0.4 * 1.1 / 1.4, 1e-12, "divided as all runs together");
	is_near(t.elapsed.value, 0.45, 1e-12, "the least elapsed");
	is_near(t.elapsed.high, 0.55, 1e-12, "up to the median");
	ok(t.user.low < 0.96 * t.user.value && t.user.low > 0.93 * t.user.value,
		"350 ticks do not divide it exactly");
	ok(t.user.high > 0.5 * 1.1 / 1.4 && t.user.high < 0.5, "and the runs differ");
	ok(t.system.low < t.system.value && t.system.value < t.system.high, "nor the system's");
	is_int(t.user.label, LABEL_MEASURED, "measured");
	native_times_of(run, 1, 0.004, &t);
	is_near(t.user.value, 0.5, 1e-12, "one run");
	ok(t.user.low < 0.5 && t.user.low > 0.48, "no tick of 125 found the system: it may be 3%%");
	is_near(t.user.high, 0.5, 1e-12, "and not more than all was the user's");
}

static void no_time(void)
{
	static const struct native_run run = {0, 0, 0.001};
	struct native_times t;

	native_times_of(&run, 1, 0.004, &t);
	ok(t.user.value == 0 && t.user.low == 0 && t.user.high == 0, "no time at all");
}

int main(void)
{
	char *quick[] = {"sh", "-c", "echo this goes nowhere; echo nor this >&2", NULL};
	char *failing[] = {"sh", "-c", "exit 3", NULL};
	char *missing[] = {"./no-such-command", NULL};
	struct native_times t;
	struct replay input;
	struct error e = {0};
	bool interrupted;

	sums();
	no_time();
	is_int(replay_begin(&input, STDIN_FILENO, 1000, &e), 0, "standard input");
	is_int(native_times_measure(quick, &input, &t, &interrupted, &e), 0, "%s", e.message);
	ok(t.runs >= 1 && t.runs <= NATIVE_RUNS_MAX, "a short command runs several times");
	ok(!interrupted && t.exit_status == 0, "all succeeded");
	ok(t.elapsed.value > 0 && t.elapsed.label == LABEL_MEASURED, "it took some time");
	is_int(native_times_measure(failing, &input, &t, &interrupted, &e), 0, "one that fails");
	is_int((int)t.runs, 1, "runs once");
	is_int(t.exit_status, 3, "its status");
	is_int(native_times_measure(missing, &input, &t, &interrupted, &e), -1, "none");
	is_int(e.code, ERR_CANNOT_RUN, "%s", e.message);
	replay_end(&input);
	return done();
}
