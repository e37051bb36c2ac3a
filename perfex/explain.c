/* SPDX-License-Identifier: GPL-2.0-or-later */
/* perfex -explain EVENT: all data of one event. */
#include <stdio.h>
#include <string.h>

#include "base/say.h"
#include "base/sheet.h"
#include "base/shown.h"
#include "perfex.h"

static void wrapped(struct strbuf *out, const char *label, const char *text)
{
	enum { INDENT = 14, WIDTH = 79 };

	strbuf_printf(out, "  %-*s", INDENT - 2, label);
	strbuf_wrap(out, text, INDENT, WIDTH);
}

static void availability(
	const struct event_spec *spec, const struct machine *machine, struct strbuf *out)
{
	struct source_options options = {.user = true, .machine = machine};

	for (const struct source_ops *const *s = sources; *s; s++) {
		struct event_spec copy = *spec;
		struct error why = {0};
		struct strbuf line = {0};

		if ((*s)->probe(&options, &why) == 0 && (*s)->accepts(&options, &copy, &why) == 0)
			strbuf_puts(&line, "counts it here");
		else
			strbuf_printf(&line, "no: %s%s%s", why.message, why.hint[0] ? "; " : "",
				why.hint);
		wrapped(out, (*s)->name, strbuf_text(&line));
		strbuf_fini(&line);
	}
}

static void costs(const struct options *o, const struct event *event, const struct machine *machine,
	struct strbuf *out)
{
	struct cost_table table;
	struct strbuf line = {0};
	const struct cost *c;

	if (find_costs(o, machine, o->machine != NULL, &table, &(struct error){0}))
		return;
	c = &table.cost[event->number];
	if (c->known)
		strbuf_printf(&line, "typical %g, minimum %g, maximum %g %s (%s)%s", c->typical,
			c->minimum, c->maximum, c->unit == COST_NS ? "ns" : "cycles", table.origin,
			event->flags & EVENT_OVERLAPS ? "; may overlap with that of other events"
						      : "");
	else
		strbuf_puts(&line, event->flags & EVENT_REDUNDANT
					   ? "none of its own: part or repetition of other events"
					   : "not in the table in force");
	wrapped(out, "cost", strbuf_text(&line));
	strbuf_fini(&line);
}

/* What is said of the family by whose codes this machine is counted. */
static const char *host_note(char text[64])
{
	struct machine host;

	if (machine_find("host", &host, &(struct error){0}) || !host.family[0] ||
		strcmp(host.family, event_host_family()) == 0)
		return "; this machine";
	snprintf(text, 64, "; this machine, %s, is counted so", host.family);
	return text;
}

static void encodings(const struct event *event, struct strbuf *out)
{
	char text[64];
	const char *here = host_note(text);

	strbuf_puts(out, "  on processors:\n");
	for (const char *const *family = event_families(); *family; family++) {
		struct event_code code;

		if (event_encode_for(*family, event->number, &code, &(struct error){0}) == 0)
			strbuf_printf(out, "    %-12s  %s (type %u, config 0x%llx%s)%s%s\n",
				*family, code.text, code.type, (unsigned long long)code.config,
				strcmp(*family, event_host_family()) == 0 ? here : "",
				code.note ? ": " : "", code.note ? code.note : "");
		else
			strbuf_printf(out, "    %-12s  not available\n", *family);
	}
}

static void explain(const struct options *o, struct event_spec *spec, const struct machine *machine,
	struct strbuf *out)
{
	const struct event *event = spec->event;

	if (!event) {
		strbuf_printf(out, "%s\n  %s event of this processor: type %u, config 0x%llx\n",
			spec->name, spec->origin == EVENT_ORIGIN_RAW ? "raw" : "libpfm4",
			spec->code.type, (unsigned long long)spec->code.config);
		availability(spec, machine, out);
		return;
	}
	strbuf_printf(out, "%d %s (%s)\n", event->number, event->name, event->short_name);
	wrapped(out, "meaning", event->meaning);
	wrapped(out, "pitfall", event->pitfall);
	wrapped(out, "unit", event->unit);
	wrapped(out, "today", event->today ? event->today : "the same");
	costs(o, event, machine, out);
	availability(spec, machine, out);
	if (!(event->flags & EVENT_OS))
		encodings(event, out);
}

/* The text's contents, as records: of the event, of sources, of processors. */
struct record {
	struct sheet event, sources, encodings;
};

static void record_event(struct record *r, const struct event_spec *spec, const struct options *o,
	const struct machine *machine)
{
	static const char *const columns[] = {"number", "short", "name", "unit", "today", "meaning",
		"pitfall", "overlaps", "typical", "minimum", "maximum", "cost_unit", "cost_label",
		"cost_origin", NULL};
	const struct event *event = spec->event;
	struct cost_table table;
	bool known = event &&
		     find_costs(o, machine, o->machine != NULL, &table, &(struct error){0}) == 0 &&
		     table.cost[event->number].known;

	r->event.columns = columns;
	if (event)
		sheet_number(&r->event, event->number);
	else
		sheet_none(&r->event);
	sheet_text(&r->event, event ? event->short_name : NULL);
	sheet_text(&r->event, event ? event->name : spec->name);
	sheet_text(&r->event, event ? event->unit : NULL);
	sheet_text(&r->event, event ? event->today ? event->today : event->name : NULL);
	sheet_text(&r->event, event ? event->meaning : NULL);
	sheet_text(&r->event, event ? event->pitfall : NULL);
	sheet_bool(&r->event, event && event->flags & EVENT_OVERLAPS);
	if (known)
		cost_cells(&r->event, &table.cost[event->number], "estimated");
	for (int i = 0; i < 5 && !known; i++)
		sheet_none(&r->event);
	sheet_text(&r->event, known ? table.origin : NULL);
}

