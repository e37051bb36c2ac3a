/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The samples of the run, of its most costly functions or, with -by, of its threads over time. A
 * column is one or several slices (experiment/time_slices.h), so nothing is divided by estimate.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/time_unit.h"
#include "experiment/time_slices.h"
#include "report/report_columns.h"
#include "report/report_views.h"

enum { USUAL_BINS = 40, LEAST_BINS = 8, USUAL_ROWS = 20, TICKS = 4, LEVELS = 8 };

struct timeline {
	struct prof_data *d;
	struct report_columns columns;
	struct prof_sums sums;
	unsigned shift; /* of the widest slices */
	uint64_t first; /* of these slices */
	size_t wide;    /* slices a bin */
	size_t bins;
	uint64_t *counts; /* [(1 + entity) * metrics + metric][bin]; the first: of the run */
	size_t *line;     /* [metric]: column of its drawing; its figures follow */
	bool *timed;      /* [metric]: it has such columns */
	VEC(size_t) rows; /* of the current row of samples */
};

/* ---- bins ---- */

static const struct experiment *timeline_input(const struct timeline *l, size_t i)
{
	return l->d->request->inputs[i].experiment;
}

/* The slices of an input that the request selects: [*from, *to). */
static void timeline_span(const struct timeline *l, size_t input, uint64_t *from, uint64_t *to)
{
	const struct experiment *x = timeline_input(l, input);
	const struct prof_span *span = &l->d->spans.data[input];
	uint64_t sampled = experiment_slices_end(x) >> x->slicing.shift;
	uint64_t all = (uint64_t)ceil(profile_duration(x) / ldexp(1e-9, (int)x->slicing.shift));

	all = all > sampled ? all : sampled;
	*from = span->within ? span->first_slice : 0;
	*to = span->within && span->last_slice < all ? span->last_slice : all;
}

static int timeline_untimed(const struct timeline *l, struct error *e)
{
	uint64_t samples = 0;

	for (size_t i = 0; i < l->d->metrics.count; i++)
		samples += l->d->metrics.data[i].samples;
	if (!samples) {
		error_set(e, ERR_NOT_FOUND,
			"%s has no samples: its threads ran for too short a time",
			l->d->request->inputs[0].file);
		return error_hint(e,
			"give it more work, or more runs (ssrun -runs); ssrun -totaltime "
			"samples waits, too");
	}
	error_set(e, ERR_UNSUPPORTED, "the samples of %s have no times",
		l->d->request->inputs[0].file);
	return error_hint(e, "ssrun -fpcsamp, -usertime and others of this version keep them; the "
			     "model's samples have none");
}

static int timeline_bins(struct timeline *l, struct error *e)
{
	size_t most = l->d->request->bins ? l->d->request->bins : USUAL_BINS, metrics = 0;
	uint64_t from, to, end = 0;

	l->first = UINT64_MAX;
	for (size_t i = 0; i < l->d->request->count; i++)
		if (timeline_input(l, i)->slices.count &&
			timeline_input(l, i)->slicing.shift > l->shift)
			l->shift = timeline_input(l, i)->slicing.shift;
	for (size_t i = 0; i < l->d->request->count; i++) {
		const struct experiment *x = timeline_input(l, i);
		unsigned more = l->shift - x->slicing.shift;

		if (!x->slices.count)
			continue;
		timeline_span(l, i, &from, &to);
		l->first = from >> more < l->first ? from >> more : l->first;
		end = ((to - 1) >> more) + 1 > end ? ((to - 1) >> more) + 1 : end;
	}
	if (!end)
		return timeline_untimed(l, e);
	for (size_t k = 0; k < l->d->metrics.count; k++)
		metrics += l->timed[k];
	most = most / (metrics ? metrics : 1) > LEAST_BINS ? most / metrics : LEAST_BINS;
	l->wide = (end - l->first + most - 1) / most;
	l->bins = (end - l->first + l->wide - 1) / l->wide;
	return 0;
}

static double bin_begin(const struct timeline *l, size_t bin)
{
	return ldexp((double)(l->first + bin * l->wide) * 1e-9, (int)l->shift);
}

/* ---- counts ---- */

