/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "options.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/strbuf.h"
#include "report/views.h"

/* A report and the function that it is about. */
static int add_calc(void *target, const char *argument, struct error *e)
{
	struct options *o = target;

	for (size_t i = 0; report_views[i].name; i++)
		if (report_views[i].make == report_calc)
			o->view[i] = true;
	return option_words_add(&o->only, argument, e);
}

/* n, n% or ncum%. */
static int set_quit(void *target, const char *argument, struct error *e)
{
	struct prof_quit *q = &((struct options *)target)->request.quit;
	char *end;
	double value = strtod(argument, &end);

	if (end != argument && value > 0 && isfinite(value)) {
		if (!*end && value == floor(value) && value <= 1e15) {
			q->rows = (unsigned long)value;
			return 0;
		}
		if (strcmp(end, "%") == 0 && value <= 100) {
			q->percent = value;
			return 0;
		}
		if (strcmp(end, "cum%") == 0 && value <= 100) {
			q->cumulative = value;
			return 0;
		}
	}
	error_set(e, ERR_PARSE, "-q does not take '%s'", argument);
	return error_hint(e, "-q 10: ten rows; -q 2%%: rows of 2%% and more; -q 90cum%%: rows "
			     "until they add up to 90%%");
}

#define FIELD(field) .offset = offsetof(struct options, field)

static const struct option_row rows[] = {
	{"q", "N|N%|Ncum%", "quit after N rows, below N%, or at cumulative N%", OPTION_CALL,
		.call = set_quit},
	{"only", "GLOB", "only functions or images that match; may be repeated", OPTION_WORDS,
		FIELD(only)},
	{"exclude", "GLOB", "leave out functions or images that match; may be repeated",
		OPTION_WORDS, FIELD(exclude)},
	{"inclusive", NULL, "add and sort by figures that include what was called",
		FIELD(request.inclusive)},
	{"inlines", NULL, "give inlined functions rows of their own", FIELD(request.inlines)},
	{"raw", NULL,
		"-heavy, -lines: leave samples where interrupts found them; -dis: show these as "
		"well",
		FIELD(request.raw)},
	{"intel", NULL, "-dis: Intel's syntax", FIELD(request.intel)},
	{"whole", NULL, "-dis: show large functions in full", FIELD(request.whole)},
	{"classic", NULL, "-calc: estimate executions as for cores that issue in order",
		FIELD(request.classic)},
	{"core", "CORE", "-calc: schedule for this core (default: that of this host)",
		OPTION_STRING, FIELD(request.core)},
	{"threads", NULL, "rows for each thread, process or rank", FIELD(request.threads)},
	{"calipers", "[A,]B", "only between two caliper points, or phases of this name",
		OPTION_STRING, FIELD(request.calipers)},
	{"compare", NULL, "show files side by side with ratios instead of their sum",
		FIELD(compare)},
	{"diff", NULL,
		"changes between two files, or directories of runs, beyond chance; with -heavy by "
		"line, with -dso by image",
		FIELD(diff)},
	{"share", NULL, "-diff: compare shares of the whole instead of absolute numbers",
		FIELD(request.shares)},
	{"ci", NULL, "show the 95% interval of each estimate", FIELD(intervals)},
	{"source-path", "DIR", "look for source files below DIR; may be repeated", OPTION_WORDS,
		FIELD(sources)},
	{"archive", "DIR", "take images from what ssrun -archive kept; may be repeated",
		OPTION_WORDS, FIELD(archives)},
	{"root", "DIR", "look for images below DIR first", OPTION_STRING, FIELD(root)},
	{"debug-dir", "DIR", "look for separate debug files in DIR, not in /usr/lib/debug",
		OPTION_STRING, FIELD(debug_directory)},
	{"debuginfod", NULL, "ask debuginfod servers for what is missing", FIELD(debuginfod)},
	{"csv", NULL, "comma-separated values", FIELD(csv)},
	{"json", NULL, "JSON, schema prof.rows/1", FIELD(json)},
	{"export", "FORMAT", "pprof, callgrind, folded, speedscope or json, for other tools",
		OPTION_STRING, FIELD(export)},
	{"metric", "NAME", "-export: only this metric; may be repeated", OPTION_WORDS,
		FIELD(metrics)},
	{"plot", "lines|costs|sweep",
		"draw a picture: into -o FILE.png, .svg or .pdf, else on the terminal",
		OPTION_STRING, FIELD(plot)},
	{"x", "NAME",
		"-plot sweep: the parameter: argN, -OPTION, threads, ranks, file, or a fact of "
		"runs",
		OPTION_STRING, FIELD(x)},
	{"y", "EVENT,...", "-plot sweep: EVENT, EVENT/EVENT, EVENT/x^N, or costs", OPTION_STRING,
		FIELD(y)},
	{"dot", NULL, "-cfg: a graph for dot(1) of Graphviz", FIELD(dot)},
	{"o", "FILE", "write to FILE", OPTION_STRING, FIELD(output)},
	{"tui", NULL, "show the reports on the terminal; press ? for keys", FIELD(tui)},
	{"mouse", NULL, "-tui: turn the mouse on", FIELD(mouse)},
	{"ascii", NULL, "-tui: draw with ASCII characters only", FIELD(ascii)},
	{"merge", NULL, "add files up into one (-o FILE), without a report", FIELD(merge)},
	{"dump", NULL,
		"print the whole contents of files; with -q, without argument, only what equal "
		"runs have in common",
		FIELD(dump)},
	{"completion", NULL, "print the options for completions of shells", FIELD(completion)},
	{"help", NULL, "list the options", FIELD(help)},
	{"version", NULL, "print the version", FIELD(version)},
};

