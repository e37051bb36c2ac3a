/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Runs an experiment: chooses sources and a name, collects, writes the experiment. */
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/plural.h"
#include "base/proc.h"
#include "base/say.h"
#include "base/strbuf.h"
#include "collect/collect_explain.h"
#include "process/executable.h"
#include "process/rank.h"
#include "sources/model_scratch.h"
#include "ssrun.h"

static void hear(void *context, int level, const char *line)
{
	const struct options *o = context;

	if (level == 0 ? !o->quiet : o->verbose)
		say("%s", line);
}

/* One line: what samples, why not the hardware, and what would help. */
static void announce(const struct options *o, const struct machine *m, const struct error *reason)
{
	if (o->quiet || reason->code == ERR_NONE || !m)
		return;
	say("no hardware counters (%s): sampling on a model of %s%s%s", reason->message,
		machine_called(m), reason->hint[0] ? "; for counters, " : "", reason->hint);
}

static void announce_periods(const struct options *o)
{
	for (size_t i = 0; o->verbose && i < o->metrics.list.count; i++) {
		const struct collect_metric *m = &o->metrics.list.data[i];
		const char *unit = m->flags & METRIC_CLOCK ? "ns"
				   : m->spec.event         ? m->spec.event->unit
							   : "events";

		if (m->flags & METRIC_EXACT)
			say("%s: every execution is counted", m->experiment);
		else
			say("%s: a sample every %llu %s", m->experiment,
				(unsigned long long)m->period, unit);
	}
}

/* The name of a running process, fit for a file's; "" if there is none. */
static void process_name(pid_t pid, char *name, size_t size)
{
	proc_name(pid, name, size);
	for (char *c = name; *c; c++)
		if (*c == '/')
			*c = '_';
}

int name_output(const struct options *o, struct collect_output *output, struct error *e)
{
	const char *directory = getenv("_SPEEDSHOP_OUTPUT_DIRECTORY");
	struct strbuf type = {0};
	char name[32] = "";
	int rc;

	if (o->pid)
		process_name(o->pid, name, sizeof(name));
	collect_metrics_type(&o->metrics, &type);
	rc = collect_output_init(output, o->output, directory && *directory ? directory : NULL,
		o->all       ? "system"
		: o->command ? o->command[0]
			     : name,
		strbuf_text(&type), o->output && !rank_of_several() ? -1 : rank_here(), e);
	strbuf_fini(&type);
	return rc ? -1 : collect_output_check(output, e);
}

static bool ended_by(const struct collect_result *result, int signal)
{
	return result->killed && result->exit_status == 128 + signal;
}

/* As in a shell, SIGPIPE is not reported. */
static void say_signal(const struct options *o, const struct collect_output *output,
	const struct collect_result *result)
{
	int number = result->exit_status - 128;

	if (!result->killed || o->quiet || !o->command || ended_by(result, SIGPIPE))
		return;
	if (ended_by(result, SIGINT)) {
		say("interrupted: %s has what was recorded until then", output->path);
		return;
	}
	say("%s was ended by signal %d (%s): the experiment has the samples before it",
		o->command[0], number, strsignal(number));
}

static void report(const struct options *o, const struct experiment *x,
	const struct collect_output *output, const struct collect_result *result)
{
	uint64_t lost = 0, throttled = 0, samples = experiment_samples_sum(x);

	for (size_t i = 0; i < x->metrics.count; i++) {
		lost += x->metrics.data[i].lost;
		throttled += x->metrics.data[i].throttled;
	}
	if (lost && !o->quiet)
		say("%llu record%s lost: the machine could not keep up", (unsigned long long)lost,
			lost == 1 ? " was" : "s were");
	if (throttled && !o->quiet)
		say("the kernel slowed sampling down %llu time%s: use a longer period",
			(unsigned long long)throttled, plural(throttled));
	say_signal(o, output, result);
	if (o->verbose)
		say("%llu sample%s in %.3f s", (unsigned long long)samples, plural(samples),
			result->elapsed);
}

/* A name given with -o is known. Of ranks the first says it for all. */
static void say_written(const struct options *o, const struct collect_output *output,
	const struct collect_result *result)
{
	bool chosen = !o->output && !o->versus && !ended_by(result, SIGINT);

	if (rank_of_several()) {
		if (rank_here() == 0 && !o->quiet && o->output)
			say("each rank wrote a file: prof %s.r*", o->output);
		else if (rank_here() == 0 && !o->quiet)
			say("wrote %s, and each other rank a file", output->path);
	} else if (o->all && (o->verbose || (chosen && !o->quiet)))
		say("wrote %s: prof -usage %s reports processes, prof -by process %s also what "
		    "each did",
			output->path, output->path, output->path);
	else if (o->verbose || (chosen && !o->quiet))
		say("wrote %s: prof %s", output->path, output->path);
}

/* Writes the experiment to its file. */
static int save(const struct options *o, struct experiment *x, struct collect_output *output,
	const struct collect_result *result, struct error *e)
{
	struct error moved;

	if (collect_output_claim(output, getpid(), e) || collect_output_write(output, x, &moved, e))
		return -1;
	if (moved.code != ERR_NONE) {
		say_error(&moved);
		say("the experiment is in %s instead", output->path);
	}
	report(o, x, output, result);
	return 0;
}