static void record_sources(
	struct record *r, const struct event_spec *spec, const struct machine *machine)
{
	static const char *const columns[] = {"source", "counts", "why", NULL};
	struct source_options options = {.user = true, .machine = machine};

	r->sources.columns = columns;
	for (const struct source_ops *const *s = sources; *s; s++) {
		struct event_spec copy = *spec;
		struct error why = {0};
		bool counts = (*s)->probe(&options, &why) == 0 &&
			      (*s)->accepts(&options, &copy, &why) == 0;

		sheet_text(&r->sources, (*s)->name);
		sheet_bool(&r->sources, counts);
		sheet_text(&r->sources, counts ? NULL : why.message);
	}
}

static void record_code(
	struct record *r, const char *processor, const struct event_code *code, bool here)
{
	sheet_text(&r->encodings, processor);
	sheet_bool(&r->encodings, here);
	sheet_text(&r->encodings, code->text);
	sheet_number(&r->encodings, code->type);
	sheet_textf(&r->encodings, "0x%llx", (unsigned long long)code->config);
	sheet_text(&r->encodings, code->note);
}

static void record_encodings(struct record *r, const struct event_spec *spec)
{
	static const char *const columns[] = {
		"processor", "here", "encoding", "type", "config", "note", NULL};

	r->encodings.columns = columns;
	if (!spec->event)
		record_code(r, event_host_family(), &spec->code, true);
	if (!spec->event || spec->event->flags & EVENT_OS)
		return;
	for (const char *const *family = event_families(); *family; family++) {
		struct event_code code;

		if (event_encode_for(*family, spec->event->number, &code, &(struct error){0}) == 0)
			record_code(r, *family, &code, strcmp(*family, event_host_family()) == 0);
	}
}

static int record_json(const struct record *r, struct strbuf *out, struct error *e)
{
	struct json_document document;
	struct json *j = &document.json;

	if (json_begin(&document, "perfex.explain/1", e))
		return -1;
	sheet_members(&r->event, j);
	sheet_json(&r->sources, j, "sources");
	sheet_json(&r->encodings, j, "encodings");
	return json_end(&document, out, e);
}

/* "field,value" for the event, then its sources and their encodings. */
static void record_csv(const struct record *r, struct strbuf *out)
{
	static const char *const columns[] = {"field", "value", NULL};
	struct sheet rest = {.columns = columns};
	const struct sheet_cell *cell = r->sources.cells.data;

	strbuf_puts(out, "field,value\n");
	sheet_csv_members(&r->event, out);
	for (size_t i = 0; i + 3 <= r->sources.cells.count; i += 3) {
		sheet_textf(&rest, "source.%s", cell[i].text);
		sheet_text(&rest, cell[i + 2].text ? cell[i + 2].text : "counts it here");
	}
	cell = r->encodings.cells.data;
	for (size_t i = 0; i + 6 <= r->encodings.cells.count; i += 6) {
		sheet_textf(&rest, "encoding.%s", cell[i].text);
		sheet_text(&rest, cell[i + 2].text);
	}
	sheet_csv_rows(&rest, out);
	sheet_fini(&rest);
}

static int for_scripts(const struct options *o, const struct event_spec *spec,
	const struct machine *machine, struct strbuf *text, struct error *e)
{
	struct record r = {0};
	int rc = 0;

	record_event(&r, spec, o, machine);
	record_sources(&r, spec, machine);
	record_encodings(&r, spec);
	if (r.event.failed || r.sources.failed || r.encodings.failed)
		rc = error_nomem(e);
	else if (o->json)
		rc = record_json(&r, text, e);
	else
		record_csv(&r, text);
	sheet_fini(&r.event);
	sheet_fini(&r.sources);
	sheet_fini(&r.encodings);
	return rc;
}

int do_explain(const struct options *o)
{
	struct event_spec spec;
	struct machine machine;
	struct strbuf text = {0};
	struct error e = {0};
	int status = 0;

	memset(&spec, 0, sizeof(spec));
	if (event_parse(o->explain, &spec, &e) ||
		machine_find_clock(o->machine, o->clock, &machine, &e))
		return say_failure(&e);
	if (o->json || o->csv)
		status = for_scripts(o, &spec, &machine, &text, &e) ? EXIT_OURS : 0;
	else
		explain(o, &spec, &machine, &text);
	if (status || shown_output(o->output, stdout, &text, &e))
		status = say_failure(&e);
	strbuf_fini(&text);
	return status;
}
