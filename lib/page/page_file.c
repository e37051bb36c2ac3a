/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "page/page.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "render/prof.h"

static const char placeholder[] = "@DATA@";

static int page_finish_stream(struct page *p, FILE *f, char **text, size_t *length, struct error *e)
{
	bool failed = fclose(f) != 0;

	if (!failed)
		strbuf_add(&p->data, *text, *length);
	free(*text);
	return failed || p->data.failed ? error_nomem(e) : 0;
}

int page_begin(struct page *p, const char *creator, struct error *e)
{
	size_t length = 0;
	char *text = NULL;
	FILE *f = open_memstream(&text, &length);
	struct json j;

	*p = (struct page){0};
	if (!f)
		return error_nomem(e);
	json_init(&j, f);
	json_object(&j, NULL);
	json_string(&j, "creator", creator);
	return page_finish_stream(p, f, &text, &length, e);
}

int page_add_table(struct page *p, const char *name, const struct report_table *t, struct error *e)
{
	strbuf_printf(&p->data, ",\"%s\":", name);
	return render_prof_json(t, &p->data, e);
}

int page_add_paths(struct page *p, const struct export_profile *x, struct error *e)
{
	size_t length = 0;
	char *text = NULL;
	FILE *f = open_memstream(&text, &length);
	int rc;

	if (!f)
		return error_nomem(e);
	strbuf_puts(&p->data, ",\"paths\":");
	rc = export_write(x, f, e);
	return page_finish_stream(p, f, &text, &length, e) ? -1 : rc;
}

/* In JSON, '<', '>' and '&' occur in strings only, where each can be written by its number. */
static void page_put_data(const struct page *p, FILE *out)
{
	const char *s = strbuf_text(&p->data);

	while (*s) {
		size_t plain = strcspn(s, "<>&");

		fwrite(s, 1, plain, out);
		s += plain;
		if (*s)
			fprintf(out, "\\u%04x", (unsigned char)*s++);
	}
	putc('}', out);
}

int page_write(struct page *p, FILE *out, struct error *e)
{
	char *path = file_data_path("page.html", e);
	char *text = path ? file_read(path, 0, NULL, e) : NULL;
	char *at = text ? strstr(text, placeholder) : NULL;
	int rc = text ? 0 : -1;

	if (at) {
		fwrite(text, 1, (size_t)(at - text), out);
		page_put_data(p, out);
		fputs(at + strlen(placeholder), out);
	} else if (text) {
		rc = error_set(e, ERR_PARSE, "%s has no place for data: install it again", path);
	}
	free(text);
	free(path);
	return rc;
}

void page_fini(struct page *p)
{
	strbuf_fini(&p->data);
}
