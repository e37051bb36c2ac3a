/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The lines above and below the rows: SpeedShop's lines "value: label", and warnings about missing
 * data. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/plural.h"
#include "base/strbuf.h"
#include "experiment/pauses.h"
#include "explain/unskid.h"
#include "report/report_columns.h"

static const char *const reason_texts[EXPERIMENT_REASONS] = {
	[EXPERIMENT_NO_MAPPING] = "outside all known mappings",
	[EXPERIMENT_NO_STACK] = "with a call path that breaks off",
	[EXPERIMENT_NO_ROOM] = "for which a table had no room",
};

void report_experiment_add(struct report_table *t, const struct prof_data *d, size_t i)
{
	const struct prof_metric *m = &d->metrics.data[i];
	const struct prof_input *input = &d->request->inputs[m->input];
	const struct experiment_metric *of = m->metric;
	const struct report_experiment own = {
		.file = input->file,
		.type = input->experiment->type,
		.event = of->name,
		.short_name = of->short_name,
		.unit = of->unit,
		.source = of->source,
		.note = of->note,
		.period = of->period,
		.flags = of->flags,
		.label = of->label,
		.samples = m->samples,
		.lost = of->lost,
		.throttled = of->throttled,
		.total = of->total,
		.unattributed =
			of->reasons[EXPERIMENT_NO_MAPPING] + of->reasons[EXPERIMENT_NO_ROOM],
	};

	t->failed |= vec_add(&t->experiments, own) != 0;
}

const char *const report_facts[][2] = {
	{"program", "Target program"},
	{"command", "Command"},
	{"host", "Host"},
	{"cpu", "CPU"},
	{"cpus", "Number of CPUs"},
	{"machine", "Architecture"},
	{"model", "Modelled machine"},
	{"model.clock", "Its clock frequency (Hz)"},
	{"model.waits", "What it waited for"},
	{"kernel", "Kernel"},
	{"perf", "Version of perf"},
	{"skipped", "Not read"},
	{"clock_hz", "Clock frequency (Hz)"},
	{NULL, NULL},
};

static void describe_run(struct report_table *t, const struct prof_data *d, size_t input)
{
	const struct prof_input *in = &d->request->inputs[input];
	const struct experiment *x = in->experiment;
	double from, to;

	report_head(t, "Experiment file", "%s", in->file);
	for (size_t i = 0; report_facts[i][0]; i++) {
		const struct experiment_fact *fact = experiment_fact_row(x, report_facts[i][0]);

		if (fact)
			report_head(t, report_facts[i][1], "%s%s", fact->value,
				fact->several ? " (others differ)" : "");
	}
	report_head(t, "Experiment name", "%s", x->type);
	if (x->runs > 1)
		report_head(t, "Files added up", "%" PRIu32, x->runs);
	if (!x->complete)
		report_head(t, "Complete", "no: the run was not recorded to its end");
	if (d->request->calipers)
		report_head(t, "Calipers", "%s", d->request->calipers);
	if (profile_times(d, input, &from, &to))
		report_head(t, "Time", "%.6g to %.6g s of %.6g s", from, to, profile_duration(x));
}

static void describe_clock(struct report_table *t, const struct prof_metric *m)
{
	report_summary(t, "Accumulated time (secs.)", "%.3f (%s)", (double)m->samples * m->unit,
		label_name(m->metric->label));
	report_summary(t, "Time per sample (msecs.)", "%.6g", (double)m->metric->period / 1e6);
}

static void describe_counter(struct report_table *t, const struct prof_metric *m)
{
	const struct experiment_metric *of = m->metric;
	bool exact = of->flags & METRIC_EXACT;
	double counts = of->total && !exact ? (double)of->total : (double)m->samples * m->unit;

	report_summary(t, "Counter name (number)", "%s (%d)", of->name, of->event);
	if (!exact)
		report_summary(t, "Counter overflow value", "%" PRIu64, of->period);
	report_summary(t, "Total counts", "%.0f (%s%s)", counts, label_name(of->label),
		exact       ? ", exact"
		: of->total ? ""
			    : ", samples by overflow value");
}

