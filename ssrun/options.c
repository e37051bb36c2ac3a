/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "options.h"
#include "base/numeral.h"
#include "machine/machine.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collect/collect_explain.h"
#include "experiment/experiment.h"
#include "process/rank.h"
#include "values/values.h"

#define TURN_LIMIT      100000 /* superblocks: a turn of Valgrind's own */
#define STACK_BYTES     16384
#define STACK_BYTES_MAX 65000 /* a record of the kernel has 65535 bytes at most */

static int add_event(void *target, const char *argument, struct error *e)
{
	struct options *o = target;
	const char **slot = vec_push(&o->events);

	if (!slot)
		return error_nomem(e);
	*slot = argument;
	return 0;
}

/* "USR1", "SIGUSR1" or a number. */
static int parse_signal(const char *text, const char *what, int *number, struct error *e)
{
	const char *name = strncmp(text, "SIG", 3) == 0 ? text + 3 : text;
	char *end;
	long n = strtol(text, &end, 10);

	*number = 0;
	if (end != text && !*end && n > 0 && n < NSIG)
		*number = (int)n;
	for (int s = 1; s < NSIG && !*number; s++) {
		const char *abbreviation = sigabbrev_np(s);

		if (abbreviation && strcmp(abbreviation, name) == 0)
			*number = s;
	}
	if (!*number || *number == SIGKILL || *number == SIGSTOP || *number == SIGCHLD)
		return error_set(e, ERR_RANGE,
			"%s takes a signal that can be handled, such as USR1, not '%s'", what,
			text);
	return 0;
}

static int set_signal(void *target, const char *argument, struct error *e)
{
	struct options *o = target;

	return parse_signal(argument, "-calsig", &o->caliper_signal, e);
}

static int parse_rate(const char *argument, const char *what, double *rate, struct error *e)
{
	if (numeral_real(argument, NULL, 0.01, 10000, rate))
		return 0;
	return error_set(e, ERR_RANGE,
		"%s takes a rate between 0.01 and 10000 per second, not '%s'", what, argument);
}

static int set_bursts(void *target, const char *argument, struct error *e)
{
	return parse_rate(argument, "-bursts", &((struct options *)target)->bursts, e);
}

static int set_rate(void *target, const char *argument, struct error *e)
{
	return parse_rate(argument, "-rate", &((struct options *)target)->rate, e);
}

int parse_budget(const char *argument, double *budget, struct error *e)
{
	double percent;

	if (!numeral_real(argument, "%", 0.01, 50, &percent))
		return error_set(e, ERR_RANGE,
			"-budget takes a percentage between 0.01 and 50, not '%s'", argument);
	*budget = percent / 100;
	return 0;
}

static int set_budget(void *target, const char *argument, struct error *e)
{
	return parse_budget(argument, &((struct options *)target)->budget, e);
}

/* -values, or -values=HOW. */
static int set_values(void *target, const char *argument, struct error *e)
{
	struct options *o = target;

	o->values = true;
	if (argument && strcmp(argument, "shape") == 0)
		o->shape = true;
	else if (argument && strcmp(argument, "latency") == 0)
		o->latency = true;
	else if (argument && strcmp(argument, "watch") == 0)
		o->watch = true;
	else if (argument && strstr(argument, ".so"))
		o->module = argument;
	else if (argument)
		return error_set(e, ERR_RANGE,
			"-values=HOW: HOW is shape, latency, watch or a module, FILE.so, not '%s'",
			argument);
	return 0;
}

static bool wants(const struct options *o, unsigned flag)
{
	for (size_t i = 0; i < o->metrics.list.count; i++)
		if (o->metrics.list.data[i].flags & flag)
			return true;
	return false;
}

static bool wants_branches(const struct options *o)
{
	return wants(o, METRIC_BRANCHES);
}

