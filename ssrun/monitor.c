/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ssrun monitor: watches a machine all the time, into a store. */
#include "monitor/monitor.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/file.h"
#include "base/json.h"
#include "base/say.h"
#include "base/shown.h"
#include "ssrun.h"

#define EVERY  600
#define BUDGET 0.001
/* With branch records. */
#define BUDGET_BRANCHES 0.003

struct monitor_command_line {
	const char *directory, *clock, *listen;
	double every, seconds, budget;
	bool own, branches, status, json, openmetrics, quiet, help;
	word_list words, spared, only;
};

static int set_monitor_budget(void *target, const char *argument, struct error *e)
{
	return parse_budget(argument, &((struct monitor_command_line *)target)->budget, e);
}

#define FIELD(field) .offset = offsetof(struct monitor_command_line, field)

const struct option_row monitor_options[] = {
	{"store", "DIR", "the store (default: $PERFEX_STORE, else ~/.local/share/perfex/store)",
		OPTION_STRING, FIELD(directory)},
	{"every", "SECONDS", "from one writing to the next (600)", OPTION_SECONDS, FIELD(every)},
	{"budget", "PERCENT",
		"of the machine's processor time that it may take (0.1; with -branches 0.3)",
		OPTION_CALL, .call = set_monitor_budget},
	{"clock", "auto|tick|cpu", "what to sample by", OPTION_STRING, FIELD(clock)},
	{"branches", NULL, "follow branches of hot images that can be optimised, now and then",
		FIELD(branches)},
	{"spare", "GLOB",
		"never follow what GLOB matches, a path or its last part; may be repeated",
		OPTION_WORDS, FIELD(spared)},
	{"only", "GLOB", "follow only images that GLOB matches; may be repeated", OPTION_WORDS,
		FIELD(only)},
	{"user", NULL, "watch your own processes only; needs no rights", FIELD(own)},
	{"listen", "[ADDRESS:]PORT",
		"serve /metrics and /debug/pprof/profile there (ADDRESS: 127.0.0.1)", OPTION_STRING,
		FIELD(listen)},
	{"for", "SECONDS", "end after that time", OPTION_SECONDS, FIELD(seconds)},
	{"status", NULL, "show what the monitor of this store does, and what it costs",
		FIELD(status)},
	{"json", NULL, "-status: as JSON, schema ssrun.monitor/1", FIELD(json)},
	{"openmetrics", NULL, "-status: as OpenMetrics", FIELD(openmetrics)},
	{"q", NULL, "say nothing but errors", FIELD(quiet)},
	{"help", NULL, "list the options", FIELD(help)},
	{.help = "ssrun monitor"},
};

static const char usage[] =
	"usage: ssrun monitor [options]\n"
	"Watches the whole system until SIGTERM, and keeps samples by image and day in a store.  "
	"Try: ssrun monitor, then prof store, prof $(prof store files PROGRAM)\n\n";

/* ---- the status ---- */

static int monitor_json(const struct monitor_status *s, bool running, struct error *e)
{
	struct json_document d;
	struct strbuf text = {0};
	int rc = json_begin(&d, "ssrun.monitor/1", e);

	if (rc)
		return -1;
	json_bool(&d.json, "running", running);
	for (const struct monitor_field *m = monitor_fields; m->name; m++) {
		const char *at = (const char *)s + m->offset;

		if (m->kind == FIELD_TEXT)
			json_string(&d.json, m->name, at);
		else if (m->kind == FIELD_NUMBER)
			json_number(&d.json, m->name, *(const double *)(const void *)at);
		else
			json_number(&d.json, m->name, (double)*(const uint64_t *)(const void *)at);
	}
	json_number(&d.json, "mapped", monitor_status_mapped(s));
	rc = json_end(&d, &text, e);
	if (rc == 0)
		shown_write(stdout, &text);
	strbuf_fini(&text);
	return rc;
}

