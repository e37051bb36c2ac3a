/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Actions: from view to view. */
#include <stdio.h>
#include <string.h>

#include "tui/actions.h"

enum rows {
	FUNCTIONS, /* rows are functions, or places in them */
	IMAGES,
	OBJECTS, /* of data */
	OTHERS,
};

/* The report that Enter opens, by report; for all others the lines of the procedure. */
static const struct step {
	const char *from, *to; /* NULL: nowhere */
	enum rows rows;
} steps[] = {
	{"heavy", "dis", FUNCTIONS},
	{"lines", "dis", FUNCTIONS},
	{"dis", "calc", FUNCTIONS},
	{"stalls", "calc", FUNCTIONS},
	{"topblocks", "calc", FUNCTIONS},
	{"cfg", "calc", FUNCTIONS},
	{"calc", NULL, FUNCTIONS},
	{"dso", "procedures", IMAGES},
	{"why", "stalls", OTHERS},
	{"archinfo", NULL, OTHERS},
	{"usage", NULL, OTHERS},
	{"summary", NULL, OTHERS},
	{"dataspace", "datalines", OBJECTS},
	{"datalines", NULL, OBJECTS},
};

static const struct step *step_of(const struct tui *t, const struct tui_page *p)
{
	static const struct step usual = {NULL, "lines", FUNCTIONS};
	const char *name = t->source.reports[p->ask.report].name;

	for (size_t i = 0; i < sizeof(steps) / sizeof(*steps); i++)
		if (strcmp(steps[i].from, name) == 0)
			return &steps[i];
	return &usual;
}

/* The procedure of the line under the cursor, else that of the page. */
const char *tui_subject(const struct tui *t, const struct tui_page *p)
{
	const char *procedure = NULL;

	if (step_of(t, p)->rows == FUNCTIONS)
		procedure = tui_page_procedure(p, tui_page_row(p, p->cursor));
	return procedure ? procedure : p->ask.procedure;
}

bool tui_has_procedure(const struct tui *t)
{
	const struct tui_page *p = tui_top(t);

	return p->kind == TUI_PAGE_REPORT && tui_subject(t, p);
}

/* A report of one procedure, at a line where one is known. */
static void open_at(struct tui *t, long report, const char *procedure, const struct report_row *r)
{
	struct tui_page *p;

	if (report < 0) {
		tui_say(t, "unknown report");
		return;
	}
	p = tui_open(t, (size_t)report, procedure);
	if (!p)
		return;
	if (tui_focus_set(&p->focus, NULL, r ? r->file : NULL, r ? r->line : 0))
		tui_say(t, "out of memory");
	p->focus.costliest = procedure != NULL;
	/* Causes begin with the first one. */
	if (strcmp(t->source.reports[report].name, "why") == 0)
		tui_focus_clear(&p->focus);
}

/* The row, if its line is inside a procedure and not its beginning. */
const struct report_row *tui_line_of(const struct tui *t, const struct tui_page *p)
{
	const struct step *step = step_of(t, p);

	return step->rows != FUNCTIONS || (step->to && strcmp(step->to, "lines") == 0)
		       ? NULL
		       : tui_page_current(p);
}

/* Callers and callees have entries of their own. */
static bool has_entry(const struct tui_page *p, const struct report_row *r)
{
	return p->table->layout == REPORT_BUTTERFLY && r->role != REPORT_HEAD && r->procedure;
}

/* To the head of the procedure in the butterfly. */
static bool recenter(struct tui *t, struct tui_page *p, const struct report_row *r)
{
	const struct report_table *table = p->table;

	if (!has_entry(p, r))
		return false;
	for (size_t i = 0; i < p->rows.count; i++) {
		const struct report_row *head = &table->rows.data[tui_rows_at(&p->rows, i)];

		if (head->role == REPORT_HEAD && head->procedure &&
			strcmp(head->procedure, r->procedure) == 0) {
			p->cursor = i;
			p->top = i;
			return true;
		}
	}
	tui_say(t, "%.200s has no entry of its own here", r->procedure);
	return true;
}

/* A report of everything, at this name in it. */
static void open_whole(struct tui *t, long report, const char *name)
{
	struct tui_page *p = report < 0 ? NULL : tui_open(t, (size_t)report, NULL);

	if (p && tui_focus_set(&p->focus, name, NULL, 0))
		tui_say(t, "out of memory");
}

long tui_into(struct tui *t, const struct tui_page *p)
{
	const struct report_row *r = tui_page_current(p);
	const struct step *step = step_of(t, p);
	const char *procedure = tui_subject(t, p), *to = step->to;

	if (!r || r->role == REPORT_TOTAL || (step->rows == IMAGES && !r->image) ||
		(step->rows == FUNCTIONS && !procedure && !r->file)) {
		tui_say(t, "nothing to open in this line");
		return -1;
	}
	if (has_entry(p, r))
		return (long)p->ask.report;
	if (!to) {
		tui_say(t, "there is no deeper view");
		return -1;
	}
	/* Without debug information there are no lines, but instructions. */
	if (step->rows == FUNCTIONS && strcmp(to, "lines") == 0 && procedure && !r->file &&
		!p->waiting)
		to = "dis";
	return tui_report_find(t, to);
}

