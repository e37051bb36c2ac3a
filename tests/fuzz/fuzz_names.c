/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names of functions: a short form is not longer than the name, but for the marks of what is left
 * out, and the shortest one fits. In a report of all lines, as names and in notes, no two names
 * have the same form, and notes stay notes. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "report/report_names.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { ROWS = 64 };

static const char *shown_name(const struct report_row *r)
{
	return r->shown ? r->shown : r->procedure;
}

static void shorten_all(char *text)
{
	static const char *const before[] = {"inlined ", "in ", "called by ", "<", ""};
	struct report_table t = {.report = "lines"};
	unsigned n = 0;

	for (char *line; n < ROWS && (line = strsep(&text, "\n")); n++) {
		struct report_row row = {.role = n % 16 == 15 ? REPORT_HEAD : REPORT_ROW,
			.parent = -1,
			.procedure = line};

		row.note =
			report_text(&t, "%s%s%s", before[n % 5], line, n % 5 == 3 ? "> goes" : "");
		if (report_row_add(&t, &row), t.failed)
			break;
	}
	report_names_shorten(&t, 30, NULL);
	for (size_t i = 0; !t.failed && i < t.rows.count; i++)
		for (size_t k = 0; k < i; k++)
			if ((strcmp(shown_name(&t.rows.data[i]), shown_name(&t.rows.data[k])) ==
				    0) !=
				(strcmp(t.rows.data[i].procedure, t.rows.data[k].procedure) == 0))
				abort();
	report_table_fini(&t);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	enum { LIMIT = 40 };
	char *name = malloc(size + 1);

	if (!name)
		return 0;
	memcpy(name, data, size);
	name[size] = '\0';
	for (int level = NAMES_FULL; level < NAMES_LEVELS; level++) {
		struct strbuf text = {0};

		report_name_put(&text, name, (enum names_level)level, LIMIT);
		if (text.length > 4 * strlen(name) + 5 ||
			(level == NAMES_ENDS && text.length > LIMIT))
			abort();
		strbuf_fini(&text);
	}
	shorten_all(name);
	free(name);
	return 0;
}
