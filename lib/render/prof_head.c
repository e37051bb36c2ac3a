/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a table of prof is about: the lines above its rows. */
#include <string.h>

#include "base/shown.h"
#include "base/utf8.h"
#include "render/prof_private.h"

enum { WIDTH = 79, RULE_WIDTH = 73 };

size_t prof_head_room(const struct prof_style *style, size_t most)
{
	return style->width ? (style->width < most ? style->width : most) : most;
}

void prof_head_rule(const struct prof_style *style, struct strbuf *out)
{
	strbuf_repeat(out, '-', prof_head_room(style, RULE_WIDTH));
	strbuf_putc(out, '\n');
}

void prof_head_sentence(
	const struct prof_style *style, const char *text, size_t indent, struct strbuf *out)
{
	struct strbuf room = {0};
	const char *shown = shown_text(text, &room);

	if (style->width) {
		strbuf_wrap(out, shown, indent, style->width);
	} else {
		strbuf_puts(out, shown);
		strbuf_putc(out, '\n');
	}
	out->failed |= room.failed;
	strbuf_fini(&room);
}

/* "Command     ./a.out ...": a line of the terminal, or if it is whole a few of them. */
static void prof_head_line(const struct report_line *l, const struct prof_style *style,
	size_t width, size_t most, struct strbuf *out)
{
	struct strbuf room = {0};
	const char *value = shown_text(l->value, &room);
	size_t length = strlen(value), n = 0;

	if (l->label)
		shown_printf(out, "%-*s  ", (int)width, l->label);
	if (length <= most) {
		prof_head_sentence(style, value, l->label ? width + 2 : 0, out);
	} else {
		for (int next; (next = utf8_length(value + n)) > 0 && n + (size_t)next + 3 <= most;)
			n += (size_t)next;
		shown_printf(out, "%.*s...", (int)n, value);
		if (most > WIDTH)
			shown_printf(out, " (%zu bytes)", length);
		strbuf_putc(out, '\n');
	}
	out->failed |= room.failed;
	strbuf_fini(&room);
}

static size_t prof_head_labels(const struct report_line *lines, size_t count, size_t width)
{
	for (size_t i = 0; i < count; i++)
		if (lines[i].label)
			width = strlen(lines[i].label) > width ? strlen(lines[i].label) : width;
	return width;
}

void prof_head(const struct report_table *t, const struct prof_style *style, struct strbuf *out)
{
	enum { LONGEST = 1000 };
	size_t width = prof_head_labels(t->brief.data, t->brief.count, 0);
	size_t room = prof_head_room(style, WIDTH);
	bool brief = t->brief.count && !style->head && t->layout != REPORT_FACTS;

	prof_head_rule(style, out);
	for (size_t i = 0; brief && i < t->brief.count; i++)
		prof_head_line(&t->brief.data[i], style, width, room - width - 2, out);
	if (!brief) {
		strbuf_puts(out, "SpeedShop profile listing\n");
		width = prof_head_labels(t->head.data, t->head.count, 0);
		width = prof_head_labels(t->summary.data, t->summary.count, width);
		if (style->width)
			width = width < style->width / 2 ? width : style->width / 2;
		for (size_t i = 0; i < t->head.count; i++)
			prof_head_line(&t->head.data[i], style, width, LONGEST, out);
		if (t->head.count && t->summary.count)
			prof_head_rule(style, out);
		for (size_t i = 0; i < t->summary.count; i++)
			prof_head_line(&t->summary.data[i], style, width, LONGEST, out);
	}
	prof_head_rule(style, out);
}
