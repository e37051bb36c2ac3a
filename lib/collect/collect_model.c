/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Experiments on the model: the command runs under it once, with a sampler for each metric, or
 * counts by instruction for exact ones. Sampling does not disturb the model, so several events are
 * sampled together, and periods may be as short as wanted.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collect/collect.h"
#include "collect/collect_symbols.h"
#include "collect/model_fill.h"
#include "image/archive.h"
#include "process/rank.h"
#include "sources/sources_run.h"

struct modelling {
	const struct collect_request *request;
	const struct machine *machine;
	struct machine host;
	struct profile profile;
	struct profile_request wanted;
	VEC(struct profile_sampler) samplers;
	struct event_spec *specs; /* one per metric */
	struct plan plan;
	struct run_result run;
	bool ran;
};

/* ---- before the run ---- */

static int add_samplers(struct modelling *m, struct error *e)
{
	const struct collect_metrics *metrics = m->request->metrics;
	bool executed = true, samples = true;

	for (size_t i = 0; i < metrics->list.count; i++) {
		const struct collect_metric *metric = &metrics->list.data[i];
		struct profile_sampler *s;

		m->wanted.stacks |= (metric->flags & METRIC_STACKS) != 0;
		m->wanted.dataspace |= (metric->flags & METRIC_DATA) != 0;
		executed &= profile_is_executed(metric->spec.event->number);
		samples &= model_samples(metric);
		if (!model_samples(metric))
			continue;
		if (m->samplers.count == PROFILE_SAMPLERS_MAX)
			return error_set(e, ERR_RANGE, "the model samples %d events at a time",
				PROFILE_SAMPLERS_MAX);
		s = vec_push(&m->samplers);
		if (!s)
			return error_nomem(e);
		*s = (struct profile_sampler){.event = (uint32_t)metric->spec.event->number,
			.skid = (metric->flags & METRIC_SKID) != 0,
			.period = metric->period};
	}
	m->wanted.samplers = m->samplers.data;
	m->wanted.sampler_count = m->samplers.count;
	m->wanted.blocks = executed && !m->samplers.count;
	m->wanted.only_samples = samples;
	m->wanted.into = &m->profile;
	return 0;
}

static int add_plan(struct modelling *m, const struct source_options *options, struct error *e)
{
	const struct collect_metrics *metrics = m->request->metrics;

	m->specs = calloc(metrics->list.count, sizeof(*m->specs));
	m->plan.entries = calloc(metrics->list.count, sizeof(*m->plan.entries));
	if (!m->specs || !m->plan.entries)
		return error_nomem(e);
	m->plan.count = metrics->list.count;
	m->plan.passes = 1;
	if (source_model.probe(options, e))
		return -1;
	for (size_t i = 0; i < metrics->list.count; i++) {
		m->specs[i] = metrics->list.data[i].spec;
		m->plan.entries[i].source = &source_model;
		if (source_model.accepts(options, &m->specs[i], e))
			return -1;
	}
	return 0;
}

static int prepare(struct modelling *m, struct source_options *options, struct error *e)
{
	m->machine = m->request->machine;
	if (!m->machine) {
		if (machine_find(NULL, &m->host, e))
			return -1;
		m->machine = &m->host;
	}
	*options = (struct source_options){.user = true,
		.forced = true,
		.turn = m->request->turn,
		.machine = m->machine,
		.profile = &m->wanted};
	return profile_init(&m->profile, e) || add_samplers(m, e) || add_plan(m, options, e) ? -1
											     : 0;
}

static void say_what_is_not_done(const struct collect_request *r)
{
	if (r->caliper_seconds > 0 || r->caliper_signal)
		collect_say(r, 0,
			"on the model, phases begin at points of the program alone "
			"(ssrt_caliper_point): -cal and signals are for runs in real time");
	if (r->kernel)
		collect_say(
			r, 0, "the model sees user mode only: nothing of the kernel is sampled");
}

/* ---- after the run ---- */

static void say_what_is_missing(const struct collect_request *r, const struct modelling *m)
{
	char line[PROFILE_MISSING][PROFILE_LINE];

	if (m->run.reading.note[0])
		collect_say(r, 0, "%s", m->run.reading.note);
	profile_missing(&m->profile, line);
	for (int i = 0; i < PROFILE_MISSING; i++)
		if (line[i][0])
			collect_say(r, 0, "%s", line[i]);
}

static void collect_model_add_up(const struct modelling *m, uint64_t *totals)
{
	memset(totals, 0, EVENT_LIMIT * sizeof(*totals));
	for (size_t i = 0; i < m->plan.count; i++) {
		int event = m->specs[i].event->number;
		uint64_t n = (uint64_t)m->run.reading.counts[i].quantity.value;

		totals[event] = n;
	}
}

static int set_note(char **note, const char *text, struct error *e)
{
	free(*note);
	*note = strdup(text);
	return *note ? 0 : error_nomem(e);
}

