/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Runs of ssrun or of perfex, in the form for a sweep. */
#include "picture/picture_sweep.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "picture/picture_sweep_private.h"
#include "report/counts_experiment.h"
#include "report/report_diff.h"
#include "report/report_views.h"

static void add_event(struct sweep *s, struct sweep_event event)
{
	for (size_t i = 0; i < s->events.count; i++)
		if (strcmp(s->events.data[i].short_name, event.short_name) == 0) {
			s->events.data[i].label = label_join(s->events.data[i].label, event.label);
			return;
		}
	s->picture->failed |= vec_add(&s->events, event) != 0;
}

static void add_row(struct sweep *s, const char *name)
{
	s->picture->failed |= vec_add(&s->rows, name) != 0;
}

static void add_run(struct sweep *s, struct sweep_run run)
{
	if (vec_add(&s->runs, run)) {
		vec_fini(&run.words);
		s->picture->failed = true;
	}
}

/* Once runs, events and rows are there: no values as yet. */
static int picture_sweep_make_room(struct sweep *s, struct error *e)
{
	size_t runs = s->runs.count, events = s->events.count;

	s->values = calloc(runs * s->rows.count * events + 1, sizeof(*s->values));
	s->costs = calloc(runs * events + 1, sizeof(*s->costs));
	s->order = calloc(runs + 1, sizeof(*s->order));
	if (s->picture->failed || !s->values || !s->costs || !s->order)
		return error_nomem(e);
	for (size_t i = 0; i < runs * events; i++)
		s->costs[i] = NAN;
	return 0;
}

/* The event of that name; SIZE_MAX: none. */
static size_t event_of(const struct sweep *s, const char *short_name)
{
	for (size_t i = 0; i < s->events.count; i++)
		if (strcmp(s->events.data[i].short_name, short_name) == 0)
			return i;
	return SIZE_MAX;
}

/* Where a value is to go; NULL: nowhere, or one is there. */
static struct quantity *free_value(const struct sweep *s, size_t run, size_t row, size_t event)
{
	struct quantity *q;

	if (event == SIZE_MAX)
		return NULL;
	q = &s->values[(run * s->rows.count + row) * s->events.count + event];
	return q->label == LABEL_NONE ? q : NULL;
}

static int picture_sweep_finish(struct sweep *s, int rc, struct error *e)
{
	if (rc == 0)
		rc = picture_sweep_place(s, e) || sweep_draw(s, e) ? -1
								   : picture_finish(s->picture, e);
	for (size_t i = 0; i < s->runs.count; i++)
		vec_fini(&s->runs.data[i].words);
	vec_fini(&s->runs);
	vec_fini(&s->events);
	vec_fini(&s->rows);
	vec_fini(&s->variants);
	free(s->values);
	free(s->costs);
	free(s->order);
	return rc;
}

/* ---- results of perfex ---- */

static void add_counts(struct sweep *s, const struct counts_report *r, const char *name)
{
	struct sweep_run run = {.file = name, .report = r, .clock_hz = r->clock_hz};

	for (size_t i = 0; r->command && r->command[i]; i++)
		s->picture->failed |= vec_add(&run.words, r->command[i]) != 0;
	for (size_t i = 0; i < r->event_count; i++) {
		const struct event_row *row = &r->events[i];
		const struct sweep_event event = {.short_name = row->short_name,
			.name = row->name,
			.unit = row->unit,
			.number = row->number,
			.label = row->count.quantity.label};

		if (row->short_name[0] && event.label != LABEL_NONE)
			add_event(s, event);
	}
	add_run(s, run);
}

static void picture_sweep_fill_counts(struct sweep *s, size_t run)
{
	const struct counts_report *r = s->runs.data[run].report;

	for (size_t i = 0; i < r->event_count; i++) {
		const struct event_row *row = &r->events[i];
		const struct quantity *count = &row->count.quantity;
		size_t event = event_of(s, row->short_name);
		struct quantity *to = free_value(s, run, 0, event);

		if (to)
			*to = *count;
		if (to && row->costed && count->value > 0)
			s->costs[run * s->events.count + event] = row->typical / count->value;
	}
}

int picture_sweep_counts(struct picture *p, const struct picture_sweep_request *r,
	const struct counts_file *files, const char *const *names, size_t count, struct error *e)
{
	struct sweep s = {.picture = p, .request = r};
	int rc;

	add_row(&s, "the whole run");
	for (size_t i = 0; i < count; i++)
		add_counts(&s, files[i].report, names[i]);
	rc = picture_sweep_make_room(&s, e);
	for (size_t i = 0; i < count && rc == 0; i++)
		picture_sweep_fill_counts(&s, i);
	return picture_sweep_finish(&s, rc, e);
}

/* ---- experiments ---- */

