/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>

#include "render/counts.h"
#include "render/number.h"

static void event_object(
	struct json *j, const struct event_row *row, const struct count *count, bool costs)
{
	json_object(j, NULL);
	if (row->number >= 0) {
		json_integer(j, "number", row->number);
		json_string(j, "short", row->short_name);
	}
	json_string(j, "name", row->name);
	json_string(j, "unit", row->unit);
	number_json(j, "count", &count->quantity);
	if (count->quantity.label == LABEL_NONE || count->why[0])
		json_string(j, "why", count->why);
	json_optional(j, "note", row->note);
	if (count->clamped)
		json_bool(j, "clamped", true);
	if (count->short_run)
		json_bool(j, "short_run", true);
	if (costs && row->costed) {
		json_object(j, "seconds");
		json_number(j, "typical", row->typical);
		json_number(j, "minimum", row->minimum);
		json_number(j, "maximum", row->maximum);
		json_string(j, "label", label_name(LABEL_ESTIMATED));
		json_optional(j, "cost", row->cost_from);
		if (row->cost_sources[0])
			json_string(j, "cost_source", row->cost_sources);
		json_end_object(j);
	}
	json_end_object(j);
}

static void counts_json_uncounted(struct json *j, const void *row)
{
	const struct uncounted_row *of = row;

	json_integer(j, "number", of->number);
	json_string(j, "short", of->short_name);
	json_string(j, "name", of->name);
	json_string(j, "why", of->why);
}

static void counts_json_source(struct json *j, const void *row)
{
	const struct cost_source *s = row;

	json_string(j, "tag", s->tag);
	json_string(j, "text", s->text);
}

static void counts_json_statistics(struct json *j, const void *row)
{
	const struct statistic *s = row;

	json_string(j, "name", s->name);
	number_json_members(j, &s->quantity);
	json_string(j, "unit", s->unit);
}

static void counts_json_breakdown(struct json *j, const void *row)
{
	const struct cause *c = row;

	json_string(j, "cause", c->name);
	if (c->number >= 0)
		json_integer(j, "number", c->number);
	number_json(j, "seconds", &c->seconds);
	json_number(j, "share", c->share);
	json_string(j, "share_label", label_name(c->share_label));
}

/* Times of the runs without the model, and how the model's compare. */
static void counts_json_native(const struct counts_report *r, struct json *j)
{
	if (!r->native.runs) {
		json_null(j, "native");
		return;
	}
	json_object(j, "native");
	json_integer(j, "runs", r->native.runs);
	json_integer(j, "status", r->native.exit_status);
	number_json(j, "user_seconds", &r->native.user);
	number_json(j, "system_seconds", &r->native.system);
	number_json(j, "elapsed_seconds", &r->native.elapsed);
	if (r->ratio > 0)
		json_number(j, "modelled_ratio", r->ratio);
	json_end_object(j);
}

static void counts_json_threads(const struct counts_report *r, struct json *j)
{
	json_array(j, "threads");
	for (size_t t = 0; t < r->thread_count; t++) {
		const struct thread_row *row = &r->threads[t];
		char command[sizeof(row->command) + 1];

		snprintf(command, sizeof(command), "%.*s", (int)sizeof(row->command), row->command);
		json_object(j, NULL);
		json_integer(j, "tid", row->tid);
		json_integer(j, "pid", row->pid);
		json_string(j, "command", command);
		json_array(j, "events");
		for (size_t i = 0; i < r->event_count; i++)
			event_object(j, &r->events[i], &row->counts[i], false);
		json_end_array(j);
		json_end_object(j);
	}
	json_end_array(j);
}

int render_counts_json(const struct counts_report *r, struct strbuf *out, struct error *e)
{
	struct json_document document;
	struct json *j = &document.json;

	if (json_begin(&document, "perfex.counts/1", e))
		return -1;
	json_array(j, "command");
	for (size_t i = 0; r->command && r->command[i]; i++)
		json_string(j, NULL, r->command[i]);
	json_end_array(j);
	if (r->pid)
		json_integer(j, "pid", r->pid);
	json_integer(j, "status", r->exit_status);
	json_string(j, "source", r->source);
	json_string(j, "machine", r->machine);
	json_number(j, "clock_hz", r->clock_hz);
	if (r->clock_from && *r->clock_from)
		json_string(j, "clock", r->clock_from);
	number_json(j, "elapsed_seconds", &r->elapsed);
	number_json(j, "cpu_seconds", &r->seconds);
	counts_json_native(r, j);
	json_integer(j, "runs", (long long)r->runs);
	json_integer(j, "passes", (long long)r->passes);
	json_integer(j, "groups", (long long)r->groups);
	json_array(j, "events");
	for (size_t i = 0; i < r->event_count; i++)
		event_object(j, &r->events[i], &r->events[i].count, r->costs);
	json_end_array(j);
	json_rows(j, "not_counted", r->uncounted, r->uncounted_count, sizeof(*r->uncounted),
		counts_json_uncounted);
	if (r->costs) {
		json_string(j, "cost_table", r->cost_table);
		json_string(j, "cost_rows", r->cost_provenance);
		json_rows(j, "cost_sources", r->cost_source, r->cost_source_count,
			sizeof(*r->cost_source), counts_json_source);
		json_rows(j, "statistics", r->statistics, r->statistic_count,
			sizeof(*r->statistics), counts_json_statistics);
		number_json(j, "divided_seconds", &r->divided);
		json_rows(j, "breakdown", r->causes, r->cause_count, sizeof(*r->causes),
			counts_json_breakdown);
		if (r->clocked)
			json_rows(j, "breakdown_by_costs", r->cost_causes, r->cost_cause_count,
				sizeof(*r->cost_causes), counts_json_breakdown);
	}
	counts_json_threads(r, j);
	return json_end(&document, out, e);
}
