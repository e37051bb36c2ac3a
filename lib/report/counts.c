/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/counts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/stats.h"

/*
 * Several runs of the same command: the mean of their counts, with a 95% interval from their
 * variance (Student's t). The interval of each run, from multiplexing, is part of that variance
 * already. The model's interval is not: its windows are at the same places in each run, so their
 * errors are the same.
 */
static struct count mean_of_runs(
	const struct reading *readings, unsigned long runs, size_t event, double *spread)
{
	struct count c = readings[0].counts[event];
	double *values, half, same = 0;

	*spread = 0;
	if (runs < 2 || c.quantity.label == LABEL_NONE)
		return c;
	values = calloc(runs, sizeof(*values));
	if (!values)
		return c;
	for (unsigned long r = 0; r < runs; r++) {
		const struct count *one = &readings[r].counts[event];

		values[r] = one->quantity.value;
		if (one->quantity.label == LABEL_MODEL)
			same += (one->quantity.high - one->quantity.low) / 2 / (double)runs;
		c.quantity.label = label_join(c.quantity.label, one->quantity.label);
		if (one->quantity.label == LABEL_NONE) {
			c = *one;
			break;
		}
		c.clamped |= one->clamped;
		c.short_run |= one->short_run;
	}
	if (c.quantity.label == LABEL_NONE) { /* a mean of some of the runs would be another's */
		free(values);
		return c;
	}
	c.quantity.value = stats_mean(values, runs);
	half = stats_t95((double)runs - 1) * stats_stddev(values, runs) / sqrt((double)runs);
	c.quantity.low = fmax(0, c.quantity.value - hypot(half, same));
	c.quantity.high = c.quantity.value + hypot(half, same);
	*spread = c.quantity.value > 0 ? half / c.quantity.value : 0;
	free(values);
	return c;
}

static void name_row(struct event_row *row, const struct event_spec *spec)
{
	const struct event *event = spec->event;

	row->number = event ? event->number : -1;
	row->short_name = event ? event->short_name : "";
	row->name = event ? event->name : spec->name;
	row->unit = event ? event->unit : "events";
	row->note = spec->encoded ? spec->code.note : NULL;
}

static void cost_row(
	struct event_row *row, const struct cost_table *costs, double clock_hz, bool here)
{
	const struct cost *c;

	if (row->number < 0 || row->number >= EVENT_LIMIT ||
		row->count.quantity.label == LABEL_NONE)
		return;
	c = &costs->cost[row->number];
	if (!c->known)
		return;
	row->costed = true;
	row->cost_from = cost_mark_word(cost_mark(c, here));
	cost_sources_text(costs, c, row->cost_sources);
	row->typical = cost_seconds(c, c->typical, clock_hz) * row->count.quantity.value;
	row->minimum = cost_seconds(c, c->minimum, clock_hz) * row->count.quantity.value;
	row->maximum = cost_seconds(c, c->maximum, clock_hz) * row->count.quantity.value;
}

/* Time on the CPU: cycles divided by the clock if cycles were counted, since the other events were
 * counted at the same levels; else the kernel's clock. The model's clock is exact; that of a
 * processor is its nominal one, so the time is an estimate. */
static struct quantity cpu_seconds(struct counted *c, double clock_hz, bool kernel)
{
	static const int cycles[] = {EV_CYCLES, EV_CYCLES_16};
	struct quantity q;

	for (size_t i = 0; i < 2 && clock_hz > 0; i++) {
		q = c->event[cycles[i]];
		if (q.label == LABEL_NONE)
			continue;
		c->user_level = q.label == LABEL_MODEL || !kernel;
		return (struct quantity){q.value / clock_hz, q.low / clock_hz, q.high / clock_hz,
			q.label == LABEL_MODEL ? LABEL_MODEL : LABEL_ESTIMATED};
	}
	q = c->event[EV_TASK_CLOCK];
	return (struct quantity){q.value * 1e-9, q.low * 1e-9, q.high * 1e-9, q.label};
}

