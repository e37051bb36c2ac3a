/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The last lines of the screen: the command that prints the same, and keys, a message or a
 * question. */
#include <stdlib.h>
#include <string.h>

#include "tui/actions.h"
#include "tui/draw.h"
#include "tui/panes.h"

/* "sorted by time, with 'main'  3/17" */
static void position(const struct tui *t, struct strbuf *out)
{
	const struct tui_page *p = tui_top(t);
	int percent;

	if (p->preliminary)
		strbuf_puts(out, "first samples only  ");
	if (p->waiting || tui_rows_busy(&p->rows)) {
		char what[160] = "";

		if (p->waiting)
			t->source.ops->progress(t->source.context, what, sizeof(what));
		strbuf_printf(out, "%s...  ", what[0] ? what : "sorting");
	}
	if (p->rows.table && p->sort == (long)p->strips.count)
		strbuf_puts(out, p->reverse ? "by name, reverse  " : "by name  ");
	if (p->filter)
		strbuf_printf(out, "with '%s'  ", p->filter);
	percent = tui_page_count(p) ? (int)(100 * (p->cursor + 1) / tui_page_count(p)) : 100;
	strbuf_printf(out, "%zu/%zu %d%%", tui_page_count(p) ? p->cursor + 1 : 0, tui_page_count(p),
		percent);
}

static void draw_status(struct tui *t)
{
	const struct tui_page *p = tui_top(t);
	struct tui_screen *s = &t->screen;
	int row = s->rows - 2;
	struct strbuf right = {0};
	int width, at;
	char *command;

	if (!tui_has_status(t))
		return;
	tui_fill(s, row, 0, s->columns, TUI_STATUS);
	position(t, &right);
	width = (int)tui_width(strbuf_text(&right), s->unicode);
	at = s->columns - width - 1;
	tui_put(s, row, at > 0 ? at : 0, s->columns, 0, strbuf_text(&right), TUI_STATUS);
	strbuf_fini(&right);
	if (p->kind != TUI_PAGE_REPORT)
		return;
	command = t->source.ops->command(t->source.context, &p->ask);
	if (command && at > 4) {
		int behind = tui_put(s, row, 1, at - 2, 0, "= ", TUI_STATUS);

		behind = tui_put(s, row, behind, at - 2, 0, command, TUI_STATUS);
		if (t->intervals)
			tui_put(s, row, behind, at - 2, 0, " -ci", TUI_STATUS);
	}
	free(command);
}

/* The keys by which the others are found come first. */
static void draw_keys(struct tui *t, bool first, int *at)
{
	struct tui_screen *s = &t->screen;

	for (const struct tui_action *a = t->actions; a->name; a++) {
		const char *key, *text = a->bar;
		char room[8];

		if (!text || (*text == '!') != first || (a->fits && !a->fits(t)))
			continue;
		text += first;
		key = a->keys[0] == TUI_KEY_ESCAPE && t->pages.count == 1
			      ? "q"
			      : tui_key_name(a->keys[0], room);
		if (*at + (int)(strlen(key) + 1 + strlen(text)) > s->columns)
			continue;
		*at = tui_put(s, s->rows - 1, *at, s->columns, 0, key, TUI_KEY);
		*at = tui_put(s, s->rows - 1, *at + 1, s->columns, 0, text, TUI_STATUS) + 2;
	}
}

static void draw_prompt(struct tui *t)
{
	struct tui_screen *s = &t->screen;
	const struct tui_prompt *q = &t->prompt;
	int at = tui_put(s, s->rows - 1, 1, s->columns - 8, 0, q->label, TUI_KEY);
	size_t width = tui_width(q->text, s->unicode), room;

	room = s->columns - 1 > at ? (size_t)(s->columns - 1 - at) : 0;
	at = tui_put(s, s->rows - 1, at, s->columns - 1, width > room ? width - room : 0, q->text,
		TUI_PLAIN);
	s->at_row = s->rows - 1;
	s->at_column = at < s->columns ? at : s->columns - 1;
}

void tui_draw_bottom(struct tui *t)
{
	int at = 1;

	draw_status(t);
	if (!tui_has_last(t))
		return;
	if (t->prompt.label) {
		draw_prompt(t);
	} else if (t->message[0]) {
		tui_put(&t->screen, t->screen.rows - 1, 1, t->screen.columns, 0, t->message,
			t->wrong ? TUI_ERROR : TUI_STATUS);
	} else {
		draw_keys(t, true, &at);
		draw_keys(t, false, &at);
	}
}