static bool timeline_busier(const struct prof_data *d, size_t a, size_t b)
{
	return d->counts.data[a * d->metrics.count] > d->counts.data[b * d->metrics.count];
}

/* With -by, a row for each thread, process or command. */
static int timeline_groups(struct prof_sums *s, struct prof_data *d)
{
	int rc = profile_sums_begin(s, d);

	for (size_t i = 0; i < d->places.count && rc == 0; i++) {
		const struct prof_entity key = {
			.key = {.group = profile_place_at(d, i)->key.group}};

		rc = profile_sums_take(s, d, i, &key, timeline_busier);
	}
	return rc == 0 ? profile_sums_end(s, d) : -1;
}

static uint64_t *timeline_of(const struct timeline *l, size_t row, size_t metric)
{
	return l->counts + (row * l->d->metrics.count + metric) * l->bins;
}

static bool timeline_wanted(const struct timeline *l, size_t place)
{
	const struct prof_request *r = l->d->request;

	return !((r->only && r->only[0]) || (r->exclude && r->exclude[0])) ||
	       profile_wanted(
		       l->d, profile_place_at(l->d, place)->key.image, l->d->name[place].procedure);
}

/* A row once, however often it recurs in a call path. */
static int timeline_add_row(struct timeline *l, size_t row)
{
	for (size_t i = 0; i < l->rows.count; i++)
		if (l->rows.data[i] == row)
			return 0;
	return vec_add(&l->rows, row);
}

/* The rows of the report that samples count in: that of the run, the function's and, with
 * -inclusive, its callers'. None if they are not selected.  -1 when memory is out. */
static int timeline_find_rows(struct timeline *l, size_t input, uint32_t sample)
{
	const struct experiment *x = timeline_input(l, input);
	const struct experiment_sample *s = experiment_sample_at(x, sample);
	uint32_t node = s->key.node, below = UINT32_MAX;
	long group;

	l->rows.count = 0;
	if (!profile_selected(l->d, input, sample))
		return 0;
	group = profile_group_of(l->d, input, s->key.thread);
	if (group < 0 || timeline_add_row(l, 0))
		return -1;
	/* Of a damaged file, a parent may have any number: the loop must end anyway. */
	for (bool own = true; own || (l->sums.inclusive && node != EXPERIMENT_ROOT && node < below);
		own = false) {
		const struct experiment_node *n = experiment_node_at(x, node);
		long place =
			profile_place(l->d, input, (uint32_t)group, n->key.image, n->key.address);

		if (place < 0 || ((l->sums.inclusive || timeline_wanted(l, (size_t)place)) &&
					 timeline_add_row(l, 1 + l->sums.of[place])))
			return -1;
		below = node;
		node = n->key.parent;
	}
	return 0;
}

static int timeline_take(struct timeline *l, size_t input)
{
	const struct experiment *x = timeline_input(l, input);
	size_t first = profile_metric_index(l->d, input, 0);
	unsigned more = l->shift - x->slicing.shift;
	uint32_t sample = UINT32_MAX;
	uint64_t from, to;

	timeline_span(l, input, &from, &to);
	for (size_t i = 0; i < x->slices.count; i++) {
		const struct experiment_slice *c = experiment_slice_at(x, i);
		size_t metric = first + experiment_sample_at(x, c->key.sample)->key.metric;
		uint64_t bin = ((c->key.slice >> more) - l->first) / l->wide;

		if (c->key.sample != sample && timeline_find_rows(l, input, c->key.sample))
			return -1;
		sample = c->key.sample;
		if (c->key.slice < from || c->key.slice >= to || bin >= l->bins)
			continue;
		for (size_t k = 0; k < l->rows.count; k++)
			timeline_of(l, l->rows.data[k], metric)[bin] += c->count;
	}
	return 0;
}

/* ---- columns ---- */

/* 1, 2 or 5 times a power of ten: the nearest by ratio. */
static double round_step(double about)
{
	double power = pow(10, floor(log10(about))), times = about / power;

	return power * (times < sqrt(2) ? 1 : times < sqrt(10) ? 2 : times < sqrt(50) ? 5 : 10);
}

