/* SPDX-License-Identifier: GPL-2.0-or-later */
/* perfex -list: the events, and which source counts them on this machine.  -completion: what
 * arguments may be. */
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/say.h"
#include "base/sheet.h"
#include "base/shown.h"
#include "machine/machine.h"
#include "perfex.h"

enum { SOURCES_MAX = 4 };

struct availability {
	const struct source_ops *source[SOURCES_MAX]; /* that can count it here */
	size_t count;
	struct error why; /* of the first that cannot */
};

struct usable {
	const struct source_ops *source[SOURCES_MAX];
	struct error why[SOURCES_MAX];
	bool works[SOURCES_MAX];
	size_t count;
};

static void probe_all(const struct source_options *options, struct usable *u)
{
	memset(u, 0, sizeof(*u));
	for (const struct source_ops *const *s = sources; *s && u->count < SOURCES_MAX; s++) {
		u->source[u->count] = *s;
		u->works[u->count] = (*s)->probe(options, &u->why[u->count]) == 0;
		u->count++;
	}
}

static void find_sources(const struct usable *u, const struct source_options *options,
	const struct event *event, struct availability *a)
{
	memset(a, 0, sizeof(*a));
	for (size_t i = 0; i < u->count; i++) {
		struct event_spec spec = {.origin = EVENT_ORIGIN_TABLE, .event = event};
		struct error why = {0};

		snprintf(spec.name, sizeof(spec.name), "%s", event->name);
		snprintf(spec.argument, sizeof(spec.argument), "%d", event->number);
		if (u->works[i] && u->source[i]->accepts(options, &spec, &why) == 0)
			a->source[a->count++] = u->source[i];
		else if (!a->why.code && why.code)
			a->why = why;
	}
}

static void source_names(const struct availability *a, struct strbuf *out)
{
	for (size_t k = 0; k < a->count; k++)
		strbuf_printf(out, "%s%s", k ? " " : "", a->source[k]->name);
	if (a->count == 0)
		strbuf_puts(out, "-");
}

/* The name last: some are long.  brief: no meanings. */
static void list_text(const struct usable *u, const struct source_options *options, bool brief,
	struct strbuf *out)
{
	size_t count;
	const struct event *table = event_table(&count);

	strbuf_printf(
		out, "%3s  %-8s %-10s %-16s %s\n", "no.", "short", "counted by", "unit", "name");
	for (size_t i = 0; i < count; i++) {
		struct availability a;
		struct strbuf names = {0};

		find_sources(u, options, &table[i], &a);
		source_names(&a, &names);
		strbuf_printf(out, "%3d  %-8s %-10s %-16s %s\n", table[i].number,
			table[i].short_name, strbuf_text(&names), table[i].unit, table[i].name);
		if (!brief)
			strbuf_printf(out, "     %s%s\n", table[i].meaning,
				table[i].flags & EVENT_OVERLAPS ? "  [cost overlaps]" : "");
		strbuf_fini(&names);
	}
	strbuf_puts(out, "\n-: not available here\n");
	for (size_t i = 0; i < u->count; i++)
		strbuf_printf(out, "%-6s %s%s%s\n", u->source[i]->name,
			u->works[i] ? "works here" : u->why[i].message,
			u->works[i] || !u->why[i].hint[0] ? "" : "; ",
			u->works[i] ? "" : u->why[i].hint);
	strbuf_puts(out, "perfex -explain EVENT says more about one.\n");
}

static int list_csv(const struct usable *u, const struct source_options *options,
	struct strbuf *out, struct error *e)
{
	static const char *const columns[] = {"number", "short", "name", "unit", "sources",
		"overlaps", "today", "meaning", "pitfall", NULL};
	struct sheet rows = {.columns = columns};
	size_t count;
	const struct event *table = event_table(&count);
	int rc;

