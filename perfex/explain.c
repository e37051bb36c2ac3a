/* SPDX-License-Identifier: GPL-2.0-or-later */
/* perfex -explain EVENT: all about one event. */
#include <stdio.h>
#include <string.h>

#include "perfex.h"
#include "say.h"

static void wrapped(struct strbuf *out, const char *label, const char *text)
{
	enum { INDENT = 14, WIDTH = 79 };
	size_t column = INDENT;

	strbuf_printf(out, "  %-*s", INDENT - 2, label);
	while (*text) {
		size_t word = strcspn(text, " ");

		if (column > INDENT && column + 1 + word > WIDTH) {
			strbuf_putc(out, '\n');
			strbuf_repeat(out, ' ', INDENT);
			column = INDENT;
		} else if (column > INDENT) {
			strbuf_putc(out, ' ');
			column++;
		}
		strbuf_add(out, text, word);
		column += word;
		text += word;
		while (*text == ' ')
			text++;
	}
	strbuf_putc(out, '\n');
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

static void encodings(const struct event *event, struct strbuf *out)
{
	strbuf_puts(out, "  on processors:\n");
	for (const char *const *family = event_families(); *family; family++) {
		struct event_code code;

		if (event_encode_for(*family, event->number, &code, &(struct error){0}) == 0)
			strbuf_printf(out, "    %-12s  %s (type %u, config 0x%llx%s)%s%s\n",
				*family, code.text, code.type, (unsigned long long)code.config,
				strcmp(*family, event_host_family()) == 0 ? "; this machine" : "",
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

int do_explain(const struct options *o)
{
	struct event_spec spec;
	struct machine machine;
	struct strbuf text = {0};
	struct error e = {0};
	int status = 0;

	memset(&spec, 0, sizeof(spec));
	if (event_parse(o->explain, &spec, &e) || find_machine(o, &machine, &e)) {
		say_error(&e);
		return EXIT_OURS;
	}
	explain(o, &spec, &machine, &text);
	if (output(o, &text, stdout, &e)) {
		say_error(&e);
		status = EXIT_OURS;
	}
	strbuf_fini(&text);
	return status;
}
