/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Counting: plans, runs the command (once, or once per pass and repetition), reports. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/say.h"
#include "base/shown.h"
#include "base/terminal.h"
#include "native.h"
#include "perfex.h"
#include "render/counts.h"
#include "report/counts.h"
#include "sources/model_scratch.h"
#include "sources/sources_run.h"

#define INPUT_KEPT ((uint64_t)256 << 20) /* bytes */

struct counting {
	struct options *options;
	struct source_options source_options;
	struct machine machine;
	struct cost_table costs;
	struct event_spec *specs; /* the events to count */
	size_t count;
	struct plan plan;
	VEC(struct event_spec) left_out; /* of -a */
	VEC(struct error) left_out_why;

	struct reading *readings; /* one per run */
	double *elapsed;          /* one per run */
	unsigned long runs;       /* done */
	struct profile profile;   /* -profile */
	struct profile_request profile_request;
	struct run_progress progress;
	size_t groups;
	int exit_status;
	struct replay replay; /* standard input of runs after the first */
	bool replaying;
	struct native_times native;
	bool native_wanted;
	int signal;              /* that interrupted us; 0 */
	struct reading previous; /* -p: the last read-out */
	struct strbuf readouts;  /* -p with -o; next to JSON and CSV they go to stderr */
};

/* If no events are named and the default ones are not available, uses those of the kernel, if there
 * are no others. */
static int default_to_kernel(struct counting *c, struct error *e)
{
	static const char *const names[] = {"tclk", "pf", "csw"};
	struct options *o = c->options;
	bool os = strcmp(o->source, source_os.name) == 0;
	struct error why = {0};

	if (!o->defaulted)
		return 0;
	if (!os && (!o->pid || strcmp(o->source, "auto") != 0 ||
			   source_pmu.probe(&c->source_options, &why) == 0))
		return 0;
	if (!os && !o->quiet)
		say("no hardware counters (%s), and the model cannot attach: counting events of "
		    "the kernel",
			why.message);
	o->events.count = 0;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct event_spec *spec = vec_push(&o->events);

		if (!spec)
			return error_nomem(e);
		if (event_parse(names[i], spec, e))
			return -1;
	}
	return 0;
}

static int take_specs(struct counting *c, struct error *e)
{
	size_t count;
	const struct event *table = event_table(&count);

	if (!c->options->all)
		count = c->options->events.count;
	c->specs = calloc(count ? count : 1, sizeof(*c->specs));
	if (!c->specs)
		return error_nomem(e);
	c->count = count;
	for (size_t i = 0; i < count; i++) {
		if (!c->options->all) {
			c->specs[i] = c->options->events.data[i];
			continue;
		}
		c->specs[i].origin = EVENT_ORIGIN_TABLE;
		c->specs[i].event = &table[i];
		snprintf(c->specs[i].name, sizeof(c->specs[i].name), "%s", table[i].name);
		snprintf(c->specs[i].argument, sizeof(c->specs[i].argument), "%d", table[i].number);
	}
	return 0;
}

/* -a: what nothing can count is set aside, with the reason. */
static int set_aside(struct counting *c, struct error *e)
{
	size_t kept = 0;

	for (size_t i = 0; i < c->count; i++) {
		if (!c->plan.entries[i].source) {
			struct event_spec *spec = vec_push(&c->left_out);
			struct error *why = vec_push(&c->left_out_why);

			if (!spec || !why)
				return error_nomem(e);
			*spec = c->specs[i];
			*why = c->plan.entries[i].why;
			continue;
		}
		c->specs[kept] = c->specs[i];
		c->plan.entries[kept++] = c->plan.entries[i];
	}
	c->count = c->plan.count = kept;
	return 0;
}

static bool uses(const struct counting *c, const struct source_ops *source)
{
	for (size_t i = 0; i < c->count; i++)
		if (c->plan.entries[i].source == source)
			return true;
	return false;
}

static void source_names(const struct counting *c, char *text, size_t size)
{
	size_t n = 0;

	text[0] = '\0';
	for (const struct source_ops *const *s = sources; *s; s++)
		if (uses(c, *s) && n < size)
			n += (size_t)snprintf(text + n, size - n, "%s%s", n ? "+" : "", (*s)->name);
}

