/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Texts that are longer than their room. Of two rows, the same must not be left: what both begin
 * with makes way for what follows.
 */
#include <stdlib.h>
#include <string.h>

#include "base/shown.h"
#include "base/utf8.h"
#include "render/prof_private.h"
#include "render/prof_strips.h"

#define DOTS "..."

size_t prof_characters(const char *text, size_t *bytes, size_t most)
{
	size_t n = 0;

	*bytes = 0;
	for (int next; n < most && text[*bytes] && (next = utf8_length(text + *bytes)) > 0; n++)
		*bytes += (size_t)next;
	return n;
}

/* ---- what rows have in common ---- */

struct fit_row {
	size_t row, at; /* at: of its text */
};

static int fit_by_text(const void *a, const void *b, void *context)
{
	const char *texts = context;

	return strcmp(
		texts + ((const struct fit_row *)a)->at, texts + ((const struct fit_row *)b)->at);
}

static size_t fit_equal(const char *a, const char *b)
{
	size_t n = 0;

	while (a[n] && a[n] == b[n])
		n++;
	return n;
}

size_t *prof_common(const struct report_table *t, const struct prof_style *style)
{
	size_t *common = calloc(t->rows.count + 1, sizeof(*common)), count = 0;
	struct fit_row *rows = calloc(t->rows.count + 1, sizeof(*rows));
	struct strbuf texts = {0};

	for (size_t i = 0; rows && i < t->rows.count; i++) {
		if (prof_row_is_heading(t, i))
			continue;
		rows[count++] = (struct fit_row){i, texts.length};
		prof_row_text(t, i, style, &texts);
		strbuf_putc(&texts, '\0');
	}
	if (common && rows && !texts.failed && count) {
		qsort_r(rows, count, sizeof(*rows), fit_by_text, texts.data);
		for (size_t i = 1; i < count; i++) {
			const char *a = texts.data + rows[i - 1].at, *b = texts.data + rows[i].at;
			size_t n = fit_equal(a, b);

			/* equal ones have in common with others what their neighbours have */
			if (!a[n] && !b[n])
				n = common[rows[i - 1].row];
			else if (n > common[rows[i - 1].row])
				common[rows[i - 1].row] = n;
			common[rows[i].row] = n;
		}
		for (size_t i = count - 1; i-- > 0;)
			if (strcmp(texts.data + rows[i].at, texts.data + rows[i + 1].at) == 0)
				common[rows[i].row] = common[rows[i + 1].row];
	}
	free(rows);
	strbuf_fini(&texts);
	return common;
}

/* ---- cuts ---- */

/* Replaces the text from `from` by its first `most` characters, or if others begin with these by
 * less of them and what follows `common` bytes, then by the text from `tail`. */
static void fit_put(struct strbuf *out, size_t from, size_t most, size_t common, const char *tail)
{
	const char *text = strbuf_text(out) + from;
	size_t bytes, skipped = 0, length = strlen(text) - strlen(tail);
	struct strbuf cut = {0};

	prof_characters(text, &bytes, most);
	if (common >= bytes && common < length && most > 4 * strlen(DOTS)) {
		prof_characters(text, &bytes, (most - strlen(DOTS)) / 2);
		skipped = common;
		while (skipped > bytes && text[skipped] != ' ')
			skipped--;
		most -= prof_characters(text, &bytes, (most - strlen(DOTS)) / 2) + strlen(DOTS);
		if (skipped == bytes)
			skipped = common;
		else if (common - skipped >= most) /* what differs would have no room */
			skipped = common - most / 2;
		while (((unsigned char)text[skipped] & 0xc0) == 0x80) /* within a character */
			skipped--;
	}
	while (bytes > 1 && text[bytes - 1] == '.') /* dots once */
		bytes--;
	strbuf_add(&cut, text, bytes);
	strbuf_puts(&cut, DOTS);
	if (skipped > bytes) {
		size_t rest, all = prof_characters(text + skipped, &rest, SIZE_MAX),
			     end = prof_characters(tail, &rest, SIZE_MAX);

		prof_characters(text + skipped, &rest, all - end < most ? all - end : most);
		strbuf_add(&cut, text + skipped, rest);
		if (all - end > most)
			strbuf_puts(&cut, DOTS);
	}
	strbuf_puts(&cut, tail);
	out->length = from;
	strbuf_puts(out, strbuf_text(&cut));
	out->failed |= cut.failed;
	strbuf_fini(&cut);
}

