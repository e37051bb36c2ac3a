/* SPDX-License-Identifier: GPL-2.0-or-later */
/* JSON, and results of perfex: whatever is read as counts can be drawn, with nothing but numbers,
 * strings and our own commands in the script. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_read.h"
#include "picture/picture_costs.h"
#include "picture/plot.h"
#include "report/counts_read.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The end of the string that begins at text; strings end in their lines, and those in double quotes
 * are our own. */
static const char *string_end(const char *text, const char *end)
{
	const char *close;

	if (*text == '"') {
		if (strncmp(text, "\"'\"", 3) != 0 && strncmp(text, "\"\\n\"", 4) != 0)
			abort();
		return text + (text[1] == '\\' ? 4 : 3);
	}
	close = memchr(text + 1, '\'', (size_t)(end - text) - 1);
	if (!close)
		abort();
	return close + 1;
}

/* No line may begin otherwise, no string may end early, and nothing may stand outside of strings
 * that we did not write. */
static void check_script(const char *text)
{
	static const char *const begins[] = {
		"#", "set ", "unset ", "plot ", "     $data", "$data", "EOD", " ", "\n"};
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				    " .,:;()[]+-*/$#_<>?=%\\";

	while (*text) {
		const char *end = text + strcspn(text, "\n");
		size_t known = 0;

		for (size_t i = 0; i < sizeof(begins) / sizeof(begins[0]); i++)
			known += strncmp(text, begins[i], strlen(begins[i])) == 0;
		if (!known || memchr(text, '`', (size_t)(end - text)))
			abort();
		while (text < end)
			if (*text == '\'' || *text == '"')
				text = string_end(text, end);
			else if (!strchr(plain, *text++))
				abort();
		text += *text == '\n';
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct plot_output to = {"x.svg", 0, true};
	struct strbuf script = {0};
	struct picture p = {.title = NULL};
	const struct counts_report *report;
	struct counts_file f;
	struct error e;

	if (!*json_library())
		abort();
	if (counts_read(&f, (const char *)data, size, "fuzz", &e))
		return 0;
	report = f.report;
	if (picture_costs(&p, &report, NULL, 1, &e) == 0 && plot_script(&p, &to, &script, &e) == 0)
		check_script(strbuf_text(&script));
	strbuf_fini(&script);
	picture_fini(&p);
	counts_file_fini(&f);
	return 0;
}
