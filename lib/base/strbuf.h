/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A growing string.  Zero-initialised is empty and valid.  Failure to allocate is sticky: later
 * appends do nothing, and strbuf_take then returns NULL; so a caller checks once, at the end.
 */
#ifndef BASE_STRBUF_H
#define BASE_STRBUF_H

#include <stdbool.h>
#include <stddef.h>

struct strbuf {
	char *data; /* NUL-terminated once anything was added; NULL before */
	size_t length, capacity;
	bool failed;
};

void strbuf_fini(struct strbuf *s);
void strbuf_add(struct strbuf *s, const char *text, size_t length);
void strbuf_puts(struct strbuf *s, const char *text);
void strbuf_putc(struct strbuf *s, char c);
void strbuf_repeat(struct strbuf *s, char c, size_t count);
void strbuf_printf(struct strbuf *s, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Words of text and a newline, in lines that end before column `width`. The first begins at column
 * `indent`, where s is by now; the others are indented so. */
void strbuf_wrap(struct strbuf *s, const char *text, size_t indent, size_t width);
char *strbuf_grow(struct strbuf *s, size_t more);
/* The end, where there is room for that many bytes and a NUL: the caller writes them, and
 * sets the length. NULL: an allocation failed. */
static inline char *strbuf_room(struct strbuf *s, size_t more)
{
	return s->capacity - s->length > more ? s->data + s->length : strbuf_grow(s, more);
}

/* The text, "" when empty.  Borrowed until the next call. */
const char *strbuf_text(const struct strbuf *s);
/* The text, to be freed by the caller, and s empty again; NULL if an allocation failed. */
char *strbuf_take(struct strbuf *s);

#endif
