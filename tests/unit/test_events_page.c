/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perfex-events(7) lists the events as the table has them.  UPDATE=1 writes that part of the page
 * anew.
 */
#include "../tap.h"

#include "events/event.h"

#include "page_list.h"

/* Text of mdoc, broken into lines of at most 80 characters. */
static void paragraph(struct strbuf *out, const char *text)
{
	size_t column = 0;

	while (*text) {
		size_t word = strcspn(text, " ");

		if (column && column + 1 + word > 80) {
			strbuf_putc(out, '\n');
			column = 0;
		} else if (column) {
			strbuf_putc(out, ' ');
			column++;
		}
		if (column == 0 && (*text == '.' || *text == '\''))
			strbuf_puts(out, "\\&");
		strbuf_add(out, text, word);
		column += word;
		text += word + (text[word] == ' ');
	}
	strbuf_putc(out, '\n');
}

static void counted_by(struct strbuf *out, const struct event *event)
{
	struct strbuf line = {0};

	if (event->flags & EVENT_MODEL)
		strbuf_puts(&line, "the model");
	if (event->flags & EVENT_OS)
		strbuf_printf(&line, "%sthe kernel", line.length ? ", " : "");
	else
		for (const char *const *f = event_families(); *f; f++) {
			struct event_code code;

			if (event_encode_for(*f, event->number, &code, NULL) == 0)
				strbuf_printf(&line, "%s%s%s", line.length ? ", " : "", *f,
					code.note ? "*" : "");
		}
	if (line.length) {
		strbuf_puts(&line, ".");
		strbuf_puts(out, ".br\n");
		struct strbuf whole = {0};

		strbuf_printf(&whole, "Counted by %s", strbuf_text(&line));
		paragraph(out, strbuf_text(&whole));
		strbuf_fini(&whole);
	} else {
		strbuf_puts(out, ".br\nCounted by nothing that is known here.\n");
	}
	strbuf_fini(&line);
}

static void describe(struct strbuf *out, const struct event *event)
{
	struct strbuf title = {0};

	strbuf_printf(out, ".It Cm %d , Cm %s\n", event->number, event->short_name);
	strbuf_printf(&title, "%s (%s).", event->name, event->unit);
	paragraph(out, strbuf_text(&title));
	strbuf_fini(&title);
	strbuf_puts(out, ".br\n");
	paragraph(out, event->meaning);
	paragraph(out, event->pitfall);
	if (event->today) {
		struct strbuf today = {0};

		strbuf_printf(&today, "Today: %s.", event->today);
		paragraph(out, strbuf_text(&today));
		strbuf_fini(&today);
	}
	if (event->flags & EVENT_REDUNDANT)
		strbuf_puts(out, "It has no cost of its own.\n");
	else if (event->flags & EVENT_OVERLAPS)
		strbuf_puts(out, "Its cost may overlap with that of others.\n");
	counted_by(out, event);
}

int main(void)
{
	struct strbuf got = {0};

#if !defined(__x86_64__)
	skip("libpfm4 has the tables of x86 on x86 alone");
	return done();
#endif
	for (int i = 0; i < EV_COUNT; i++)
		describe(&got, event_by_number(i));
	page_list("perfex-events.7", &got);
	strbuf_fini(&got);
	return done();
}
