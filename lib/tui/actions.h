/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Everything that keys do, one row each.  The table decides what a key does, and is what the screen
 * of keys, the last line and the manual are made of (tests/unit/test_tui_manual.c compares that).
 */
#ifndef TUI_ACTIONS_H
#define TUI_ACTIONS_H

#include "tui/tui.h"

enum tui_group {
	TUI_GROUP_MOVE,
	TUI_GROUP_VIEW,
	TUI_GROUP_FIND,
	TUI_GROUP_SHOW,
	TUI_GROUP_OTHER,
	TUI_GROUPS
};

enum { TUI_ACTION_KEYS = 5 };

struct tui_action {
	const char *name; /* for tests and the manual */
	enum tui_group group;
	int keys[TUI_ACTION_KEYS]; /* 0: no more */
	const char *bar;           /* one or two words for the last line, '!' before: it comes
				      first; NULL: not there */
	const char *help;          /* one line; ends without full stop */
	void (*run)(struct tui *t);
	bool (*fits)(const struct tui *t); /* is it offered now?  NULL: always */
	const char *report;                /* that it opens, of those that open one */
};

extern const struct tui_action tui_actions[]; /* ends with name NULL */

/* NULL: the key does nothing. */
const struct tui_action *tui_action_of(const struct tui *t, int key);
/* move.c */
void tui_do_up(struct tui *t);
void tui_do_down(struct tui *t);
void tui_do_page_up(struct tui *t);
void tui_do_page_down(struct tui *t);
void tui_do_first(struct tui *t);
void tui_do_last(struct tui *t);
void tui_do_left(struct tui *t);
void tui_do_right(struct tui *t);
void tui_do_hottest(struct tui *t);
/* open.c */
void tui_do_enter(struct tui *t);
void tui_do_back(struct tui *t);
void tui_do_quit(struct tui *t);
void tui_do_report(struct tui *t);
void tui_do_number(struct tui *t);
void tui_do_next_report(struct tui *t);
void tui_do_reports(struct tui *t);
void tui_do_help(struct tui *t);
bool tui_has_procedure(const struct tui *t);
/* find.c */
void tui_do_search(struct tui *t);
void tui_do_search_back(struct tui *t);
void tui_do_next(struct tui *t);
void tui_do_previous(struct tui *t);
void tui_do_filter(struct tui *t);
void tui_do_sort_next(struct tui *t);
void tui_do_sort_previous(struct tui *t);
void tui_do_reverse(struct tui *t);
bool tui_has_rows(const struct tui *t);
/* show.c */
void tui_do_expand(struct tui *t);
void tui_do_expand_all(struct tui *t);
void tui_do_collapse_all(struct tui *t);
void tui_do_columns(struct tui *t);
void tui_do_switches(struct tui *t);
void tui_do_switch(struct tui *t);
void tui_do_intervals(struct tui *t);
void tui_do_unicode(struct tui *t);
void tui_do_mouse(struct tui *t);
void tui_do_redraw(struct tui *t);
bool tui_has_tree(const struct tui *t);
/* Turns what the cursor of a menu is on. */
void tui_turn(struct tui *t);
/* export.c */
void tui_do_export(struct tui *t);

#endif
