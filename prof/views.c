/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "views.h"

#include <stddef.h>

/* A new report is a row here (options.c makes its option), a function and an .It Fl in prof(1). */
const struct view views[] = {
	{"procedures", "functions, most costly first (what prof does without options)",
		prof_procedures, false},
	{"heavy", "source lines, most costly first", prof_heavy, false},
	{"lines", "source lines in order, with the source", prof_lines, false},
	{"butterfly", "each function between its callers and what it calls", prof_butterfly, false},
	{"calltree", "the call tree", prof_calltree, false},
	{"dso", "executable, libraries, kernel", prof_images_view, false},
	{"usage", "processes of the run, what each used", prof_usage, true},
	{"summary", "what the experiment holds", prof_summary_view, false},
	{"dis", "disassembly of the most costly functions, with source lines and jumps", prof_dis,
		false},
	{"calc", "executions, cycles and waits of each instruction of a function", prof_calc,
		false},
	{"archinfo", "kinds of instructions executed, from exact counts (ssrun -ideal)",
		prof_archinfo, false},
	{NULL, NULL, NULL, false},
};

prof_view *view_of_changes(prof_view *make)
{
	static const struct {
		prof_view *of, *changes;
	} known[] = {
		{prof_procedures, prof_diff},
		{prof_heavy, prof_diff_lines},
		{prof_images_view, prof_diff_images},
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (known[i].of == make)
			return known[i].changes;
	return NULL;
}
