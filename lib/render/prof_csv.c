/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <inttypes.h>
#include <math.h>

#include "base/sheet.h"
#include "render/number.h"
#include "render/prof.h"
#include "render/prof_private.h"

const char *const prof_role_names[] = {
	[REPORT_ROW] = "row",
	[REPORT_TOTAL] = "total",
	[REPORT_HEAD] = "head",
	[REPORT_CALLER] = "caller",
	[REPORT_CALLEE] = "callee",
	[REPORT_GAP] = "gap",
	[REPORT_SOURCE_LINE] = "source",
	[REPORT_SUBTOTAL] = "subtotal",
	[REPORT_BUBBLE] = "bubble",
};

static void heading(const struct report_table *t, struct strbuf *out)
{
	strbuf_puts(out, "role,thread,procedure,image,file,line,address,note,text,depth");
	for (size_t i = 0; i < t->columns.count; i++) {
		const struct report_column *c = &t->columns.data[i];

		if (c->flags & REPORT_MARGIN)
			continue;
		strbuf_putc(out, ',');
		sheet_csv_text(out, c->name);
		if (c->kind == REPORT_TEXT)
			continue;
		for (int k = 0; k < 3; k++) {
			static const char *const parts[] = {"low", "high", "label"};

			strbuf_putc(out, ',');
			sheet_csv_text(out, c->name);
			strbuf_printf(out, ".%s", parts[k]);
		}
		if (c->flags & REPORT_PERCENT)
			strbuf_printf(out, ",%s.percent", c->name);
	}
	strbuf_putc(out, '\n');
}

static void prof_csv_place(const struct report_row *r, struct strbuf *out)
{
	const char *const texts[] = {r->thread, r->procedure, r->image, r->file};

	strbuf_puts(out, prof_role_names[r->role]);
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		strbuf_putc(out, ',');
		sheet_csv_text(out, texts[i]);
	}
	strbuf_putc(out, ',');
	if (r->line)
		strbuf_printf(out, "%u", r->line);
	strbuf_putc(out, ',');
	if (r->addressed)
		strbuf_printf(out, "0x%" PRIx64, r->address);
	strbuf_putc(out, ',');
	sheet_csv_text(out, r->note);
	strbuf_putc(out, ',');
	sheet_csv_text(out, r->text);
	strbuf_printf(out, ",%u", r->depth);
}

static void prof_csv_lines(const struct report_line *line, size_t count, struct strbuf *out)
{
	for (size_t i = 0; i < count; i++) {
		sheet_csv_text(out, line[i].label);
		strbuf_putc(out, ',');
		sheet_csv_text(out, line[i].value);
		strbuf_putc(out, '\n');
	}
}

/* Reports without rows: the lines that they have instead. */
static void facts(const struct report_table *t, struct strbuf *out)
{
	strbuf_puts(out, "name,value\n");
	prof_csv_lines(t->head.data, t->head.count, out);
	prof_csv_lines(t->summary.data, t->summary.count, out);
	prof_csv_lines(t->notes.data, t->notes.count, out);
}

void render_prof_csv(const struct report_table *t, struct strbuf *out)
{
	if (t->layout == REPORT_FACTS) {
		facts(t, out);
		return;
	}
	heading(t, out);
	for (size_t i = 0; i < t->rows.count; i++) {
		const struct report_cell *cell = report_cells(t, i);

		if (t->rows.data[i].role == REPORT_GAP)
			continue;
		prof_csv_place(&t->rows.data[i], out);
		for (size_t k = 0; k < t->columns.count; k++) {
			const struct report_column *c = &t->columns.data[k];

			if (c->flags & REPORT_MARGIN)
				continue;
			strbuf_putc(out, ',');
			if (c->kind == REPORT_TEXT) {
				sheet_csv_text(out, cell[k].text);
				continue;
			}
			number_csv(out, &cell[k].quantity,
				c->kind == REPORT_RATIO     ? NUMBER_RATIO
				: c->flags & REPORT_SECONDS ? NUMBER_SECONDS
							    : NUMBER_COUNT);
			if (c->flags & REPORT_PERCENT && isfinite(cell[k].percent))
				strbuf_printf(out, ",%.4f", cell[k].percent);
			else if (c->flags & REPORT_PERCENT)
				strbuf_putc(out, ',');
		}
		strbuf_putc(out, '\n');
	}
}
