/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Actions: a second view, of the source or the instructions of the row under the cursor. */
#include <string.h>

#include "tui/actions.h"
#include "tui/panes.h"

static void second_retext(struct tui *t)
{
	if (tui_page_texts(tui_top(t), tui_text_width(t, tui_top(t))))
		tui_say(t, "out of memory");
}

static void second_drop(struct tui *t)
{
	struct tui_page *p = t->second;

	if (!p)
		return;
	t->second = NULL;
	t->second_of = NULL;
	tui_close(t, p);
}

/* The report of the second view; -1: none. Instructions have their source beside them, source its
 * instructions. */
static long second_wanted(const struct tui *t, const struct tui_page *p, const char **procedure)
{
	const struct report_row *r = tui_page_current(p);
	const char *name = t->source.reports[p->ask.report].name;
	bool of_code = strcmp(name, "dis") == 0 || strcmp(name, "calc") == 0;
	bool code = t->split == TUI_SPLIT_CODE || strcmp(name, "lines") == 0 || (r && !r->file);

	*procedure = tui_subject(t, p);
	return *procedure ? tui_report_find(t, code && !of_code ? "dis" : "lines") : -1;
}

static bool second_same(
	const struct tui *t, const struct tui_page *p, long report, const char *procedure)
{
	const struct tui_page *s = t->second;

	return s && s->ask.report == (size_t)report && s->ask.switches == p->ask.switches &&
	       memcmp(&s->ask.part, &p->ask.part, sizeof(p->ask.part)) == 0 &&
	       strcmp(s->ask.procedure, procedure) == 0;
}

/* To the row's line, where it is one. */
static void second_focus(struct tui *t, const struct tui_page *p)
{
	const struct report_row *r = tui_page_current(p);
	const struct report_row *line = tui_line_of(t, p);

	if (r == t->second_of)
		return;
	t->second_of = r;
	if (tui_focus_set(&t->second->focus, NULL, line ? line->file : NULL, line ? line->line : 0))
		tui_say(t, "out of memory");
	t->second->focus.costliest = true;
	if (t->second->table)
		tui_page_find_focus(t->second);
}

void tui_follow(struct tui *t)
{
	struct tui_page *p = tui_top(t);
	const char *procedure;
	long report;

	/* A menu does not change what is beside the report; rows that come do. */
	if (p->kind != TUI_PAGE_REPORT && t->split)
		return;
	if (t->split && (tui_rows_busy(&p->rows) || (p->waiting && !p->table)))
		return;
	report =
		t->split && t->screen.rows >= TUI_SPLIT_ROWS ? second_wanted(t, p, &procedure) : -1;
	if (report < 0) {
		if (t->second) {
			second_drop(t);
			second_retext(t);
		}
		return;
	}
	if (!second_same(t, p, report, procedure)) {
		second_drop(t);
		t->second = tui_page_ask(t, (size_t)report, procedure);
		second_retext(t);
	}
	if (t->second)
		second_focus(t, p);
}

void tui_do_split(struct tui *t)
{
	const char *procedure, *what;
	long report;

	t->split = (t->split + 1) % TUI_SPLITS;
	report = t->split ? second_wanted(t, tui_top(t), &procedure) : -1;
	what = report < 0 || report == tui_report_find(t, "lines") ? "source" : "instructions";
	if (t->split)
		tui_say(t, "a second view has the %s of the row%s", what,
			t->screen.rows < TUI_SPLIT_ROWS ? ", on a higher screen" : "");
	else
		tui_say(t, "one view");
}

/* By half of what fits in the second view. */
static void second_scroll(struct tui *t, int direction)
{
	struct tui_page *p = t->second;
	struct tui_pane pane;
	size_t lines, count;

	if (!p) {
		tui_say(t, "there is no second view: press s");
		return;
	}
	pane = tui_pane_of(t, p);
	lines = (size_t)tui_pane_body(&pane) / 2 + 1;
	count = tui_page_count(p);
	if (direction < 0)
		p->cursor -= p->cursor < lines ? p->cursor : lines;
	else if (count)
		p->cursor = count - p->cursor > lines ? p->cursor + lines : count - 1;
}

void tui_do_split_down(struct tui *t)
{
	second_scroll(t, 1);
}

void tui_do_split_up(struct tui *t)
{
	second_scroll(t, -1);
}

bool tui_has_split(const struct tui *t)
{
	return t->second != NULL;
}
