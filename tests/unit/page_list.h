/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A manual page has a list that is made from a table of the program: it must be that of the table.
 * UPDATE=1 writes it anew.
 */
#ifndef TESTS_PAGE_LIST_H
#define TESTS_PAGE_LIST_H

#include "../tap.h"
#include "base/file.h"
#include "base/strbuf.h"
#include <stdlib.h>
#include <string.h>

#define PAGE_BEGIN ".\\\" begin generated\n"
#define PAGE_END   ".\\\" end generated\n"

static inline void page_path(char *path, size_t size, const char *page)
{
	const char *top = getenv("TOP");

	snprintf(path, size, "%s/docs/man/%s", top ? top : ".", page);
}

/* The text of the page, to be freed by the caller; NULL if it cannot be read, which fails the test.
 */
static inline char *page_read(const char *page)
{
	struct error e = {0};
	char path[4096], *text;

	page_path(path, sizeof(path), page);
	text = file_read(path, 0, NULL, &e);
	ok(text, "%s can be read %s", path, e.message);
	return text;
}

static inline void page_list(const char *page, const struct strbuf *list)
{
	const char *update = getenv("UPDATE");
	char path[4096], *text = page_read(page);
	char *begin = text ? strstr(text, PAGE_BEGIN) : NULL;
	char *end = begin ? strstr(begin, PAGE_END) : NULL;
	struct error e = {0};
	struct file_out f;

	if (!ok(end, "%s has a place for the list", page)) {
		free(text);
		return;
	}
	begin += strlen(PAGE_BEGIN);
	page_path(path, sizeof(path), page);
	if (update && *update) {
		if (file_create(&f, path, &e) == 0) {
			fwrite(text, 1, (size_t)(begin - text), f.stream);
			fputs(strbuf_text(list), f.stream);
			fputs(end, f.stream);
			file_commit(&f, &e);
		}
		ok(!e.code, "the page is written %s", e.message);
	} else {
		ok(list->length == (size_t)(end - begin) &&
				memcmp(begin, strbuf_text(list), list->length) == 0,
			"its list is that of the table (UPDATE=1 writes it anew)");
	}
	free(text);
}

#endif