/* The samples as a share of the counted total. */
static void describe_share(
	struct report_table *t, const struct prof_metric *m, const struct prof_request *r)
{
	const struct experiment_metric *of = m->metric;
	bool clock = of->flags & METRIC_CLOCK;
	double all = (double)of->total * (clock ? 1e-9 : 1), sampled = (double)m->samples * m->unit;

	if (!of->total || of->flags & METRIC_EXACT || profile_divides(r) || profile_whom_asked(r) ||
		profile_damaged(r))
		return;
	if (clock)
		report_summary(t, "Counted time (secs.)", "%.3f (%s)", all, label_name(of->label));
	if (clock && sampled < all / 2 && all > 10 * m->unit)
		report_note(t,
			"%s: most of the time is in no sample: threads ended before their first "
			"one "
			"was due (a finer period finds more of it)",
			of->short_name);
	report_summary(t, "Of that, in samples", "%.1f%%", 100 * sampled / all);
}

static void describe_metric(struct report_table *t, const struct prof_metric *m,
	const struct prof_request *r, bool several)
{
	const struct experiment_metric *of = m->metric;

	if (several)
		report_summary(t, "Metric", "%s", of->short_name);
	if (of->flags & METRIC_CLOCK)
		describe_clock(t, m);
	else
		describe_counter(t, m);
	if (!(of->flags & METRIC_EXACT))
		report_summary(t, "Total samples", "%" PRIu64, m->samples);
	describe_share(t, m, r);
	report_summary(t, "Counted by", "%s (%s)%s%s%s", of->source, label_name(of->label),
		of->note && of->note[0] ? ", " : "", of->note ? of->note : "",
		of->flags & METRIC_KERNEL ? ", kernel included" : "");
}

/* The events of a second run (ssrun -explain), together. */
static void describe_beside(struct report_table *t, const struct prof_data *d)
{
	struct strbuf names = {0};
	const char *note = "";

	for (size_t i = 0; i < d->metrics.count; i++) {
		const struct experiment_metric *of = d->metrics.data[i].metric;

		if (!profile_second_run(d, i))
			continue;
		strbuf_printf(&names, "%s%s", names.length ? " " : "", of->short_name);
		note = of->note ? of->note : "";
		if (profile_counts_instructions(&d->metrics.data[i]))
			report_summary(t, "Instructions of the second run",
				"%" PRIu64 " (%s, exact)", d->metrics.data[i].samples,
				label_name(of->label));
	}
	if (names.length)
		report_summary(t, "Counted in the second run", "%s (model%s%s)",
			strbuf_text(&names), note[0] ? ", " : "", note);
	t->failed |= names.failed;
	strbuf_fini(&names);
}

void report_describe(struct report_table *t, const struct prof_data *d)
{
	report_brief_all(t, d);
	if (d->request->command)
		report_head(t, NULL, "%s", d->request->command);
	for (size_t i = 0; i < d->request->count; i++)
		describe_run(t, d, i);
	for (size_t i = 0; i < d->metrics.count; i++) {
		report_experiment_add(t, d, i);
		if (!profile_second_run(d, i))
			describe_metric(t, &d->metrics.data[i], d->request, d->metrics.count > 1);
	}
	describe_beside(t, d);
	for (size_t i = 0; i < d->request->count; i++) {
		report_describe_bursts(t, d->request->inputs[i].experiment);
		report_describe_values(t, d->request->inputs[i].experiment);
	}
}

/* The name of a metric's first column, where there are several. */
static const char *column_name(const struct report_table *t, size_t metric)
{
	for (size_t i = 0; i < t->columns.count; i++)
		if (t->columns.data[i].experiment == (long)metric)
			return t->columns.data[i].name;
	return t->experiments.data[metric].short_name;
}

enum { MANY = 10 }; /* one of ten paths that breaks off is worth advice */