	for (size_t i = 0; i < count; i++) {
		struct availability a;
		struct strbuf names = {0};

		find_sources(u, options, &table[i], &a);
		for (size_t k = 0; k < a.count; k++)
			strbuf_printf(&names, "%s%s", k ? " " : "", a.source[k]->name);
		sheet_number(&rows, table[i].number);
		sheet_text(&rows, table[i].short_name);
		sheet_text(&rows, table[i].name);
		sheet_text(&rows, table[i].unit);
		sheet_text(&rows, strbuf_text(&names));
		sheet_bool(&rows, (table[i].flags & EVENT_OVERLAPS) != 0);
		sheet_text(&rows, table[i].today ? table[i].today : table[i].name);
		sheet_text(&rows, table[i].meaning);
		sheet_text(&rows, table[i].pitfall);
		strbuf_fini(&names);
	}
	sheet_csv(&rows, out);
	rc = rows.failed ? error_nomem(e) : 0;
	sheet_fini(&rows);
	return rc;
}

static int list_json(const struct usable *u, const struct source_options *options,
	struct strbuf *out, struct error *e)
{
	size_t count;
	const struct event *table = event_table(&count);
	struct json_document document;
	struct json *j = &document.json;

	if (json_begin(&document, "perfex.list/1", e))
		return -1;
	json_array(j, "events");
	for (size_t i = 0; i < count; i++) {
		struct availability a;

		find_sources(u, options, &table[i], &a);
		json_object(j, NULL);
		json_integer(j, "number", table[i].number);
		json_string(j, "short", table[i].short_name);
		json_string(j, "name", table[i].name);
		json_string(j, "unit", table[i].unit);
		json_string(j, "today", table[i].today ? table[i].today : table[i].name);
		json_string(j, "meaning", table[i].meaning);
		json_string(j, "pitfall", table[i].pitfall);
		json_bool(j, "overlaps", (table[i].flags & EVENT_OVERLAPS) != 0);
		json_array(j, "sources");
		for (size_t k = 0; k < a.count; k++)
			json_string(j, NULL, a.source[k]->name);
		json_end_array(j);
		json_end_object(j);
	}
	json_end_array(j);
	json_array(j, "sources");
	for (size_t i = 0; i < u->count; i++) {
		json_object(j, NULL);
		json_string(j, "name", u->source[i]->name);
		json_bool(j, "works", u->works[i]);
		if (!u->works[i]) {
			json_string(j, "why", u->why[i].message);
			json_string(j, "remedy", u->why[i].hint);
		}
		json_end_object(j);
	}
	json_end_array(j);
	return json_end(&document, out, e);
}

int do_list(const struct options *o)
{
	struct source_options options = {.user = true};
	struct machine machine;
	struct usable usable;
	struct strbuf text = {0};
	struct error e = {0};
	int status = 0;

	if (machine_find_clock(o->machine, o->clock, &machine, &e))
		return say_failure(&e);
	options.machine = &machine;
	probe_all(&options, &usable);
	if (o->json)
		list_json(&usable, &options, &text, &e);
	else if (o->csv)
		list_csv(&usable, &options, &text, &e);
	else
		list_text(&usable, &options, o->quiet, &text);
	if (e.code || shown_output(o->output, stdout, &text, &e))
		status = say_failure(&e);
	strbuf_fini(&text);
	return status;
}

static void print_machine(const char *name, void *out)
{
	option_print_word(out, "MACHINE", name, "");
}

int do_completion(const struct options *o)
{
	struct strbuf text = {0};
	struct error e = {0};
	size_t count;
	const struct event *events = event_table(&count);
	int rc;

	option_print(option_table, &text);
	for (size_t i = 0; i < count; i++)
		option_print_word(&text, "EVENT", events[i].short_name, events[i].name);
	option_print_word(&text, "SOURCE", "auto", "");
	for (const struct source_ops *const *s = sources; *s; s++)
		option_print_word(&text, "SOURCE", (*s)->name, "");
	option_print_words(&text, "CLOCK", machine_clocks);
	print_machine("host", &text);
	rc = machine_walk(print_machine, &text, &e) || shown_output(o->output, stdout, &text, &e);
	if (rc)
		say_error(&e);
	strbuf_fini(&text);
	return rc ? EXIT_OURS : 0;
}
