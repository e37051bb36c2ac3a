/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/views.h"

#include <stddef.h>

/* A new report is a row here (options.c makes its option), a function and an .It Fl in prof(1). */
const struct view prof_views[] = {
	{.name = "procedures",
		.help = "functions, most costly first (what prof does without options)",
		.make = prof_procedures},
	{.name = "heavy", .help = "source lines, most costly first", .make = prof_heavy},
	{.name = "lines", .help = "source files with counts beside each line", .make = prof_lines},
	{.name = "butterfly",
		.help = "each function between its callers and callees",
		.make = prof_butterfly},
	{.name = "calltree", .help = "the call tree", .make = prof_calltree},
	{.name = "dso",
		.help = "the executable, shared libraries, the kernel",
		.make = prof_images_view},
	{.name = "usage",
		.help = "processes of the run and what each used",
		.make = prof_usage,
		.threads = true},
	{.name = "summary", .help = "the contents of the experiment", .make = prof_summary_view},
	{.name = "dis",
		.help = "disassembly of the most costly functions, with source lines and jumps",
		.make = prof_dis},
	{.name = "calc",
		.help = "executions, cycles and waits of each instruction of a function",
		.make = prof_calc,
		.alone = true,
		.cycles = true},
	{.name = "stalls",
		.help = "the longest waits of the program, and their possible causes",
		.make = prof_stalls,
		.about = true,
		.cycles = true},
	{.name = "why",
		.help = "the cycles of a function, or of the program, by cause, with remedies",
		.make = prof_why,
		.about = true,
		.cycles = true},
	{.name = "topblocks",
		.help = "the basic blocks that took most cycles",
		.make = prof_topblocks,
		.about = true,
		.cycles = true},
	{.name = "cfg",
		.help = "the control flow graph of a function; with -dot for Graphviz",
		.make = prof_cfg,
		.about = true,
		.cycles = true},
	{.name = "archinfo",
		.help = "kinds of instructions executed, from exact counts (ssrun -ideal)",
		.make = prof_archinfo},
	{.name = "dataspace",
		.help = "variables and allocations that misses belong to, and sharing of their "
			"lines",
		.make = prof_dataspace},
	{.name = "datalines",
		.help = "the cache lines of those variables and allocations",
		.make = prof_datalines},
	{.name = NULL},
};

prof_view *prof_view_make(const struct view *view, bool changes)
{
	static const struct {
		prof_view *of, *changes;
	} known[] = {
		{prof_procedures, prof_diff},
		{prof_heavy, prof_diff_lines},
		{prof_images_view, prof_diff_images},
	};

	if (!changes)
		return view->make;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (known[i].of == view->make)
			return known[i].changes;
	return NULL;
}
