/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tui/page.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tui/screen.h"

struct tui_page *tui_page_new(enum tui_page_kind kind)
{
	struct tui_page *p = calloc(1, sizeof(*p));

	if (p) {
		p->kind = kind;
		p->sort = -1;
	}
	return p;
}

void tui_page_clear_lines(struct tui_page *p)
{
	for (size_t i = 0; i < p->lines.count; i++)
		free(p->lines.data[i]);
	p->lines.count = 0;
}

void tui_page_free(struct tui_page *p)
{
	if (!p)
		return;
	tui_page_clear_lines(p);
	vec_fini(&p->lines);
	vec_fini(&p->items);
	vec_fini(&p->strips);
	tui_rows_fini(&p->rows);
	tui_focus_clear(&p->focus);
	free(p->hidden);
	free(p->filter);
	free(p->ask.procedure);
	free(p);
}

void tui_focus_clear(struct tui_focus *f)
{
	free(f->procedure);
	free(f->file);
	free(f->image);
	memset(f, 0, sizeof(*f));
}

int tui_focus_set(struct tui_focus *f, const char *procedure, const char *file, unsigned line)
{
	struct tui_focus fresh = {.set = true, .line = line};

	fresh.procedure = procedure ? strdup(procedure) : NULL;
	fresh.file = file ? strdup(file) : NULL;
	tui_focus_clear(f);
	*f = fresh;
	return (procedure && !fresh.procedure) || (file && !fresh.file) ? -1 : 0;
}

int tui_page_line(struct tui_page *p, const char *format, ...)
{
	char **slot = vec_push(&p->lines);
	va_list ap;
	int n;

	if (!slot)
		return -1;
	va_start(ap, format);
	n = vasprintf(slot, format, ap);
	va_end(ap);
	if (n >= 0)
		return 0;
	p->lines.count--;
	return -1;
}

const struct report_row *tui_page_current(const struct tui_page *p)
{
	long row = tui_page_row(p, p->cursor);

	return row < 0 || !p->table ? NULL : &p->table->rows.data[row];
}

const char *tui_page_procedure(const struct tui_page *p, long row)
{
	const struct report_row *rows;

	if (row < 0 || !p->table)
		return NULL;
	rows = p->table->rows.data;
	if (rows[row].role == REPORT_TOTAL)
		return NULL;
	if (rows[row].procedure || p->table->layout != REPORT_CODE)
		return rows[row].procedure;
	while (row > 0 && rows[row].role != REPORT_HEAD)
		row--;
	return rows[row].procedure;
}

/* A text in lines of `width` columns, with all except the first indented. */
static int wrap(struct tui_page *p, const char *text, size_t width, size_t indent)
{
	bool first = true;

	do {
		size_t room = width - (first ? 0 : indent), used = 0, bytes = 0, fits = 0, n;

		/* As many words as go in; of one that does not, as much as does. */
		while (text[bytes] && used <= room) {
			if (text[bytes] == ' ')
				fits = bytes;
			used += (size_t)tui_char_width(tui_decode(text + bytes, &n));
			bytes += n;
		}
		if (used > room)
			bytes = fits ? fits : bytes > 1 ? bytes - n : bytes;
		if (tui_page_line(p, "%*s%.*s", first ? 0 : (int)indent, "", (int)bytes, text))
			return -1;
		text += bytes + (text[bytes] == ' ');
		first = false;
	} while (*text);
	return 0;
}

enum { LABELS = 26 /* columns of labels of facts */, LEAST = 16 /* columns for a text */ };

static int add_values(struct tui_page *p, const struct report_line *lines, size_t count)
{
	size_t label = p->width > LABELS + LEAST + 2 ? LABELS : 0;

	for (size_t i = 0; i < count; i++) {
		char *text;
		int rc;

		if (!lines[i].label) {
			if (wrap(p, lines[i].value, p->width, 2))
				return -1;
			continue;
		}
		if (asprintf(&text, "%*s: %s", (int)label, lines[i].label, lines[i].value) < 0)
			return -1;
		rc = wrap(p, text, p->width, label ? label + 2 : 2);
		free(text);
		if (rc)
			return -1;
	}
	return 0;
}

/* Lines about the run are among the facts, lines about the rows below them. */
int tui_page_texts(struct tui_page *p, size_t width)
{
	const struct report_table *t = p->table;

	p->width = width > LEAST ? width : LEAST;
	if (!t)
		return 0;
	tui_page_clear_lines(p);
	if (t->layout == REPORT_FACTS &&
		(add_values(p, t->head.data, t->head.count) || tui_page_line(p, "%s", "") ||
			add_values(p, t->summary.data, t->summary.count)))
		return -1;
	if (t->notes.count && p->lines.count + p->rows.count && tui_page_line(p, "%s", ""))
		return -1;
	return add_values(p, t->notes.data, t->notes.count);
}

int tui_page_strips(struct tui_page *p, bool intervals)
{
	p->strips.count = 0;
	free(p->hidden);
	p->hidden = NULL;
	if (!p->table)
		return 0;
	if (prof_strips_make(p->table, intervals, &p->strips))
		return -1;
	p->hidden = calloc(p->strips.count + 1, sizeof(*p->hidden));
	if (p->sort > (long)p->strips.count)
		p->sort = -1;
	return p->hidden ? 0 : -1;
}

