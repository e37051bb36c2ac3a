/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/strbuf.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

void strbuf_fini(struct strbuf *s)
{
	free(s->data);
	memset(s, 0, sizeof(*s));
}

static bool strbuf_reserve(struct strbuf *s, size_t more)
{
	size_t want = s->length + more + 1, capacity = s->capacity ? s->capacity : 64;
	char *data;

	if (s->failed)
		return false;
	if (want <= s->capacity)
		return true;
	while (capacity < want)
		capacity *= 2;
	data = realloc(s->data, capacity);
	if (!data) {
		error_nomem(NULL);
		s->failed = true;
		return false;
	}
	s->data = data;
	s->capacity = capacity;
	return true;
}

char *strbuf_grow(struct strbuf *s, size_t more)
{
	return strbuf_reserve(s, more) ? s->data + s->length : NULL;
}

void strbuf_add(struct strbuf *s, const char *text, size_t length)
{
	if (!strbuf_reserve(s, length))
		return;
	if (length) /* text may be NULL then */
		memcpy(s->data + s->length, text, length);
	s->length += length;
	s->data[s->length] = '\0';
}

void strbuf_puts(struct strbuf *s, const char *text)
{
	strbuf_add(s, text, strlen(text));
}

void strbuf_putc(struct strbuf *s, char c)
{
	strbuf_add(s, &c, 1);
}

void strbuf_repeat(struct strbuf *s, char c, size_t count)
{
	if (!strbuf_reserve(s, count))
		return;
	memset(s->data + s->length, c, count);
	s->length += count;
	s->data[s->length] = '\0';
}

void strbuf_printf(struct strbuf *s, const char *format, ...)
{
	va_list ap;
	int n;

	va_start(ap, format);
	n = vsnprintf(NULL, 0, format, ap);
	va_end(ap);
	if (n < 0) {
		s->failed = true;
		return;
	}
	if (!strbuf_reserve(s, (size_t)n))
		return;
	va_start(ap, format);
	vsnprintf(s->data + s->length, (size_t)n + 1, format, ap);
	va_end(ap);
	s->length += (size_t)n;
}

void strbuf_wrap(struct strbuf *s, const char *text, size_t indent, size_t width)
{
	size_t column = indent;

	while (*text) {
		size_t word = strcspn(text, " ");

		if (column > indent && column + 1 + word > width) {
			strbuf_putc(s, '\n');
			strbuf_repeat(s, ' ', indent);
			column = indent;
		} else if (column > indent) {
			strbuf_putc(s, ' ');
			column++;
		}
		strbuf_add(s, text, word);
		column += word;
		text += word;
		while (*text == ' ')
			text++;
	}
	strbuf_putc(s, '\n');
}

const char *strbuf_text(const struct strbuf *s)
{
	return s->data ? s->data : "";
}

char *strbuf_take(struct strbuf *s)
{
	char *text = NULL;

	if (!s->failed) {
		if (!s->data)
			strbuf_reserve(s, 0);
		if (s->data) {
			s->data[s->length] = '\0';
			text = s->data;
			s->data = NULL;
		}
	}
	strbuf_fini(s);
	return text;
}
