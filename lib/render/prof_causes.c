/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shares of causes: "D-cache miss   27.9% to 27.9%", subtotals under rules. */
#include <math.h>
#include <string.h>

#include "base/shown.h"
#include "render/prof_private.h"

enum { NAME = 38 };

static bool exact(const struct report_cell *c)
{
	return c[0].quantity.value == c[1].quantity.value;
}

static void shares(const struct report_cell *c, struct strbuf *out)
{
	if (exact(c))
		strbuf_printf(out, "%18.1f%%", c[0].percent);
	else
		strbuf_printf(out, "%6.1f%% to %6.1f%%  %8.1f%%", c[0].percent, c[1].percent,
			c[2].percent);
}

/* A fourth column, which few rows have. */
static void draw_modelled(
	const struct report_table *t, const struct report_cell *c, struct strbuf *out)
{
	if (t->columns.count > 3 && c[3].quantity.label != LABEL_NONE)
		strbuf_printf(out, "%*s%7.1f%%", exact(c) ? 12 : 2, "", c[3].percent);
}

static void name(const struct report_row *r, struct strbuf *out)
{
	size_t before = out->length;

	strbuf_repeat(out, ' ', 2 + 2 * (size_t)r->depth);
	shown_puts(out, r->text ? r->text : "");
	if (out->length - before < NAME)
		strbuf_repeat(out, ' ', NAME - (out->length - before));
}

void prof_draw_causes(const struct report_table *t, struct strbuf *out)
{
	strbuf_repeat(out, ' ', NAME);
	strbuf_printf(out, "%7s    %7s  %9s%s\n", "only", "partly", "likely",
		t->columns.count > 3 ? "  modelled" : "");
	strbuf_repeat(out, ' ', NAME);
	strbuf_printf(out, "%7s    %7s  %9s%s\n\n", "this", "this", "estimated",
		t->columns.count > 3 ? "     model" : "");
	for (size_t i = 0; i < t->rows.count; i++) {
		const struct report_row *r = &t->rows.data[i];
		const struct report_cell *c = report_cells(t, i);

		if (r->role == REPORT_SUBTOTAL) {
			strbuf_puts(out, "  ");
			strbuf_repeat(out, '-', NAME + 17);
			strbuf_putc(out, '\n');
		}
		name(r, out);
		shares(c, out);
		draw_modelled(t, c, out);
		strbuf_putc(out, '\n');
		if (r->role == REPORT_SUBTOTAL && i + 1 < t->rows.count)
			strbuf_putc(out, '\n');
	}
}
