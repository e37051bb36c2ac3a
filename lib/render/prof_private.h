/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by the output formats of prof's tables. */
#ifndef RENDER_PROF_PRIVATE_H
#define RENDER_PROF_PRIVATE_H

#include "render/prof.h"

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

/* prof_causes.c: all rows of REPORT_CAUSES. */
void prof_draw_causes(const struct report_table *t, struct strbuf *out);

#endif
