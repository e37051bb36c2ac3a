/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Disassembly: instructions, their margin of jumps, the source lines between them. */
#include <inttypes.h>

#include "base/file.h"
#include "base/shown.h"
#include "render/prof_private.h"
#include "render/prof_strips.h"

enum { TEXT_WIDTH = 40 };

/* The characters of a margin's cells (flow/arrows.h), if lines can be drawn. */
static const struct {
	char cell;
	const char *utf8, *ascii;
} glyphs[] = {
	{'|', "\xe2\x94\x82", "|"},
	{',', "\xe2\x95\xad", ","},
	{'`', "\xe2\x95\xb0", "`"},
	{'+', "\xe2\x94\x9c", "+"},
	{'-', "\xe2\x94\x80", "-"},
	{'>', "\xe2\x96\xb6", ">"},
	/* Of a line over time: how high. */
	{'1', "\xe2\x96\x81", "."},
	{'2', "\xe2\x96\x82", ":"},
	{'3', "\xe2\x96\x83", "-"},
	{'4', "\xe2\x96\x84", "="},
	{'5', "\xe2\x96\x85", "+"},
	{'6', "\xe2\x96\x86", "*"},
	{'7', "\xe2\x96\x87", "#"},
	{'8', "\xe2\x96\x88", "@"},
};

void prof_margin(const char *cells, const struct prof_style *style, struct strbuf *out)
{
	for (; *cells; cells++) {
		const char *text = NULL;

		for (size_t i = 0; i < sizeof(glyphs) / sizeof(*glyphs); i++)
			if (glyphs[i].cell == *cells)
				text = style->utf8 ? glyphs[i].utf8 : glyphs[i].ascii;
		if (text)
			strbuf_puts(out, text);
		else
			strbuf_putc(out, *cells);
	}
}

static void prof_code_source_line(
	const struct report_row *r, const struct prof_style *style, struct strbuf *out)
{
	const char *text = r->text ? r->text : "";

	if (style->dim)
		strbuf_puts(out, SHOWN_DIM);
	shown_printf(out, "; %s:%u", r->file ? file_base_name(r->file) : "", r->line);
	if (r->note)
		shown_printf(out, " [%s]", r->note);
	shown_printf(out, "  %s", text);
	if (style->dim)
		strbuf_puts(out, SHOWN_DIM_END);
}

void prof_draw_code(const struct report_row *r, const struct prof_style *style, struct strbuf *out)
{
	size_t before;

	if (r->role == REPORT_SOURCE_LINE) {
		prof_code_source_line(r, style, out);
		return;
	}
	if (r->addressed)
		strbuf_printf(out, "%" PRIx64 "  ", r->address);
	else if (r->role == REPORT_GAP)
		strbuf_puts(out, "... ");
	before = out->length;
	shown_puts(out, r->text ? r->text : "");
	if (!r->note)
		return;
	if (r->text && out->length - before < TEXT_WIDTH)
		strbuf_repeat(out, ' ', TEXT_WIDTH - (out->length - before));
	shown_printf(out, "%s%s", r->text ? " " : "", r->note);
}
