/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by the output formats of prof's tables. */
#ifndef RENDER_PROF_PRIVATE_H
#define RENDER_PROF_PRIVATE_H

#include "render/prof.h"

extern const char *const prof_role_names[]; /* by enum report_role */

/* prof_code.c: the text after the numbers of a row of REPORT_CODE. */
void prof_draw_code(const struct report_row *r, const struct prof_style *style, struct strbuf *out);

/* prof_causes.c: all rows of REPORT_CAUSES. */
void prof_draw_causes(const struct report_table *t, struct strbuf *out);

#endif
