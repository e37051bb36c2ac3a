/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Above the rows of -diff: what was compared, and how; below: what did not change. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/prof_columns.h"
#include "report/prof_diff.h"

static const char *const side_names[] = {"before", "after"};

/* The fact of a side: of its first run that knows it. *several: others say something else. */
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
static int describe_fact(struct prof_diff *f, const char *key, const char *label)
{
	const struct prof_request *r = f->data->request;
	const char *values[2];
	bool several[2] = {false, false};

	for (unsigned side = 0; side < 2; side++)
		values[side] = side_fact(r, side, key, &several[side]);
	if (same_text(values[0], values[1]) && several[0] == several[1])
		return prof_head(
			f->table, label, "%s%s", values[0], several[0] ? " (others differ)" : "");
	for (unsigned side = 0; side < 2; side++)
		if (values[side] &&
			prof_head(f->table, prof_text(f->table, "%s, %s", label, side_names[side]),
				"%s%s", values[side], several[side] ? " (others differ)" : ""))
			return -1;
	return 0;
}

static size_t files_of(const struct prof_request *r, unsigned side)
{
	size_t n = 0;

	for (size_t i = 0; i < r->count; i++)
		n += r->inputs[i].side == side;
	return n;
}

static int describe_sides(struct prof_diff *f)
{
	static const char *const labels[] = {"Before", "After"};
	const struct prof_request *r = f->data->request;

	for (unsigned side = 0; side < 2; side++) {
		size_t n = files_of(r, side);

		if (n == 1 ? prof_head(f->table, labels[side], "%s", r->sides[side])
			   : prof_head(f->table, labels[side], "%s, %zu runs", r->sides[side], n))
			return -1;
	}
	for (size_t i = 0; prof_facts[i][0]; i++)
		if (describe_fact(f, prof_facts[i][0], prof_facts[i][1]))
			return -1;
	for (size_t i = 0; i < r->count; i++)
		if (!r->inputs[i].experiment->complete &&
			prof_head(f->table, "Complete", "no: %s was not watched to its end",
				r->inputs[i].file))
			return -1;
	return r->calipers ? prof_head(f->table, "Calipers", "%s", r->calipers) : 0;
}

static uint64_t samples_of(const struct prof_diff *f, const struct prof_pair *pair, unsigned side)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < pair->runs.count; i++)
		if ((i >= pair->sides[0]) == side)
			sum += f->data->metrics.data[pair->runs.data[i]].samples;
	return sum;
}

static int describe_pair(struct prof_diff *f, const struct prof_pair *pair)
{
	const struct experiment_metric *m = pair->metric;
	struct prof_table *t = f->table;
	bool exact = pair->table.design.exact;

	if (prof_summary(t, "Metric", "%s (%s%s%s)", m->name, label_name(m->label),
		    m->note[0] ? ", " : "", m->note) ||
		prof_summary(t,
			exact ? "Total counts, before and after"
			      : "Total samples, before and after",
			"%" PRIu64 " and %" PRIu64, samples_of(f, pair, 0), samples_of(f, pair, 1)))
		return -1;
	if (pair->runs.count > 2)
		return prof_summary(t, "Scatter from run to run, of most rows",
			"%.1f%% (estimated)", 100 * sqrt(pair->table.design.scatter));
	return exact || m->label == LABEL_MODEL
		       ? 0
		       : prof_summary(t, "Scatter from run to run", "not known: one run a side");
}

static const char *const grains[] = {
	[PROF_BY_IMAGE] = "image", [PROF_BY_PROCEDURE] = "function", [PROF_BY_LINE] = "line"};
static const char *const lists[] = {
	[PROF_BY_IMAGE] = "Image", [PROF_BY_PROCEDURE] = "Function", [PROF_BY_LINE] = "Line"};

int prof_diff_head(struct prof_diff *f)
{
	const struct prof_request *r = f->data->request;
	struct prof_table *t = f->table;

	if (r->command && prof_head(t, NULL, "%s", r->command))
		return -1;
	if (describe_sides(f))
		return -1;
	for (size_t i = 0; i < f->data->metrics.count; i++)
		if (prof_experiment_add(t, f->data, i))
			return -1;
	for (size_t i = 0; i < f->pairs.count; i++)
		if (describe_pair(f, &f->pairs.data[i]))
			return -1;
	if (prof_summary(t, "Rows that chance alone would show, at most",
		    "5%% of them (Benjamini and Hochberg)"))
		return -1;
	t->title = prof_text(t, "%s list: changes of %s%s that are more than chance, largest first",
		lists[f->grain],
		r->shares      ? "the share of "
		: r->inclusive ? "inclusive "
			       : "",
		f->pairs.data[0].metric->name);
	return t->title ? 0 : -1;
}

