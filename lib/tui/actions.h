/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The actions of all keys, one row each. The screen of keys, the last line and the manual are made
 * from this table (tests/unit/test_tui_manual.c compares the manual).
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

typedef void tui_do(struct tui *t);        /* the action of a key */
typedef bool tui_has(const struct tui *t); /* whether an action is offered now */

struct tui_action {
	const char *name; /* for tests and the manual */
	enum tui_group group;
	int keys[TUI_ACTION_KEYS]; /* 0: no more */
	const char *bar;           /* one or two words for the last line, after '!' if it comes
				      first; NULL: not there */
	const char *help;          /* one line; ends without full stop */
	tui_do *run;
	tui_has *fits;      /* NULL: always offered */
	const char *report; /* that it opens, of those that open one */
};

extern const struct tui_action tui_actions[]; /* ends with name NULL */

/* NULL: the key does nothing. */
const struct tui_action *tui_action_of(const struct tui *t, int key);

/* By file: move.c, tui_open.c, find.c, show.c, tui_export.c, zoom.c. */
tui_do tui_do_up, tui_do_down, tui_do_page_up, tui_do_page_down, tui_do_first, tui_do_last,
	tui_do_left, tui_do_right, tui_do_hottest;
tui_do tui_do_enter, tui_do_back, tui_do_quit, tui_do_report, tui_do_number, tui_do_next_report,
	tui_do_reports, tui_do_help;
tui_do tui_do_search, tui_do_search_back, tui_do_next, tui_do_previous, tui_do_filter,
	tui_do_sort_next, tui_do_sort_previous, tui_do_reverse;
tui_do tui_do_expand, tui_do_expand_all, tui_do_collapse_all, tui_do_columns, tui_do_switches,
	tui_do_switch, tui_do_intervals, tui_do_unicode, tui_do_mouse, tui_do_redraw;
tui_do tui_do_export;

tui_do tui_do_timeline, tui_do_time_left, tui_do_time_right, tui_do_time_begin, tui_do_time_end,
	tui_do_zoom, tui_do_unzoom;

/* second.c */
tui_do tui_do_split, tui_do_split_down, tui_do_split_up, tui_follow;

/* menu.c */
tui_do tui_do_menu, tui_do_in;
/* Does what the open menu has beside this key; false: no menu is open, or it has no such key. */
bool tui_menu_key(struct tui *t, int key);

tui_has tui_has_split, tui_has_procedure, tui_has_rows, tui_has_tree, tui_has_times, tui_has_zoom;

/* The line below the axis of a timeline: cursor and selection. */
void tui_times_text(const struct tui_page *p, char *room, size_t size);

/* The report that `into` opens at the row under the cursor; -1: none (a message says so). */
long tui_into(struct tui *t, const struct tui_page *p);
/* The procedure of the line under the cursor, else that of the page; NULL: none. */
const char *tui_subject(const struct tui *t, const struct tui_page *p);
/* The row under the cursor, if its line is inside a procedure and not its beginning. */
const struct report_row *tui_line_of(const struct tui *t, const struct tui_page *p);

/* Turns the menu's item under the cursor. */
void tui_turn(struct tui *t);

#endif
