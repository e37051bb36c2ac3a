/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "options.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/habits.h"
#include "base/strbuf.h"
#include "load/load.h"
#include "pgo/pgo.h"
#include "report/views.h"

/* A report and the function that it is about. */
static int add_calc(void *target, const char *argument, struct error *e)
{
	struct options *o = target;

	for (size_t i = 0; report_views[i].name; i++)
		if (report_views[i].make == report_calc)
			o->view[i] = true;
	return option_words_add(&o->about, argument, e) ?: option_words_add(&o->only, argument, e);
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

static int set_by(void *target, const char *argument, struct error *e)
{
	static const struct {
		const char *one, *many;
	} words[] = {[PROF_GROUP_THREAD] = {"thread", "threads"},
		[PROF_GROUP_PROCESS] = {"process", "processes"},
		[PROF_GROUP_COMMAND] = {"command", "commands"},
		[PROF_GROUP_CPU] = {"cpu", "cpus"}};
	struct options *o = target;

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strcmp(argument, words[i].one) == 0 || strcmp(argument, words[i].many) == 0) {
			o->request.threads = true;
			o->request.by = (enum prof_grouping)i;
			return 0;
		}
	return error_set(
		e, ERR_PARSE, "-by: give process, command, thread or cpu, not '%s'", argument);
}

/* Words about processes, commands and threads become a list of their own. */
static int split_whom(word_list *words, word_list *whom, struct error *e)
{
	size_t kept = 0;

	for (size_t i = 0; i < words->count; i++) {
		if (!profile_is_whom(words->data[i]))
			words->data[kept++] = words->data[i];
		else if (option_words_add(whom, words->data[i], e))
			return -1;
	}
	words->count = kept;
	return 0;
}

#define FIELD(field) .offset = offsetof(struct options, field)

