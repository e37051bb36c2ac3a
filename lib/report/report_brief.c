/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The head of a report in five lines: which file, of which command, where, how many samples, and
 * what was inferred from what. prof -head shows all that there is instead.
 */
#include <inttypes.h>
#include <string.h>

#include "base/file.h"
#include "base/plural.h"
#include "base/strbuf.h"
#include "experiment/branches.h"
#include "profile/modelled.h"
#include "report/report_columns.h"

enum { FILES_SHOWN = 3, METRICS_SHOWN = 2 };

static const char *fact_of(const struct prof_data *d, const char *key)
{
	const struct experiment_fact *f =
		experiment_fact_row(d->request->inputs[0].experiment, key);

	return f ? f->value : NULL;
}

/* What percentages are of, where functions are selected; NULL: the report has none of that kind. */
static const char *percent_of(const struct report_table *t)
{
	static const char *const whole[] = {"procedures", "heavy", "lines", "butterfly", "calltree",
		"dso", "dis", "calc", "timeline", "stalls", "topblocks", "cfg"};

	for (size_t i = 0; t->report && i < sizeof(whole) / sizeof(whole[0]); i++)
		if (strcmp(whole[i], t->report) == 0)
			return "the whole run";
	return t->report && strcmp(t->report, "why") == 0 ? "their cycles" : NULL;
}

/* "only find* (% of the whole run)"; of a line that may be cut, names are last. */
static void brief_selected(struct report_table *t, const struct prof_data *d)
{
	const struct prof_request *r = d->request;
	const char *of = percent_of(t), *separator = "";
	struct strbuf text = {0};

	for (const char *const *w = r->only; w && *w; w++, separator = ", ")
		strbuf_printf(&text, "%sonly %s", separator, *w);
	for (const char *const *w = r->exclude; w && *w; w++, separator = ", ")
		strbuf_printf(&text, "%swithout %s", separator, *w);
	if (text.length && of && text.length + strlen(of) + strlen(" (% of )") <= REPORT_BRIEF_ROOM)
		report_brief(t, "Selected", "%s (%% of %s)", strbuf_text(&text), of);
	else if (text.length)
		report_brief(t, "Selected", "%s%s%s%s", of ? "% of " : "", of ? of : "",
			of ? ": " : "", strbuf_text(&text));
	t->failed |= text.failed;
	strbuf_fini(&text);
}

static void brief_files(struct report_table *t, const struct prof_data *d)
{
	const struct prof_request *r = d->request;
	struct strbuf text = {0};
	bool complete = true;
	double from, to;
	uint32_t runs = 0;

	for (size_t i = 0; i < r->count; i++) {
		const struct experiment *x = r->inputs[i].experiment;

		complete = complete && x->complete;
		runs += x->runs;
		if (i < FILES_SHOWN)
			strbuf_printf(
				&text, "%s%s (%s)", i ? ", " : "", r->inputs[i].file, x->type);
	}
	if (r->count > FILES_SHOWN)
		strbuf_printf(&text, " and %zu more", r->count - FILES_SHOWN);
	if (runs > r->count)
		strbuf_printf(&text, ", %" PRIu32 " runs added up", runs);
	if (r->calipers)
		strbuf_printf(&text, ", calipers %s", r->calipers);
	if (r->count && profile_times(d, 0, &from, &to))
		strbuf_printf(&text, ", %.4g to %.4g s", from, to);
	for (const char *const *w = r->only_whom; w && *w; w++)
		strbuf_printf(&text, ", only %s", *w);
	for (const char *const *w = r->exclude_whom; w && *w; w++)
		strbuf_printf(&text, ", without %s", *w);
	if (!complete)
		strbuf_puts(&text, ", not recorded to its end");
	report_brief(t, "Experiment", "%s", strbuf_text(&text));
	t->failed |= text.failed;
	strbuf_fini(&text);
}

/* Counts of another command are shown, but nothing is derived from both. */
static void brief_foreign(struct report_table *t, const struct prof_data *d)
{
	for (size_t i = 0; i < d->request->count && !d->request->compare; i++) {
		const struct prof_input *in = &d->request->inputs[i];

		if (profile_counts_foreign(d, i))
			report_brief(t, "Other run", "of %s, not executions of these samples: %s",
				in->file, experiment_fact_find(in->experiment, "command"));
	}
}

/* One, or each that is compared: in one line, as there are five. */
static void brief_commands(struct report_table *t, const struct prof_data *d)
{
	const char *last = NULL, *text = NULL;
	size_t shown = 0, inputs = d->request->compare ? d->request->count : 1;

	for (size_t i = 0; i < inputs && shown < FILES_SHOWN; i++) {
		const struct experiment_fact *fact =
			experiment_fact_row(d->request->inputs[i].experiment, "command");
		const char *own = fact ? fact->value : NULL;

		if (!own || (last && strcmp(last, own) == 0))
			continue;
		if (fact->several)
			own = report_text(t, "one of several: %s", own);
		text = text ? report_text(t, "%s; %s", text, own) : own;
		last = own;
		shown++;
	}
	if (text)
		report_brief(t, "Command", "%s", text);
}

