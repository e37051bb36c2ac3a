/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "options.h"
#include "base/file.h"
#include "base/numeral.h"
#include "machine/machine.h"
#include "process/rank.h"
#include "sources/profile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TURN_LIMIT = 100000 }; /* superblocks: a turn of Valgrind's own */

static int add_event(void *target, const char *name, struct error *e)
{
	struct options *o = target;
	struct event_spec *spec = vec_push(&o->events);

	if (!spec)
		return error_nomem(e);
	return event_parse(name, spec, e);
}

static int add_events(void *target, const char *argument, struct error *e)
{
	return option_list(argument, add_event, target, e);
}

/* EVENT:PERIOD or EVENT:PERIOD:skid */
static int add_sampler(void *target, const char *text, struct error *e)
{
	struct options *o = target;
	struct profile_sampler *s = vec_push(&o->samplers);
	char word[160], *period, *skid;
	struct event_spec spec = {0};

	if (!s)
		return error_nomem(e);
	snprintf(word, sizeof(word), "%s", text);
	period = strchr(word, ':');
	if (!period) {
		error_set(e, ERR_PARSE, "-sample %s: no period", word);
		return error_hint(
			e, "give one, as in -sample dsc:2003; primes do not keep step with loops");
	}
	*period++ = '\0';
	skid = strchr(period, ':');
	if (skid)
		*skid++ = '\0';
	if (event_parse(word, &spec, e))
		return -1;
	if (!numeral_whole(period, 1, UINT64_MAX >> 2, &s->period))
		return error_set(e, ERR_PARSE, "-sample: invalid period '%s'", period);
	if (skid && strcmp(skid, "skid") != 0)
		return error_set(
			e, ERR_PARSE, "-sample: only 'skid' may follow the period, not '%s'", skid);
	if (!spec.event || !profile_has(spec.event))
		return error_set(e, ERR_UNSUPPORTED, "-sample: the model cannot sample %s", word);
	s->event = (uint32_t)spec.event->number;
	s->skid = skid != NULL;
	return 0;
}

static int add_samplers(void *target, const char *argument, struct error *e)
{
	return option_list(argument, add_sampler, target, e);
}

#define FIELD(field) .offset = offsetof(struct options, field)

const struct option_row option_table[] = {
	{"a", NULL, "count all events; those that do not fit the counters together take turns",
		FIELD(all)},
	{"e", "EVENT",
		"count this event (number, name, short name, libpfm4 string or rNNN); separate "
		"several by commas or repeat -e",
		OPTION_CALL, .call = add_events},
	{"y", NULL, "report what the events cost in time, and where the time goes", FIELD(costs)},
	{"mp", NULL, "add a row for each thread to the sums", FIELD(per_thread)},
	{"r", "RUNS", "run the command RUNS times; report means with intervals", OPTION_COUNT,
		FIELD(runs)},
	{"expect", "INSTRUCTIONS",
		"about how many the command executes, so that the progress line can show the time "
		"left",
		OPTION_COUNT, FIELD(expect)},
	{"native", NULL,
		"run the command also without the model, short ones several times, and report "
		"the time that it takes",
		FIELD(native)},
	{"passes", NULL,
		"run the command once per set of events that fits the counters, instead of taking "
		"turns",
		FIELD(passes)},
	{"p", "SECONDS", "also report the counts every SECONDS", OPTION_SECONDS, FIELD(period)},
	{"s", NULL, "count only between SIGUSR1 and SIGUSR2 (sent to perfex)", FIELD(by_signal)},
	{"k", NULL, "count kernel level as well as user level", FIELD(kernel)},
	{"x", NULL, "count exception level as well (on Linux that is kernel level)",
		FIELD(exceptions)},
	{"pid", "PID", "count a running process until it ends or ^C", OPTION_STRING,
		FIELD(pid_text)},
	{"source", "SOURCE", "where counts come from: auto, pmu, os or model", OPTION_STRING,
		FIELD(source)},
	{"machine", "MACHINE", "the processor to model: host, zen4, skl, r10000 ... or a file",
		OPTION_STRING, FIELD(machine)},
	{"clock", "CLOCK",
		"how the model counts cycles: sampled (in random windows), retirement (always: "
		"three "
		"times as long) or first-order (without dependences)",
		OPTION_STRING, FIELD(clock)},
	{"fast", NULL, "model only parts of the run and estimate the whole, with intervals",
		FIELD(fast)},
	{"turn", "BLOCKS",
		"superblocks that one thread executes on the model before the next runs (300); "
		"fewer show more sharing between threads and take longer",
		OPTION_COUNT, FIELD(turn)},
	{"c", "FILE", "cost table to use", OPTION_STRING, FIELD(cost_file)},
	{"t", NULL, "print the cost table in force", FIELD(print_costs)},
	{"profile", "FILE",
		"write counts of each instruction, block and edge to FILE, from the model",
		OPTION_STRING, FIELD(profile)},
	{"blocks", NULL, "with -profile: only executions; nothing is modelled; much faster",
		FIELD(blocks)},
	{"sample", "EVENT:PERIOD",
		"with -profile: sample every PERIOD-th EVENT (:skid as on processors); may be "
		"repeated",
		OPTION_CALL, .call = add_samplers},
	{"stacks", NULL, "with -sample: the call path of each sample", FIELD(stacks)},
	{"slices", "CYCLES", "with -profile: counts of successive slices of the run", OPTION_COUNT,
		FIELD(slices)},
	{"counters", "N",
		"with -profile: also what a processor with N counters would have estimated",
		OPTION_COUNT, FIELD(counters)},
	{"o", "FILE", "write the report to FILE instead of stderr", OPTION_STRING, FIELD(output)},
	{"json", NULL, "report as JSON, on stdout unless -o is given", FIELD(json)},
	{"csv", NULL, "report as CSV, on stdout unless -o is given", FIELD(csv)},
	{"openmetrics", NULL,
		"report as OpenMetrics, likewise; with -p and -o, FILE is always current",
		FIELD(openmetrics)},
	{"plot", "PICTURE", "draw the costs (.png, .svg, .pdf, or - for the terminal); implies -y",
		OPTION_STRING, FIELD(plot)},
	{"list", NULL, "list the events, and the source that counts each on this machine",
		FIELD(list)},
	{"explain", "EVENT",
		"report everything about one event; or, machine, about the processor to model",
		OPTION_STRING, FIELD(explain)},
	{"doctor", NULL, "report what works on this machine, and the remedy for what does not",
		FIELD(doctor)},
	{"calibrate", NULL, "measure this machine's costs (half a minute) and write a cost table",
		FIELD(calibrate)},
	{"q", NULL, "print nothing but the report", FIELD(quiet)},
	{"completion", NULL, "print the options for completions of shells", FIELD(completion)},
	{"h", NULL, "a summary on one screen, with examples; also -? and --help", FIELD(overview)},
	{"help", NULL, "list the options", FIELD(help)},
	{"version", NULL, "print the version", FIELD(version)},
	{.help = "perfex"},
};