static void cover_metric(struct report_table *t, const struct prof_data *d, size_t i)
{
	const struct experiment_metric *of = d->metrics.data[i].metric;
	bool name = d->metrics.count > 1;
	const char *head = name ? column_name(t, i) : "", *colon = name ? ": " : "";

	if (of->lost)
		report_note(t, "%s%s%" PRIu64 " sample%s lost by the kernel", head, colon, of->lost,
			of->lost == 1 ? " was" : "s were");
	if (of->throttled)
		report_note(t, "%s%sthe kernel slowed sampling down %" PRIu64 " time%s", head,
			colon, of->throttled, plural(of->throttled));
	if (d->metrics.data[i].untimed)
		report_note(t, "%s%s%" PRIu64 " sample%s no time: left out by -from and -to", head,
			colon, d->metrics.data[i].untimed,
			d->metrics.data[i].untimed == 1 ? " has" : "s have");
	for (int k = 0; k < EXPERIMENT_REASONS; k++)
		if (of->reasons[k])
			report_note(t, "%s%s%" PRIu64 " sample%s %s%s", head, colon, of->reasons[k],
				plural(of->reasons[k]), reason_texts[k],
				k == EXPERIMENT_NO_STACK &&
						of->reasons[k] * MANY >= d->metrics.data[i].samples
					? ": deep stacks and large frames need a larger copy "
					  "(ssrun -stack dwarf:65000)"
					: "");
}

/* Samples in each image, of all metrics but those of a second run. */
static void image_samples(const struct prof_data *d, const bool *beside, uint64_t *samples)
{
	for (size_t i = 0; i < d->places.count; i++)
		for (size_t k = 0; k < d->metrics.count; k++)
			if (!beside[k])
				samples[profile_place_at(d, i)->key.image] +=
					d->counts.data[i * d->metrics.count + k];
}

/* A summary of the counts of all metrics. */
static const char *what_counted(const struct prof_data *d)
{
	for (size_t i = 0; i < d->metrics.count; i++)
		if (!(d->metrics.data[i].metric->flags & METRIC_EXACT))
			return "sample";
	return "count";
}

/* Images without symbols or lines: of those that few samples are in, only the number is said. */
struct bare {
	uint64_t worth; /* samples of a line of its own */
	size_t said, left;
	bool unseen;        /* the report names neither functions nor lines */
	bool own, packaged; /* of those said: some are, or are not, outside of the system's
			       directories */
};

static void cover_bare(struct report_table *t, const struct prof_data *d, const struct bare *b)
{
	if (b->left)
		report_note(t,
			"%zu image%s with less than 1%% of the %ss %s no symbols or no debug "
			"information",
			b->left, plural(b->left), what_counted(d), b->left == 1 ? "has" : "have");
	if (b->said)
		report_note(t, "Without symbols, functions have addresses: %s%s%s",
			b->own ? "build your programs without -s and strip" : "",
			b->own && b->packaged ? "; of the system, " : "",
			b->packaged ? "packages of debug symbols (-dbgsym) have names; -debuginfod "
				      "asks servers for them"
				    : "");
}

static bool is_packaged(const char *path)
{
	static const char *const of_system[] = {
		"/usr/", "/lib/", "/lib32/", "/lib64/", "/libx32/", "/bin/", "/sbin/"};

	if (strncmp(path, "/usr/local/", 11) == 0)
		return false;
	for (size_t i = 0; i < sizeof(of_system) / sizeof(of_system[0]); i++)
		if (strncmp(path, of_system[i], strlen(of_system[i])) == 0)
			return true;
	return false;
}

/* Known: names are fewer than they could be, but right. */
static bool lacks_names(const char *why)
{
	return strstr(why, "no symbols") || strstr(why, "no debug information");
}

static void cover_image(struct report_table *t, const struct prof_data *d, uint32_t i,
	uint64_t samples, struct bare *bare)
{
	const char *why = NULL, *path = d->images.data[i].image->path;
	enum prof_image_state state;

	if (!samples || d->images.data[i].image->kind == EXPERIMENT_IMAGE_UNKNOWN)
		return;
	state = d->names.ops->state(d->names.context, i, &why);
	if (state == PROF_IMAGE_FINE && why && lacks_names(why) &&
		(bare->unseen || samples < bare->worth)) {
		bare->left += !bare->unseen;
		return;
	}
	if (state == PROF_IMAGE_FINE && why && strstr(why, "no symbols")) {
		bare->said++;
		bare->own |= !is_packaged(path);
		bare->packaged |= is_packaged(path);
	}
	t->incomplete |= state == PROF_IMAGE_REPLACED || (why && state == PROF_IMAGE_MISSING);
	if (state == PROF_IMAGE_REPLACED)
		report_note(t,
			"%s is another file than the one that ran: its %" PRIu64
			" %s%s %s shown by address (%s)",
			path, samples, what_counted(d), plural(samples), plural_is(samples),
			why ? why : "replaced since");
	else if (why)
		report_note(t, "%s (%" PRIu64 " %s%s): %s%s", path, samples, what_counted(d),
			plural(samples), why,
			state == PROF_IMAGE_MISSING ? " (-root, -archive or an executable before "
						      "the files say where it is)"
						    : "");
}