/* One line: what counts, why not the hardware, and what would help. */
static void announce(const struct counting *c)
{
	const struct error *why = &c->plan.reason;

	if (c->options->quiet || !c->plan.fell_back)
		return;
	if (uses(c, &source_model))
		say("no hardware counters (%s): counting on a model of %s%s%s", why->message,
			machine_called(&c->machine), why->hint[0] ? "; for counters, " : "",
			why->hint);
	else
		say("no hardware counters (%s)%s%s", why->message, why->hint[0] ? "; " : "",
			why->hint);
}

static bool for_scripts(const struct options *o)
{
	return o->json || o->csv || o->openmetrics;
}

static struct counts_report *make_report(struct counting *c, struct error *e);

/* -p -openmetrics -o FILE: all counts until now. A failure to write is reported at the end. */
static void metrics_so_far(struct counting *c, double seconds, const struct reading *r)
{
	struct counting now = *c;
	struct counts_report *report;
	struct strbuf text = {0};
	struct error why;
	struct reading reading = *r;

	now.readings = &reading;
	now.elapsed = &seconds;
	now.runs = 1;
	now.exit_status = -1; /* it still runs */
	report = make_report(&now, &why);
	if (report) {
		render_counts_openmetrics(report, &text);
		shown_output(c->options->output, stdout, &text, &why);
	}
	counts_report_free(report);
	strbuf_fini(&text);
}

/* -p: the counts since the last read-out. */
static void on_period(void *context, double seconds, const struct reading *r)
{
	struct counting *c = context;
	struct reading now;
	struct strbuf text = {0};

	if (reading_since(&now, r, &c->previous, NULL))
		return;
	render_readout_text(seconds, c->specs, &now, &text);
	if (c->options->openmetrics && c->options->output)
		metrics_so_far(c, seconds, r);
	else if (c->options->output && !for_scripts(c->options))
		strbuf_add(&c->readouts, strbuf_text(&text), text.length);
	else
		shown_write(stderr, &text);
	strbuf_fini(&text);
	reading_fini(&now);
}

static bool host_like(const struct counting *c)
{
	return !c->options->machine || strcmp(c->options->machine, "host") == 0;
}

/* Is the command also run without the model?  Where it runs several times anyway, and can. */
static bool wants_native(const struct counting *c)
{
	const struct options *o = c->options;

	if (o->native)
		return true;
	return (o->runs > 1 || o->passes) && o->costs && uses(c, &source_model) && host_like(c) &&
	       !o->by_signal;
}

static int begin_input(struct counting *c, struct error *e)
{
	c->native_wanted = wants_native(c);
	if (!c->native_wanted && c->options->runs == 1 && c->plan.passes == 1)
		return 0;
	if (replay_begin(&c->replay, STDIN_FILENO, INPUT_KEPT, e))
		return -1;
	c->replaying = true;
	return 0;
}

/* Of the next counted run: 0, ours, where it cannot be read again. */
static int next_input(struct counting *c, bool first, int *input, struct error *e)
{
	*input = 0;
	if (!c->replaying || c->replay.kind == REPLAY_EMPTY)
		return 0;
	*input = c->replay.input;
	return first ? 0 : replay_again(&c->replay, input, e);
}

static void on_long(void *context, const char *text)
{
	(void)context;
	say("%s", text);
}

/* One pass of a repetition: its counts join those of the passes before. */
static int one_pass(struct counting *c, struct run_request *request, unsigned pass,
	struct run_result *result, struct error *e)
{
	if (next_input(c, !c->runs && !pass, &request->input, e))
		return -1;
	progress_begin(&c->progress.line, !c->options->quiet);
	if (run_pass(request, &c->plan, pass, &c->source_options, c->specs, result, e))
		return -1;
	if (result->reading.note[0])
		say("%s", result->reading.note);
	plan_join(&c->plan, pass, &c->readings[c->runs], &result->reading);
	if (result->signal)
		c->signal = result->signal;
	if (result->groups > c->groups)
		c->groups = result->groups;
	if (c->exit_status == 0)
		c->exit_status = result->exit_status;
	return 0;
}