static int describe_model(const struct modelling *m, struct experiment *x, struct error *e)
{
	const struct machine *machine = m->machine;
	char hz[32];

	snprintf(hz, sizeof(hz), "%llu", (unsigned long long)machine->model.clock_hz);
	for (size_t i = 0; i < x->metrics.count; i++) {
		struct experiment_metric *metric = &x->metrics.data[i];

		if (set_note(&metric->note, machine->name, e))
			return -1;
		metric->skid = metric->flags & METRIC_SKID ? 1 : 0;
	}
	if (machine->model.clock == MODEL_CLOCK_SAMPLED &&
		experiment_fact(x, "model.waits", "estimated from random windows", e))
		return -1;
	return experiment_fact(x, "model", machine->description, e) ||
			       experiment_fact(x, "model.clock", hz, e)
		       ? -1
		       : 0;
}

/* A process image without samples is added for its counts. */
static void describe_root(const struct modelling *m, struct experiment *x)
{
	for (size_t i = 1; i < x->processes.count; i++)
		if (x->processes.data[i].pid == m->run.pid) {
			x->processes.data[i].rank = rank_here();
			x->processes.data[i].status =
				m->run.killed ? m->run.exit_status - 128 : m->run.exit_status << 8;
		}
}

/* Generated code, by the maps that JIT compilers write. */
static int name_symbols(struct experiment *x, struct error *e)
{
	for (uint32_t i = 1; i < x->images.count; i++)
		if (x->images.data[i].kind == EXPERIMENT_IMAGE_ANONYMOUS &&
			symbols_jit(x, i, x->images.data[i].pid))
			return error_nomem(e);
	return 0;
}

static int archive_images(const struct collect_request *r, const struct experiment *x)
{
	size_t missing = 0;
	struct error why = {0}, one;

	for (size_t i = 1; r->archive && i < x->images.count; i++) {
		const struct experiment_image *im = &x->images.data[i];
		struct image_identity id = {.path = im->path,
			.build_id = im->build_id,
			.build_id_length = im->build_id_length,
			.size = im->size,
			.fingerprint = im->fingerprint};

		if (im->kind != EXPERIMENT_IMAGE_ELF)
			continue;
		if (archive_add(r->archive, &id, im->path, &one) && !missing++)
			why = one;
	}
	if (missing)
		collect_say(r, 0, "%zu images could not be archived: %s", missing, why.message);
	return 0;
}

static int collect_model_finish(struct modelling *m, struct experiment *x, struct error *e)
{
	const struct collect_request *r = m->request;
	uint64_t totals[EVENT_LIMIT];

	x->elapsed = (uint64_t)(m->run.elapsed * 1e9);
	x->complete = !m->run.interrupted;
	collect_model_add_up(m, totals);
	if (profile_finish(&m->profile, e) || describe_model(m, x, e) ||
		model_fill(x, r->metrics, &m->profile, totals, m->machine->model.clock_hz, e))
		return -1;
	if (name_symbols(x, e))
		return -1;
	describe_root(m, x);
	say_what_is_missing(r, m);
	return archive_images(r, x);
}

static void on_long(void *context, const char *text)
{
	const struct modelling *m = context;

	collect_say(m->request, 0, "%s", text);
}

static int collect_model_run(
	struct modelling *m, const struct source_options *options, struct error *e)
{
	struct run_progress progress = {
		.expected = (double)m->request->expect, .on_long = on_long, .context = m};
	struct run_request request = {.argv = m->request->argv,
		.input = m->request->input,
		.silent = m->request->silent,
		.progress = &progress};

	if (m->request->progress)
		progress.line = *m->request->progress;
	else
		request.progress = NULL;
	if (run_pass(&request, &m->plan, 0, options, m->specs, &m->run, e))
		return -1;
	m->ran = true;
	return 0;
}

int collect_model(const struct collect_request *r, struct experiment *x,
	struct collect_result *result, struct error *e)
{
	struct modelling m = {.request = r};
	struct source_options options;
	int rc = -1;

	if (!r->argv || r->all) {
		error_set(e, ERR_UNSUPPORTED, "the model cannot look at what runs already");
		return error_hint(e, "give a command");
	}
	if (prepare(&m, &options, e) == 0 && collect_describe(r, x, "model", e) == 0) {
		say_what_is_not_done(r);
		if (collect_model_run(&m, &options, e) == 0) {
			*result = (struct collect_result){.exit_status = m.run.exit_status,
				.killed = m.run.killed,
				.interrupted = m.run.interrupted,
				.signal = m.run.signal,
				.elapsed = m.run.elapsed};
			rc = r->output ? collect_output_claim(r->output, m.run.pid, e) : 0;
			if (rc == 0)
				rc = collect_model_finish(&m, x, e);
		}
	}
	if (m.ran)
		run_result_fini(&m.run);
	profile_fini(&m.profile);
	vec_fini(&m.samplers);
	free(m.specs);
	free(m.plan.entries);
	return rc;
}
