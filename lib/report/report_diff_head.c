/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Above the rows of -diff: the runs compared, and how; below: the rows without changes. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/plural.h"

#include "report/report_columns.h"
#include "report/report_diff.h"

static const char *const side_names[] = {"before", "after"};

/* The fact of a side: of its first run that has it. *several: other runs differ. */
static const char *side_fact(
	const struct prof_request *r, unsigned side, const char *key, bool *several)
{
	const char *value = NULL;

	for (size_t i = 0; i < r->count; i++) {
		const char *own = r->inputs[i].side == side
					  ? experiment_fact_find(r->inputs[i].experiment, key)
					  : NULL;

		if (own && value && strcmp(own, value) != 0)
			*several = true;
		value = value ? value : own;
	}
	return value;
}

static bool same_text(const char *a, const char *b)
{
	return a && b && strcmp(a, b) == 0;
}

/* What both sides have in common once, else of each. */
static void describe_fact(struct report_diff *f, const char *key, const char *label)
{
	static const char *const differ[] = {"", " (others differ)"};
	const struct prof_request *r = f->data->request;
	const char *values[2];
	bool several[2] = {false, false};

	for (unsigned side = 0; side < 2; side++)
		values[side] = side_fact(r, side, key, &several[side]);
	if (same_text(values[0], values[1]) && several[0] == several[1]) {
		report_head(f->table, label, "%s%s", values[0], differ[several[0]]);
		return;
	}
	for (unsigned side = 0; side < 2; side++)
		if (values[side])
			report_head(f->table,
				report_text(f->table, "%s, %s", label, side_names[side]), "%s%s",
				values[side], differ[several[side]]);
}

static size_t files_of(const struct prof_request *r, unsigned side)
{
	size_t n = 0;

	for (size_t i = 0; i < r->count; i++)
		n += r->inputs[i].side == side;
	return n;
}

static void describe_sides(struct report_diff *f)
{
	static const char *const labels[] = {"Before", "After"};
	const struct prof_request *r = f->data->request;
	struct report_table *t = f->table;

	for (unsigned side = 0; side < 2; side++) {
		size_t n = files_of(r, side);

		report_head(t, labels[side], "%s%s", r->sides[side],
			n == 1 ? "" : report_text(t, ", %zu runs", n));
		report_brief(t, labels[side], "%s%s", r->sides[side],
			n == 1 ? "" : report_text(t, ", %zu runs", n));
	}
	for (size_t i = 0; report_facts[i][0]; i++)
		describe_fact(f, report_facts[i][0], report_facts[i][1]);
	for (size_t i = 0; i < r->count; i++)
		if (!r->inputs[i].experiment->complete)
			report_head(t, "Complete", "no: %s was not recorded to its end",
				r->inputs[i].file);
	if (r->calipers)
		report_head(t, "Calipers", "%s", r->calipers);
	if (r->from || r->to)
		report_head(t, "Time", "from %s to %s", r->from ? r->from : "0",
			r->to ? r->to : "the end");
}

static uint64_t samples_of(
	const struct report_diff *f, const struct report_pair *pair, unsigned side)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < pair->runs.count; i++)
		if ((i >= pair->sides[0]) == side)
			sum += f->data->metrics.data[pair->runs.data[i]].samples;
	return sum;
}

static void describe_pair(struct report_diff *f, const struct report_pair *pair)
{
	const struct experiment_metric *m = pair->metric;
	struct report_table *t = f->table;
	bool exact = pair->table.design.exact;

	report_summary(t, "Metric", "%s (%s%s%s)", m->name, label_name(m->label),
		m->note[0] ? ", " : "", m->note);
	report_summary(t,
		exact ? "Total counts, before and after" : "Total samples, before and after",
		"%" PRIu64 " and %" PRIu64, samples_of(f, pair, 0), samples_of(f, pair, 1));
	report_brief(t, exact ? "Counts" : "Samples",
		"%" PRIu64 " before, %" PRIu64 " after, of %s (%s)%s", samples_of(f, pair, 0),
		samples_of(f, pair, 1), m->short_name, label_name(m->label),
		pair->runs.count > 2 ? report_text(t, ", scatter %.1f%% (estimated)",
					       100 * sqrt(pair->table.design.scatter))
				     : "");
	if (pair->runs.count > 2)
		report_summary(t, "Scatter from run to run, of most rows", "%.1f%% (estimated)",
			100 * sqrt(pair->table.design.scatter));
	else if (!exact && m->label != LABEL_MODEL)
		report_summary(t, "Scatter from run to run", "not known: one run a side");
}

void report_diff_head(struct report_diff *f)
{
	const struct prof_request *r = f->data->request;
	struct report_table *t = f->table;

	if (r->command)
		report_head(t, NULL, "%s", r->command);
	describe_sides(f);
	report_brief_run(t, f->data);
	for (size_t i = 0; i < f->data->metrics.count; i++)
		report_experiment_add(t, f->data, i);
	for (size_t i = 0; i < f->pairs.count; i++)
		describe_pair(f, &f->pairs.data[i]);
	report_summary(t, "Rows that chance alone would show, at most",
		"5%% of them (Benjamini and Hochberg)");
	t->title =
		report_text(t, "%s list: changes of %s%s that are more than chance, largest first",
			profile_grains[f->grain].title,
			r->shares      ? "the share of "
			: r->inclusive ? "inclusive "
				       : "",
			report_metric_name(f->pairs.data[0].metric));
}