/* One repetition: all passes.  1 if it was interrupted. */
static int one_run(struct counting *c, struct error *e)
{
	const struct options *o = c->options;
	struct run_request request = {
		.argv = o->command,
		.pid = o->pid,
		.by_signal = o->by_signal,
		.period = o->period,
		.on_period = on_period,
		.context = c,
		.progress = &c->progress,
	};
	struct reading *run = &c->readings[c->runs];
	double shortest = INFINITY;
	bool interrupted = false;

	if (reading_init(run, c->count, e))
		return -1;
	for (size_t i = 0; i < c->count; i++)
		snprintf(run->counts[i].why, sizeof(run->counts[i].why),
			"interrupted before the pass that counts it");
	for (unsigned pass = 0; pass < c->plan.passes && !c->signal; pass++) {
		struct run_result result;

		if (one_pass(c, &request, pass, &result, e)) {
			reading_fini(run);
			return -1;
		}
		shortest = fmin(shortest, result.elapsed);
		interrupted = result.interrupted;
		run_result_fini(&result);
	}
	c->elapsed[c->runs++] = shortest;
	return interrupted;
}

/* Runs are missing. The status is then that of an interrupted command, whatever the last run's was.
 */
static void interrupted_early(struct counting *c)
{
	unsigned long runs = c->options->runs;

	if (!c->signal || (runs == 1 && c->plan.passes == 1))
		return;
	c->exit_status = 128 + c->signal;
	if (runs > 1)
		say("interrupted: the report is of %lu of %lu runs", c->runs, runs);
}

static int run_all(struct counting *c, struct error *e)
{
	unsigned long runs = c->options->runs;

	c->readings = calloc(runs, sizeof(*c->readings));
	c->elapsed = calloc(runs, sizeof(*c->elapsed));
	if (!c->readings || !c->elapsed)
		return error_nomem(e);
	if (begin_input(c, e))
		return -1;
	c->progress.expected = (double)c->options->expect;
	c->progress.on_long = on_long;
	for (unsigned long r = 0; r < runs; r++) {
		int rc = one_run(c, e);

		if (rc < 0)
			return -1;
		if (rc > 0 && r > 0) /* it was cut short: the mean is of the others */
			reading_fini(&c->readings[--c->runs]);
		if (c->signal)
			break;
	}
	interrupted_early(c);
	if (!c->signal && c->native_wanted)
		native_measure(c->options, &c->replay, &c->native);
	return 0;
}

static void advise(const struct counting *c)
{
	bool short_run = false, counted = false;

	for (size_t i = 0; i < c->count; i++) {
		short_run |= c->readings[0].counts[i].short_run;
		counted |= c->readings[0].counts[i].quantity.label != LABEL_NONE;
	}
	if (c->options->quiet)
		return;
	if (short_run)
		say("the run was too short for its events to take enough turns: use -passes for "
		    "exact counts");
	if (!counted)
		say("nothing was counted: see the reasons in the report");
}

static struct counts_report *make_report(struct counting *c, struct error *e)
{
	char names[32];
	struct counts_input in = {
		.command = (const char *const *)c->options->command,
		.pid = c->options->pid,
		.specs = c->specs,
		.count = c->count,
		.readings = c->readings,
		.elapsed = c->elapsed,
		.runs = c->runs,
		.passes = c->plan.passes,
		.groups = c->groups,
		.exit_status = c->exit_status,
		.source = names,
		.machine = &c->machine,
		.costs = c->options->costs ? &c->costs : NULL,
		.kernel = c->options->kernel || c->options->exceptions,
		.host = host_like(c),
		.native = &c->native,
	};
	struct counts_report *r;

	source_names(c, names, sizeof(names));
	r = counts_report_new(&in, e);
	for (size_t i = 0; r && i < c->left_out.count; i++) {
		if (counts_report_add_uncounted(
			    r, &c->left_out.data[i], c->left_out_why.data[i].message, e)) {
			counts_report_free(r);
			return NULL;
		}
	}
	return r;
}

static int render(
	struct counting *c, const struct counts_report *r, struct strbuf *text, struct error *e)
{
	const struct options *o = c->options;

	if (o->json)
		return render_counts_json(r, text, e);
	if (o->csv || o->openmetrics) {
		(o->csv ? render_counts_csv : render_counts_openmetrics)(r, text);
		return 0;
	}
	strbuf_add(text, strbuf_text(&c->readouts), c->readouts.length);
	render_counts_text(r,
		!o->output && isatty(STDERR_FILENO) ? terminal_columns_of(STDERR_FILENO) : 0, text);
	if (o->print_costs) {
		strbuf_puts(text, "\nCost table in force\n");
		costs_print(&c->costs, text);
	}
	return 0;
}