int failed(const struct error *e)
{
	say_error(e);
	if (e->code == ERR_CANNOT_RUN)
		return e->errnum == ENOENT ? EXIT_NOT_FOUND : EXIT_CANNOT_RUN;
	return EXIT_OURS;
}

static void ask_for_values(const struct options *o, struct collect_request *r)
{
	r->values.rate = o->rate;
	r->values.budget = o->budget;
	r->values.length = (unsigned)o->length;
	r->values.shape = o->shape;
	r->values.latency = o->latency;
	r->values.watch = o->watch;
	r->values.module = o->module;
}

/* What the options ask for. */
static struct collect_request request_of(
	struct options *o, const struct machine *m, struct collect_output *output)
{
	struct collect_request request = {
		.argv = o->command,
		.pid = o->pid,
		.began = o->began,
		.all = o->all,
		.seconds = o->seconds,
		.metrics = &o->metrics,
		.machine = m,
		.kernel = o->kernel,
		.cpus = o->cpus,
		.stack = o->stack,
		.stack_bytes = o->stack_bytes,
		.archive = o->archive,
		.caliper_seconds = o->caliper_seconds,
		.caliper_signal = o->caliper_signal,
		.output = output,
		.expect = o->expect,
		.turn = (unsigned)o->turn,
		.bursts = o->bursts,
		.say = hear,
		.context = o,
	};

	ask_for_values(o, &request);
	return request;
}

/* After the first run: those of -runs, the file, the second run of -explain, the file again.
 * Returns the status to exit with. */
static int finish_side(const struct options *o, struct collect_request *request,
	struct collect_result *result, struct replay *input, struct experiment *x, struct error *e)
{
	struct collect_output *output = request->output;

	if (further_runs(o, request, result, input, x, e) || save(o, x, output, result, e))
		return failed(e);
	if (collect_explain_wanted(&o->metrics) && second_run(o, request, result, input, x) == 0 &&
		save(o, x, output, result, e))
		return failed(e);
	say_written(o, output, result);
	return result->exit_status;
}

int run_side(struct options *o, const struct machine *m, struct collect_output *output, int from,
	struct replay *input, bool *complete)
{
	struct branches_known known = {0};
	struct collect_request request = request_of(o, m, output);
	struct collect_result result = {0};
	struct progress progress;
	struct experiment x;
	struct error e = {0};
	int status, rc;

	*complete = false;
	if (experiment_init(&x, &e))
		return failed(&e);
	request.input = from;
	request.known = o->runs > 1 ? &known : NULL;
	request.progress = &progress;
	progress_begin(&progress, !o->quiet);
	rc = collect(&request, &x, &result, &e);
	progress_end(&progress);
	if (rc) {
		collect_output_discard(output);
		status = failed(&e);
	} else {
		status = finish_side(o, &request, &result, input, &x, &e);
		*complete = e.code == ERR_NONE && !result.interrupted;
	}
	experiment_fini(&x);
	return status;
}

/* Experiments by time need no machine: neither its clock nor a model of it. The second run of
 * -explain finds its own. */
static bool needs_machine(const struct options *o)
{
	bool needed = o->machine != NULL && !collect_explain_wanted(&o->metrics);

	for (size_t i = 0; i < o->metrics.list.count; i++)
		needed |= !(o->metrics.list.data[i].flags & METRIC_CLOCK);
	return needed;
}

static bool needs_model(const struct options *o)
{
	for (size_t i = 0; i < o->metrics.list.count; i++)
		if (o->metrics.list.data[i].source == COLLECT_MODEL)
			return true;
	return false;
}

static int run_sides(struct options *o, const struct machine *m, struct collect_output *output)
{
	bool again = collect_explain_wanted(&o->metrics) || o->runs > 1 || o->versus, complete;
	struct replay input = {.second = -1};
	char path[PATH_MAX];
	struct error e;
	int status;

	/* before the command, which may run for hours */
	if ((o->versus && executable_find(o->versus, path, sizeof(path), &e)) ||
		(again && replay_begin(&input, STDIN_FILENO, COLLECT_EXPLAIN_INPUT, &e)))
		return failed(&e);
	status = run_side(o, m, output, input.input, &input, &complete);
	if (o->versus && complete)
		status = run_versus(o, m, output, &input, status);
	replay_end(&input);
	return status;
}

int do_run(struct options *o)
{
	struct collect_output output = {0};
	struct error reason, e = {0};
	struct machine machine = {0}, *m = needs_machine(o) ? &machine : NULL;
	const char *clock = o->clock ? o->clock : machine_clocks[MODEL_CLOCK_FIRST_ORDER];
	int status;

	model_scratch_sweep();
	if ((m && machine_find_clock(o->machine, clock, m, &e)) ||
		collect_choose(&o->metrics, o->source, m, o->pid || o->all, &reason, &e) ||
		(m && needs_model(o) &&
			machine_measure_before(o->machine, clock, o->quiet, m, &e)) ||
		name_output(o, &output, &e)) {
		status = failed(&e);
	} else {
		announce(o, m, &reason);
		announce_periods(o);
		status = run_sides(o, m, &output);
	}
	collect_output_fini(&output);
	return status;
}