/* The means of all runs; false if the clock did not see causes in each. */
static bool mean_causes(const struct counts_input *in, struct quantity *causes)
{
	for (unsigned long r = 0; r < in->runs; r++) {
		if (!in->readings[r].clocked)
			return false;
		for (int i = 0; i < MODEL_CAUSES; i++) {
			const struct quantity *one = &in->readings[r].causes[i];

			if (r == 0)
				causes[i] = quantity_exact(0, one->label);
			causes[i].value += one->value / (double)in->runs;
			causes[i].low += one->low / (double)in->runs;
			causes[i].high += one->high / (double)in->runs;
		}
	}
	return in->runs > 0;
}

/* Of a modelled host, beside a measured time: the clock that it had then, since a shared host's
 * differs by ten percent from hour to hour. */
static void take_clock(struct counts_report *r, const struct counts_input *in)
{
	r->clock_hz = (double)in->machine->model.clock_hz;
	r->clock_from = machine_clock_word(in->machine->clock_from);
	if (!r->modelled || !in->host || !in->native || !in->native->clock_hz ||
		in->machine->clock_from == MACHINE_CLOCK_GIVEN)
		return;
	r->clock_hz = (double)in->native->clock_hz;
	r->clock_from = "measured beside the runs without the model";
}

/* The time that is divided among causes: measured, if a run without the model is comparable with
 * the counted one. */
static void compare_native(
	struct counts_report *r, const struct counts_input *in, const struct counted *counted)
{
	const struct native_times *n = in->native;

	r->divided = r->seconds;
	if (!n || !n->runs)
		return;
	r->native = *n;
	if ((r->modelled && !in->host) || n->exit_status != in->exit_status ||
		r->seconds.label == LABEL_NONE || !(r->seconds.value > 0) || !(n->user.value > 0))
		return;
	r->divided = n->user;
	if (!counted->user_level) {
		r->divided.value += n->system.value;
		r->divided.low += n->system.low;
		r->divided.high += n->system.high;
	}
	if (r->modelled)
		r->ratio = r->seconds.value / r->divided.value;
}

static void explain(
	struct counts_report *r, const struct counts_input *in, const struct counted *counted)
{
	struct quantity cycles[MODEL_CAUSES];
	bool here = costs_measured_here(in->costs, in->machine->description);

	r->costs = true;
	snprintf(r->cost_table, sizeof(r->cost_table), "%s", in->costs->origin);
	r->cost_source_count = in->costs->source_count;
	memcpy(r->cost_source, in->costs->source, sizeof(r->cost_source));
	costs_provenance(in->costs, in->machine->description, r->cost_provenance,
		sizeof(r->cost_provenance));
	for (size_t i = 0; i < r->event_count; i++)
		cost_row(&r->events[i], in->costs, r->clock_hz, here);
	r->statistic_count = costs_statistics(counted, in->costs, in->machine, r->statistics);
	if (mean_causes(in, cycles))
		r->cause_count = costs_clock_breakdown(cycles, in->machine, &r->divided, r->causes);
	r->clocked = r->cause_count > 0;
	if (r->clocked)
		r->cost_cause_count =
			costs_breakdown(counted, in->costs, r->clock_hz, r->cost_causes);
	else
		r->cause_count = costs_breakdown(counted, in->costs, r->clock_hz, r->causes);
}

static int copy_threads(struct counts_report *r, const struct reading *reading, struct error *e)
{
	if (reading->thread_count == 0)
		return 0;
	r->threads = calloc(reading->thread_count, sizeof(*r->threads));
	if (!r->threads)
		return error_nomem(e);
	for (size_t t = 0; t < reading->thread_count; t++) {
		const struct thread_reading *from = &reading->threads[t];
		struct thread_row *to = &r->threads[t];

		to->pid = from->pid;
		to->tid = from->tid;
		memcpy(to->command, from->command, sizeof(to->command));
		to->counts = calloc(r->event_count ? r->event_count : 1, sizeof(*to->counts));
		if (!to->counts)
			return error_nomem(e);
		r->thread_count++;
		memcpy(to->counts, from->counts, r->event_count * sizeof(*to->counts));
	}
	return 0;
}

/* Of several runs, with the interval of the mean. */
static struct quantity mean_elapsed(const struct counts_input *in)
{
	struct quantity q = quantity_exact(stats_mean(in->elapsed, in->runs), LABEL_MEASURED);
	double half;