void report_brief_run(struct report_table *t, const struct prof_data *d)
{
	const char *host = fact_of(d, "host"), *cpu = fact_of(d, "cpu"),
		   *kernel = fact_of(d, "kernel"), *model = fact_of(d, "model");
	bool second = false;

	for (size_t i = 0; i < d->metrics.count; i++)
		second = second || profile_second_run(d, i);

	brief_commands(t, d);
	brief_foreign(t, d);
	if (host || cpu)
		report_brief(t, REPORT_RUN_ON, "%s%s%s%s%s", host ? host : "",
			host && cpu ? ", " : "", cpu ? cpu : "", kernel ? ", " : "",
			kernel ? kernel : "");
	if (model && !second)
		report_brief(t, "Modelled", "%s", model);
}

static bool metric_each(const struct experiment_metric *m)
{
	return m->flags & METRIC_EXACT || m->period == 1;
}

/* Part of what is not covered. */
static void brief_left_out(
	struct report_table *t, const struct prof_data *d, const struct prof_metric *m)
{
	uint64_t left_out =
		experiment_tally(d->request->inputs[m->input].experiment, TALLY_SAMPLES_LEFT_OUT);

	if (left_out && m->metric->flags & METRIC_CLOCK && !profile_divides(d->request) &&
		!profile_whom_asked(d->request))
		report_brief(t, "Left out", "%.3f s: %" PRIu64 " sample%s in or after bursts",
			(double)left_out * m->unit, left_out, plural(left_out));
}

/* What a line of samples leaves out where it would be cut: "samples", which is its label; then how
 * much of the time they cover. */
const char *report_metric_name(const struct experiment_metric *m)
{
	return m->flags & METRIC_WALL ? "elapsed time" : m->name;
}

enum brevity { BRIEF_ALL, BRIEF_LABELLED, BRIEF_BARE };

/* "0.095 s of CPU time (measured): 95 samples of 1 ms, 99.5% covered". */
static void put_samples(
	struct strbuf *text, const struct prof_data *d, size_t i, enum brevity brevity)
{
	const struct prof_metric *m = &d->metrics.data[i];
	const struct experiment_metric *of = m->metric;
	bool clock = of->flags & METRIC_CLOCK, each = metric_each(of);
	double sum = (double)m->samples * m->unit, all = (double)of->total * (clock ? 1e-9 : 1);

	if (clock)
		strbuf_printf(text, "%.*f s of %s (%s)", sum < 0.01 ? 6 : 3, sum,
			report_metric_name(of), label_name(of->label));
	else
		strbuf_printf(text, "%.0f %s (%s)", all > 0 && !each ? all : sum, of->short_name,
			label_name(of->label));
	if (each) {
		strbuf_puts(text, ", each counted");
		return;
	}
	strbuf_printf(text, ": %" PRIu64, m->samples);
	if (brevity == BRIEF_ALL)
		strbuf_printf(text, " sample%s", plural(m->samples));
	strbuf_printf(text, " of %.*g%s", clock ? 4 : 15,
		clock ? (double)of->period / 1e6 : (double)of->period, clock ? " ms" : "");
	if (all > 0 && brevity != BRIEF_BARE && !profile_divides(d->request) &&
		!profile_whom_asked(d->request))
		strbuf_printf(text, ", %.1f%% covered", 100 * sum / all);
}

static void brief_metric(struct report_table *t, const struct prof_data *d, size_t i, size_t more)
{
	const struct prof_metric *m = &d->metrics.data[i];
	const char *of =
		d->request->compare
			? report_text(t, "%s: ", file_base_name(d->request->inputs[m->input].file))
			: "";
	struct strbuf text = {0}, others = {0};

	if (more)
		strbuf_printf(&others, "; and %zu more (-head)", more);
	for (int brevity = BRIEF_ALL; brevity <= BRIEF_BARE; brevity++) {
		text.length = 0;
		put_samples(&text, d, i, (enum brevity)brevity);
		if ((of ? strlen(of) : 0) + text.length + others.length <= REPORT_BRIEF_ROOM)
			break;
	}
	report_brief(t, metric_each(m->metric) ? "Counts" : "Samples", "%s%s%s", of ? of : "",
		strbuf_text(&text), strbuf_text(&others));
	brief_left_out(t, d, m);
	t->failed |= text.failed | others.failed;
	strbuf_fini(&text);
	strbuf_fini(&others);
}

void report_brief_samples(struct report_table *t, const struct prof_data *d)
{
	size_t metrics = 0, shown = 0;
	size_t beside = 0;
	const char *model = fact_of(d, "model");

	for (size_t i = 0; i < d->metrics.count; i++)
		if (profile_second_run(d, i))
			beside++;
		else
			metrics++;
	for (size_t i = 0; i < d->metrics.count && shown < METRICS_SHOWN; i++)
		if (!profile_second_run(d, i) && !(t->unsampled && !d->metrics.data[i].samples)) {
			shown++;
			brief_metric(t, d, i, shown == METRICS_SHOWN ? metrics - shown : 0);
		}
	if (beside)
		report_brief(t, "Second run", "%s%s%zu event%s counted (model; -head)",
			model ? model : "", model ? "; " : "", beside, plural(beside));
}

void report_brief_all(struct report_table *t, const struct prof_data *d)
{
	if (!d->request->count)
		return;
	brief_files(t, d);
	brief_selected(t, d);
	report_brief_run(t, d);
	report_brief_samples(t, d);
}