/* "|0 s      |1         |2        |3       ", of short runs in ms or us: each mark is at the column
 * that has that time. */
static const char *timeline_axis(const struct timeline *l)
{
	size_t ticks = l->bins / TICKS < 8 ? 2 : TICKS, used;
	struct time_unit unit = time_unit_of(bin_begin(l, l->bins));
	double begin = bin_begin(l, 0) * unit.scale, end = bin_begin(l, l->bins) * unit.scale;
	double step = round_step((end - begin) / (double)(ticks + 1)),
	       first = floor(begin / step) + 1;
	char *text = report_scratch(l->columns.table, l->bins + 32, 1), word[32];

	if (!text)
		return "";
	memset(text, ' ', l->bins);
	used = (size_t)snprintf(word, sizeof(word), "|%.3g %s", begin, unit.name);
	if (used <= l->bins)
		memcpy(text, word, used);
	for (double k = first; k * step < end; k++) {
		size_t at = (size_t)((k * step - begin) / (end - begin) * (double)l->bins + 1e-6);
		size_t n = (size_t)snprintf(word, sizeof(word), "|%.6g", k * step);

		if (at <= used || at + n > l->bins)
			continue;
		memcpy(text + at, word, n);
		used = at + n;
	}
	return report_text(l->columns.table, "%s", text);
}

static void timeline_columns(struct timeline *l)
{
	struct report_table *t = l->columns.table;
	size_t own = t->columns.count;

	/* Shares that add up say nothing here. */
	for (size_t i = 0; i < own; i++)
		t->columns.data[i].flags &= ~(unsigned)(REPORT_CUMULATIVE | REPORT_BAR);
	for (size_t k = 0; k < l->d->metrics.count && !t->failed; k++) {
		struct report_column column = t->columns.data[l->columns.own[k]];
		const char *name = column.name;

		if (!l->timed[k])
			continue;
		column.kind = REPORT_TEXT;
		column.name = report_text(t, "%s over time", name);
		column.heading = timeline_axis(l);
		column.flags = REPORT_MARGIN;
		l->line[k] = report_column_add(t, &column);
		if (!t->times.bins)
			t->times = (struct report_times){bin_begin(l, 0),
				bin_begin(l, 1) - bin_begin(l, 0), l->bins, l->line[k]};
		column.kind = REPORT_COUNT;
		column.heading = NULL;
		column.flags = REPORT_SCRIPTS | (t->columns.data[l->columns.own[k]].flags &
							(REPORT_SECONDS | REPORT_EXACT));
		for (size_t i = 0; i < l->bins && !t->failed; i++) {
			column.name = report_text(t, "%s@%.6g", name, bin_begin(l, i));
			report_column_add(t, &column);
		}
	}
}

/* ---- rows ---- */

static void timeline_fill(struct timeline *l, size_t row, size_t of)
{
	struct report_table *t = l->columns.table;

	for (size_t k = 0; k < l->d->metrics.count; k++) {
		const struct prof_metric *m = &l->d->metrics.data[k];
		const uint64_t *n = timeline_of(l, of, k);
		struct report_cell *cell = &report_cells(t, row)[l->line[k]];
		char *text = report_scratch(t, l->bins + 1, 1);
		uint64_t most = 1;

		if (!l->timed[k] || !text)
			continue;
		for (size_t i = 0; i < l->bins; i++)
			most = n[i] > most ? n[i] : most;
		for (size_t i = 0; i < l->bins; i++) {
			double level = ceil((double)n[i] * LEVELS / (double)most);

			text[i] = n[i] ? (char)('0' + (int)level) : ' ';
			cell[1 + i].quantity = profile_sampled(n[i], m->unit, m->metric->label);
			cell[1 + i].percent = NAN;
		}
		cell->text = report_text(t, "%s", text);
	}
}