bool prof_cut(struct strbuf *out, size_t from, size_t most)
{
	const char *text = out->length > from ? strbuf_text(out) + from : "";
	size_t bytes;

	if (prof_characters(text, &bytes, SIZE_MAX) <= most || most <= strlen(DOTS))
		return false;
	fit_put(out, from, most - strlen(DOTS), 0, text + strlen(text));
	return true;
}

/* Where " (dso: file, line)" begins in a place; NULL: it has none. */
static const char *fit_tail(const char *text)
{
	const char *tail = strrchr(text, '(');
	size_t length = strlen(text);

	return tail && tail > text && tail[-1] == ' ' && text[length - 1] == ')' ? tail - 1 : NULL;
}

/* " (dso: file, line)" becomes " (file, line)": of these three, the dso is known best. */
static void fit_without_dso(struct strbuf *out, size_t tail)
{
	const char *text = strbuf_text(out), *colon = strstr(text + tail, ": ");
	struct strbuf cut = {0};

	if (!colon)
		return;
	strbuf_printf(&cut, " (%s", colon + 2);
	out->length = tail;
	strbuf_puts(out, strbuf_text(&cut));
	out->failed |= cut.failed;
	strbuf_fini(&cut);
}

/* Characters of the tail at `tail`; 0: they would leave too little of the name, which is a third
 * beside file and line, and two beside a dso alone. */
static size_t fit_kept(const char *tail, size_t most)
{
	size_t bytes, kept = prof_characters(tail, &bytes, SIZE_MAX);

	return 3 * kept > (strchr(tail, ',') ? 2 : 1) * most ? 0 : kept;
}

/* The name before the tail, then " (file, line)" whose file is cut, so that the line stays; false:
 * there is too little room. */
static bool fit_line(struct strbuf *out, size_t from, const char *tail, size_t most)
{
	const char *name = strbuf_text(out) + from, *comma = strrchr(tail, ',');
	size_t bytes, rest = comma ? prof_characters(comma, &bytes, SIZE_MAX) : 0;
	size_t least = strlen(" (") + 2 + strlen(DOTS) + rest;
	size_t length = prof_characters(name, &bytes, (size_t)(tail - name)), room;
	struct strbuf line = {0};

	if (!comma || most < length + least)
		return false;
	room = most - length - least + 2;
	prof_characters(tail + strlen(" ("), &bytes, room);
	shown_printf(&line, " (%.*s%s%s", (int)bytes, tail + strlen(" ("), DOTS, comma);
	out->length = (size_t)(tail - strbuf_text(out));
	strbuf_puts(out, strbuf_text(&line));
	out->failed |= line.failed;
	strbuf_fini(&line);
	return true;
}

bool prof_cut_place(struct strbuf *out, size_t from, size_t most, size_t common, bool by_function)
{
	const char *text = out->length > from ? strbuf_text(out) + from : "", *tail;
	size_t bytes, kept = 0;
	struct strbuf rest = {0};

	if (prof_characters(text, &bytes, SIZE_MAX) <= most || most <= strlen(DOTS))
		return false;
	tail = fit_tail(text);
	if (tail) {
		size_t at = (size_t)(tail - text);

		fit_without_dso(out, from + at);
		text = strbuf_text(out) + from;
		if (prof_characters(text, &bytes, SIZE_MAX) <= most)
			return true;
		tail = text + at;
		kept = by_function ? 0 : fit_kept(tail, most);
	}
	if (kept)
		strbuf_puts(&rest, tail);
	else if (tail && !by_function && fit_line(out, from, tail, most))
		return true;
	fit_put(out, from, most - strlen(DOTS) - kept, common, strbuf_text(&rest));
	out->failed |= rest.failed;
	strbuf_fini(&rest);
	return true;
}
