/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The contents of branch records, and their cost. */
#include <inttypes.h>

#include "base/plural.h"
#include "experiment/branches.h"
#include "experiment/values.h"
#include "report/report_columns.h"

static void describe_windows(struct report_table *t, const struct experiment *x)
{
	uint64_t windows = experiment_tally(x, TALLY_WINDOWS);

	if (windows)
		report_summary(t, "Windows",
			"%" PRIu64 " (at %zu branches, %.3g secs. of CPU time)", windows,
			experiment_rates(x), (double)experiment_tally(x, TALLY_WINDOW_NS) * 1e-9);
}

/* Of the time of the program, which has that of stops in it. Of samples and counts, the number is
 * known, and what one costs is assumed. */
static void describe_cost(struct report_table *t, const struct experiment *x)
{
	double all = (double)experiment_tally(x, TALLY_PROGRAM_NS);

	if (all > 0)
		report_summary(t, "Time that recording branches took, by that of the program",
			"%.1f%% (estimated)",
			100 * (double)experiment_tally(x, TALLY_COST_NS) / all);
}

void report_describe_bursts(struct report_table *t, const struct experiment *x)
{
	uint64_t left_out = experiment_tally(x, TALLY_SAMPLES_LEFT_OUT);

	if (!experiment_has_branches(x))
		return;
	/* Bursts with timed loads follow no branches (report_windows.c). */
	if (!experiment_fact_find(x, EXPERIMENT_VALUE_LEVELS)) {
		report_summary(t, "Bursts", "%" PRIu64 " (%" PRIu64 " of them cut short)",
			experiment_tally(x, TALLY_BURSTS), experiment_tally(x, TALLY_BURSTS_CUT));
		report_summary(t, "Branches followed in them", "%" PRIu64 " (%zu different run%s)",
			experiment_tally(x, TALLY_TRANSFERS), experiment_runs(x),
			plural(experiment_runs(x)));
		describe_windows(t, x);
		describe_cost(t, x);
	}
	if (left_out)
		report_summary(t, "Samples left out, in or after bursts", "%" PRIu64, left_out);
}
