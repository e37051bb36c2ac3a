/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What stands above and below the rows: SpeedShop's lines "value: label", and what is missing. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/plural.h"
#include "report/prof_columns.h"

static const char *const reason_texts[EXPERIMENT_REASONS] = {
	[EXPERIMENT_NO_MAPPING] = "outside all known mappings",
	[EXPERIMENT_NO_STACK] = "with a call path that breaks off",
	[EXPERIMENT_NO_ROOM] = "for which a table had no room",
};

int prof_experiment_add(struct prof_table *t, const struct prof_data *d, size_t i)
{
	const struct prof_metric *m = &d->metrics.data[i];
	const struct prof_input *input = &d->request->inputs[m->input];
	const struct experiment_metric *of = m->metric;
	struct prof_experiment *own;

	own = vec_push(&t->experiments);
	if (!own)
		return -1;
	*own = (struct prof_experiment){
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
	return 0;
}

static const struct experiment_fact *find_fact(const struct experiment *x, const char *key)
{
	for (size_t i = 0; i < x->facts.count; i++)
		if (strcmp(x->facts.data[i].key, key) == 0)
			return &x->facts.data[i];
	return NULL;
}

const char *const prof_facts[][2] = {
	{"program", "Target program"},
	{"command", "Command"},
	{"host", "Host"},
	{"cpu", "CPU"},
	{"cpus", "Number of CPUs"},
	{"machine", "Architecture"},
	{"model", "Modelled machine"},
	{"model.clock", "Its clock frequency (Hz)"},
	{"kernel", "Kernel"},
	{"perf", "Version of perf"},
	{"skipped", "Not read"},
	{"clock_hz", "Clock frequency (Hz)"},
	{NULL, NULL},
};

static int describe_run(struct prof_table *t, const struct prof_data *d, size_t input)
{
	const struct prof_input *in = &d->request->inputs[input];
	const struct experiment *x = in->experiment;

	if (prof_head(t, "Experiment file", "%s", in->file))
		return -1;
	for (size_t i = 0; prof_facts[i][0]; i++) {
		const struct experiment_fact *fact = find_fact(x, prof_facts[i][0]);

		if (fact && prof_head(t, prof_facts[i][1], "%s%s", fact->value,
				    fact->several ? " (others differ)" : ""))
			return -1;
	}
	if (prof_head(t, "Experiment name", "%s", x->type))
		return -1;
	if (x->runs > 1 && prof_head(t, "Files added up", "%" PRIu32, x->runs))
		return -1;
	if (!x->complete && prof_head(t, "Complete", "no: the run was not watched to its end"))
		return -1;
	return d->request->calipers ? prof_head(t, "Calipers", "%s", d->request->calipers) : 0;
}

static int describe_clock(struct prof_table *t, const struct prof_metric *m)
{
	const struct experiment_metric *of = m->metric;
	const char *label = label_name(of->label);
	struct quantity q = prof_sampled(m->samples, m->unit, of->label);

	if (prof_summary(t, "Accumulated time (secs.)", "%.3f (%s)", q.value, label) ||
		prof_summary(t, "Time per sample (msecs.)", "%.6g", (double)of->period / 1e6))
		return -1;
	return 0;
}

static int describe_counter(struct prof_table *t, const struct prof_metric *m)
{
	const struct experiment_metric *of = m->metric;
	const char *label = label_name(of->label);
	bool exact = of->flags & METRIC_EXACT;
	double counts = of->total && !exact ? (double)of->total : (double)m->samples * m->unit;

	if (prof_summary(t, "Counter name (number)", "%s (%d)", of->name, of->event) ||
		(!exact && prof_summary(t, "Counter overflow value", "%" PRIu64, of->period)) ||
		prof_summary(t, "Total counts", "%.0f (%s%s)", counts, label,
			exact       ? ", exact"
			: of->total ? ""
				    : ", samples by overflow value"))
		return -1;
	return 0;
}

/* What was counted beside the samples says how much of it they stand for. */
static int describe_share(
	struct prof_table *t, const struct prof_metric *m, const struct prof_request *r)
{
	const struct experiment_metric *of = m->metric;
	double all = (double)of->total * (of->flags & METRIC_CLOCK ? 1e-9 : 1);

	if (!of->total || of->flags & METRIC_EXACT || r->calipers)
		return 0;
	if (of->flags & METRIC_CLOCK &&
		prof_summary(t, "Counted time (secs.)", "%.3f (%s)", all, label_name(of->label)))
		return -1;
	if (of->flags & METRIC_CLOCK && (double)m->samples * m->unit < all / 2 &&
		all > 10 * m->unit &&
		prof_note(t,
			"%s: most of the time is in no sample: threads ended before their first "
			"one "
			"was due (a finer period finds more of it)",
			of->short_name))
		return -1;
	return prof_summary(
		t, "Of that, in samples", "%.1f%%", 100 * (double)m->samples * m->unit / all);
}

static int describe_metric(struct prof_table *t, const struct prof_metric *m,
	const struct prof_request *r, bool several)
{
	const struct experiment_metric *of = m->metric;

	if (several && prof_summary(t, "Metric", "%s", of->short_name))
		return -1;
	if (of->flags & METRIC_CLOCK ? describe_clock(t, m) : describe_counter(t, m))
		return -1;
	if (!(of->flags & METRIC_EXACT) && prof_summary(t, "Total samples", "%" PRIu64, m->samples))
		return -1;
	if (describe_share(t, m, r))
		return -1;
	return prof_summary(t, "Counted by", "%s (%s)%s%s%s", of->source, label_name(of->label),
		of->note && of->note[0] ? ", " : "", of->note ? of->note : "",
		of->flags & METRIC_KERNEL ? ", kernel included" : "");
}

int prof_describe(struct prof_table *t, const struct prof_data *d, struct error *e)
{
	if (d->request->command && prof_head(t, NULL, "%s", d->request->command))
		return error_nomem(e);
	for (size_t i = 0; i < d->request->count; i++)
		if (describe_run(t, d, i))
			return error_nomem(e);
	for (size_t i = 0; i < d->metrics.count; i++)
		if (prof_experiment_add(t, d, i) ||
			describe_metric(t, &d->metrics.data[i], d->request, d->metrics.count > 1))
			return error_nomem(e);
	for (size_t i = 0; i < d->request->count; i++)
		if (prof_describe_bursts(t, d->request->inputs[i].experiment))
			return error_nomem(e);
	return 0;
}

/* The name of a metric's first column, where there are several. */
static const char *column_name(const struct prof_table *t, size_t metric)
{
	for (size_t i = 0; i < t->columns.count; i++)
		if (t->columns.data[i].experiment == (long)metric)
			return t->columns.data[i].name;
	return t->experiments.data[metric].short_name;
}

static int cover_metric(struct prof_table *t, const struct prof_data *d, size_t i)
{
	const struct experiment_metric *of = d->metrics.data[i].metric;
	bool name = d->metrics.count > 1;
	const char *head = name ? column_name(t, i) : "", *colon = name ? ": " : "";

	if (of->lost && prof_note(t, "%s%s%" PRIu64 " sample%s lost by the kernel", head, colon,
				of->lost, of->lost == 1 ? " was" : "s were"))
		return -1;
	if (of->throttled && prof_note(t, "%s%sthe kernel slowed sampling down %" PRIu64 " time%s",
				     head, colon, of->throttled, plural(of->throttled)))
		return -1;
	for (int k = 0; k < EXPERIMENT_REASONS; k++)
		if (of->reasons[k] &&
			prof_note(t, "%s%s%" PRIu64 " sample%s %s", head, colon, of->reasons[k],
				plural(of->reasons[k]), reason_texts[k]))
			return -1;
	return 0;
}

/* Samples in each image, of all metrics. */
static void image_samples(const struct prof_data *d, uint64_t *samples)
{
	for (size_t i = 0; i < d->places.count; i++)
		for (size_t k = 0; k < d->metrics.count; k++)
			samples[prof_place_at(d, i)->key.image] +=
				d->counts.data[i * d->metrics.count + k];
}

/* What the counts of all metrics together are. */
static const char *what_counted(const struct prof_data *d)
{
	for (size_t i = 0; i < d->metrics.count; i++)
		if (!(d->metrics.data[i].metric->flags & METRIC_EXACT))
			return "sample";
	return "count";
}

static int cover_image(
	struct prof_table *t, const struct prof_data *d, uint32_t i, uint64_t samples)
{
	const char *why = NULL, *path = d->images.data[i].image->path;
	enum prof_image_state state;

	if (!samples || d->images.data[i].image->kind == EXPERIMENT_IMAGE_UNKNOWN)
		return 0;
	state = d->names.ops->state(d->names.context, i, &why);
	if (state == PROF_IMAGE_REPLACED) {
		t->incomplete = true;
		return prof_note(t,
			"%s is another file than the one that ran: its %" PRIu64
			" %s%s %s shown by address (%s)",
			path, samples, what_counted(d), plural(samples), plural_is(samples),
			why ? why : "replaced since");
	}
	if (!why)
		return 0;
	t->incomplete = t->incomplete || state == PROF_IMAGE_MISSING;
	return prof_note(t, "%s (%" PRIu64 " %s%s): %s%s", path, samples, what_counted(d),
		plural(samples), why,
		state == PROF_IMAGE_MISSING
			? " (-root, -archive or an executable before the files say where it is)"
			: "");
}

int prof_coverage(struct prof_table *t, const struct prof_data *d, struct error *e)
{
	uint64_t *samples = calloc(d->images.count + 1, sizeof(*samples));
	int rc = samples ? 0 : -1;

	for (size_t i = 0; i < d->metrics.count && rc == 0; i++)
		rc = cover_metric(t, d, i);
	if (rc == 0)
		image_samples(d, samples);
	for (uint32_t i = 0; i < d->images.count && rc == 0; i++)
		rc = cover_image(t, d, i, samples[i]);
	free(samples);
	return rc ? error_nomem(e) : 0;
}
