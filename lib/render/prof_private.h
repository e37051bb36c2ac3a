/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by the output formats of prof's tables. */
#ifndef RENDER_PROF_PRIVATE_H
#define RENDER_PROF_PRIVATE_H

#include "render/prof.h"
#include "render/prof_strips.h"

extern const char *const prof_role_names[]; /* by enum report_role */

/* prof_code.c: the text after the numbers of a row of REPORT_CODE. */
void prof_draw_code(const struct report_row *r, const struct prof_style *style, struct strbuf *out);

/* prof_fit.c: how many of at most `most` characters the text has, and their bytes. */
size_t prof_characters(const char *text, size_t *bytes, size_t most);
/* [row]: bytes that the text of this row and that of any other begin with; to be freed. NULL when
 * memory is out: rows are cut without it. */
size_t *prof_common(const struct report_table *t, const struct prof_style *style);
/* Shorten what was added since `from` to `most` characters; whether it was longer. Of a place, file
 * and line at its end stay if there is room for more than these, without the dso if need be;
 * by_function: only beside a whole name. common: of its row. */
bool prof_cut(struct strbuf *out, size_t from, size_t most);
bool prof_cut_place(struct strbuf *out, size_t from, size_t most, size_t common, bool by_function);

/* prof_listing.c: removes columns, for which code or lines of source would have less than two
 * fifths of the width; left: a sentence that names them. Strips have their widths. */
void prof_listing_fit(
	const struct report_table *t, size_t width, prof_strips *strips, struct strbuf *left);
/* Shortens the code or line of source that was added since `from`, after `used` columns; whether it
 * was longer. legend: explanations that had no room are moved there. */
bool prof_listing_cut(
	struct strbuf *out, size_t from, size_t width, size_t used, struct strbuf *legend);
/* What the signs of figures are for, of those that the report has. */
void prof_signs(const struct report_table *t, bool dim, struct strbuf *out);

/* prof_head.c: the lines above the title. */
void prof_head(const struct report_table *t, const struct prof_style *style, struct strbuf *out);

/* Columns of text that is cut or drawn at `most` where there is no width; a rule; a
 * title, a note or a value, in lines that fit the width; those after the first are indented. */
size_t prof_head_room(const struct prof_style *style, size_t most);
void prof_head_rule(const struct prof_style *style, struct strbuf *out);
void prof_head_sentence(
	const struct prof_style *style, const char *text, size_t indent, struct strbuf *out);

/* prof_causes.c: all rows of REPORT_CAUSES. */
void prof_draw_causes(const struct report_table *t, struct strbuf *out);

#endif
