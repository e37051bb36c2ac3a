/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Graphs in the language of Graphviz: one digraph per function, rows as nodes, arcs as edges. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/shown.h"
#include "render/number.h"
#include "render/prof.h"

static void prof_dot_quoted(struct strbuf *out, const char *text)
{
	struct strbuf room = {0};

	for (text = shown_text(text ? text : "", &room); *text; text++) {
		if (*text == '"' || *text == '\\')
			strbuf_putc(out, '\\');
		strbuf_putc(out, *text);
	}
	out->failed = out->failed || room.failed;
	strbuf_fini(&room);
}

/* The numbers of a row, one per line. */
static void figures(const struct report_table *t, size_t row, struct strbuf *out)
{
	const struct report_cell *cell = report_cells(t, row);

	for (size_t k = 0; k < t->columns.count; k++) {
		const struct report_column *c = &t->columns.data[k];

		if (c->flags & (REPORT_MARGIN | REPORT_SCRIPTS))
			continue;
		if (c->kind == REPORT_TEXT) {
			if (cell[k].text && cell[k].text[0]) {
				prof_dot_quoted(out, cell[k].text);
				strbuf_puts(out, "\\l");
			}
			continue;
		}
		if (cell[k].quantity.label == LABEL_NONE)
			continue;
		strbuf_printf(out, "%s (%s) ", c->heading ? c->heading : c->name,
			label_name(cell[k].quantity.label));
		number_figure(out, cell[k].quantity.value,
			c->kind == REPORT_RATIO ? NUMBER_RATIO : NUMBER_COUNT);
		if (c->flags & REPORT_PERCENT && isfinite(cell[k].percent))
			strbuf_printf(out, ", %.1f%%", cell[k].percent);
		strbuf_puts(out, "\\l");
	}
}

static void node(const struct report_table *t, size_t row, struct strbuf *out)
{
	const struct report_row *r = &t->rows.data[row];
	double percent = t->columns.count ? report_cells(t, row)[0].percent : 0;
	double red = isfinite(percent) ? fmin(fmax(percent, 0) / 30, 1) : 0;

	strbuf_printf(out, "\tn%zu [label=\"", row);
	strbuf_printf(out, "%" PRIx64 ": ", r->address);
	prof_dot_quoted(out, r->note);
	strbuf_puts(out, "\\l");
	figures(t, row, out);
	strbuf_printf(out, "\", fillcolor=\"0.03 %.2f 1.0\"];\n", red);
}

static void prof_dot_arcs(const struct report_table *t, size_t from, size_t to, struct strbuf *out)
{
	for (size_t i = 0; i < t->arcs.count; i++) {
		const struct report_arc *a = &t->arcs.data[i];

		if (a->from < from || a->from >= to)
			continue;
		strbuf_printf(out, "\tn%zu -> n%zu [label=\"%s", a->from, a->to, a->kind);
		if (a->executions.label != LABEL_NONE) {
			strbuf_puts(out, " ");
			number_figure(out, a->executions.value, NUMBER_COUNT);
			strbuf_printf(out, " %s", label_name(a->executions.label));
		}
		strbuf_printf(out, "\"%s];\n", a->back ? ", style=bold" : "");
	}
}

void render_prof_dot(const struct report_table *t, struct strbuf *out)
{
	size_t from = 0;

	while (from < t->rows.count) {
		const struct report_row *head = &t->rows.data[from];
		size_t to = from + 1;

		if (head->role != REPORT_HEAD) {
			from++;
			continue;
		}
		strbuf_puts(out, "digraph \"");
		prof_dot_quoted(out, head->procedure);
		strbuf_puts(out, "\" {\n\tnode [shape=box, fontname=\"monospace\", fontsize=9, "
				 "style=filled];\n\tedge [fontname=\"monospace\", fontsize=8];\n");
		for (; to < t->rows.count && t->rows.data[to].role == REPORT_ROW; to++)
			node(t, to, out);
		prof_dot_arcs(t, from, to, out);
		strbuf_puts(out, "}\n");
		from = to;
	}
}