static int check(const struct options *o, struct error *e)
{
	const struct option_rule rules[] = {
		{o->all && o->events.count, "-a already counts all events: leave out -e"},
		{o->json + o->csv + o->openmetrics > 1,
			"-json, -csv and -openmetrics exclude each other"},
		{o->pid && o->command, "-pid attaches to a running process: leave out the command"},
		{o->pid && o->runs > 1,
			"-r runs a command several times: it cannot be used with -pid"},
		{o->pid && o->passes,
			"-passes runs a command several times: it cannot be used with -pid"},
		{o->native && (o->pid || o->by_signal),
			"-native times whole runs of a command: leave out -pid and -s"},
		{o->period > 0 && (o->runs > 1 || o->passes),
			"-p reports on one run: leave out -r and -passes"},
		{o->per_thread && (o->runs > 1 || o->passes),
			"-mp separates the threads of one run: leave out -r and -passes"},
		{o->by_signal && (o->runs > 1 || o->passes),
			"-s follows one run: leave out -r and -passes"},
		{o->fast && (o->blocks || o->samplers.count || o->slices || o->counters),
			"-fast models parts of the run only: leave out -blocks, -sample, -slices "
			"and -counters"},
		{!o->profile && (o->blocks || o->samplers.count || o->slices || o->counters),
			"-blocks, -sample, -slices and -counters need -profile FILE: add it"},
		{o->profile && strcmp(o->source, "auto") != 0 && strcmp(o->source, "model") != 0,
			"-profile comes from the model: leave out -source"},
		{o->profile && (o->pid || o->runs > 1 || o->passes || o->by_signal),
			"-profile covers one whole run: leave out -pid, -r, -passes and -s"},
		{o->blocks && (o->samplers.count || o->slices || o->counters || o->costs),
			"-blocks models nothing: leave out -y, -sample, -slices and -counters"},
		{o->blocks && (o->per_thread || o->period > 0),
			"-blocks counts for a whole process and run: leave out -mp and -p"},
		{o->fast && o->profile, "-fast estimates the counts of a whole run and cannot fill "
					"a profile: leave out either -fast or -profile"},
		{o->fast && (o->per_thread || o->period > 0 || o->by_signal || o->pid),
			"-fast estimates the counts of a whole run: leave out -mp, -p, -s and "
			"-pid"},
		{o->fast && strcmp(o->source, "auto") != 0 && strcmp(o->source, "model") != 0,
			"-fast needs the model: leave out -source"},
		{o->profile && o->clock &&
				strcmp(o->clock, machine_clocks[MODEL_CLOCK_SAMPLED]) == 0,
			"-clock sampled knows no cycles of single instructions: with -profile, use "
			"-clock retirement"},
		{o->turn > TURN_LIMIT, "-turn: at most 100000 superblocks (Valgrind's own value)"},
		{o->turn && strcmp(o->source, "auto") != 0 && strcmp(o->source, "model") != 0,
			"-turn needs the model: leave out -source"},
		{o->counters == 1,
			"-counters: give at least 2, one for instructions and one for events"},
		{o->stacks && !o->samplers.count, "-stacks needs -sample: add it"},
		{o->calibrate && (o->json || o->csv) && o->output && strcmp(o->output, "-") == 0,
			"-calibrate -o - writes the table to standard output, as -json and -csv "
			"do: leave out one of them"},
		{o->list && o->command, "-list takes no command"},
		{o->calibrate && o->command, "-calibrate takes no command"},
		{o->explain && o->command, "-explain takes no command"},
		{o->doctor && o->command, "-doctor takes no command"},
	};

	return option_rules(rules, sizeof(rules) / sizeof(rules[0]), e);
}

