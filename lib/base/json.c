/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/json.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/strbuf.h"
#include "base/utf8.h"

void json_init(struct json *j, FILE *out)
{
	memset(j, 0, sizeof(*j));
	j->out = out;
}

/* Escaped, as one or two units of UTF-16. */
static void unicode(FILE *out, uint32_t c)
{
	if (c >= 0x10000) {
		fprintf(out, "\\u%04x", 0xd800 + ((c - 0x10000) >> 10));
		c = 0xdc00 + (c & 0x3ff);
	}
	fprintf(out, "\\u%04x", c);
}

static void json_quoted(FILE *out, const char *text)
{
	const unsigned char *s = (const unsigned char *)text;

	putc('"', out);
	while (*s) {
		int n = utf8_length((const char *)s);

		if (n == 0) {
			fputs(UTF8_REPLACEMENT, out);
			s++;
			continue;
		}
		/* Terminals obey some of these, too. */
		if (n > 1 && !utf8_plain((const char *)s))
			unicode(out, utf8_number((const char *)s, n));
		else if (n > 1)
			fwrite(s, 1, (size_t)n, out);
		else if (*s == '"' || *s == '\\')
			fprintf(out, "\\%c", *s);
		else if (*s == '\n')
			fputs("\\n", out);
		else if (*s == '\t')
			fputs("\\t", out);
		else if (*s < 0x20 || *s == 0x7f)
			fprintf(out, "\\u%04x", *s);
		else
			putc(*s, out);
		s += n;
	}
	putc('"', out);
}

static void lead(struct json *j, const char *key)
{
	if (j->filled[j->depth])
		fputs(",", j->out);
	j->filled[j->depth] = true;
	if (key) {
		json_quoted(j->out, key);
		putc(':', j->out);
	}
}

static void open_level(struct json *j, const char *key, char bracket)
{
	lead(j, key);
	putc(bracket, j->out);
	if (j->depth + 1 >= JSON_DEPTH_MAX)
		abort(); /* a bug of ours: no document here nests so deep */
	j->filled[++j->depth] = false;
}

void json_object(struct json *j, const char *key)
{
	open_level(j, key, '{');
}

void json_array(struct json *j, const char *key)
{
	open_level(j, key, '[');
}

void json_end_object(struct json *j)
{
	putc('}', j->out);
	j->depth--;
}

void json_end_array(struct json *j)
{
	putc(']', j->out);
	j->depth--;
}

void json_string(struct json *j, const char *key, const char *value)
{
	lead(j, key);
	json_quoted(j->out, value);
}

void json_optional(struct json *j, const char *key, const char *value)
{
	if (value)
		json_string(j, key, value);
}

void json_address(struct json *j, const char *key, uint64_t value)
{
	char text[24];

	snprintf(text, sizeof(text), "0x%" PRIx64, value);
	json_string(j, key, text);
}

void json_number(struct json *j, const char *key, double value)
{
	char text[40], *comma;

	lead(j, key);
	if (!isfinite(value)) {
		fputs("null", j->out);
		return;
	}
	if (value == floor(value) && fabs(value) < 9007199254740992.0)
		snprintf(text, sizeof(text), "%.0f", value == 0 ? 0.0 : value);
	else
		snprintf(text, sizeof(text), "%.10g", value);
	comma = strchr(text, ',');
	if (comma)
		*comma = '.';
	fputs(text, j->out);
}

void json_integer(struct json *j, const char *key, long long value)
{
	lead(j, key);
	fprintf(j->out, "%lld", value);
}

void json_bool(struct json *j, const char *key, bool value)
{
	lead(j, key);
	fputs(value ? "true" : "false", j->out);
}

void json_null(struct json *j, const char *key)
{
	lead(j, key);
	fputs("null", j->out);
}

void json_rows(struct json *j, const char *key, const void *rows, size_t count, size_t size,
	void (*put)(struct json *j, const void *row))
{
	json_array(j, key);
	for (size_t i = 0; i < count; i++) {
		json_object(j, NULL);
		put(j, (const char *)rows + i * size);
		json_end_object(j);
	}
	json_end_array(j);
}

int json_begin(struct json_document *d, const char *schema, struct error *e)
{
	FILE *f = open_memstream(&d->text, &d->length);

	if (!f)
		return error_nomem(e);
	json_init(&d->json, f);
	json_object(&d->json, NULL);
	json_string(&d->json, "schema", schema);
	return 0;
}

int json_end(struct json_document *d, struct strbuf *out, struct error *e)
{
	bool failed;

	json_end_object(&d->json);
	putc('\n', d->json.out);
	failed = fclose(d->json.out);
	if (!failed)
		strbuf_add(out, d->text, d->length);
	free(d->text);
	return failed || out->failed ? error_nomem(e) : 0;
}