/* -plot: into its file, or to standard output. */
static int plot(const struct options *o, const struct counts_report *r, struct error *e)
{
	const struct plot_output to = {o->plot, terminal_columns(), terminal_utf8()};
	struct strbuf script = {0}, text = {0};
	int rc = render_counts_plot(r, &to, &script, e);

	if (rc == 0)
		rc = plot_draw(&to, &script, &text, e);
	if (rc == 0 && strcmp(to.path, "-") == 0)
		rc = shown_output(NULL, stdout, &text, e);
	strbuf_fini(&script);
	strbuf_fini(&text);
	return rc;
}

static int report(struct counting *c, struct error *e)
{
	const struct options *o = c->options;
	struct counts_report *r = make_report(c, e);
	struct strbuf text = {0};
	int rc = -1;

	if (!r)
		return -1;
	if (render(c, r, &text, e) == 0 &&
		shown_output(o->output, for_scripts(o) ? stdout : stderr, &text, e) == 0)
		rc = 0;
	strbuf_fini(&text);
	if (rc == 0 && o->plot)
		rc = plot(o, r, e);
	counts_report_free(r);
	return rc;
}

/* Can the report be written? Better now than after an hour's run. */
static int output_check(const struct options *o, struct error *e)
{
	struct file_out trial;
	struct stat st;

	if (!o->output || strcmp(o->output, "-") == 0)
		return 0;
	if (lstat(o->output, &st) == 0)
		return access(o->output, W_OK) == 0 || errno == ENOENT
			       ? 0
			       : error_sys(e, errno, "cannot write %s", o->output);
	if (file_create(&trial, o->output, e))
		return -1;
	file_abandon(&trial);
	return 0;
}

static int prepare(struct counting *c, struct error *e)
{
	const struct options *o = c->options;
	struct plan_request request = {
		.source = o->source, .passes = o->passes, .attach = o->pid != 0, .all = o->all};

	if (machine_find_clock(o->machine, o->clock, &c->machine, e))
		return -1;
	c->source_options = (struct source_options){
		.per_thread = o->per_thread,
		.user = true,
		.kernel = o->kernel,
		.exceptions = o->exceptions,
		.forced = strcmp(o->source, "auto") != 0,
		.fast = o->fast,
		.turn = (unsigned)o->turn,
		.machine = &c->machine,
	};
	if (o->profile) {
		if (profile_prepare(o, &c->profile, &c->profile_request, e))
			return -1;
		c->source_options.profile = &c->profile_request;
	}
	if (default_to_kernel(c, e) || take_specs(c, e))
		return -1;
	if (o->plot && plot_check(o->plot, e))
		return -1;
	if (output_check(o, e))
		return -1;
	if (plan_make(&c->plan, &request, &c->source_options, c->specs, c->count, e))
		return -1;
	if (uses(c, &source_model) &&
		machine_measure_before(o->machine, o->clock, o->quiet, &c->machine, e))
		return -1;
	if (o->costs || o->print_costs)
		if (find_costs(o, &c->machine, uses(c, &source_model), &c->costs, e))
			return -1;
	if (o->costs)
		offer_calibration(o, &c->machine, &c->costs);
	return o->all ? set_aside(c, e) : 0;
}

int do_count(struct options *o)
{
	struct counting c;
	struct error e = {0};
	int status;

	memset(&c, 0, sizeof(c));
	c.options = o;
	model_scratch_sweep();
	if (prepare(&c, &e) == 0) {
		announce(&c);
		if (run_all(&c, &e) == 0 && report(&c, &e) == 0 &&
			(!o->profile || profile_write(o, &c.machine, &c.profile, &e) == 0))
			advise(&c);
	}
	status = c.exit_status;
	if (e.code) {
		say_error(&e);
		if (c.runs == 0 || status == 0)
			status = EXIT_OURS;
		if (e.code == ERR_CANNOT_RUN)
			status = e.errnum == ENOENT ? EXIT_NOT_FOUND : EXIT_CANNOT_RUN;
	}
	for (unsigned long r = 0; r < c.runs; r++)
		reading_fini(&c.readings[r]);
	reading_fini(&c.previous);
	strbuf_fini(&c.readouts);
	free(c.readings);
	free(c.elapsed);
	free(c.specs);
	vec_fini(&c.left_out);
	vec_fini(&c.left_out_why);
	if (c.replaying)
		replay_end(&c.replay);
	plan_fini(&c.plan);
	profile_fini(&c.profile);
	return status;
}
