/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Counts as metrics. An event is a label, not a family: all have one set of labels, and machines
 * with other events have the same families.
 */
#include <stdio.h>
#include <string.h>

#include "base/openmetrics.h"
#include "render/counts.h"

static const char *event_label(const struct event_row *row)
{
	return row->short_name[0] ? row->short_name : row->name;
}

/* The same event may be requested by two names, and has one sample. */
static bool event_is_again(const struct counts_report *r, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (strcmp(event_label(&r->events[k]), event_label(&r->events[i])) == 0)
			return true;
	return false;
}

static void metrics_run(struct strbuf *out, const struct counts_report *r)
{
	struct strbuf command = {0};
	char pid[16] = "";

	for (size_t i = 0; r->command && r->command[i]; i++)
		strbuf_printf(&command, "%s%s", i ? " " : "", r->command[i]);
	if (r->pid)
		snprintf(pid, sizeof(pid), "%d", (int)r->pid);
	/* no "info": textfile collectors do not know that type */
	openmetrics_family(out, "perfex_run_info", "gauge", NULL, "What was counted, and by what.");
	openmetrics_sample(out, "perfex_run_info", "",
		(const char *[]){"command", strbuf_text(&command), "pid", pid, "source", r->source,
			"machine", r->machine, "version", PERFEX_VERSION, NULL},
		1);
	strbuf_fini(&command);
}

static void metrics_events(struct strbuf *out, const struct counts_report *r)
{
	openmetrics_family(out, "perfex_events", "counter", NULL,
		"Events of the run; label: where the number comes from.");
	for (size_t i = 0; i < r->event_count; i++) {
		const struct event_row *row = &r->events[i];

		if (row->count.quantity.label != LABEL_NONE && !event_is_again(r, i))
			openmetrics_sample(out, "perfex_events", "_total",
				(const char *[]){"event", event_label(row), "name", row->name,
					"unit", row->unit, "label",
					label_name(row->count.quantity.label), NULL},
				row->count.quantity.value);
	}
}

/* Of numbers that are not exact. */
static void metrics_bound(struct strbuf *out, const struct counts_report *r, bool high)
{
	const char *name = high ? "perfex_events_high" : "perfex_events_low";

	openmetrics_family(out, name, "gauge", NULL,
		high ? "Upper end of the 95% interval." : "Lower end of the 95% interval.");
	for (size_t i = 0; i < r->event_count; i++) {
		const struct quantity *q = &r->events[i].count.quantity;

		if (q->label != LABEL_NONE && q->low < q->high && !event_is_again(r, i))
			openmetrics_sample(out, name, "",
				(const char *[]){"event", event_label(&r->events[i]), NULL},
				high ? q->high : q->low);
	}
}

static void metrics_costs(struct strbuf *out, const struct counts_report *r)
{
	static const char *const bounds[] = {"minimum", "typical", "maximum"};

	openmetrics_family(out, "perfex_cost_seconds", "gauge", "seconds",
		"Time that the events cost, estimated from a table of costs.");
	for (size_t i = 0; i < r->event_count; i++) {
		const struct event_row *row = &r->events[i];
		const double seconds[] = {row->minimum, row->typical, row->maximum};

		for (size_t k = 0; row->costed && !event_is_again(r, i) && k < 3; k++)
			openmetrics_sample(out, "perfex_cost_seconds", "",
				(const char *[]){"event", event_label(row), "bound", bounds[k],
					"label", label_name(LABEL_ESTIMATED), NULL},
				seconds[k]);
	}
}

static void metrics_time(struct strbuf *out, const char *what, const struct quantity *q)
{
	if (q->label != LABEL_NONE)
		openmetrics_sample(out, "perfex_time_seconds", "",
			(const char *[]){"time", what, "label", label_name(q->label), NULL},
			q->value);
}

static void metrics_times(struct strbuf *out, const struct counts_report *r)
{
	openmetrics_family(out, "perfex_time_seconds", "gauge", "seconds",
		"Times of the run; native: without the model.");
	metrics_time(out, "elapsed", &r->elapsed);
	metrics_time(out, "cpu", &r->seconds);
	if (!r->native.runs)
		return;
	metrics_time(out, "native_user", &r->native.user);
	metrics_time(out, "native_system", &r->native.system);
	metrics_time(out, "native_elapsed", &r->native.elapsed);
}

static void metrics_threads(struct strbuf *out, const struct counts_report *r)
{
	openmetrics_family(out, "perfex_thread_events", "counter", NULL, "Events of each thread.");
	for (size_t t = 0; t < r->thread_count; t++) {
		char pid[16], tid[16];

		snprintf(pid, sizeof(pid), "%d", (int)r->threads[t].pid);
		snprintf(tid, sizeof(tid), "%d", (int)r->threads[t].tid);
		for (size_t i = 0; i < r->event_count; i++) {
			const struct quantity *q = &r->threads[t].counts[i].quantity;

			if (q->label != LABEL_NONE && !event_is_again(r, i))
				openmetrics_sample(out, "perfex_thread_events", "_total",
					(const char *[]){"event", event_label(&r->events[i]), "pid",
						pid, "tid", tid, "command", r->threads[t].command,
						"label", label_name(q->label), NULL},
					q->value);
		}
	}
}

void render_counts_openmetrics(const struct counts_report *r, struct strbuf *out)
{
	metrics_run(out, r);
	metrics_events(out, r);
	metrics_bound(out, r, false);
	metrics_bound(out, r, true);
	metrics_times(out, r);
	if (r->costs)
		metrics_costs(out, r);
	if (r->thread_count)
		metrics_threads(out, r);
	if (r->command && r->exit_status >= 0) {
		openmetrics_family(out, "perfex_exit_status", "gauge", NULL,
			"The command's, as a shell gives it.");
		openmetrics_sample(out, "perfex_exit_status", "", NULL, r->exit_status);
	}
	openmetrics_end(out);
}
