/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tui/actions.h"

/* clang-format off */
const struct tui_action tui_actions[] = {
	{"up", TUI_GROUP_MOVE, {TUI_KEY_UP, 'k'}, NULL, "one line up", tui_do_up, NULL, NULL},
	{"down", TUI_GROUP_MOVE, {TUI_KEY_DOWN, 'j'}, NULL, "one line down", tui_do_down, NULL, NULL},
	{"page-up", TUI_GROUP_MOVE, {TUI_KEY_PAGE_UP, TUI_CONTROL('b'), TUI_CONTROL('u')}, NULL, "one screen up", tui_do_page_up, NULL, NULL},
	{"page-down", TUI_GROUP_MOVE, {TUI_KEY_PAGE_DOWN, TUI_CONTROL('f'), TUI_CONTROL('d')}, NULL, "one screen down", tui_do_page_down, NULL, NULL},
	{"first", TUI_GROUP_MOVE, {TUI_KEY_HOME, 'g'}, NULL, "the first line", tui_do_first, NULL, NULL},
	{"last", TUI_GROUP_MOVE, {TUI_KEY_END, 'G'}, NULL, "the last line: totals and notes", tui_do_last, NULL, NULL},
	{"scroll-left", TUI_GROUP_MOVE, {TUI_KEY_SHIFT_LEFT, '{'}, NULL, "scroll names and texts left", tui_do_left, NULL, NULL},
	{"scroll-right", TUI_GROUP_MOVE, {TUI_KEY_SHIFT_RIGHT, '}'}, NULL, "scroll names and texts right", tui_do_right, NULL, NULL},
	{"hottest", TUI_GROUP_MOVE, {'H'}, "hottest", "the most costly row; again: the next most costly", tui_do_hottest, tui_has_rows, NULL},

	{"menu", TUI_GROUP_VIEW, {TUI_KEY_ENTER}, "!menu", "menu of what can be done with the line: views, callers, only one thread, process, image or phase, writing; in menus, choose", tui_do_menu, NULL, NULL},
	{"enter", TUI_GROUP_VIEW, {TUI_KEY_RIGHT}, "!in", "open what the line refers to at once: from functions to lines, to instructions, to their cycles", tui_do_in, NULL, NULL},
	{"back", TUI_GROUP_VIEW, {TUI_KEY_ESCAPE, TUI_KEY_BACKSPACE, TUI_KEY_LEFT, 'q'}, "!back", "back; q in the first view ends the program", tui_do_back, NULL, NULL},
	{"quit", TUI_GROUP_VIEW, {'Q', TUI_KEY_F10}, NULL, "end the program", tui_do_quit, NULL, NULL},
	{"reports", TUI_GROUP_VIEW, {'v'}, "!reports", "menu of reports", tui_do_reports, NULL, NULL},
	{"report", TUI_GROUP_VIEW, {'1', '2', '3', '4', '5'}, NULL, "the first, second ... report of the menu; also 6 to 9", tui_do_number, NULL, NULL},
	{"next-report", TUI_GROUP_VIEW, {TUI_KEY_TAB, TUI_KEY_BACKTAB}, NULL, "replace this report by the next or previous one of the menu", tui_do_next_report, NULL, NULL},
	{"lines", TUI_GROUP_VIEW, {'l'}, "lines", "source lines of the function", tui_do_report, tui_has_procedure, "lines"},
	{"disassembly", TUI_GROUP_VIEW, {'d', 'a'}, "disassembly", "instructions of the function", tui_do_report, tui_has_procedure, "dis"},
	{"calc", TUI_GROUP_VIEW, {'c'}, NULL, "executions and cycles of the function's instructions", tui_do_report, tui_has_procedure, "calc"},
	{"why", TUI_GROUP_VIEW, {'y'}, NULL, "cycles of the function by cause, with remedies", tui_do_report, tui_has_procedure, "why"},
	{"butterfly", TUI_GROUP_VIEW, {'b'}, "callers", "the function between its callers and callees", tui_do_report, tui_has_procedure, "butterfly"},
	{"calltree", TUI_GROUP_VIEW, {'t'}, NULL, "the function in the call tree", tui_do_report, tui_has_procedure, "calltree"},
	{"split", TUI_GROUP_VIEW, {'s'}, "split", "a second view, below or (from 120 columns on) beside: source of the row; again: its instructions; again: none", tui_do_split, NULL, NULL},
	{"split-down", TUI_GROUP_VIEW, {'J'}, NULL, "the second view half a screen down", tui_do_split_down, tui_has_split, NULL},
	{"split-up", TUI_GROUP_VIEW, {'K'}, NULL, "the second view half a screen up", tui_do_split_up, tui_has_split, NULL},

	{"timeline", TUI_GROUP_VIEW, {'T'}, NULL, "functions over time", tui_do_timeline, NULL, NULL},
	{"time-left", TUI_GROUP_VIEW, {'('}, NULL, "in the timeline: the time cursor left", tui_do_time_left, tui_has_times, NULL},
	{"time-right", TUI_GROUP_VIEW, {')'}, "time", "in the timeline: the time cursor right", tui_do_time_right, tui_has_times, NULL},
	{"time-begin", TUI_GROUP_VIEW, {'['}, "begin", "select times from the time cursor on", tui_do_time_begin, tui_has_times, NULL},
	{"time-end", TUI_GROUP_VIEW, {']'}, "end", "select times up to the time cursor", tui_do_time_end, tui_has_times, NULL},
	{"zoom", TUI_GROUP_VIEW, {'z'}, "zoom", "all reports of the selected times only", tui_do_zoom, tui_has_times, NULL},
	{"unzoom", TUI_GROUP_VIEW, {'Z'}, "whole", "all reports of the whole run again", tui_do_unzoom, tui_has_zoom, NULL},

	{"search", TUI_GROUP_FIND, {'/'}, "search", "search forward, ignoring case", tui_do_search, NULL, NULL},
	{"search-back", TUI_GROUP_FIND, {'r'}, NULL, "search backward", tui_do_search_back, NULL, NULL},
	{"next", TUI_GROUP_FIND, {'n'}, NULL, "next match", tui_do_next, NULL, NULL},
	{"previous", TUI_GROUP_FIND, {'N'}, NULL, "previous match", tui_do_previous, NULL, NULL},
	{"filter", TUI_GROUP_FIND, {'\\'}, "filter", "only rows that contain a text; empty: all rows", tui_do_filter, tui_has_rows, NULL},
	{"sort", TUI_GROUP_FIND, {'>', '.'}, "sort", "sort by the next column to the right, then by name, then as reported", tui_do_sort_next, tui_has_rows, NULL},
	{"sort-back", TUI_GROUP_FIND, {'<', ','}, NULL, "sort by the next column to the left", tui_do_sort_previous, tui_has_rows, NULL},
	{"reverse", TUI_GROUP_FIND, {'I'}, NULL, "reverse the order", tui_do_reverse, tui_has_rows, NULL},

	{"expand", TUI_GROUP_SHOW, {' ', 'e', '+', '-'}, "fold", "hide or show what is below a branch of the tree; in menus, turn on or off", tui_do_expand, tui_has_tree, NULL},
	{"expand-all", TUI_GROUP_SHOW, {'E', '*'}, NULL, "show all branches", tui_do_expand_all, tui_has_tree, NULL},
	{"collapse-all", TUI_GROUP_SHOW, {'C'}, NULL, "hide all branches below the first level", tui_do_collapse_all, tui_has_tree, NULL},
	{"columns", TUI_GROUP_SHOW, {'|'}, "columns", "menu of columns to hide or show", tui_do_columns, tui_has_rows, NULL},
	{"switches", TUI_GROUP_SHOW, {'o'}, "switches", "menu of options that change the report", tui_do_switches, NULL, NULL},
	{"inclusive", TUI_GROUP_SHOW, {'i'}, NULL, "inclusive figures, or exclusive", tui_do_switch, NULL, "inclusive"},
	{"inlines", TUI_GROUP_SHOW, {'u'}, NULL, "inlined functions in rows of their own, or not", tui_do_switch, NULL, "inlines"},
	{"intervals", TUI_GROUP_SHOW, {'%'}, NULL, "95% intervals of estimates, or none", tui_do_intervals, NULL, NULL},
	{"ascii", TUI_GROUP_SHOW, {'A'}, NULL, "draw with ASCII or with Unicode", tui_do_unicode, NULL, NULL},
	{"mouse", TUI_GROUP_SHOW, {'m'}, NULL, "mouse on or off: a click selects, two open, the wheel scrolls", tui_do_mouse, NULL, NULL},

	{"export", TUI_GROUP_OTHER, {'w', 'P'}, "write", "write what is shown to a file: text, or .csv or .json by its name", tui_do_export, NULL, NULL},
	{"redraw", TUI_GROUP_OTHER, {TUI_CONTROL('l')}, NULL, "redraw the screen", tui_do_redraw, NULL, NULL},
	{"help", TUI_GROUP_OTHER, {'?', 'h', TUI_KEY_F1}, "!keys", "this list", tui_do_help, NULL, NULL},
	{NULL, TUI_GROUPS, {0}, NULL, NULL, NULL, NULL, NULL},
};
/* clang-format on */

const struct tui_action *tui_action_of(const struct tui *t, int key)
{
	if (key >= '6' && key <= '9')
		key = '1' + (key - '6') % 5;
	for (const struct tui_action *a = tui_actions; a->name; a++)
		for (int i = 0; i < TUI_ACTION_KEYS && a->keys[i]; i++)
			if (a->keys[i] == key)
				return a;
	(void)t;
	return NULL;
}