static void print_time(const char *what, uint64_t seconds)
{
	time_t t = (time_t)seconds;
	char text[64];
	struct tm tm;

	if (gmtime_r(&t, &tm) && strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S UTC", &tm))
		shown_print("%-14s %s", what, text);
}

static void print_branches(const struct monitor_status *s)
{
	if (s->sessions || s->session_failures)
		shown_print("%-14s %" PRIu64 " in %" PRIu64 " bursts of %" PRIu64
			    " sessions, which took %.3f s; %" PRIu64 " images are known well",
			"branches", s->branches, s->bursts, s->sessions, s->session_cpu, s->known);
	if (s->followed[0])
		shown_print("%-14s %s", "followed last", s->followed);
	if (s->unfollowed[0])
		shown_print("%-14s %" PRIu64 " sessions failed; not followed: %s", "",
			s->session_failures, s->unfollowed);
}

static void monitor_print(const struct monitor_status *s, bool running)
{
	if (running)
		shown_print("%-14s process %" PRIu64, "running", s->pid);
	else
		shown_print("not running; the last one was process %" PRIu64, s->pid);
	print_time("began", s->began);
	print_time("as of", s->updated);
	shown_print("%-14s %s, clock %s, one sample in %.1f ms", "watches", s->scope, s->clock,
		(double)s->period * 1e-6);
	if (s->lacks[0])
		shown_print("%-14s %s", "lacks", s->lacks);
	shown_print("%-14s %.4f%% of the machine's processor time with its start, at most %.4f%% "
		    "in an interval after it; the budget is %.4f%%",
		"cost", 100 * s->overhead, 100 * s->peak, 100 * s->budget);
	shown_print("%-14s %.3f s of its own, %.0f ns each for %" PRIu64 " samples; %" PRIu64
		    " bytes of memory",
		"", s->cpu, s->cost * 1e9, s->records, s->resident);
	if (s->slowed)
		shown_print(
			"%-14s %" PRIu64 " times, to stay within the budget", "slowed", s->slowed);
	shown_print("%-14s %" PRIu64 " user, %" PRIu64 " system, %" PRIu64 " kernel, %" PRIu64
		    " idle; lost %" PRIu64,
		"samples", s->user, s->system, s->kernel, s->idle, s->lost);
	shown_print("%-14s %.2f%% of user samples; %" PRIu64
		    " in files that could not be read, %" PRIu64 " in generated code",
		"mapped", 100 * monitor_status_mapped(s), s->gone, s->generated);
	shown_print("%-14s %" PRIu64 " processes, %" PRIu64 " images, %" PRIu64 " addresses", "now",
		s->processes, s->images, s->addresses);
	if (s->unattached)
		shown_print("%-14s %" PRIu64 " threads cannot be watched", "", s->unattached);
	shown_print("%-14s %" PRIu64 " times, %" PRIu64 " samples; %" PRIu64 " dropped", "written",
		s->writes, s->stored, s->dropped);
	print_branches(s);
	if (s->failures)
		shown_print("%-14s %" PRIu64 " times; the last time: %s", "failed", s->failures,
			s->error);
}

static void print_metrics(const struct monitor_status *s, bool running)
{
	struct strbuf text = {0};

	monitor_status_metrics(s, running, &text);
	shown_write(stdout, &text);
	strbuf_fini(&text);
}

/* 0: it runs; EXIT_INCOMPLETE: it does not. */
static int monitor_show(const struct monitor_command_line *l, struct error *e)
{
	struct store s = {.directory = NULL};
	struct monitor_status status;
	int rc = store_open(&s, l->directory, false, e) || monitor_status_read(&s, &status, e) ? -1
											       : 0;
	bool running = rc == 0 && monitor_locked(&s);

	store_close(&s);
	if (rc == 0 && l->json)
		rc = monitor_json(&status, running, e);
	else if (rc == 0 && l->openmetrics)
		print_metrics(&status, running);
	else if (rc == 0)
		monitor_print(&status, running);
	return rc ? rc : running ? 0 : EXIT_INCOMPLETE;
}

/* ---- running ---- */

static void monitor_line(void *context, const char *line)
{
	const struct monitor_command_line *l = context;

	if (!l->quiet)
		say("monitor: %s", line);
}

static int monitor_act(struct monitor_command_line *l, struct error *e)
{
	struct monitor_request r = {.directory = l->directory,
		.every = l->every > 0 ? l->every : EVERY,
		.seconds = l->seconds,
		.budget = l->budget > 0 ? l->budget
			  : l->branches ? BUDGET_BRANCHES
					: BUDGET,
		.branches = l->branches,
		.own = l->own,
		.listen = l->listen,
		.say = monitor_line,
		.context = l};
	char *ssrun;
	int kind = 0;

	if (l->words.data[0]) {
		error_set(e, ERR_PARSE, "ssrun monitor takes no command: '%s'", l->words.data[0]);
		return error_hint(e, "ssrun -fpcsamp command samples one");
	}
	if ((l->json || l->openmetrics) && (!l->status || (l->json && l->openmetrics)))
		return error_set(
			e, ERR_CONFLICT, "-json and -openmetrics are forms of -status: give one");
	if (l->status)
		return monitor_show(l, e);
	if ((l->spared.count || l->only.count) && !l->branches)
		return error_set(e, ERR_CONFLICT, "-spare and -only need -branches");
	if (option_words_add(&l->spared, NULL, e) || option_words_add(&l->only, NULL, e))
		return -1;
	r.spared = l->spared.data;
	r.only = l->only.data;
	while (l->clock && monitor_clock_names[kind] &&
		strcmp(l->clock, monitor_clock_names[kind]) != 0)
		kind++;
	if (!monitor_clock_names[kind])
		return error_set(e, ERR_PARSE, "-clock is auto, tick or cpu, not '%s'", l->clock);
	r.clock = (enum monitor_clock_kind)kind;
	ssrun = file_command_path("ssrun");
	if (!ssrun)
		return error_nomem(e);
	r.ssrun = ssrun;
	kind = monitor_run(&r, e);
	free(ssrun);
	return kind;
}

/* From the first moment: SIGUSR1 is to write, and not to end what has just begun. monitor_run takes
 * what came meanwhile. */
static void hold_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, NULL);
}

int do_monitor(int argc, char **argv)
{
	struct monitor_command_line l = {.directory = NULL};
	struct error e = {0};
	int rc;

	hold_signals();
	rc = option_parse_among(monitor_options, &l, argc, argv, &l.words, &e);
	if (rc == 0)
		rc = l.help ? option_usage(usage, monitor_options, stdout) : monitor_act(&l, &e);
	vec_fini(&l.words);
	vec_fini(&l.spared);
	vec_fini(&l.only);
	return rc < 0 ? say_failure(&e) : rc;
}
