/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Text from files, as people may be shown it. Names of symbols, files, threads and commands come
 * from anywhere. A terminal obeys some bytes: they move the cursor, set the title, or send input.
 * Other characters turn the direction of a line, or have no form: a name then looks like another.
 * So every control character but the tab, and every byte that is not valid UTF-8, is shown as an
 * escape such as \x1b, and every character that utf8_plain() refuses as one such as \u202e. Other
 * text stays as it is; a backslash does too.
 */
#ifndef BASE_SHOWN_H
#define BASE_SHOWN_H

#include <stdio.h>

#include "base/error.h"
#include "base/strbuf.h"

/* What begins and ends dimmed text in a strbuf for shown_write. No text that was escaped has them.
 */
#define SHOWN_DIM     "\x0e"
#define SHOWN_DIM_END "\x0f"

/* Bytes at the beginning of NUL-terminated text that are shown as they are. */
size_t shown_span(const char *text);
/* Appends text, with escapes. */
void shown_puts(struct strbuf *out, const char *text);
/* Appends what printf would print, with escapes: newlines are escaped too. */
void shown_printf(struct strbuf *out, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* A line on standard output: the same, and a newline. */
void shown_print(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The text itself if it needs no escape, else its shown form in `room`, which the caller frees. */
const char *shown_text(const char *text, struct strbuf *room);
/* Writes text of several lines to a stream. What should have been escaped before is escaped now:
 * only newlines, tabs and changes of brightness reach the terminal. -1: it could not be written.
 */
int shown_write(FILE *out, const struct strbuf *text);
/* The same as the result of a command (file_output). -1 with *e set. */
int shown_output(const char *path, FILE *stream, const struct strbuf *text, struct error *e);

#endif
