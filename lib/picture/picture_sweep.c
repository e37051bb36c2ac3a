/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Runs of ssrun or of perfex, as a sweep sees them. */
#include "picture/picture_sweep.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "picture/picture_sweep_private.h"
#include "report/counts_experiment.h"
#include "report/prof_diff.h"
#include "report/prof_views.h"

static int add_event(struct sweep *s, const struct sweep_event *event)
{
	struct sweep_event *slot;

	for (size_t i = 0; i < s->events.count; i++)
		if (strcmp(s->events.data[i].short_name, event->short_name) == 0) {
			s->events.data[i].label = label_join(s->events.data[i].label, event->label);
			return 0;
		}
	slot = vec_push(&s->events);
	if (!slot)
		return -1;
	*slot = *event;
	return 0;
}

static int add_row(struct sweep *s, const char *name, size_t entity)
{
	struct sweep_row *slot = vec_push(&s->rows);

	if (!slot)
		return -1;
	*slot = (struct sweep_row){name, entity};
	return 0;
}

static int add_word(struct sweep_run *run, const char *word)
{
	const char **slot = vec_push(&run->words);

	if (!slot)
		return -1;
	*slot = word;
	return 0;
}

static int finish(struct sweep *s, int rc, struct error *e)
{
	if (rc == 0)
		rc = sweep_place(s, e) || sweep_draw(s, e) ? -1 : 0;
	else
		error_nomem(e);
	for (size_t i = 0; i < s->runs.count; i++)
		vec_fini(&s->runs.data[i].words);
	vec_fini(&s->runs);
	vec_fini(&s->events);
	vec_fini(&s->rows);
	vec_fini(&s->variants);
	return rc;
}

/* ---- results of perfex
 * --------------------------------------------------------------------------- */

static struct quantity counted(
	const struct sweep *s, size_t run, size_t row, const struct sweep_event *event)
{
	const struct counts_report *r = s->runs.data[run].report;

	(void)row;
	for (size_t i = 0; i < r->event_count; i++)
		if (strcmp(r->events[i].short_name, event->short_name) == 0)
			return r->events[i].count.quantity;
	return (struct quantity){.label = LABEL_NONE};
}

static double counted_cost(const struct sweep *s, size_t run, const struct sweep_event *event)
{
	const struct counts_report *r = s->runs.data[run].report;

	for (size_t i = 0; i < r->event_count; i++)
		if (strcmp(r->events[i].short_name, event->short_name) == 0 &&
			r->events[i].costed && r->events[i].count.quantity.value > 0)
			return r->events[i].typical / r->events[i].count.quantity.value;
	return NAN;
}

static double counted_clock(const struct sweep *s, size_t run)
{
	return s->runs.data[run].report->clock_hz;
}

static int add_counts(struct sweep *s, const struct counts_report *r, const char *name)
{
	struct sweep_run *run = vec_push(&s->runs);

	if (!run)
		return -1;
	run->file = name;
	run->report = r;
	for (size_t i = 0; r->command && r->command[i]; i++)
		if (add_word(run, r->command[i]))
			return -1;
	for (size_t i = 0; i < r->event_count; i++) {
		const struct event_row *row = &r->events[i];
		struct sweep_event event = {.short_name = row->short_name,
			.name = row->name,
			.unit = row->unit,
			.number = row->number,
			.label = row->count.quantity.label};

		if (row->short_name[0] && event.label != LABEL_NONE && add_event(s, &event))
			return -1;
	}
	return 0;
}

int picture_sweep_counts(struct picture *p, const struct picture_sweep_request *r,
	const struct counts_file *files, const char *const *names, size_t count, struct error *e)
{
	struct sweep s = {.picture = p,
		.request = r,
		.value = counted,
		.cost = counted_cost,
		.clock = counted_clock};
	int rc = add_row(&s, "the whole run", SWEEP_WHOLE);

	for (size_t i = 0; i < count && rc == 0; i++)
		rc = add_counts(&s, files[i].report, names[i]);
	return finish(&s, rc, e);
}

/* ---- experiments
 * -------------------------------------------------------------------------------- */

struct samples {
	struct prof_data *data;
	struct prof_sums sums;
	struct counts_costs costs; /* of the first run: others are of the same machine */
};

static double sampled_cost(const struct sweep *s, size_t run, const struct sweep_event *event)
{
	const struct samples *own = s->values;
	const struct cost *c = event->number >= 0 && event->number < EVENT_LIMIT
				       ? &own->costs.table.cost[event->number]
				       : NULL;

	(void)run;
	return c && c->known ? cost_seconds(c, c->typical, own->costs.report.clock_hz) : NAN;
}

