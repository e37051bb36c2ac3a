/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tables of prof as text, JSON and CSV: written as they are, without computing anything. */
#ifndef RENDER_PROF_H
#define RENDER_PROF_H

#include "base/error.h"
#include "base/strbuf.h"
#include "report/report_rows.h"

struct prof_style {
	bool dim;       /* figures that mean little are dimmed (terminals), else marked with '~' */
	bool intervals; /* -ci: with each figure its 95% interval */
	bool utf8;      /* the terminal can draw lines */
	unsigned width; /* columns that a row of a list or tree may take, if they can; 0: any */
	bool head;      /* all lines above the rows, where there is a shorter form */
	/* Of a tree: columns for each call (0: 2), and at most (0: any). Deeper rows have their
	 * depth before the name. render_prof_text chooses them. */
	size_t indent_each, indent_most;
};

/* Columns that names of functions have in the row with the least room; SIZE_MAX: any. */
size_t render_prof_name_room(const struct report_table *t, const struct prof_style *style);

void render_prof_text(
	const struct report_table *t, const struct prof_style *style, struct strbuf *out);
/* One object, "prof.rows/1": described in prof-export(1). */
int render_prof_json(const struct report_table *t, struct strbuf *out, struct error *e);
/* A heading, then one line per row; each number with low, high and label. */
void render_prof_csv(const struct report_table *t, struct strbuf *out);
/* Rows and arcs of a graph for dot(1), one digraph for each heading. */
void render_prof_dot(const struct report_table *t, struct strbuf *out);

#endif