static const struct option_row rows[] = {
	{"q", "N|N%|Ncum%", "quit after N rows, below N%, or at cumulative N%", OPTION_CALL,
		.call = set_quit},
	{"only", "GLOB",
		"only functions or images that match, or only process:GLOB, command:GLOB, "
		"thread:GLOB, cpu:N; may be repeated",
		OPTION_WORDS, FIELD(only)},
	{"exclude", "GLOB", "leave these out; may be repeated", OPTION_WORDS, FIELD(exclude)},
	{"inclusive", NULL, "add and sort by figures that include what was called",
		FIELD(request.inclusive)},
	{"inlines", NULL, "give inlined functions rows of their own", FIELD(request.inlines)},
	{"raw", NULL,
		"-heavy, -lines: leave samples where interrupts found them; -dis, -calc: show "
		"these as well",
		FIELD(request.raw)},
	{"intel", NULL, "-dis, -calc, -stalls: Intel's syntax", FIELD(request.intel)},
	{"whole", NULL,
		"show also what has few samples or none: rows of lists, -calltree, -dis, -cfg, "
		"-dataspace, -waits, -why; of callers, python3's functions before the first one of "
		"Python",
		FIELD(request.whole)},
	{"classic", NULL, "estimate executions as for cores that issue in order",
		FIELD(request.classic)},
	{"core", "CORE",
		"executions and waits by the schedule for this core (default: this host's)",
		OPTION_STRING, FIELD(request.core)},
	{"threads", NULL, "rows for each thread, process or rank", FIELD(request.threads)},
	{"by", "process|command|thread|cpu", "rows for each of these, busiest first", OPTION_CALL,
		.call = set_by},
	{"calipers", "[A,]B", "only between two caliper points, or phases of this name",
		OPTION_STRING, FIELD(request.calipers)},
	{"from", "TIME", "only from this time of the run on: 1.5, 200ms, or 25%", OPTION_STRING,
		FIELD(request.from)},
	{"to", "TIME", "only up to this time", OPTION_STRING, FIELD(request.to)},
	{"compare", NULL, "show files side by side with ratios instead of their sum",
		FIELD(compare)},
	{"diff", NULL,
		"changes between two files, or directories of runs, beyond chance; with -heavy by "
		"line, with -dso by image",
		FIELD(diff)},
	{"share", NULL, "-diff: compare shares of the whole instead of absolute numbers",
		FIELD(request.shares)},
	{"ci", NULL, "show the 95% interval of each estimate", FIELD(intervals)},
	{"names", "short|full",
		"short: long names of functions fit the terminal (default); full: whole names",
		OPTION_STRING, FIELD(names)},
	{"width", "COLUMNS", "rows and notes fit this (default: the terminal's width; else whole)",
		OPTION_COUNT, FIELD(width)},
	{"head", NULL, "show all that is known of the run above the rows, not five lines",
		FIELD(head)},
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
	{"export", "FORMAT",
		"pprof, callgrind, folded, speedscope or json, for other tools; llvm, afdo, bolt, "
		"profgen, propeller, order or sections, for compilers and linkers",
		OPTION_STRING, FIELD(export)},
	{"image", "GLOB", "-export for compilers: this image (default: that with most executions)",
		OPTION_STRING, FIELD(image)},
	{"metric", "NAME", "-export: only this metric; may be repeated", OPTION_WORDS,
		FIELD(metrics)},
	{"html", "FILE",
		"one page for a browser: functions, call paths, waits, source, instructions, the "
		"reports named; with -diff what changed",
		OPTION_STRING, FIELD(html)},
	{"plot", "lines|costs|sweep|timeline",
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
	{"h", NULL, "a summary on one screen, with examples; also -? and --help", FIELD(overview)},
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

/* The procedure of -calc may be left out: what follows is then an option, or a file or directory of
 * experiments. */
static void make_calc_table(struct option_row *table, const char *next)
{
	char begins[16];
	struct stat st;
	bool file = !next || next[0] == '-' || (stat(next, &st) == 0 && S_ISDIR(st.st_mode)) ||
		    load_knows(begins, load_beginning(next, begins, sizeof(begins)));

	for (; file && table->name; table++)
		if (table->call == add_calc) {
			table->argument = NULL;
			table->kind = OPTION_FLAG;
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
			table[i].argument = "FUNCTION";
			table[i].kind = OPTION_CALL;
			table[i].call = add_calc;
		}
	memcpy(table + count, rows, sizeof(rows));
	table[count + more].help = "prof";
	return table;
}

/* What takes whole files. */
static int check_times(const struct options *o, struct error *e)
{
	if (!(o->request.from || o->request.to) || !(o->merge || o->dump))
		return 0;
	return error_set(e, ERR_CONFLICT, "-%s takes whole files: leave out -from and -to",
		o->merge ? "merge" : "dump");
}

/* An experiment after -html or -o was meant to be read: "prof -html FILE". */
static int check_written(const struct options *o, struct error *e)
{
	const char *path = o->html ? o->html : o->output;
	char head[64];

	if (path && file_is_program(path)) {
		error_set(e, ERR_CONFLICT, "%s: %s is a program, which would be lost",
			o->html ? "-html" : "-o", path);
		return error_hint(e, "name another file first: prof %s FILE %s",
			o->html ? "-html" : "-o", path);
	}
	if (!path || (o->merge && !o->html) || load_is_pipe(path) ||
		!load_knows(head, load_beginning(path, head, sizeof(head))))
		return 0;
	error_set(e, ERR_CONFLICT, "%s: %s is an experiment or recording, which would be lost",
		o->html ? "-html" : "-o", path);
	return o->html ? error_hint(e, "name the page first: prof -html page.html %s", path)
		       : error_hint(e, "give -o another file");
}

static int check_directory(const char *option, const char *path, const char *hint, struct error *e)
{
	if (!path || access(path, R_OK | X_OK) == 0)
		return 0;
	error_sys(e, errno, "-%s: cannot read %s", option, path);
	return error_hint(e, "%s", hint);
}

static int check_directories(const struct options *o, struct error *e)
{
	for (size_t i = 0; i + 1 < o->archives.count; i++)
		if (check_directory("archive", o->archives.data[i],
			    "ssrun -archive DIR fills such a directory", e))
			return -1;
	for (size_t i = 0; i + 1 < o->sources.count; i++)
		if (check_directory("source-path", o->sources.data[i],
			    "give the directory that the program was built in", e))
			return -1;
	return check_directory(
		       "root", o->root, "give the root directory of the system that ran it", e)
		       ?: check_directory("debug-dir", o->debug_directory,
				  "give a directory like /usr/lib/debug", e);
}

static int check_width(const struct options *o, struct error *e)
{
	enum { LEAST = 40 }; /* less has no room for a name and its file */

	if (!o->width || o->width >= LEAST)
		return 0;
	error_set(e, ERR_PARSE, "-width: %lu columns are too few", o->width);
	return error_hint(e, "give %d or more", LEAST);
}

/* -diff has three of the reports. */
static int check_diff(const struct options *o, struct error *e)
{
	for (size_t i = 0; o->diff && report_views[i].name; i++)
		if (o->view[i] && !report_view_make(&report_views[i], true))
			return error_set(e, ERR_CONFLICT,
				"-diff cannot be combined with -%s: it reports functions, -heavy "
				"or -dso",
				report_views[i].name);
	return 0;
}

static int check_words(const struct options *o, struct error *e)
{
	static const char *const kinds[] = {"lines", "costs", "sweep", "timeline", "-"};
	bool known = !o->plot;

	if (o->names && strcmp(o->names, "short") != 0 && strcmp(o->names, "full") != 0)
		return error_set(e, ERR_PARSE, "-names: give short or full, not '%s'", o->names);
	for (size_t i = 0; !known && i < sizeof(kinds) / sizeof(kinds[0]); i++)
		known = strcmp(o->plot, kinds[i]) == 0;
	if (known)
		return 0;
	error_set(e, ERR_PARSE, "-plot: unknown kind '%s'", o->plot);
	return error_hint(e, "lines: source lines; costs: events; sweep: curves over a parameter "
			     "(-x); timeline: functions over time");
}

static bool cfg_alone(const struct options *o)
{
	for (size_t i = 0; report_views[i].name; i++)
		if (o->view[i] != (report_views[i].make == report_cfg))
			return false;
	return true;
}

/* Forms of output and reports (their number): which exclude each other. */
static int check_outputs(const struct options *o, size_t reports, struct error *e)
{
	bool scripts = o->csv || o->json, file = o->merge || o->dump;
	const struct option_rule rules[] = {
		{o->dot && scripts, "-dot, -csv and -json exclude each other"},
		{o->dot && !cfg_alone(o), "-dot needs -cfg, and no other report"},
		{o->csv && o->json, "-csv and -json exclude each other"},
		{o->merge && (reports || scripts || o->compare),
			"-merge writes a file: leave out reports"},
		{o->dump && (reports || scripts || o->merge),
			"-dump prints files as they are: leave out reports\n"
			"for scripts, -export json writes all samples"},
		{o->merge && !o->output, "-merge needs -o SUM for the file to write\n"
					 "prof -merge -o SUM file ..."},
		{!o->diff && o->request.shares, "-share needs -diff"},
		{o->diff && (file || o->compare || o->request.threads),
			"-diff cannot be combined with -merge, -dump, -compare or -threads"},
		{!o->tui && (o->mouse || o->ascii), "-mouse and -ascii need -tui"},
		{o->tui && (scripts || o->output || file || o->export || o->plot || o->dot),
			"-tui cannot be combined with -csv, -json, -export, -plot, -dot, -o, "
			"-merge or -dump\n"
			"in the terminal interface, key w writes what is shown to a file"},
		{o->tui && reports > 1, "-tui begins with one report: leave out the others"},
		{o->plot && (reports || scripts || file || o->diff || o->compare || o->export ||
				    o->request.threads || o->tui),
			"-plot draws one picture: leave out reports"},
		{(o->x || o->y) && (!o->plot || strcmp(o->plot, "sweep") != 0),
			"-x and -y need -plot sweep"},
		{o->html && (scripts || o->dot || file || o->export || o->plot || o->tui ||
				    o->output),
			"-html writes a page of its own: leave out other outputs"},
		{reports > 1 && scripts, "-csv and -json print one report: leave out the others"},
	};

	return option_rules(rules, sizeof(rules) / sizeof(rules[0]), e);
}

static int check_export(const struct options *o, bool report, struct error *e)
{
	const struct prof_quit *quit = &o->request.quit;
	bool selects = quit->rows || quit->percent > 0 || quit->cumulative > 0;
	const struct option_rule rules[] = {
		{!o->export && o->image, "-image needs -export"},
		{!o->export && o->metrics.count > 1, "-metric needs -export"},
		{o->export && o->image && !pgo_format_find(o->export),
			"-image is of formats for compilers and linkers: use -only"},
		{o->export && o->request.threads && o->request.by >= PROF_GROUP_COMMAND,
			"-export does not divide by command or CPU: use -by process"},
		{o->export && (report || o->csv || o->json || o->merge || o->dump || o->diff),
			"-export writes a file for other tools: leave out reports"},
		{o->export && (selects || o->request.inclusive),
			"-export writes everything: leave out -q and -inclusive"},
	};

	return option_rules(rules, sizeof(rules) / sizeof(rules[0]), e);
}

static int check(const struct options *o, struct error *e)
{
	size_t reports = 0;

	for (size_t i = 0; i < VIEWS_MAX; i++)
		reports += o->view[i];
	return check_words(o, e) || check_outputs(o, reports, e) || check_diff(o, e) ||
			       check_export(o, reports > 0, e) || check_times(o, e) ||
			       check_width(o, e) || check_directories(o, e) || check_written(o, e)
		       ? -1
		       : 0;
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

static bool names_file(const char *word)
{
	return load_is_pipe(word) || access(word, F_OK) == 0;
}

/* -why and similar: a word that is not a file is the report's function, if others are files. If
 * none is, the last one should be. */
static int take_procedures(struct options *o, struct error *e)
{
	size_t kept = 0, files = 0, words = 0;
	bool any = false;

	for (size_t i = 0; report_views[i].name; i++)
		any = any || (o->view[i] && (report_views[i].flags & VIEW_ABOUT));
	for (; o->files[words]; words++)
		files += names_file(o->files[words]);
	if (any && !files && words > 1)
		return error_sys(e, ENOENT, "%s", o->files[words - 1]);
	if (!any || !files)
		return 0;
	for (size_t i = 0; o->files[i]; i++) {
		if (names_file(o->files[i]) || strchr(o->files[i], '/'))
			o->files[kept++] = o->files[i];
		else if (option_words_add(&o->about, o->files[i], e) ||
			 option_words_add(&o->only, o->files[i], e))
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
	if (argc > 1 && habit_instead(NULL, argv[1]) && access(argv[1], F_OK))
		return habit_command(argv[1], e);
	for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
		const char *name = argv[i][0] == '-' ? argv[i] + 1 + (argv[i][1] == '-') : "";

		if (strcmp(name, "dump") == 0)
			make_dump_table(o->table);
		if (strcmp(name, "calc") == 0)
			make_calc_table(o->table, argv[i + 1]);
	}
	if (parse_words(o, argc, argv, e) || take_procedures(o, e) ||
		split_whom(&o->only, &o->only_whom, e) ||
		split_whom(&o->exclude, &o->exclude_whom, e) ||
		option_words_add(&o->only_whom, NULL, e) ||
		option_words_add(&o->exclude_whom, NULL, e) ||
		option_words_add(&o->only, NULL, e) || option_words_add(&o->exclude, NULL, e) ||
		option_words_add(&o->sources, NULL, e) || option_words_add(&o->archives, NULL, e) ||
		option_words_add(&o->metrics, NULL, e))
		return -1;
	for (size_t i = 0; o->files[i]; i++)
		if (!*o->files[i])
			return error_set(e, ERR_PARSE,
				"the name of a file is empty: perhaps a variable of the shell is "
				"not set");
	return check(o, e);
}

void options_fini(struct options *o)
{
	vec_fini(&o->about);
	vec_fini(&o->only);
	vec_fini(&o->only_whom);
	vec_fini(&o->exclude_whom);
	vec_fini(&o->exclude);
	vec_fini(&o->sources);
	vec_fini(&o->archives);
	vec_fini(&o->metrics);
	free(o->files);
	free(o->table);
	free(o->line);
}