/* The rows that did not change, together. */
static int sum_up(struct prof_diff *f, const struct prof_pair *pair)
{
	size_t runs = pair->runs.count, n = 0;
	uint64_t *sums = calloc(runs, sizeof(*sums));
	const char *unit = f->data->request->shares             ? "% of the whole"
			   : pair->metric->flags & METRIC_CLOCK ? "seconds"
								: pair->metric->unit;
	struct compare_change c;
	int digits = f->data->request->shares ? 2 : pair->metric->flags & METRIC_CLOCK ? 3 : 0;
	double change;
	int rc;

	if (!sums)
		return -1;
	for (size_t i = 0; i < f->sums.entities.count; i++) {
		uint64_t any = 0;

		for (size_t k = 0; k < runs && !pair->table.changes[i].differs; k++) {
			sums[k] += pair->table.counts[i * runs + k];
			any |= pair->table.counts[i * runs + k];
		}
		n += any != 0;
	}
	compare_alone(&pair->table.design, sums, &c);
	free(sums);
	if (!n)
		return 0;
	change = pair->unit * (c.rates[1] - c.rates[0]);
	if (f->data->request->inclusive)
		return prof_note(f->table, "%s%s%zu %s%s, change within chance",
			f->pairs.count > 1 ? pair->name : "", f->pairs.count > 1 ? ": " : "", n,
			grains[f->grain], n == 1 ? "" : "s");
	rc = prof_note(f->table,
		"%s%s%zu %s%s, change within chance: together %.*f before, %.*f after, change "
		"%+.*f "
		"(%+.*f to %+.*f) %s%s",
		f->pairs.count > 1 ? pair->name : "", f->pairs.count > 1 ? ": " : "", n,
		grains[f->grain], n == 1 ? "" : "s", digits, pair->unit * c.rates[0], digits,
		pair->unit * c.rates[1], digits, change, digits, pair->unit * c.low, digits,
		pair->unit * c.high, unit,
		n > 1 && c.differs ? ": together, more than chance" : "");
	return rc;
}

/* Metrics that are on one side only are not compared. */
static int say_unpaired(struct prof_diff *f)
{
	const struct prof_data *d = f->data;

	for (size_t i = 0; i < d->metrics.count; i++) {
		const struct prof_metric *m = &d->metrics.data[i];
		bool found = false;

		for (size_t k = 0; k < f->pairs.count; k++)
			for (size_t n = 0; n < f->pairs.data[k].runs.count; n++)
				found = found || f->pairs.data[k].runs.data[n] == i;
		if (!found && prof_note(f->table, "%s (%s) of %s is on one side only: not compared",
				      m->metric->short_name, m->metric->source,
				      d->request->inputs[m->input].file))
			return -1;
	}
	return 0;
}

/* Absolute numbers of two hosts are those of the hosts as well. */
static int say_hosts(struct prof_diff *f)
{
	const struct prof_request *r = f->data->request;
	bool several[2] = {false, false};
	const char *a = side_fact(r, 0, "cpu", &several[0]),
		   *b = side_fact(r, 1, "cpu", &several[1]);

	if (r->shares || f->pairs.data[0].metric->label == LABEL_MODEL || !a || !b ||
		(strcmp(a, b) == 0 && !several[0] && !several[1]))
		return 0;
	return prof_note(f->table,
		"Not all runs were on the same kind of processor: the changes are "
		"those of processors, too (-share compares shares)");
}

int prof_diff_notes(struct prof_diff *f, size_t changed, struct error *e)
{
	struct prof_table *t = f->table;
	bool single = false;

	if (!changed && prof_note(t, "No %s changed by more than chance", grains[f->grain]))
		return error_nomem(e);
	for (size_t i = 0; i < f->pairs.count; i++) {
		if (sum_up(f, &f->pairs.data[i]))
			return error_nomem(e);
		single = single || (f->pairs.data[i].runs.count == 2 &&
					   !f->pairs.data[i].table.design.exact &&
					   f->pairs.data[i].metric->label != LABEL_MODEL);
	}
	if (single &&
		prof_note(t, "Chance is that of sampling: how runs of one program differ is not "
			     "known from one run a side (directories of several runs say it)"))
		return error_nomem(e);
	if (say_unpaired(f) || say_hosts(f))
		return error_nomem(e);
	if (prof_coverage(t, f->data, e))
		return -1;
	if (t->incomplete &&
		prof_note(t, "What was replaced or is missing has no names to be matched by: ssrun "
			     "-archive keeps what ran, and prof -archive finds it"))
		return error_nomem(e);
	return 0;
}
