/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Actions: which parts of a report are visible; menus. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tui/actions.h"

bool tui_has_tree(const struct tui *t)
{
	const struct tui_page *p = tui_top(t);

	return p->kind == TUI_PAGE_COLUMNS || p->kind == TUI_PAGE_SWITCHES ||
	       (p->rows.table && p->rows.table->layout == REPORT_TREE);
}

static bool tree(struct tui *t)
{
	struct tui_page *p = tui_top(t);

	if (!p->rows.table || p->rows.table->layout != REPORT_TREE) {
		tui_say(t, "this report is not a tree");
		return false;
	}
	return tui_rows_collapsed(&p->rows) != NULL;
}

static void show_arrange(struct tui *t)
{
	if (tui_page_arrange(tui_top(t)))
		tui_say(t, "out of memory");
}

void tui_do_expand(struct tui *t)
{
	struct tui_page *p = tui_top(t);
	long row = tui_page_row(p, p->cursor);

	if (p->kind != TUI_PAGE_REPORT) {
		tui_turn(t);
		return;
	}
	if (!p->rows.table || p->rows.table->layout != REPORT_TREE) {
		if (t->key == ' ')
			tui_do_page_down(t);
		else
			tui_say(t, "this report is not a tree");
		return;
	}
	if (!tree(t) || row < 0)
		return;
	if (!tui_row_has_children(p->rows.table, (size_t)row)) {
		tui_say(t, "nothing below it");
		return;
	}
	p->rows.collapsed[row] = !p->rows.collapsed[row];
	if (!p->rows.collapsed[row])
		tui_page_open_trunk(p, (size_t)row + 1, INFINITY);
	show_arrange(t);
}

void tui_do_expand_all(struct tui *t)
{
	if (!tree(t))
		return;
	memset(tui_top(t)->rows.collapsed, 0, tui_top(t)->rows.table->rows.count);
	show_arrange(t);
}

void tui_do_collapse_all(struct tui *t)
{
	struct tui_page *p = tui_top(t);

	if (!tree(t))
		return;
	for (size_t i = 0; i < p->rows.table->rows.count; i++)
		p->rows.collapsed[i] = tui_row_has_children(p->rows.table, i);
	show_arrange(t);
}

/* The report that a menu is about. */
static struct tui_page *below(const struct tui *t)
{
	return t->pages.data[t->pages.count - 2];
}

static void open_menu(struct tui *t, enum tui_page_kind kind)
{
	struct tui_page *p;

	if (tui_top(t)->kind != TUI_PAGE_REPORT)
		return;
	p = tui_push(t, kind);
	if (p)
		tui_fill_menu(t, p);
}

void tui_do_columns(struct tui *t)
{
	if (tui_top(t)->kind == TUI_PAGE_REPORT && !tui_top(t)->strips.count)
		tui_say(t, "this report has no columns");
	else
		open_menu(t, TUI_PAGE_COLUMNS);
}

void tui_do_switches(struct tui *t)
{
	open_menu(t, TUI_PAGE_SWITCHES);
}

static void turn_switch(struct tui *t, struct tui_page *p, size_t i)
{
	const struct tui_switch *s = &t->source.switches[i];

	p->ask.switches ^= 1u << i;
	t->switches = (t->switches & ~(1u << i)) | (p->ask.switches & 1u << i);
	tui_ask(t, p);
	tui_say(t, "-%s is %s: %s", s->name, p->ask.switches & 1u << i ? "on" : "off", s->help);
}

void tui_do_switch(struct tui *t)
{
	struct tui_page *p = tui_top(t);

	if (p->kind != TUI_PAGE_REPORT)
		return;
	for (size_t i = 0; t->source.switches[i].name; i++)
		if (strcmp(t->source.switches[i].name, t->action->report) == 0)
			turn_switch(t, p, i);
}

static const char *part_name(const struct report_table *t, const struct prof_strip *s)
{
	static const char *const names[PROF_PART_TEXT + 1] = {
		[PROF_PART_INTERVAL] = ", 95% interval",
		[PROF_PART_PERCENT] = ", share of the run",
		[PROF_PART_CUMULATIVE] = ", sum of shares",
		[PROF_PART_SAMPLES] = ", samples",
		[PROF_PART_BAR] = ", bar",
	};

	return t->columns.data[s->column].flags & REPORT_MARGIN && t->layout == REPORT_CODE
		       ? ", jumps"
		       : names[s->part] ?: "";
}