static void timeline_rows(struct timeline *l)
{
	struct report_cut cut = report_cut_of(l->d, (struct prof_quit){.rows = USUAL_ROWS});
	struct report_table *t = l->columns.table;
	bool groups = l->d->request->threads;
	size_t count, m = l->sums.metrics;
	struct report_rank *ranks = report_ranks(t, l->d, &l->sums, 0, true, &count);

	report_columns_total(&l->columns);
	timeline_fill(l, 0, 0);
	for (size_t i = 0; ranks && i < count; i++) {
		const struct report_rank *r = &ranks[i];
		struct report_row row;
		size_t index;

		if (report_cuts(&cut, report_percent((double)r->value,
					      (double)l->d->metrics.data[0].samples))) {
			report_left_out(t, count - i, "row", report_cut_why(&cut));
			break;
		}
		row = report_entity_row(t, l->d, r->of, groups ? PROF_BY_IMAGE : PROF_BY_PROCEDURE);
		if (groups) {
			row.image = row.thread;
			row.thread = NULL;
		}
		index = report_row_add(t, &row);
		report_columns_fill(&l->columns, index, l->sums.own + r->entity * m,
			l->sums.inclusive ? l->sums.inclusive + r->entity * m : NULL, 0);
		timeline_fill(l, index, 1 + r->entity);
	}
}

/* A thread has no callers. */
static bool timeline_inclusive(const struct prof_data *d)
{
	return d->request->inclusive && !d->request->threads;
}

static int timeline_make(struct timeline *l, struct error *e)
{
	struct prof_data *d = l->d;
	struct report_table *t = l->columns.table;
	struct time_unit unit, whole;

	if (d->request->threads ? timeline_groups(&l->sums, d)
				: profile_sums_init(&l->sums, d, PROF_BY_PROCEDURE))
		return error_nomem(e);
	if (timeline_inclusive(d) && profile_sums_inclusive(&l->sums, d))
		return error_nomem(e);
	if (timeline_bins(l, e))
		return -1;
	l->counts = report_scratch(
		t, (1 + l->sums.entities.count) * d->metrics.count * l->bins, sizeof(*l->counts));
	if (!l->counts)
		return error_nomem(e);
	for (size_t i = 0; i < d->request->count; i++)
		if (timeline_take(l, i))
			return error_nomem(e);
	timeline_columns(l);
	if (!t->failed)
		timeline_rows(l);
	unit = time_unit_of(t->times.width);
	whole = time_unit_of(bin_begin(l, l->bins));
	report_note(t,
		"A column is %.4g %s, up to %.3g %s; each line is drawn to its own greatest column",
		t->times.width * unit.scale, unit.name, bin_begin(l, l->bins) * whole.scale,
		whole.name);
	report_coverage(t, d);
	if (d->request->inlines && !d->request->threads)
		report_unskid_note(t, d, false);
	return 0;
}

int report_timeline(struct prof_data *d, struct report_table *t, struct error *e)
{
	static const struct {
		const char *title, *one;
	} grouped[] = {
		[PROF_GROUP_THREAD] = {"Threads over time", "thread"},
		[PROF_GROUP_PROCESS] = {"Processes over time", "process"},
		[PROF_GROUP_COMMAND] = {"Commands over time", "command"},
		[PROF_GROUP_CPU] = {"CPUs over time", "CPU"},
	};
	struct timeline l = {.d = d,
		.line = report_scratch(t, d->metrics.count, sizeof(*l.line)),
		.timed = report_scratch(t, d->metrics.count, sizeof(*l.timed))};
	int rc = -1;

	t->report = "timeline";
	t->layout = REPORT_LIST;
	t->title = "Functions over time";
	if (d->request->threads) {
		t->title = grouped[d->request->by].title;
		t->places = grouped[d->request->by].one;
	}
	if (t->failed)
		error_nomem(e);
	else if (profile_data_metrics(d, e) == 0 &&
		 (!timeline_inclusive(d) || profile_data_paths(d, e) == 0) &&
		 profile_data_name(d, false, e) == 0 &&
		 report_columns_init(&l.columns, t, d,
			 timeline_inclusive(d) ? REPORT_COLUMNS_INCLUSIVE : 0, NULL, e) == 0) {
		for (size_t k = 0; k < d->metrics.count; k++)
			l.timed[k] = l.columns.shown[k] && profile_timed(d, k);
		rc = timeline_make(&l, e);
	}
	profile_sums_fini(&l.sums);
	vec_fini(&l.rows);
	return report_finish(t, rc, e);
}
