/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/views.h"

#include <stddef.h>

/* A new report is a row here (options.c makes its option), a function and an .It Fl in prof(1) and
 * on the page of its family. */
const struct view report_views[] = {
	{"procedures", "functions, most costly first (what prof does without options)",
		report_procedures,
		VIEW_BY | VIEW_INCLUSIVE | VIEW_INLINES | VIEW_RAW_INLINES | VIEW_WHOLE},
	{"heavy", "source lines, most costly first", report_heavy,
		VIEW_BY | VIEW_INCLUSIVE | VIEW_INLINES | VIEW_RAW | VIEW_WHOLE},
	{"lines", "source files with counts beside each line", report_lines,
		VIEW_BY | VIEW_INLINES | VIEW_RAW},
	{"butterfly", "each function between its callers and callees", report_butterfly,
		VIEW_BY | VIEW_INCLUSIVE | VIEW_INLINES | VIEW_WHOLE},
	{"calltree", "the call tree", report_calltree,
		VIEW_BY | VIEW_INCLUSIVE | VIEW_INLINES | VIEW_WHOLE},
	{"dso", "the executable, shared libraries, the kernel", report_images_view,
		VIEW_BY | VIEW_INCLUSIVE | VIEW_WHOLE},
	{"usage", "processes of the run and what each used", report_usage,
		VIEW_THREADS | VIEW_BY | VIEW_WHOLE | VIEW_RUN},
	{"summary", "the contents of the experiment", report_summary_view, VIEW_RUN},
	{"dis", "disassembly of the most costly functions, with source lines and jumps", report_dis,
		VIEW_ABOUT | VIEW_RAW | VIEW_INTEL | VIEW_WHOLE | VIEW_INLINES},
	{"timeline",
		"functions over time; with -by thread, process or command; -from and -to "
		"select a part",
		report_timeline, VIEW_BY | VIEW_INCLUSIVE | VIEW_INLINES},
	{"waits", "what threads waited for, where, and what let them go on (ssrun -totaltime)",
		report_waits, VIEW_THREADS | VIEW_BY | VIEW_WHOLE},
	{"calc", "executions, cycles and waits of each instruction of a function", report_calc,
		VIEW_ALONE | VIEW_ABOUT | VIEW_CYCLES | VIEW_RAW | VIEW_INTEL | VIEW_WHOLE |
			VIEW_INLINES},
	{"stalls", "the longest waits of the program, and their possible causes", report_stalls,
		VIEW_ABOUT | VIEW_CYCLES | VIEW_INTEL | VIEW_INLINES},
	{"why", "the cycles of a function, or of the program, by cause, with remedies", report_why,
		VIEW_ABOUT | VIEW_CYCLES | VIEW_WHOLE | VIEW_INLINES},
	{"topblocks", "the basic blocks that took most cycles", report_topblocks,
		VIEW_ABOUT | VIEW_CYCLES | VIEW_INLINES},
	{"cfg", "the control flow graph of a function; with -dot for Graphviz", report_cfg,
		VIEW_ABOUT | VIEW_CYCLES | VIEW_WHOLE | VIEW_INLINES},
	{"archinfo", "kinds of instructions executed, from exact counts (ssrun -ideal)",
		report_archinfo, 0},
	{"dataspace", "variables and allocations that misses belong to, and sharing of their lines",
		report_dataspace, VIEW_WHOLE | VIEW_INLINES | VIEW_OBJECTS},
	{"datalines", "the cache lines of those variables and allocations", report_datalines,
		VIEW_WHOLE | VIEW_INLINES | VIEW_OBJECTS},
	{"values",
		"the values that instructions work on, of a function or the program (ssrun "
		"-values)",
		report_values_view, VIEW_ABOUT},
	{"arguments", "arguments that functions are called with, and what they return",
		report_arguments, VIEW_ABOUT},
	{"operations", "divisors, zeros, powers of two, denormal numbers: operands worth knowing",
		report_operations, VIEW_ABOUT},
	{"access", "strides and alignment of loads and stores, chains of loads", report_access,
		VIEW_ABOUT},
	{"conflicts", "loads that wait for stores: blocked forwarding, 4K aliases",
		report_conflicts, VIEW_ABOUT},
	{"redundant", "loads of the same value, stores of what is there, stores never read",
		report_redundant, VIEW_ABOUT},
	{"watch", "what became of loads and stores that were watched (ssrun -values=watch)",
		report_watch, VIEW_ABOUT},
	{"latency", "how long loads take, and from which cache or memory (ssrun -values=latency)",
		report_latency, VIEW_ABOUT},
	{NULL, NULL, NULL, 0},
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