/* With -branches, bursts log values; there are neither windows nor timed loads. */
static int check_log(const struct options *o, struct error *e)
{
	const char *what = o->latency    ? "-values=latency"
			   : o->watch    ? "-values=watch"
			   : o->module   ? "-values=MODULE.so"
			   : o->length   ? "-length"
			   : o->rate > 0 ? "-rate"
					 : NULL;

	return what ? error_set(e, ERR_CONFLICT,
			      "with -branches, values are those that its bursts log: leave out %s, "
			      "or record values in another run",
			      what)
		    : 0;
}

static int check_values(const struct options *o, struct error *e)
{
	bool values = wants(o, METRIC_VALUES);

	if (values && collect_explain_wanted(&o->metrics))
		return error_set(e, ERR_CONFLICT,
			"-values and -explain both trace the program: record them in two runs");
	if (values && wants_branches(o) && check_log(o, e))
		return -1;
	if (values && o->all)
		return error_set(
			e, ERR_CONFLICT, "-values follows a command or a process: leave out -a");
	if (!values && (o->rate > 0 || o->budget > 0 || o->length))
		return error_set(e, ERR_CONFLICT, "%s needs -values",
			o->rate > 0     ? "-rate"
			: o->budget > 0 ? "-budget"
					: "-length");
	if (o->rate > 0 && o->budget > 0)
		return error_set(e, ERR_CONFLICT, "-rate and -budget exclude each other");
	if (o->latency && o->length)
		return error_set(e, ERR_CONFLICT,
			"-length is of windows, and -values=latency has none: leave it out");
	if (o->watch && (o->latency || o->module))
		return error_set(e, ERR_CONFLICT,
			"-values=watch goes with windows of its own: leave out -values=%s",
			o->latency ? "latency" : o->module);
	if (o->length > VALUES_LENGTH_MAX)
		return error_set(e, ERR_RANGE, "-length takes at most %d instructions, not %lu",
			VALUES_LENGTH_MAX, o->length);
	return 0;
}

/* Checks that need the list of sampled events. */
static int check_branches(const struct options *o, struct error *e)
{
	if (o->bursts > 0 && !wants_branches(o))
		return error_set(e, ERR_CONFLICT, "-bursts needs -branches");
	if (o->all && wants_branches(o))
		return error_set(
			e, ERR_CONFLICT, "-branches follows a command or a process: leave out -a");
	if (!collect_explain_wanted(&o->metrics))
		return 0;
	if (o->all || o->pid)
		return error_set(e, ERR_CONFLICT,
			"-explain runs a command twice, which it cannot do with what runs already: "
			"leave out %s, and give the command",
			o->all ? "-a" : "-pid");
	if (rank_here() >= 0) {
		error_set(e, ERR_UNSUPPORTED,
			"-explain runs the command twice, and the other ranks of this MPI launch "
			"would not begin again with it");
		return error_hint(e, "use -branches, or run one rank alone");
	}
	return 0;
}

const char *const source_names[] = {[COLLECT_AUTO] = "auto",
	[COLLECT_OS] = "os",
	[COLLECT_PMU] = "pmu",
	[COLLECT_MODEL] = "model",
	[COLLECT_MODEL + 1] = NULL};
const char *const stack_names[] = {[STACK_AUTO] = "auto",
	[STACK_FP] = "fp",
	[STACK_DWARF] = "dwarf",
	[STACK_DWARF + 1] = NULL};

#define FIELD(field) .offset = offsetof(struct options, field)