int tui_page_take(
	struct tui_page *p, const struct report_table *table, size_t width, bool intervals)
{
	p->failed = false;
	tui_page_clear_lines(p);
	tui_rows_set(&p->rows, table->layout == REPORT_FACTS ? NULL : table);
	p->table = table;
	p->bar_most = 0;
	if (tui_page_strips(p, intervals) || tui_page_texts(p, width))
		return -1;
	if (table->layout == REPORT_SOURCE || table->layout == REPORT_CODE)
		p->bar_most = prof_bar_most(table);
	if (p->cursor >= tui_page_count(p))
		p->cursor = tui_page_count(p) ? tui_page_count(p) - 1 : 0;
	return p->sort >= 0 || p->filter ? tui_page_arrange(p) : 0;
}

int tui_page_fail(struct tui_page *p, const struct error *e, size_t width)
{
	p->failed = true;
	p->table = NULL;
	tui_page_clear_lines(p);
	tui_rows_set(&p->rows, NULL);
	p->cursor = p->top = 0;
	p->width = width > LEAST ? width : LEAST;
	if (wrap(p, e->message, p->width, 2))
		return -1;
	return e->hint[0] ? wrap(p, e->hint, p->width, 2) : 0;
}

int tui_page_arrange(struct tui_page *p)
{
	bool sorts = p->sort >= 0, place = p->sort == (long)p->strips.count;
	struct tui_order order = {.filter = p->filter,
		.by = sorts && !place ? &p->strips.data[p->sort] : NULL,
		.by_place = place,
		.reverse = p->reverse};

	if (!p->focus.set && tui_page_keep_focus(p))
		return -1;
	return tui_rows_start(&p->rows, &order);
}

int tui_page_filter(struct tui_page *p, const char *text)
{
	char *own = *text ? strdup(text) : NULL;

	if (*text && !own)
		return -1;
	free(p->filter);
	p->filter = own;
	return tui_page_arrange(p);
}

int tui_page_keep_focus(struct tui_page *p)
{
	const struct report_row *r = tui_page_current(p);
	long row = tui_page_row(p, p->cursor);

	if (!r)
		return 0;
	if (tui_focus_set(&p->focus, tui_page_procedure(p, row), r->file, r->line))
		return -1;
	p->focus.address = r->address;
	p->focus.image = r->addressed && r->image ? strdup(r->image) : NULL;
	return r->addressed && r->image && !p->focus.image ? -1 : 0;
}

/* The best that there is: of a line in a procedure, of an instruction. */
enum { FITS_LINE = 7, FITS_ADDRESS };

/* How well a row fits: the head of a group of that name is better than a row in it, the line better
 * than both. */
int tui_page_fits(const struct tui_page *p, size_t row)
{
	const struct tui_focus *f = &p->focus;
	const struct report_row *r = &p->table->rows.data[row];
	int score = 0;

	/* Where inlined functions have rows of their own, its function is another one. */
	if (f->image && r->addressed && r->address == f->address && r->image &&
		strcmp(r->image, f->image) == 0)
		return FITS_ADDRESS;
	if (f->procedure && r->procedure) {
		if (strcmp(f->procedure, r->procedure) != 0)
			return 0;
		score += r->role == REPORT_HEAD ? 3 : r->role == REPORT_ROW ? 2 : 1;
	}
	if (f->file && f->line && r->file && r->line == f->line && strcmp(r->file, f->file) == 0)
		score += 4;
	return r->role == REPORT_TOTAL ? 0 : score;
}

double tui_page_share(const struct tui_page *p, size_t line)
{
	long row = tui_page_row(p, line);
	const struct report_row *r = row < 0 ? NULL : &p->table->rows.data[row];

	if (!r || r->role != (p->table->layout == REPORT_BUTTERFLY ? REPORT_HEAD : REPORT_ROW))
		return -1;
	for (size_t i = 0; i < p->strips.count; i++)
		if (p->strips.data[i].part == PROF_PART_PERCENT)
			return report_cells(p->table, (size_t)row)[p->strips.data[i].column]
				.percent;
	return -1;
}

/* The most costly line. */
static size_t costliest(const struct tui_page *p)
{
	double most = 0;
	size_t at = 0;

	for (size_t i = 0; i < p->rows.count; i++) {
		double share = tui_page_share(p, i);

		if (share > most) {
			most = share;
			at = i;
		}
	}
	return at;
}

/* Of rows that fit a line equally well, the most costly is better: code of one line is at several
 * places. */
static bool fits_better(const struct tui_page *p, size_t line, int score, size_t at, int best)
{
	if (score != best || score < 4 || !p->focus.costliest)
		return score > best;
	return tui_page_share(p, line) > tui_page_share(p, at);
}

void tui_page_find_focus(struct tui_page *p)
{
	int best = 0;
	size_t at = 0;

	if (!p->focus.set || !p->table)
		return;
	for (size_t i = 0; i < p->rows.count && best < (p->focus.image ? FITS_ADDRESS : FITS_LINE);
		i++) {
		int score = tui_page_fits(p, tui_rows_at(&p->rows, i));

		if (fits_better(p, i, score, at, best)) {
			best = score;
			at = i;
		}
	}
	if (best >= 4 || (best && !p->focus.costliest))
		p->cursor = at;
	else if (p->focus.costliest)
		p->cursor = costliest(p);
	if (p->cursor >= tui_page_count(p))
		p->cursor = tui_page_count(p) ? tui_page_count(p) - 1 : 0;
	p->centred = true;
	tui_focus_clear(&p->focus);
}
