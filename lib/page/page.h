/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reports as one page for a browser. The page (data/page.html) has its own style and script; the
 * reports are JSON within it. Names come from strangers' files: in the JSON no character is left
 * that HTML could obey, and the script shows texts only as texts.
 */
#ifndef PAGE_PAGE_H
#define PAGE_PAGE_H

#include <stdio.h>

#include "base/strbuf.h"
#include "export/export.h"
#include "report/report_rows.h"

struct page {
	struct strbuf data; /* the JSON so far */
};

/* creator: program and version. */
int page_begin(struct page *p, const char *creator, struct error *e);
/* name: a part that the script knows ("functions", "timeline", "source", "instructions",
 * "changes"). */
int page_add_table(struct page *p, const char *name, const struct report_table *t, struct error *e);
/* Of export_format_paths. */
int page_add_paths(struct page *p, const struct export_profile *x, struct error *e);
/* Writes the page; the stream has errors of writing. ERR_NOT_FOUND: page.html is not installed. */
int page_write(struct page *p, FILE *out, struct error *e);
void page_fini(struct page *p);

#endif
