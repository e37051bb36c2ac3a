/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/views.h"

#include <stddef.h>

/* A new report is a row here (options.c makes its option), a function and an .It Fl in prof(1). */
const struct view report_views[] = {
	{.name = "procedures",
		.help = "functions, most costly first (what prof does without options)",
		.make = report_procedures},
	{.name = "heavy", .help = "source lines, most costly first", .make = report_heavy},
	{.name = "lines",
		.help = "source files with counts beside each line",
		.make = report_lines},
	{.name = "butterfly",
		.help = "each function between its callers and callees",
		.make = report_butterfly},
	{.name = "calltree", .help = "the call tree", .make = report_calltree},
	{.name = "dso",
		.help = "the executable, shared libraries, the kernel",
		.make = report_images_view},
	{.name = "usage",
		.help = "processes of the run and what each used",
		.make = report_usage,
		.threads = true},
	{.name = "summary", .help = "the contents of the experiment", .make = report_summary_view},
	{.name = "dis",
		.help = "disassembly of the most costly functions, with source lines and jumps",
		.make = report_dis},
	{.name = "calc",
		.help = "executions, cycles and waits of each instruction of a function",
		.make = report_calc,
		.alone = true,
		.cycles = true},
	{.name = "stalls",
		.help = "the longest waits of the program, and their possible causes",
		.make = report_stalls,
		.about = true,
		.cycles = true},
	{.name = "why",
		.help = "the cycles of a function, or of the program, by cause, with remedies",
		.make = report_why,
		.about = true,
		.cycles = true},
	{.name = "topblocks",
		.help = "the basic blocks that took most cycles",
		.make = report_topblocks,
		.about = true,
		.cycles = true},
	{.name = "cfg",
		.help = "the control flow graph of a function; with -dot for Graphviz",
		.make = report_cfg,
		.about = true,
		.cycles = true},
	{.name = "archinfo",
		.help = "kinds of instructions executed, from exact counts (ssrun -ideal)",
		.make = report_archinfo},
	{.name = "dataspace",
		.help = "variables and allocations that misses belong to, and sharing of their "
			"lines",
		.make = report_dataspace},
	{.name = "datalines",
		.help = "the cache lines of those variables and allocations",
		.make = report_datalines},
	{.name = NULL},
};

report_view *report_view_make(const struct view *view, bool changes)
{
	static const struct {
		report_view *of, *changes;
	} known[] = {
		{report_procedures, report_diff},
		{report_heavy, report_diff_lines},
		{report_images_view, report_diff_images},
	};

	if (!changes)
		return view->make;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (known[i].of == view->make)
			return known[i].changes;
	return NULL;
}
