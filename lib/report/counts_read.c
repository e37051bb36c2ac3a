/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/counts_read.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static enum label read_label(const struct json_object *v)
{
	const char *label = json_to_string(v, "");

	for (int i = LABEL_NONE + 1; i < LABEL_COUNT; i++)
		if (strcmp(label_name((enum label)i), label) == 0)
			return (enum label)i;
	return LABEL_NONE;
}

static struct quantity read_quantity(const struct json_object *v)
{
	struct quantity q = {.label = read_label(json_member(v, "label"))};

	q.value = json_to_number(json_member(v, "value"), NAN);
	q.low = json_to_number(json_member(v, "low"), q.value);
	q.high = json_to_number(json_member(v, "high"), q.value);
	if (!isfinite(q.value))
		q = (struct quantity){.label = LABEL_NONE};
	return q;
}

/* A number that fits an int; else other. */
static int read_int(const struct json_object *v, int other)
{
	double value = json_to_number(v, other);

	return value >= -1e9 && value <= 1e9 ? (int)value : other;
}

static void read_event(struct event_row *row, const struct json_object *v)
{
	const struct json_object *seconds = json_member(v, "seconds");

	*row = (struct event_row){
		.number = read_int(json_member(v, "number"), -1),
		.short_name = json_to_string(json_member(v, "short"), ""),
		.name = json_to_string(json_member(v, "name"), ""),
		.unit = json_to_string(json_member(v, "unit"), ""),
		.count = {.quantity = read_quantity(json_member(v, "count"))},
		.typical = json_to_number(json_member(seconds, "typical"), NAN),
		.minimum = json_to_number(json_member(seconds, "minimum"), NAN),
		.maximum = json_to_number(json_member(seconds, "maximum"), NAN),
	};
	row->costed = isfinite(row->typical);
}

static int counts_read_read_events(
	struct counts_report *r, const struct json_object *list, struct error *e)
{
	r->events = calloc(json_length(list) + 1, sizeof(*r->events));
	if (!r->events)
		return error_nomem(e);
	for (size_t i = 0; i < json_length(list); i++)
		read_event(&r->events[r->event_count++], json_element(list, i));
	return 0;
}

static void read_causes(struct counts_report *r, const struct json_object *list)
{
	for (size_t i = 0; i < json_length(list) && r->cause_count < CAUSES_MAX; i++) {
		const struct json_object *v = json_element(list, i);
		struct cause c = {.name = json_to_string(json_member(v, "cause"), ""),
			.number = read_int(json_member(v, "number"), -1),
			.seconds = read_quantity(json_member(v, "seconds")),
			.share = json_to_number(json_member(v, "share"), 0),
			.share_label = read_label(json_member(v, "share_label"))};

		if (c.seconds.label != LABEL_NONE)
			r->causes[r->cause_count++] = c;
	}
}

/* Reads the threads' ids and names, without their counts. */
static int read_threads(struct counts_report *r, const struct json_object *list, struct error *e)
{
	r->threads = calloc(json_length(list) + 1, sizeof(*r->threads));
	if (!r->threads)
		return error_nomem(e);
	for (size_t i = 0; i < json_length(list); i++) {
		const struct json_object *v = json_element(list, i);
		struct thread_row *row = &r->threads[r->thread_count++];

		row->tid = read_int(json_member(v, "tid"), 0);
		row->pid = read_int(json_member(v, "pid"), 0);
	}
	return 0;
}

static int read_command(struct counts_file *f, const struct json_object *list, struct error *e)
{
	size_t n = json_length(list);

	if (!n)
		return 0;
	f->command = calloc(n + 1, sizeof(*f->command));
	if (!f->command)
		return error_nomem(e);
	for (size_t i = 0; i < n; i++)
		f->command[i] = json_to_string(json_element(list, i), "?");
	f->report->command = f->command;
	return 0;
}

static int read_report(struct counts_file *f, struct error *e)
{
	const struct json_object *j = f->json;
	struct counts_report *r = f->report;

	r->pid = read_int(json_member(j, "pid"), 0);
	r->exit_status = read_int(json_member(j, "status"), 0);
	snprintf(r->source, sizeof(r->source), "%s", json_to_string(json_member(j, "source"), ""));
	snprintf(r->machine, sizeof(r->machine), "%s",
		json_to_string(json_member(j, "machine"), ""));
	r->clock_hz = json_to_number(json_member(j, "clock_hz"), 0);
	r->elapsed = read_quantity(json_member(j, "elapsed_seconds"));
	r->seconds = read_quantity(json_member(j, "cpu_seconds"));
	r->divided = read_quantity(json_member(j, "divided_seconds"));
	if (r->divided.label == LABEL_NONE)
		r->divided = r->seconds;
	r->costs = json_member(j, "breakdown") != NULL;
	read_causes(r, json_member(j, "breakdown"));
	return counts_read_read_events(r, json_member(j, "events"), e) ||
			       read_threads(r, json_member(j, "threads"), e) ||
			       read_command(f, json_member(j, "command"), e)
		       ? -1
		       : 0;
}

int counts_read(
	struct counts_file *f, const char *text, size_t length, const char *name, struct error *e)
{
	*f = (struct counts_file){.json = json_parse(text, length, name, e)};
	if (!f->json)
		return -1;
	if (strcmp(json_to_string(json_member(f->json, "schema"), ""), "perfex.counts/1") != 0) {
		error_set(e, ERR_PARSE, "%s holds no counts of perfex", name);
		error_hint(e, "perfex -json writes them");
		goto bad;
	}
	f->report = calloc(1, sizeof(*f->report));
	if (!f->report) {
		error_nomem(e);
		goto bad;
	}
	if (read_report(f, e) == 0)
		return 0;
bad:
	counts_file_fini(f);
	return -1;
}

void counts_file_fini(struct counts_file *f)
{
	counts_report_free(f->report);
	json_free(f->json);
	free(f->command);
	*f = (struct counts_file){.report = NULL};
}