const struct option_row option_table[] = {
	{"e", "EVENT:PERIOD",
		"sample every PERIOD-th EVENT (:stacks for call paths); separate several by commas "
		"or repeat -e",
		OPTION_CALL, .call = add_event},
	{"both", NULL, "sample at both periods of the experiment, to check that the profiles agree",
		FIELD(both)},
	{"o", "FILE", "write the experiment to FILE instead of COMMAND.EXPERIMENT.PID",
		OPTION_STRING, FIELD(output)},
	{"archive", "DIR", "keep copies of the sampled images in DIR", OPTION_STRING,
		FIELD(archive)},
	{"stack", "HOW",
		"call paths by fp (frame pointers), dwarf or dwarf:BYTES (call frame rules on a "
		"copy of BYTES of the stack), or auto",
		OPTION_STRING, FIELD(stack_text)},
	{"pid", "PID", "sample a running process until it ends or ^C", OPTION_STRING,
		FIELD(pid_text)},
	{"a", NULL, "sample the whole system until ^C or -for, or while the command runs",
		FIELD(all)},
	{"cpus", NULL, "keep the CPU of each sample, for prof -by cpu", FIELD(cpus)},
	{"for", "SECONDS", "with -pid and -a: stop after this time", OPTION_SECONDS,
		FIELD(seconds)},
	{"cal", "SECONDS", "begin a new phase every SECONDS", OPTION_SECONDS,
		FIELD(caliper_seconds)},
	{"calsig", "SIGNAL", "begin a new phase when ssrun gets this signal", OPTION_CALL,
		.call = set_signal},
	{"bursts", "RATE",
		"with -branches: follow branches RATE times per second of CPU time, whatever it "
		"costs",
		OPTION_CALL, .call = set_bursts},
	{"runs", "RUNS", "run the command RUNS times and add the runs up in one experiment",
		OPTION_COUNT, FIELD(runs)},
	{"versus", "PROGRAM",
		"run PROGRAM with the same arguments, too, into a second file (FILE.versus), for "
		"prof -diff",
		OPTION_STRING, FIELD(versus)},
	{"rate", "RATE",
		"with -values: look at values RATE times per second of CPU time, whatever it costs",
		OPTION_CALL, .call = set_rate},
	{"length", "INSTRUCTIONS", "with -values: how many a window has (500)", OPTION_COUNT,
		FIELD(length)},
	{"budget", "PERCENT", "with -values: how much of the program's time they may cost (2)",
		OPTION_CALL, .call = set_budget},
	{"source", "SOURCE", "where samples come from: auto, pmu, os or model", OPTION_STRING,
		FIELD(source_name)},
	{"machine", "MACHINE", "the processor to model: host, zen4, skl, r10000 ... or a file",
		OPTION_STRING, FIELD(machine)},
	{"clock", "CLOCK", "how the model counts cycles: first-order or retirement", OPTION_STRING,
		FIELD(clock)},
	{"expect", "INSTRUCTIONS",
		"about how many the command executes, for the progress line of the model",
		OPTION_COUNT, FIELD(expect)},
	{"turn", "BLOCKS",
		"superblocks that one thread executes on the model before the next runs (300)",
		OPTION_COUNT, FIELD(turn)},
	{"x", NULL, "sample in the kernel as well, or fail", FIELD(kernel)},
	{"list", NULL, "list the experiments with their periods and sources on this machine",
		FIELD(list)},
	{"json", NULL, "with -list: JSON, schema ssrun.list/1", FIELD(json)},
	{"csv", NULL, "with -list: CSV", FIELD(csv)},
	{"v", NULL, "report what is sampled, its period, and the result", FIELD(verbose)},
	{"q", NULL, "print only errors", FIELD(quiet)},
	{"completion", NULL, "print the options for completions of shells", FIELD(completion)},
	{"h", NULL, "a summary on one screen, with examples; also -? and --help", FIELD(overview)},
	{"help", NULL, "list the options", FIELD(help)},
	{"version", NULL, "print the version", FIELD(version)},
	{.name = NULL},
};

struct whole_table *whole_table(void)
{
	struct whole_table *t = calloc(1, sizeof(*t));
	size_t n = 0, i;

	if (!t)
		return NULL;
	for (const struct option_row *row = option_table; row->name; row++)
		t->rows[n++] = *row;
	for (i = 0; i < EXPERIMENTS_MAX && collect_experiment_at(i, &t->names[i]) == 0; i++)
		t->rows[n++] = (struct option_row){
			t->names[i].name, NULL, t->names[i].help, FIELD(experiments[i])};
	for (struct option_row *row = t->rows; row < t->rows + n; row++)
		if (strcmp(row->name, "values") == 0) {
			row->kind = OPTION_MAYBE;
			row->call = set_values;
		}
	t->rows[n++] = (struct option_row){"prof_hwc", NULL, "", FIELD(prof_hwc)};
	t->rows[n].help = "ssrun";
	return t;
}

