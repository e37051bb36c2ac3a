/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/counts_experiment.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "machine/machine.h"

/* Was it modelled?  Then the name of the machine, else NULL. */
static const char *model_of(const struct experiment *x)
{
	for (size_t i = 0; i < x->metrics.count; i++)
		if (x->metrics.data[i].label == LABEL_MODEL)
			return x->metrics.data[i].note;
	return NULL;
}

/* The machine that its events were counted on, as far as costs go. */
static int find_costs(struct counts_costs *c, const struct experiment *x, struct error *e)
{
	const char *host = experiment_fact_find(x, "host"), *model = model_of(x),
		   *clock = experiment_fact_find(x, model ? "model.clock" : "clock_hz");
	struct counts_report *r = &c->report;
	struct machine machine;
	struct utsname here;
	bool ours = !model && host && uname(&here) == 0 && strcmp(here.nodename, host) == 0;
	bool known = (ours || (model && model[0])) && machine_find(model, &machine, NULL) == 0;

	r->clock_hz = clock ? strtod(clock, NULL) : 0;
	if (known && !(r->clock_hz > 0))
		r->clock_hz = (double)machine.model.clock_hz;
	snprintf(r->machine, sizeof(r->machine), "%s",
		model && known ? machine.name
		: host         ? host
			       : "an unknown host");
	return costs_find(known ? machine.costs : "generic", ours && known, NULL, &c->table, e);
}

static double counts_experiment_total_of(const struct experiment *x, uint32_t metric)
{
	const struct experiment_metric *m = &x->metrics.data[metric];
	uint64_t sum = 0;

	if (m->total)
		return (double)m->total;
	for (size_t i = 0; i < x->samples.count; i++)
		if (experiment_sample_at(x, i)->key.metric == metric)
			sum += experiment_sample_at(x, i)->count;
	return (double)sum * (double)(m->period ? m->period : 1);
}

static bool has(const struct counts_report *r, const struct experiment_metric *m)
{
	for (size_t i = 0; i < r->event_count; i++)
		if (strcmp(r->events[i].short_name, m->short_name) == 0)
			return true;
	return false;
}

static void read_metric(struct counts_costs *c, const struct experiment *x, uint32_t metric)
{
	const struct experiment_metric *m = &x->metrics.data[metric];
	struct event_row *row = &c->report.events[c->report.event_count++];
	const struct cost *cost =
		m->event >= 0 && m->event < EVENT_LIMIT ? &c->table.cost[m->event] : NULL;
	double n = counts_experiment_total_of(x, metric);

	*row = (struct event_row){.number = m->event,
		.short_name = m->short_name,
		.name = m->name,
		.unit = m->unit,
		.count = {.quantity = quantity_exact(n, m->label)}};
	if (!cost || !cost->known)
		return;
	row->costed = true;
	row->typical = cost_seconds(cost, n * cost->typical, c->report.clock_hz);
	row->minimum = cost_seconds(cost, n * cost->minimum, c->report.clock_hz);
	row->maximum = cost_seconds(cost, n * cost->maximum, c->report.clock_hz);
}

int counts_add_experiment(struct counts_costs *c, const struct experiment *x, struct error *e)
{
	struct counts_report *r = &c->report;
	struct event_row *events =
		realloc(r->events, (r->event_count + x->metrics.count + 1) * sizeof(*events));

	if (!events)
		return error_nomem(e);
	r->events = events;
	for (uint32_t i = 0; i < x->metrics.count; i++) {
		snprintf(r->source, sizeof(r->source), "%s", x->metrics.data[i].source);
		if (!(x->metrics.data[i].flags & METRIC_BOTH) && !has(r, &x->metrics.data[i]))
			read_metric(c, x, i);
	}
	return 0;
}

int counts_of_experiment(struct counts_costs *c, const struct experiment *x, struct error *e)
{
	const char *command = experiment_fact_find(x, "command"),
		   *model = experiment_fact_find(x, "model");
	struct counts_report *r = &c->report;
	char *space;

	*c = (struct counts_costs){.words = {c->command, NULL}};
	if (find_costs(c, x, e))
		return -1;
	snprintf(c->command, sizeof(c->command), "%s", command ? command : "?");
	space = strchr(c->command, ' ');
	if (space) {
		*space = '\0';
		c->words[1] = space + 1;
	}
	snprintf(r->machine_description, sizeof(r->machine_description), "%s",
		model ? model : r->machine);
	r->command = c->words;
	r->costs = true;
	return counts_add_experiment(c, x, e);
}
