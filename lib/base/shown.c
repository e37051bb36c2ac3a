/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/shown.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/utf8.h"

/* Bytes of the character that text begins with, if it is shown as it is; else 0. */
static int harmless(const char *text)
{
	return *text == '\t' ? 1 : utf8_plain(text);
}

/* The escape for what text begins with and harmless() refuses: a byte, or a character; its bytes.
 */
static size_t escape(const char *text, const char *end, char room[16])
{
	int n = utf8_length(text);

	/* U+0080 to U+009F are single bytes to some terminals. */
	if (n < 2 || end - text < n || (unsigned char)*text == 0xc2) {
		snprintf(room, 16, "\\x%02x", (unsigned char)*text);
		return 1;
	}
	snprintf(room, 16, n < 4 ? "\\u%04x" : "\\U%08x", utf8_number(text, n));
	return (size_t)n;
}

size_t shown_span(const char *text)
{
	size_t at = 0;

	for (int n; (n = harmless(text + at)) > 0;)
		at += (size_t)n;
	return at;
}

static size_t span_before(const char *text, const char *end)
{
	size_t n = shown_span(text), most = (size_t)(end - text);

	return n < most ? n : most;
}

/* Of text that may contain NUL. */
static void put(struct strbuf *out, const char *text, size_t length)
{
	strbuf_add(out, "", 0); /* an empty text ends what a reused buffer had */
	for (const char *end = text + length; text < end;) {
		size_t n = span_before(text, end);
		char room[16];

		strbuf_add(out, text, n);
		text += n;
		if (text < end) {
			text += escape(text, end, room);
			strbuf_puts(out, room);
		}
	}
}

void shown_puts(struct strbuf *out, const char *text)
{
	put(out, text, strlen(text));
}

static void vshow(struct strbuf *out, const char *format, va_list ap)
{
	char *text;
	int n = vasprintf(&text, format, ap);

	if (n < 0) {
		out->failed = true;
		return;
	}
	put(out, text, (size_t)n);
	free(text);
}

void shown_printf(struct strbuf *out, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vshow(out, format, ap);
	va_end(ap);
}

void shown_print(const char *format, ...)
{
	struct strbuf line = {0};
	va_list ap;

	va_start(ap, format);
	vshow(&line, format, ap);
	va_end(ap);
	strbuf_putc(&line, '\n');
	fputs(strbuf_text(&line), stdout);
	strbuf_fini(&line);
}

const char *shown_text(const char *text, struct strbuf *room)
{
	if (!text[shown_span(text)])
		return text;
	room->length = 0;
	shown_puts(room, text);
	return strbuf_text(room);
}

int shown_write(FILE *out, const struct strbuf *text)
{
	const char *at = strbuf_text(text), *end = at + text->length;

	while (at < end) {
		size_t n = span_before(at, end), bytes = 1;
		char room[16];

		if (fwrite(at, 1, n, out) != n)
			return -1;
		at += n;
		if (at == end)
			break;
		if (*at == '\n')
			putc('\n', out);
		else if (*at == SHOWN_DIM[0] || *at == SHOWN_DIM_END[0])
			fputs(*at == SHOWN_DIM[0] ? "\033[2m" : "\033[0m", out);
		else {
			bytes = escape(at, end, room);
			fputs(room, out);
		}
		at += bytes;
	}
	return ferror(out) ? -1 : 0;
}

static int shown_file(void *what, FILE *out, struct error *e)
{
	(void)e;
	shown_write(out, what); /* its failure is that of the stream */
	return 0;
}

int shown_output(const char *path, FILE *stream, const struct strbuf *text, struct error *e)
{
	struct strbuf copy = *text;

	return text->failed ? error_nomem(e) : file_output(path, stream, shown_file, &copy, e);
}