/* -q has another meaning in reports without rows to cut. */
static void make_dump_table(struct option_row *table)
{
	for (; table->name; table++)
		if (strcmp(table->name, "q") == 0) {
			table->argument = NULL;
			table->kind = OPTION_FLAG;
			table->offset = offsetof(struct options, dump_quiet);
		}
}

/* Views first, then the rest. */
static struct option_row *make_table(void)
{
	size_t count = 0, more = sizeof(rows) / sizeof(rows[0]);
	struct option_row *table;

	while (report_views[count].name)
		count++;
	if (count > VIEWS_MAX)
		return NULL;
	table = calloc(count + more + 1, sizeof(*table));
	if (!table)
		return NULL;
	for (size_t i = 0; i < count; i++)
		table[i] = (struct option_row){
			report_views[i].name, NULL, report_views[i].help, FIELD(view[i])};
	for (size_t i = 0; i < count; i++)
		if (report_views[i].flags & VIEW_ALONE) {
			table[i].argument = "PROCEDURE";
			table[i].kind = OPTION_CALL;
			table[i].call = add_calc;
		}
	memcpy(table + count, rows, sizeof(rows));
	return table;
}

static int check_diff(const struct options *o, struct error *e)
{
	if (!o->diff)
		return o->request.shares ? error_set(e, ERR_CONFLICT, "-share needs -diff") : 0;
	if (o->merge || o->dump || o->compare || o->request.threads)
		return error_set(e, ERR_CONFLICT,
			"-diff cannot be combined with -merge, -dump, -compare or -threads");
	for (size_t i = 0; report_views[i].name; i++)
		if (o->view[i] && !report_view_make(&report_views[i], true))
			return error_set(e, ERR_CONFLICT,
				"-diff cannot be combined with -%s: it reports functions, -heavy "
				"or -dso",
				report_views[i].name);
	return 0;
}

static int check_export(const struct options *o, bool report, struct error *e)
{
	if (!o->export)
		return o->metrics.count > 1 ? error_set(e, ERR_CONFLICT, "-metric needs -export")
					    : 0;
	if (report || o->csv || o->json || o->merge || o->dump || o->diff)
		return error_set(e, ERR_CONFLICT,
			"-export writes a file for other tools: leave out reports");
	if (o->request.quit.rows || o->request.quit.percent > 0 || o->request.quit.cumulative > 0 ||
		o->request.inclusive)
		return error_set(
			e, ERR_CONFLICT, "-export writes everything: leave out -q and -inclusive");
	return 0;
}

static int check_tui(const struct options *o, size_t chosen, struct error *e)
{
	if (!o->tui)
		return o->mouse || o->ascii
			       ? error_set(e, ERR_CONFLICT, "-mouse and -ascii need -tui")
			       : 0;
	if (o->csv || o->json || o->output || o->merge || o->dump || o->export || o->plot ||
		o->dot) {
		error_set(e, ERR_CONFLICT,
			"-tui cannot be combined with -csv, -json, -export, -plot, -dot, -o, "
			"-merge or -dump");
		return error_hint(
			e, "in the terminal interface, key w writes what is shown to a file");
	}
	if (chosen > 1)
		return error_set(
			e, ERR_CONFLICT, "-tui begins with one report: leave out the others");
	return 0;
}

static int check_plot(const struct options *o, bool report, struct error *e)
{
	static const char *const kinds[] = {"lines", "costs", "sweep", "-"};
	bool known = false;

	if (!o->plot)
		return o->x || o->y ? error_set(e, ERR_CONFLICT, "-x and -y need -plot sweep") : 0;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		known = known || strcmp(o->plot, kinds[i]) == 0;
	if (!known) {
		error_set(e, ERR_PARSE, "-plot: unknown kind '%s'", o->plot);
		return error_hint(e,
			"lines: source lines; costs: events; sweep: curves over a parameter (-x)");
	}
	if (report || o->csv || o->json || o->merge || o->dump || o->diff || o->compare ||
		o->export || o->request.threads || o->tui)
		return error_set(e, ERR_CONFLICT, "-plot draws one picture: leave out reports");
	if ((o->x || o->y) && strcmp(o->plot, "sweep") != 0)
		return error_set(e, ERR_CONFLICT, "-x and -y need -plot sweep");
	return 0;
}