/* A branch of a tree that has no place, as a reason of waits, opens itself. */
static bool unfold(struct tui *t, struct tui_page *p, const struct report_row *r)
{
	long row = tui_page_row(p, p->cursor);

	if (!r || r->procedure || r->file || row < 0 || !p->rows.collapsed ||
		!p->rows.collapsed[row])
		return false;
	tui_do_expand(t);
	return true;
}

static void enter_row(struct tui *t, struct tui_page *p)
{
	const struct report_row *r = tui_page_current(p);
	const struct step *step = step_of(t, p);
	long to;

	if (unfold(t, p, r))
		return;
	to = tui_into(t, p);
	if (to < 0 || recenter(t, p, r))
		return;
	if (step->rows == OBJECTS)
		open_whole(t, to, r->procedure);
	else
		open_at(t, to, step->rows == IMAGES ? r->image : tui_subject(t, p),
			tui_line_of(t, p));
}

void tui_do_enter(struct tui *t)
{
	struct tui_page *p = tui_top(t);
	size_t chosen = p->cursor;
	char name[256];
	const char *procedure;

	switch (p->kind) {
	case TUI_PAGE_REPORT:
		enter_row(t, p);
		return;
	case TUI_PAGE_HELP:
	case TUI_PAGE_ACTIONS: /* of the layer above: menu.c */
		return;
	case TUI_PAGE_COLUMNS:
	case TUI_PAGE_SWITCHES:
		tui_turn(t);
		return;
	case TUI_PAGE_REPORTS:
		break;
	}
	tui_pop(t);
	procedure = t->source.reports[chosen].procedure ? tui_subject(t, tui_top(t)) : NULL;
	snprintf(name, sizeof(name), "%s", procedure ? procedure : "");
	tui_open(t, chosen, procedure ? name : NULL);
}

void tui_do_back(struct tui *t)
{
	if (t->pages.count == 1 && t->key != 'q') {
		tui_say(t, "this is the first view; q ends the program");
		return;
	}
	tui_pop(t);
}

void tui_do_quit(struct tui *t)
{
	t->quit = true;
}

/* Reports of a whole program are not limited to the procedure: the cursor moves to it. */
static bool tui_open_whole(const char *report)
{
	return strcmp(report, "butterfly") == 0 || strcmp(report, "calltree") == 0;
}

void tui_do_report(struct tui *t)
{
	struct tui_page *p = tui_top(t);
	const char *procedure = p->kind == TUI_PAGE_REPORT ? tui_subject(t, p) : NULL;
	long report = tui_report_find(t, t->action->report);

	if (!procedure) {
		tui_say(t, "no function in this line");
		return;
	}
	if (report < 0 || !tui_open_whole(t->action->report)) {
		open_at(t, report, procedure, tui_line_of(t, p));
		return;
	}
	open_whole(t, report, procedure);
}

static size_t reports(const struct tui *t)
{
	size_t count = 0;

	while (t->source.reports[count].name)
		count++;
	return count;
}

/* A report of everything, or, of those that have one, of the procedure in this line. */
static void open_number(struct tui *t, size_t report)
{
	const struct tui_page *p = tui_top(t);
	const char *procedure = NULL;

	if (t->source.reports[report].procedure && p->kind == TUI_PAGE_REPORT)
		procedure = tui_subject(t, p);
	tui_open(t, report, procedure);
}

void tui_do_number(struct tui *t)
{
	size_t report = (size_t)(t->key - '1');

	if (report < reports(t))
		open_number(t, report);
}

void tui_do_next_report(struct tui *t)
{
	struct tui_page *p = tui_top(t);
	size_t count = reports(t), next = p->ask.report;

	if (p->kind != TUI_PAGE_REPORT)
		return;
	next = t->key == TUI_KEY_BACKTAB ? (next + count - 1) % count : (next + 1) % count;
	open_number(t, next);
	/* The new page takes the place of the old one, which it may have been about. */
	if (tui_top(t) != p) {
		struct tui_page *fresh = tui_top(t);

		t->pages.data[t->pages.count - 1] = p;
		t->pages.data[t->pages.count - 2] = fresh;
		tui_pop(t);
	}
}

void tui_do_reports(struct tui *t)
{
	size_t now = tui_top(t)->ask.report;
	struct tui_page *p;

	if (tui_top(t)->kind == TUI_PAGE_REPORTS)
		return;
	p = tui_push(t, TUI_PAGE_REPORTS);
	if (!p)
		return;
	tui_fill_menu(t, p);
	p->cursor = now;
}

void tui_do_help(struct tui *t)
{
	struct tui_page *p;

	if (tui_top(t)->kind == TUI_PAGE_HELP)
		return;
	p = tui_push(t, TUI_PAGE_HELP);
	if (p)
		tui_fill_menu(t, p);
}