/* Waits are samples in the scheduler; what for is in another report. */
static void cover_waits(struct report_table *t, const struct prof_data *d)
{
	enum { WORTH = 5 /* percent */ };
	uint64_t waits = 0, run = 0;

	if (!d->metrics.count || !(d->metrics.data[0].metric->flags & METRIC_WALL) ||
		(t->report && strcmp(t->report, "waits") == 0))
		return;
	for (size_t i = 0; i < d->request->count; i++) {
		const struct experiment *x = d->request->inputs[i].experiment;

		for (size_t k = 0; k < x->pauses.count; k++)
			waits += experiment_pause_at(x, k)->time;
		run += x->elapsed;
	}
	if (waits && waits * 100 >= run * WORTH)
		report_note(t,
			"In the whole run, threads waited %.3f s (measured): "
			"prof -waits reports what for",
			(double)waits * 1e-9);
}

/* A report without rows says why. A part of a run may well have no samples. */
static void cover_nothing(struct report_table *t, const struct prof_data *d)
{
	enum { LONG = 10 }; /* samples: so long a run waited */
	const struct experiment_metric *of;
	double period, elapsed = 0;

	for (size_t i = 0; i < d->metrics.count; i++)
		if (d->metrics.data[i].samples)
			return;
	for (size_t i = 0; i < d->request->count; i++)
		elapsed += (double)d->request->inputs[i].experiment->elapsed;
	if (!d->metrics.count || t->unsampled || profile_divides(d->request) ||
		profile_whom_asked(d->request) || profile_damaged(d->request))
		return;
	of = d->metrics.data[0].metric;
	if (of->lost || of->flags & METRIC_EXACT || of->period <= 1)
		return;
	period = (double)of->period;
	if (of->flags & METRIC_CLOCK && elapsed >= LONG * period)
		report_note(t,
			"In %.3g s, threads ran for less than a sample, which is %.4g ms: "
			"ssrun -totaltime has what they waited for",
			elapsed * 1e-9, period / 1e6);
	else if (of->flags & METRIC_CLOCK)
		report_note(t,
			"The run was too short for a sample, which comes every %.4g ms: give it "
			"more work, or more runs (ssrun -runs)",
			period / 1e6);
	else
		report_note(t,
			"No sample: the run had fewer than %.15g %s, which are one: if it should "
			"have more, give it more work, or more runs (ssrun -runs)",
			period, of->short_name);
}

void report_unskid_note(struct report_table *t, const struct prof_data *d, bool moved)
{
	const char *text = explain_unskid_note(d, moved);

	if (text)
		report_note(t, "%s", text);
}

void report_coverage(struct report_table *t, const struct prof_data *d)
{
	uint64_t *samples = report_scratch(t, d->images.count, sizeof(*samples));
	bool *beside = report_scratch(t, d->metrics.count, sizeof(*beside));
	struct bare bare = {.unseen = t->places && !strstr(t->places, "(dso: file")};

	for (size_t i = 0; i < d->metrics.count; i++)
		cover_metric(t, d, i);
	cover_nothing(t, d);
	for (size_t i = 0; beside && i < d->metrics.count; i++)
		beside[i] = profile_second_run(d, i);
	if (samples && beside)
		image_samples(d, beside, samples);
	for (uint32_t i = 0; samples && i < d->images.count; i++)
		bare.worth += samples[i];
	bare.worth /= 100;
	for (uint32_t i = 0; samples && i < d->images.count; i++)
		cover_image(t, d, i, samples[i], &bare);
	cover_bare(t, d, &bare);
	report_runtimes(t, d);
	cover_waits(t, d);
}