static double sampled_clock(const struct sweep *s, size_t run)
{
	const struct samples *own = s->values;

	(void)run;
	return own->costs.report.clock_hz;
}

static struct quantity sampled(
	const struct sweep *s, size_t run, size_t row, const struct sweep_event *event)
{
	const struct samples *own = s->values;
	const struct prof_data *d = own->data;

	for (size_t i = 0; i < d->metrics.count; i++) {
		const struct prof_metric *m = &d->metrics.data[i];
		size_t entity = s->rows.data[row].entity;
		uint64_t n;

		if (m->input != run || m->metric->flags & METRIC_BOTH ||
			strcmp(m->metric->short_name, event->short_name) != 0)
			continue;
		n = entity == SWEEP_WHOLE ? m->samples
					  : own->sums.own[entity * own->sums.metrics + i];
		return m->metric->flags & METRIC_EXACT
			       ? quantity_exact((double)n * m->unit, m->metric->label)
			       : prof_sampled(n, m->unit, m->metric->label);
	}
	return (struct quantity){.label = LABEL_NONE};
}

static int add_experiment(struct sweep *s, const struct prof_input *input)
{
	const struct experiment *x = input->experiment;
	struct sweep_run *run = vec_push(&s->runs);
	const char *command = experiment_fact_find(x, "command");

	if (!run)
		return -1;
	run->file = input->file;
	run->experiment = x;
	while (command && *command) {
		size_t n = strcspn(command, " ");
		const char *word = picture_text(s->picture, "%.*s", (int)n, command);

		if (!word || (n && add_word(run, word)))
			return -1;
		command += n + (command[n] == ' ');
	}
	for (size_t i = 0; i < x->metrics.count; i++) {
		const struct experiment_metric *m = &x->metrics.data[i];
		bool clock = m->flags & METRIC_CLOCK;
		struct sweep_event event = {m->short_name, m->name, clock ? "seconds" : m->unit,
			m->event, m->label, clock};

		if (!(m->flags & METRIC_BOTH) && add_event(s, &event))
			return -1;
	}
	return 0;
}

struct candidate {
	size_t entity;
	double share; /* the largest that it has of any metric of any run */
};

static int by_share(const void *pa, const void *pb)
{
	const struct candidate *a = pa, *b = pb;

	if (a->share != b->share)
		return a->share > b->share ? -1 : 1;
	return a->entity < b->entity ? -1 : a->entity > b->entity;
}

/* The procedures that take most in some run. */
static int choose_rows(struct sweep *s, const struct samples *own)
{
	enum { SOME = 5 };
	const double least = 0.02;
	const struct prof_sums *sums = &own->sums;
	const struct prof_data *d = own->data;
	size_t n = sums->entities.count, most = s->request->rows ? s->request->rows : SOME;
	struct candidate *list = calloc(n + 1, sizeof(*list));
	int rc = list ? 0 : -1;

	for (size_t i = 0; i < n && rc == 0; i++) {
		list[i].entity = i;
		for (size_t k = 0; k < sums->metrics; k++) {
			double all = (double)d->metrics.data[k].samples;
			double share = all > 0 ? (double)sums->own[i * sums->metrics + k] / all : 0;

			list[i].share = share > list[i].share ? share : list[i].share;
		}
	}
	if (rc == 0)
		qsort(list, n, sizeof(*list), by_share);
	if (rc == 0 && !s->request->filtered)
		rc = add_row(s, "the whole run", SWEEP_WHOLE);
	for (size_t i = 0; i < n && i < most && rc == 0 && list[i].share >= least; i++)
		rc = add_row(s,
			prof_string_at(d, prof_entity_at(sums, list[i].entity)->key.procedure),
			list[i].entity);
	free(list);
	return rc;
}

int picture_sweep(struct picture *p, const struct picture_sweep_request *r, struct prof_data *d,
	struct error *e)
{
	struct samples own = {.data = d};
	struct sweep s = {.picture = p,
		.request = r,
		.value = sampled,
		.cost = sampled_cost,
		.clock = sampled_clock,
		.values = &own};
	int rc = 0;

	if (prof_data_name(d, false, e) ||
		counts_of_experiment(&own.costs, d->request->inputs[0].experiment, e))
		return -1;
	for (size_t i = 0; i < d->request->count && rc == 0; i++)
		rc = add_experiment(&s, &d->request->inputs[i]);
	if (rc == 0)
		rc = prof_diff_sums(&own.sums, d, PROF_BY_PROCEDURE);
	if (rc == 0)
		rc = choose_rows(&s, &own);
	rc = finish(&s, rc, e);
	prof_sums_fini(&own.sums);
	free(own.costs.report.events);
	return rc;
}