/* The rows that did not change, together. */
static void diff_head_sum_up(struct report_diff *f, const struct report_pair *pair)
{
	const struct prof_request *r = f->data->request;
	bool clock = pair->metric->flags & METRIC_CLOCK, several = f->pairs.count > 1;
	size_t runs = pair->runs.count, n = 0;
	uint64_t *sums = report_scratch(f->table, runs, sizeof(*sums));
	const char *unit = r->shares ? "% of the whole" : clock ? "seconds" : pair->metric->unit;
	const char *what;
	struct compare_change c;
	int digits = r->shares ? 2 : clock ? 3 : 0;

	if (!sums)
		return;
	for (size_t i = 0; i < f->sums.entities.count; i++) {
		uint64_t any = 0;

		for (size_t k = 0; k < runs && !pair->table.changes[i].differs; k++) {
			sums[k] += pair->table.counts[i * runs + k];
			any |= pair->table.counts[i * runs + k];
		}
		n += any != 0;
	}
	if (!n)
		return;
	compare_alone(&pair->table.design, sums, &c);
	what = report_text(f->table, "%s%s%zu %s%s, %schange within chance",
		several ? pair->name : "", several ? ": " : "", n, profile_grains[f->grain].name,
		plural(n), n > 1 ? "each " : "");
	if (r->inclusive)
		report_note(f->table, "%s", what);
	else
		report_note(f->table,
			"%s: together %.*f before, %.*f after, change %+.*f (%+.*f to %+.*f) %s%s",
			what, digits, pair->unit * c.rates[0], digits, pair->unit * c.rates[1],
			digits, pair->unit * (c.rates[1] - c.rates[0]), digits, pair->unit * c.low,
			digits, pair->unit * c.high, unit,
			n > 1 && c.differs ? ", which is more than chance" : "");
}

/* Metrics that are on one side only are not compared. */
static void say_unpaired(struct report_diff *f)
{
	const struct prof_data *d = f->data;

	for (size_t i = 0; i < d->metrics.count; i++) {
		const struct prof_metric *m = &d->metrics.data[i];
		bool found = false;

		for (size_t k = 0; k < f->pairs.count; k++)
			for (size_t n = 0; n < f->pairs.data[k].runs.count; n++)
				found = found || f->pairs.data[k].runs.data[n] == i;
		if (!found)
			report_note(f->table, "%s (%s) of %s is on one side only: not compared",
				m->metric->short_name, m->metric->source,
				d->request->inputs[m->input].file);
	}
}

/* Absolute numbers of two hosts are those of the hosts as well. */
static void say_hosts(struct report_diff *f)
{
	const struct prof_request *r = f->data->request;
	bool several[2] = {false, false};
	const char *a = side_fact(r, 0, "cpu", &several[0]),
		   *b = side_fact(r, 1, "cpu", &several[1]);

	if (!r->shares && f->pairs.data[0].metric->label != LABEL_MODEL && a && b &&
		(strcmp(a, b) != 0 || several[0] || several[1]))
		report_note(f->table, "Not all runs were on the same kind of processor: changes "
				      "include those of processors (-share compares shares)");
}

/* Does a function in this table that one side lacks run inlined somewhere? */
static bool is_inlined_apart(const struct report_diff *f, const char *name)
{
	struct image_frame function;

	for (size_t i = 0; i < f->data->places.count; i++)
		if (report_diff_written(f->data, i, &function) > 1 &&
			strcmp(function.name, name) == 0)
			return true;
	return false;
}

static void say_inlined(struct report_diff *f)
{
	if (f->grain != PROF_BY_PROCEDURE || f->data->request->inlines)
		return;
	for (size_t i = 0; i < f->table->rows.count; i++) {
		const struct report_row *r = &f->table->rows.data[i];

		if (r->role != REPORT_ROW || !r->note || !is_inlined_apart(f, r->procedure))
			continue;
		report_note(f->table,
			"%s is inlined in one build: -inlines compares functions as they were "
			"written, -heavy their lines",
			r->procedure);
		return;
	}
}

void report_diff_notes(struct report_diff *f, size_t changed)
{
	struct report_table *t = f->table;
	bool single = false;

	if (!changed)
		report_note(t, "No %s changed by more than chance", profile_grains[f->grain].name);
	for (size_t i = 0; i < f->pairs.count; i++) {
		diff_head_sum_up(f, &f->pairs.data[i]);
		single = single || (f->pairs.data[i].runs.count == 2 &&
					   !f->pairs.data[i].table.design.exact &&
					   f->pairs.data[i].metric->label != LABEL_MODEL);
	}
	if (single)
		report_note(t,
			"Chance is that of sampling: one run per side does not show how runs "
			"of one program differ (give directories of several runs)");
	say_inlined(f);
	say_unpaired(f);
	say_hosts(f);
	report_coverage(t, f->data);
	if (t->incomplete)
		report_note(t, "Replaced or missing files have no names to match by: record with "
			       "ssrun -archive, and use prof -archive");
}
