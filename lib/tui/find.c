/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Actions: finding, filtering, sorting. */
#include <stdlib.h>
#include <string.h>

#include "tui/actions.h"

bool tui_has_rows(const struct tui *t)
{
	return tui_top(t)->kind == TUI_PAGE_REPORT && tui_top(t)->rows.table;
}

static void set_search(struct tui *t, const char *text, bool backward)
{
	if (*text) {
		free(t->search.text);
		t->search.text = strdup(text);
	}
	t->search.upward = backward;
	tui_search_start(t, backward);
}

static void search(struct tui *t, const char *text)
{
	set_search(t, text, false);
}

static void search_back(struct tui *t, const char *text)
{
	set_search(t, text, true);
}

void tui_do_search(struct tui *t)
{
	tui_prompt_open(t, "search: ", NULL, search);
}

void tui_do_search_back(struct tui *t)
{
	tui_prompt_open(t, "search backward: ", NULL, search_back);
}

void tui_do_next(struct tui *t)
{
	tui_search_start(t, t->search.upward);
}

void tui_do_previous(struct tui *t)
{
	tui_search_start(t, !t->search.upward);
}

static void find_arrange(struct tui *t)
{
	if (tui_page_arrange(tui_top(t)))
		tui_say(t, "out of memory");
}

static void filter(struct tui *t, const char *text)
{
	struct tui_page *p = tui_top(t);

	if (!tui_has_rows(t))
		return;
	if (tui_page_filter(p, text))
		tui_say(t, "out of memory");
}

void tui_do_filter(struct tui *t)
{
	if (!tui_has_rows(t)) {
		tui_say(t, "no rows");
		return;
	}
	tui_prompt_open(t, "only rows with: ", tui_top(t)->filter, filter);
}

/* A strip by whose numbers rows can be sorted. */
static bool sorts(const struct tui_page *p, long strip)
{
	const struct prof_strip *s;

	if (strip < 0 || strip >= (long)p->strips.count)
		return true; /* as reported; by name */
	s = &p->strips.data[strip];
	return !p->hidden[strip] && s->part != PROF_PART_BAR &&
	       !(p->table->columns.data[s->column].flags & REPORT_MARGIN);
}

static void sort_by(struct tui *t, long step)
{
	struct tui_page *p = tui_top(t);
	long choices;

	if (!tui_has_rows(t))
		return;
	choices = (long)p->strips.count + 2; /* all strips, by name, as reported */
	do
		p->sort = (p->sort + 1 + step + choices) % choices - 1;
	while (!sorts(p, p->sort));
	find_arrange(t);
	p->cursor = p->top = 0;
	tui_focus_clear(&p->focus);
}

void tui_do_sort_next(struct tui *t)
{
	sort_by(t, 1);
}

void tui_do_sort_previous(struct tui *t)
{
	sort_by(t, -1);
}

void tui_do_reverse(struct tui *t)
{
	struct tui_page *p = tui_top(t);

	if (!tui_has_rows(t))
		return;
	if (p->sort < 0) {
		tui_say(t, "rows are not sorted: sort them first (>)");
		return;
	}
	p->reverse = !p->reverse;
	find_arrange(t);
}
