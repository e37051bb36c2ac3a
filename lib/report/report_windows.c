/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Windows of values, or bursts with timed loads: how many there are, and their cost. */
#include <inttypes.h>
#include <string.h>

#include "experiment/values.h"
#include "report/report_columns.h"

static void describe_value_cost(
	struct report_table *t, const struct experiment *x, const char *what)
{
	double program = (double)experiment_value_tally(x, VALUE_TALLY_PROGRAM_NS);

	if (program > 0)
		report_summary(t, what, "%.1f%% (measured)",
			100 * (double)experiment_value_tally(x, VALUE_TALLY_COST_NS) / program);
}

static void describe_values_kept(struct report_table *t, const struct experiment *x)
{
	if (x->value_sites.count && !experiment_has_secrets(x))
		report_summary(t, "Values themselves", "not kept: #1 is the most frequent one");
}

static bool report_values_are_logged(const struct experiment *x)
{
	const char *source = experiment_fact_find(x, EXPERIMENT_VALUE_SOURCE);

	return source && strcmp(source, EXPERIMENT_VALUE_BURSTS) == 0;
}

void report_describe_values(struct report_table *t, const struct experiment *x)
{
	uint64_t moments = experiment_value_tally(x, VALUE_TALLY_MOMENTS);
	bool timed = experiment_fact_find(x, EXPERIMENT_VALUE_LEVELS) != NULL;

	if (!experiment_has_values(x))
		return;
	if (report_values_are_logged(x)) {
		report_summary(t, "Bursts that logged values",
			"%" PRIu64 ", %" PRIu64 " values at %zu places", moments,
			experiment_value_tally(x, VALUE_TALLY_VALUES), x->value_sites.count);
		describe_values_kept(t, x);
		return;
	}
	if (timed) {
		report_summary(t, "Bursts with timed loads",
			"%" PRIu64 " (and %" PRIu64 " without), %" PRIu64 " loads", moments,
			experiment_value_tally(x, VALUE_TALLY_EMPTY),
			experiment_value_tally(x, VALUE_TALLY_VALUES));
		describe_value_cost(t, x, "Time that bursts took, by that of the program");
		return;
	}
	report_summary(t, "Windows of values",
		"%" PRIu64 " (and %" PRIu64 " in system calls), %.0f instructions each", moments,
		experiment_value_tally(x, VALUE_TALLY_EMPTY),
		moments ? (double)experiment_value_tally(x, VALUE_TALLY_INSTRUCTIONS) /
				  (double)moments
			: 0.0);
	report_summary(t, "Values in them", "%" PRIu64 " at %zu places",
		experiment_value_tally(x, VALUE_TALLY_VALUES), x->value_sites.count);
	describe_values_kept(t, x);
	describe_value_cost(t, x, "Time that values took, by that of the program");
}