static int check(const struct options *o, struct error *e)
{
	size_t chosen = 0;

	for (size_t i = 0; i < VIEWS_MAX; i++)
		chosen += o->view[i];
	if (o->dot && (o->csv || o->json))
		return error_set(e, ERR_CONFLICT, "-dot, -csv and -json exclude each other");
	for (size_t i = 0; o->dot && report_views[i].name; i++)
		if (o->view[i] != (report_views[i].make == report_cfg))
			return error_set(e, ERR_CONFLICT, "-dot needs -cfg, and no other report");
	if (o->csv && o->json)
		return error_set(e, ERR_CONFLICT, "-csv and -json exclude each other");
	if (o->merge && (chosen || o->csv || o->json || o->compare))
		return error_set(e, ERR_CONFLICT, "-merge writes a file: leave out reports");
	if (o->dump && (chosen || o->csv || o->json || o->merge)) {
		error_set(e, ERR_CONFLICT, "-dump prints files as they are: leave out reports");
		return error_hint(e, "for scripts, -export json writes all samples");
	}
	if (o->merge && !o->output) {
		error_set(e, ERR_CONFLICT, "-merge needs -o SUM for the file to write");
		return error_hint(e, "prof -merge -o SUM file ...");
	}
	for (size_t i = 0; i + 1 < o->archives.count; i++)
		if (access(o->archives.data[i], R_OK | X_OK)) {
			error_sys(e, errno, "-archive: cannot read %s", o->archives.data[i]);
			return error_hint(e, "ssrun -archive DIR fills such a directory");
		}
	if (check_diff(o, e) || check_tui(o, chosen, e) || check_plot(o, chosen > 0, e))
		return -1;
	if (chosen > 1 && (o->csv || o->json))
		return error_set(
			e, ERR_CONFLICT, "-csv and -json print one report: leave out the others");
	return check_export(o, chosen > 0, e);
}

static char *whole_line(int argc, char **argv)
{
	struct strbuf text = {0};

	strbuf_puts(&text, "prof");
	for (int i = 1; i < argc; i++)
		strbuf_printf(&text, " %s", argv[i]);
	return strbuf_take(&text);
}

/* Options may come before, between and after files. */
static int parse_words(struct options *o, int argc, char **argv, struct error *e)
{
	size_t count = 0;
	bool ended = false;

	o->files = calloc((size_t)argc + 1, sizeof(*o->files));
	if (!o->files)
		return error_nomem(e);
	for (int at = 0; at < argc && !ended;) {
		int rest = option_parse(o->table, o, argc - at, argv + at, e);

		if (rest < 0)
			return -1;
		at += rest;
		ended = rest > 1 && strcmp(argv[at - 1], "--") == 0;
		for (int i = at; i < (ended ? argc : at + 1) && i < argc; i++)
			o->files[count++] = argv[i];
	}
	return 0;
}

/* -why and similar: a word that is not a file is the report's function, if others are files. */
static int take_procedures(struct options *o, struct error *e)
{
	size_t kept = 0, files = 0;
	bool any = false;

	for (size_t i = 0; report_views[i].name; i++)
		any = any || (o->view[i] && (report_views[i].flags & VIEW_ABOUT));
	for (size_t i = 0; o->files[i]; i++)
		files += access(o->files[i], F_OK) == 0;
	if (!any || !files)
		return 0;
	for (size_t i = 0; o->files[i]; i++) {
		if (access(o->files[i], F_OK) == 0 || strchr(o->files[i], '/'))
			o->files[kept++] = o->files[i];
		else if (option_words_add(&o->only, o->files[i], e))
			return -1;
	}
	o->files[kept] = NULL;
	return 0;
}

int options_parse(struct options *o, int argc, char **argv, struct error *e)
{
	memset(o, 0, sizeof(*o));
	o->table = make_table();
	o->line = whole_line(argc, argv);
	if (!o->table || !o->line)
		return error_nomem(e);
	for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
		if (argv[i][0] == '-' && strcmp(argv[i] + 1 + (argv[i][1] == '-'), "dump") == 0)
			make_dump_table(o->table);
	if (parse_words(o, argc, argv, e) || take_procedures(o, e) ||
		option_words_add(&o->only, NULL, e) || option_words_add(&o->exclude, NULL, e) ||
		option_words_add(&o->sources, NULL, e) || option_words_add(&o->archives, NULL, e) ||
		option_words_add(&o->metrics, NULL, e))
		return -1;
	return check(o, e);
}

void options_fini(struct options *o)
{
	vec_fini(&o->only);
	vec_fini(&o->exclude);
	vec_fini(&o->sources);
	vec_fini(&o->archives);
	vec_fini(&o->metrics);
	free(o->files);
	free(o->table);
	free(o->line);
}