static void turn_column(struct tui *t, struct tui_page *p, size_t i)
{
	char *name = tui_strip_name(t, p, i), **slot;

	if (!name)
		return;
	p->hidden[i] = !p->hidden[i];
	for (size_t k = 0; k < t->hidden.count; k++)
		if (strcmp(t->hidden.data[k], name) == 0) {
			free(t->hidden.data[k]);
			t->hidden.data[k] = t->hidden.data[--t->hidden.count];
			k--;
		}
	if (!p->hidden[i]) {
		free(name);
		return;
	}
	slot = vec_push(&t->hidden);
	if (slot)
		*slot = name;
	else
		free(name);
}

void tui_turn(struct tui *t)
{
	struct tui_page *p = tui_top(t);
	struct tui_page *of = t->pages.count > 1 ? below(t) : NULL;
	size_t cursor = p->cursor;

	if (!of || of->kind != TUI_PAGE_REPORT)
		return;
	if (p->kind == TUI_PAGE_COLUMNS && of->table && cursor < of->strips.count)
		turn_column(t, of, cursor);
	else if (p->kind == TUI_PAGE_SWITCHES && t->source.switches[0].name)
		turn_switch(t, of, cursor);
	else
		return;
	tui_fill_menu(t, p);
	p->cursor = cursor;
}

static const char *const group_names[] = {
	[TUI_GROUP_MOVE] = "Moving",
	[TUI_GROUP_VIEW] = "Views",
	[TUI_GROUP_FIND] = "Finding and sorting",
	[TUI_GROUP_SHOW] = "What is shown",
	[TUI_GROUP_OTHER] = "Other",
};

/* "Up, k": of an action, as people read them. */
static void put_keys(const struct tui_action *a, struct strbuf *out)
{
	char room[8];

	for (int i = 0; i < TUI_ACTION_KEYS && a->keys[i]; i++)
		strbuf_printf(out, "%s%s", i ? " " : "", tui_key_name(a->keys[i], room));
}

static void fill_help(const struct tui *t, struct tui_page *p)
{
	const struct tui_action *a;

	for (int group = 0; group < TUI_GROUPS; group++) {
		tui_page_line(p, "%s%s", group ? "" : "", group_names[group]);
		for (a = t->actions; a->name; a++) {
			struct strbuf keys = {0};

			if ((int)a->group != group)
				continue;
			put_keys(a, &keys);
			tui_page_line(p, "  %-22s %s", strbuf_text(&keys), a->help);
			strbuf_fini(&keys);
		}
		if (group + 1 < TUI_GROUPS)
			tui_page_line(p, "%s", "");
	}
}

void tui_fill_menu(struct tui *t, struct tui_page *p)
{
	const struct tui_page *of = t->pages.count > 1 ? below(t) : NULL;

	tui_page_clear_lines(p);
	if (p->kind == TUI_PAGE_HELP)
		fill_help(t, p);
	for (size_t i = 0; p->kind == TUI_PAGE_REPORTS && t->source.reports[i].name; i++)
		tui_page_line(p, "%zu  %-12s %s", i + 1, t->source.reports[i].name,
			t->source.reports[i].help);
	for (size_t i = 0; p->kind == TUI_PAGE_SWITCHES && t->source.switches[i].name; i++)
		tui_page_line(p, "[%c] -%-12s %s", of && of->ask.switches & 1u << i ? 'x' : ' ',
			t->source.switches[i].name, t->source.switches[i].help);
	for (size_t i = 0; p->kind == TUI_PAGE_COLUMNS && of && of->table && i < of->strips.count;
		i++)
		tui_page_line(p, "[%c] %s%s", of->hidden[i] ? ' ' : 'x',
			of->table->columns.data[of->strips.data[i].column].name,
			part_name(of->table, &of->strips.data[i]));
}

void tui_do_intervals(struct tui *t)
{
	tui_show_intervals(t, !t->intervals);
	tui_say(t, "95%% intervals are %s", t->intervals ? "shown" : "not shown");
}

void tui_do_unicode(struct tui *t)
{
	if (!t->unicode) {
		tui_say(t, "the terminal's locale has no Unicode");
		return;
	}
	t->screen.unicode = !t->screen.unicode;
}

void tui_do_mouse(struct tui *t)
{
	t->mouse = !t->mouse;
	tui_say(t, "the mouse is %s", t->mouse ? "on (with Shift, the terminal's own)" : "off");
}

void tui_do_redraw(struct tui *t)
{
	t->redraw = true;
}