/* As perfex always had it: T5_EVENT0 and T5_EVENT1 name the events when the command line does not;
 * without these, cycles and graduated instructions. */
static int default_events(struct options *o, struct error *e)
{
	static const char *const variables[] = {"T5_EVENT0", "T5_EVENT1"}, *const defaults[] = {
										   "cy", "gi"};

	if (o->all || o->events.count)
		return 0;
	for (size_t i = 0; i < 2 && !o->blocks; i++) {
		const char *value = getenv(variables[i]);

		if (value && *value && add_events(o, value, e)) {
			error_hint(e, "it comes from the environment variable %s", variables[i]);
			return -1;
		}
	}
	o->defaulted = o->events.count == 0;
	for (size_t i = o->blocks; i < 2 && o->events.count < 2; i++)
		if (o->events.count + o->blocks == i && add_event(o, defaults[i], e))
			return -1;
	return 0;
}

/* *name is this rank's from now on, before the ending if that says what is written; *own is to be
 * freed. */
static int name_of_rank(const char **name, char **own, bool ending, struct error *e)
{
	const char *end = ending && *name ? strrchr(*name, '.') : NULL;
	int length;

	if (!*name || strcmp(*name, "-") == 0 || !rank_of_several())
		return 0;
	length = end ? (int)(end - *name) : (int)strlen(*name);
	if (asprintf(own, "%.*s.r%d%s", length, *name, rank_here(), end ? end : "") < 0) {
		*own = NULL;
		return error_nomem(e);
	}
	*name = *own;
	return 0;
}

/* Ranks of MPI would replace each other's files. */
static int names_of_rank(struct options *o, struct error *e)
{
	return name_of_rank(&o->output, &o->rank_name[0], false, e) ||
			       name_of_rank(&o->profile, &o->rank_name[1], false, e) ||
			       name_of_rank(&o->plot, &o->rank_name[2], true, e)
		       ? -1
		       : 0;
}

/* "perfex -a -o ./program": the name of a report was forgotten. */
static int spare_programs(const struct options *o, struct error *e)
{
	const struct {
		const char *option, *path;
	} files[] = {{"-o", o->output}, {"-profile", o->profile}, {"-plot", o->plot}};

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		if (!files[i].path || !file_is_program(files[i].path))
			continue;
		error_set(e, ERR_CONFLICT, "%s: %s is a program, which would be lost",
			files[i].option, files[i].path);
		return error_hint(e, "name the file first: perfex %s FILE %s", files[i].option,
			files[i].path);
	}
	return 0;
}

int options_parse(struct options *o, int argc, char **argv, struct error *e)
{
	int rest;

	memset(o, 0, sizeof(*o));
	o->runs = 1;
	o->source = "auto";
	rest = option_parse(option_table, o, argc, argv, e);
	if (rest < 0)
		return -1;
	if (rest < argc)
		o->command = argv + rest;
	if (o->pid_text && !numeral_pid(o->pid_text, &o->pid))
		return error_set(
			e, ERR_RANGE, "-pid takes a process number, not '%s'", o->pid_text);
	if (!o->clock && (o->profile || o->counters)) /* all cycles, each at its instruction */
		o->clock = machine_clocks[MODEL_CLOCK_FIRST_ORDER];
	if (o->plot)
		o->costs = true;
	if (check(o, e) || names_of_rank(o, e) || spare_programs(o, e))
		return -1;
	if (o->profile || o->fast)
		o->source = "model";
	return default_events(o, e);
}

void options_fini(struct options *o)
{
	vec_fini(&o->events);
	vec_fini(&o->samplers);
	for (size_t i = 0; i < OPTIONS_RANK_NAMES; i++)
		free(o->rank_name[i]);
}