static void add_experiment(struct sweep *s, const struct prof_input *input, double clock_hz)
{
	const struct experiment *x = input->experiment;
	struct sweep_run run = {.file = input->file, .experiment = x, .clock_hz = clock_hz};
	const char *command = experiment_fact_find(x, "command");

	while (command && *command) {
		size_t n = strcspn(command, " ");

		if (n)
			s->picture->failed |= vec_add(&run.words, picture_text(s->picture, "%.*s",
									  (int)n, command)) != 0;
		command += n + (command[n] == ' ');
	}
	for (size_t i = 0; i < x->metrics.count; i++) {
		const struct experiment_metric *m = &x->metrics.data[i];
		bool clock = m->flags & METRIC_CLOCK;

		if (!(m->flags & METRIC_BOTH))
			add_event(
				s, (struct sweep_event){m->short_name, m->name,
					   clock ? "seconds" : m->unit, m->event, m->label, clock});
	}
	add_run(s, run);
}

struct candidate {
	size_t entity;
	double share; /* the largest that it has of any metric of any run */
};

static int picture_sweep_by_share(const void *pa, const void *pb)
{
	const struct candidate *a = pa, *b = pb;

	return sort_falling_number(a->share, b->share) ?: sort_rising(a->entity, b->entity);
}

/* The procedures that take most in some run, in order; *count of them, to be freed by the
 * caller. */
static struct candidate *choose_rows(const struct sweep *s, const struct prof_data *d,
	const struct prof_sums *sums, size_t *count)
{
	enum { SOME = 5 };
	const double least = 0.02;
	size_t n = sums->entities.count, most = s->request->rows ? s->request->rows : SOME;
	struct candidate *list = calloc(n + 1, sizeof(*list));

	*count = 0;
	for (size_t i = 0; list && i < n; i++) {
		list[i].entity = i;
		for (size_t k = 0; k < sums->metrics; k++) {
			double all = (double)d->metrics.data[k].samples;
			double share = all > 0 ? (double)sums->own[i * sums->metrics + k] / all : 0;

			list[i].share = fmax(share, list[i].share);
		}
	}
	if (list)
		qsort(list, n, sizeof(*list), picture_sweep_by_share);
	while (list && *count < n && *count < most && list[*count].share >= least)
		++*count;
	return list;
}

static struct quantity sampled(const struct prof_metric *m, uint64_t n)
{
	return m->metric->flags & METRIC_EXACT
		       ? quantity_exact((double)n * m->unit, m->metric->label)
		       : profile_sampled(n, m->unit, m->metric->label);
}

/* Costs are those of the first run: others are of the same machine. */
static void fill_experiments(struct sweep *s, const struct prof_data *d,
	const struct prof_sums *sums, const struct candidate *rows,
	const struct counts_costs *costs)
{
	size_t events = s->events.count, whole = s->request->filtered ? 0 : 1;

	for (size_t i = 0; i < d->metrics.count; i++) {
		const struct prof_metric *m = &d->metrics.data[i];
		size_t event = m->metric->flags & METRIC_BOTH ? SIZE_MAX
							      : event_of(s, m->metric->short_name);

		for (size_t row = 0; row < s->rows.count; row++) {
			struct quantity *to = free_value(s, m->input, row, event);

			if (to)
				*to = sampled(m, row < whole ? m->samples
							     : sums->own[rows[row - whole].entity *
										 sums->metrics +
									 i]);
		}
	}
	for (size_t i = 0; i < s->runs.count * events; i++) {
		int number = s->events.data[i % events].number;
		const struct cost *c =
			number >= 0 && number < EVENT_LIMIT ? &costs->table.cost[number] : NULL;

		if (c && c->known)
			s->costs[i] = cost_seconds(c, c->typical, costs->report.clock_hz);
	}
}

static int sweep_experiments(struct sweep *s, struct prof_data *d, const struct prof_sums *sums,
	const struct counts_costs *costs, struct error *e)
{
	size_t count;
	struct candidate *rows = choose_rows(s, d, sums, &count);
	int rc;

	for (size_t i = 0; i < d->request->count; i++)
		add_experiment(s, &d->request->inputs[i], costs->report.clock_hz);
	if (!s->request->filtered)
		add_row(s, "the whole run");
	for (size_t i = 0; rows && i < count; i++)
		add_row(s, profile_string_at(
				   d, profile_entity_at(sums, rows[i].entity)->key.procedure));
	rc = rows ? picture_sweep_make_room(s, e) : error_nomem(e);
	if (rc == 0)
		fill_experiments(s, d, sums, rows, costs);
	free(rows);
	return picture_sweep_finish(s, rc, e);
}

int picture_sweep(struct picture *p, const struct picture_sweep_request *r, struct prof_data *d,
	struct error *e)
{
	struct sweep s = {.picture = p, .request = r};
	struct counts_costs costs;
	struct prof_sums sums = {0};
	int rc;

	if (profile_data_name(d, false, e) ||
		counts_of_experiment(&costs, d->request->inputs[0].experiment, e))
		return -1;
	rc = report_diff_sums(&sums, d, PROF_BY_PROCEDURE)
		     ? error_nomem(e)
		     : sweep_experiments(&s, d, &sums, &costs, e);
	profile_sums_fini(&sums);
	free(costs.report.events);
	return rc;
}