/* SpeedShop's way to name any event and period. */
static int from_environment(struct options *o, struct error *e)
{
	const char *number = getenv("_SPEEDSHOP_HWC_COUNTER_NUMBER");
	const char *period = getenv("_SPEEDSHOP_HWC_COUNTER_OVERFLOW");
	char text[160];

	if (!number || !period || !*number || !*period) {
		error_set(e, ERR_CONFLICT, "-prof_hwc: no event and period in the environment");
		return error_hint(e, "set _SPEEDSHOP_HWC_COUNTER_NUMBER and "
				     "_SPEEDSHOP_HWC_COUNTER_OVERFLOW, or give -e EVENT:PERIOD");
	}
	snprintf(text, sizeof(text), "%s:%s", number, period);
	return collect_metrics_parse(&o->metrics, text, o->both, e);
}

static int take_event(void *target, const char *event, struct error *e)
{
	struct options *o = target;

	return collect_metrics_parse(&o->metrics, event, o->both, e);
}

/* -branches -values is one experiment: samples of one clock, and bursts that log values. */
static void join_log(struct collect_metrics *m)
{
	bool branches = false, values = false;
	size_t kept = 0;

	for (size_t i = 0; i < m->list.count; i++) {
		branches |= strcmp(m->list.data[i].experiment, "branches") == 0;
		values |= strcmp(m->list.data[i].experiment, "values") == 0;
	}
	for (size_t i = 0; branches && values && i < m->list.count; i++) {
		struct collect_metric one = m->list.data[i];

		if (strcmp(one.experiment, "values") == 0)
			continue;
		if (one.flags & METRIC_BRANCHES) {
			one.flags |= METRIC_VALUES;
			snprintf(one.experiment, sizeof(one.experiment), "branches,values");
		}
		m->list.data[kept++] = one;
	}
	if (kept)
		m->list.count = kept;
}

static int take_metrics(struct options *o, struct error *e)
{
	struct collect_experiment x;

	for (size_t i = 0; i < EXPERIMENTS_MAX; i++)
		if ((o->experiments[i] || o->values) && collect_experiment_at(i, &x) == 0 &&
			(o->experiments[i] || (o->values && strcmp(x.name, "values") == 0)) &&
			collect_metrics_add(&o->metrics, &x, o->both, e))
			return -1;
	join_log(&o->metrics);
	collect_metrics_divide(&o->metrics);
	if (o->prof_hwc && from_environment(o, e))
		return -1;
	for (size_t i = 0; i < o->events.count; i++)
		if (option_list(o->events.data[i], take_event, o, e))
			return -1;
	return 0;
}

static int parse_pid(struct options *o, struct error *e)
{
	char *end;
	long pid;

	if (!o->pid_text)
		return 0;
	pid = strtol(o->pid_text, &end, 10);
	if (*end == '@' && end[1] >= '1' && end[1] <= '9')
		o->began = strtoull(end + 1, &end, 10);
	if (*end || end == o->pid_text || pid <= 0 || pid > 0x7fffffff)
		return error_set(
			e, ERR_RANGE, "-pid takes a process number, not '%s'", o->pid_text);
	o->pid = (pid_t)pid;
	return 0;
}