	if (in->runs > 1) {
		half = stats_t95((double)in->runs - 1) * stats_stddev(in->elapsed, in->runs) /
		       sqrt((double)in->runs);
		q.low = fmax(0, q.value - half);
		q.high = q.value + half;
	}
	return q;
}

/* A row of each event; what is counted of the table's events. */
static int counts_rows_fill(
	struct counts_report *r, const struct counts_input *in, struct counted *counted)
{
	r->events = calloc(in->count ? in->count : 1, sizeof(*r->events));
	if (!r->events)
		return -1;
	r->event_count = in->count;
	for (size_t i = 0; i < in->count; i++) {
		struct event_row *row = &r->events[i];

		name_row(row, &in->specs[i]);
		row->count = mean_of_runs(in->readings, in->runs, i, &row->spread);
		if (row->number >= 0 && counted->event[row->number].label == LABEL_NONE)
			counted->event[row->number] = row->count.quantity;
	}
	return 0;
}

struct counts_report *counts_report_new(const struct counts_input *in, struct error *e)
{
	struct counts_report *r = calloc(1, sizeof(*r));
	struct counted counted;

	if (!r)
		goto nomem;
	memset(&counted, 0, sizeof(counted));
	r->command = in->command;
	r->pid = in->pid;
	r->exit_status = in->exit_status;
	r->runs = in->runs;
	r->passes = in->passes;
	r->groups = in->groups;
	snprintf(r->source, sizeof(r->source), "%s", in->source);
	/* A host is called by its family, the name that -machine takes. */
	snprintf(r->machine, sizeof(r->machine), "%s",
		in->machine->family[0] ? in->machine->family : in->machine->name);
	snprintf(r->machine_description, sizeof(r->machine_description), "%s",
		in->machine->description);
	r->modelled = strstr(in->source, "model") != NULL;
	r->host = in->host;
	take_clock(r, in);
	r->elapsed = mean_elapsed(in);
	if (counts_rows_fill(r, in, &counted))
		goto nomem;
	r->seconds = cpu_seconds(&counted, r->clock_hz, in->kernel);
	compare_native(r, in, &counted);
	counted.seconds = r->divided;
	if (in->costs)
		explain(r, in, &counted);
	if (copy_threads(r, &in->readings[0], e)) {
		counts_report_free(r);
		return NULL;
	}
	return r;
nomem:
	counts_report_free(r);
	error_nomem(e);
	return NULL;
}

int counts_report_add_uncounted(
	struct counts_report *r, const struct event_spec *spec, const char *why, struct error *e)
{
	struct uncounted_row *rows =
		reallocarray(r->uncounted, r->uncounted_count + 1, sizeof(*rows));
	struct uncounted_row *row;

	if (!rows)
		return error_nomem(e);
	r->uncounted = rows;
	row = &rows[r->uncounted_count++];
	row->number = spec->event ? spec->event->number : -1;
	row->short_name = spec->event ? spec->event->short_name : "";
	row->name = spec->event ? spec->event->name : spec->name;
	snprintf(row->why, sizeof(row->why), "%s", why);
	return 0;
}

void counts_report_free(struct counts_report *r)
{
	if (!r)
		return;
	for (size_t t = 0; t < r->thread_count; t++)
		free(r->threads[t].counts);
	free(r->threads);
	free(r->uncounted);
	free(r->events);
	free(r);
}

static bool before(const struct event_row *a, const struct event_row *b)
{
	double ta = a->costed ? a->typical : -1, tb = b->costed ? b->typical : -1;

	if (ta != tb)
		return ta > tb;
	if (a->costed && a->maximum != b->maximum)
		return a->maximum > b->maximum;
	return a->number < b->number;
}

size_t *counts_report_by_cost(const struct counts_report *r)
{
	size_t *order = calloc(r->event_count ? r->event_count : 1, sizeof(*order));

	if (!order)
		return NULL;
	for (size_t i = 0; i < r->event_count; i++) {
		size_t j = i;

		/* Insertion sort: stable, and there are at most a few dozen rows. */
		for (; j > 0 && before(&r->events[i], &r->events[order[j - 1]]); j--)
			order[j] = order[j - 1];
		order[j] = i;
	}
	return order;
}
