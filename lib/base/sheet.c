/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/sheet.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/shown.h"

static struct sheet_cell *cell(struct sheet *s)
{
	struct sheet_cell *c = vec_push(&s->cells);

	if (!c)
		s->failed = true;
	return c;
}

void sheet_none(struct sheet *s)
{
	cell(s);
}

void sheet_text(struct sheet *s, const char *text)
{
	struct sheet_cell *c = cell(s);

	if (!c || !text)
		return;
	c->kind = SHEET_TEXT;
	c->text = strdup(text);
	s->failed = s->failed || !c->text;
}

void sheet_textf(struct sheet *s, const char *format, ...)
{
	char *text;
	va_list ap;
	int rc;

	va_start(ap, format);
	rc = vasprintf(&text, format, ap);
	va_end(ap);
	sheet_text(s, rc < 0 ? NULL : text);
	s->failed = s->failed || rc < 0;
	if (rc >= 0)
		free(text);
}

void sheet_number(struct sheet *s, double value)
{
	struct sheet_cell *c = cell(s);

	if (c && isfinite(value))
		*c = (struct sheet_cell){.kind = SHEET_NUMBER, .number = value};
}

void sheet_bool(struct sheet *s, bool value)
{
	struct sheet_cell *c = cell(s);

	if (c)
		*c = (struct sheet_cell){.kind = SHEET_BOOL, .number = value};
}

void sheet_fini(struct sheet *s)
{
	for (size_t i = 0; i < s->cells.count; i++)
		free(s->cells.data[i].text);
	vec_fini(&s->cells);
}

static size_t sheet_width(const struct sheet *s)
{
	size_t n = 0;

	while (s->columns[n])
		n++;
	return n;
}

static void json_cell(struct json *j, const char *key, const struct sheet_cell *c)
{
	switch (c->kind) {
	case SHEET_TEXT:
		json_string(j, key, c->text ? c->text : "");
		return;
	case SHEET_NUMBER:
		json_number(j, key, c->number);
		return;
	case SHEET_BOOL:
		json_bool(j, key, c->number != 0);
		return;
	case SHEET_NONE:
		json_null(j, key);
	}
}

static void members(const struct sheet *s, size_t first, struct json *j)
{
	for (size_t i = 0; first + i < s->cells.count && s->columns[i]; i++)
		json_cell(j, s->columns[i], &s->cells.data[first + i]);
}

void sheet_json(const struct sheet *s, struct json *j, const char *key)
{
	json_array(j, key);
	for (size_t i = 0; i < s->cells.count; i += sheet_width(s)) {
		json_object(j, NULL);
		members(s, i, j);
		json_end_object(j);
	}
	json_end_array(j);
}

void sheet_members(const struct sheet *s, struct json *j)
{
	members(s, 0, j);
}

void sheet_csv_text(struct strbuf *out, const char *text)
{
	bool quoted = text && strpbrk(text, ",\"\n\r");
	struct strbuf room = {0};

	text = shown_text(text ? text : "", &room);
	if (quoted)
		strbuf_putc(out, '"');
	for (; *text; text++) {
		if (*text == '"')
			strbuf_putc(out, '"');
		strbuf_putc(out, *text);
	}
	if (quoted)
		strbuf_putc(out, '"');
	out->failed = out->failed || room.failed;
	strbuf_fini(&room);
}

static void csv_cell(struct strbuf *out, const struct sheet_cell *c)
{
	char text[40], *comma;

	if (c->kind == SHEET_TEXT)
		sheet_csv_text(out, c->text);
	if (c->kind == SHEET_BOOL)
		strbuf_puts(out, c->number != 0 ? "true" : "false");
	if (c->kind != SHEET_NUMBER)
		return;
	snprintf(text, sizeof(text), "%.15g", c->number);
	comma = strchr(text, ','); /* of the locale */
	if (comma)
		*comma = '.';
	strbuf_puts(out, text);
}

void sheet_csv(const struct sheet *s, struct strbuf *out)
{
	size_t n = sheet_width(s);

	for (size_t i = 0; i < n; i++) {
		if (i)
			strbuf_putc(out, ',');
		sheet_csv_text(out, s->columns[i]);
	}
	strbuf_putc(out, '\n');
	sheet_csv_rows(s, out);
}

void sheet_csv_rows(const struct sheet *s, struct strbuf *out)
{
	size_t n = sheet_width(s);

	for (size_t i = 0; i < s->cells.count; i++) {
		if (i % n)
			strbuf_putc(out, ',');
		csv_cell(out, &s->cells.data[i]);
		if (i % n == n - 1)
			strbuf_putc(out, '\n');
	}
}

void sheet_csv_members(const struct sheet *s, struct strbuf *out)
{
	for (size_t i = 0; i < s->cells.count && s->columns[i]; i++) {
		sheet_csv_text(out, s->columns[i]);
		strbuf_putc(out, ',');
		csv_cell(out, &s->cells.data[i]);
		strbuf_putc(out, '\n');
	}
}

int sheet_document(const char *schema, const struct sheet *head, const char *key,
	const struct sheet *rows, struct strbuf *out, struct error *e)
{
	struct json_document d;

	if (rows->failed || (head && head->failed))
		return error_nomem(e);
	if (json_begin(&d, schema, e))
		return -1;
	if (head)
		sheet_members(head, &d.json);
	sheet_json(rows, &d.json, key);
	return json_end(&d, out, e);
}