static int parse_stack(struct options *o, struct error *e)
{
	const char *text = o->stack_text ? o->stack_text : "auto", *colon = strchr(text, ':');
	size_t length = colon ? (size_t)(colon - text) : strlen(text), i;
	uint64_t bytes;

	for (i = 0; stack_names[i]; i++)
		if (strlen(stack_names[i]) == length && strncmp(stack_names[i], text, length) == 0)
			break;
	if (!stack_names[i] || (colon && i == STACK_FP))
		return error_set(e, ERR_RANGE,
			"-stack takes auto, fp, dwarf or dwarf:BYTES, not '%s'", text);
	o->stack = (enum collect_stack)i;
	o->stack_bytes = STACK_BYTES;
	if (!colon)
		return 0;
	if (!numeral_whole(colon + 1, 256, STACK_BYTES_MAX, &bytes))
		return error_set(e, ERR_RANGE,
			"-stack dwarf takes between 256 and %d bytes, not '%s'", STACK_BYTES_MAX,
			colon + 1);
	o->stack_bytes = (uint32_t)bytes & ~7u;
	return 0;
}

static int parse_source(struct options *o, struct error *e)
{
	for (size_t i = 0; source_names[i]; i++)
		if (strcmp(o->source_name, source_names[i]) == 0) {
			o->source = (enum collect_source)i;
			return 0;
		}
	return error_set(
		e, ERR_RANGE, "-source takes auto, pmu, os or model, not '%s'", o->source_name);
}

/* Samples and profiles need the cycles of single instructions. */
static int parse_clock(const struct options *o, struct error *e)
{
	if (!o->clock || strcmp(o->clock, machine_clocks[MODEL_CLOCK_FIRST_ORDER]) == 0 ||
		strcmp(o->clock, machine_clocks[MODEL_CLOCK_RETIREMENT]) == 0)
		return 0;
	return error_set(
		e, ERR_RANGE, "-clock takes first-order or retirement, not '%s'", o->clock);
}

static int check(const struct options *o, struct error *e)
{
	const struct option_rule rules[] = {
		{o->pid && o->command, "-pid attaches to a running process: leave out the command"},
		{o->all && o->pid, "-a samples the whole system: leave out -pid"},
		{o->seconds > 0 && (o->command || (!o->pid && !o->all)),
			"-for needs -pid or -a: a command ends by itself"},
		{o->runs > 1 && (o->pid || o->all),
			"-runs needs a command that it can run again: leave out -pid and -a"},
		{o->versus && (o->pid || o->all),
			"-versus runs two programs: leave out -pid and -a, and give a command"},
		{o->versus && rank_here() >= 0,
			"-versus runs two programs one after the other, which the other ranks of "
			"this MPI launch would not: run ssrun once for each program"},
		{o->json && o->csv, "-json and -csv exclude each other"},
		{(o->json || o->csv) && !o->list,
			"-json and -csv need -list: use prof -json to report samples"},
		{o->list && o->command, "-list takes no command"},
		{o->list && o->output, "-list prints on standard output: leave out -o"},
		{o->turn > TURN_LIMIT, "-turn: at most 100000 superblocks (Valgrind's own value)"},
		{o->quiet && o->verbose, "-q and -v exclude each other"},
	};

	return option_rules(rules, sizeof(rules) / sizeof(rules[0]), e);
}

static int signal_from_environment(struct options *o, struct error *e)
{
	const char *text = getenv("_SPEEDSHOP_CALIPER_POINT_SIG");

	if (o->caliper_signal || !text || !*text)
		return 0;
	return parse_signal(text, "_SPEEDSHOP_CALIPER_POINT_SIG", &o->caliper_signal, e);
}

int options_parse(struct options *o, int argc, char **argv, struct error *e)
{
	struct whole_table *table = whole_table();
	int rest;

	memset(o, 0, sizeof(*o));
	o->source_name = "auto";
	o->runs = 1;
	if (!table)
		return error_nomem(e);
	rest = option_parse(table->rows, o, argc, argv, e);
	free(table);
	if (rest < 0)
		return -1;
	if (rest < argc)
		o->command = argv + rest;
	if (parse_clock(o, e) || parse_pid(o, e) || parse_stack(o, e) || parse_source(o, e) ||
		signal_from_environment(o, e) || check(o, e))
		return -1;
	return take_metrics(o, e) || check_branches(o, e) || check_values(o, e) ? -1 : 0;
}

void options_fini(struct options *o)
{
	vec_fini(&o->events);
	collect_metrics_fini(&o->metrics);
}
