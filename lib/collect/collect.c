/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/collect.h"

#include <linux/perf_event.h>
#include <string.h>

#include "image/archive.h"
#include "sources/profile.h"
#include "sources/source.h"

/* The kernel samples it without a counter of the processor. */
static bool is_kernels(const struct collect_metric *m)
{
	struct event_code code;

	return m->spec.event &&
	       event_encode_for("generic", m->spec.event->number, &code, NULL) == 0 &&
	       code.type == PERF_TYPE_SOFTWARE;
}

/* Of samples with addresses, at 195 MHz: as for secondary misses. */
#define DATA_PERIOD 131

static bool is_models(struct collect_metric *m)
{
	event_user_row(&m->spec);
	return m->spec.event && profile_has(m->spec.event);
}

static int cannot(const struct collect_metric *m, enum collect_source s, struct error *e)
{
	error_set(e, ERR_UNSUPPORTED, "%s: the source %s cannot sample %s", m->experiment,
		collect_source_names[s], m->spec.name);
	return error_hint(e, "ssrun -list shows the sources of experiments on this machine");
}

/* Only the model has exact counts, only the kernel has clocks. */
static int wanted_source(struct collect_metric *m, enum collect_source wanted, struct error *e)
{
	bool good = true;

	if (wanted == COLLECT_OS)
		good = is_kernels(m);
	else if (wanted == COLLECT_PMU)
		good = !is_kernels(m) && !(m->flags & METRIC_EXACT);
	else if (wanted == COLLECT_MODEL)
		good = is_models(m);
	m->source = wanted;
	/* Each occurrence is counted on the model only. */
	if (wanted == COLLECT_PMU && (m->flags & METRIC_DATA))
		m->classic = DATA_PERIOD;
	if (!good)
		return cannot(m, wanted, e);
	return wanted == COLLECT_PMU && !m->spec.encoded ? event_encode(&m->spec, e) : 0;
}

/* No source has the event. why: of the pmu, if it was asked. */
static int refuse_metric(const struct collect_metric *m, const struct error *why, struct error *e)
{
	if (!why->code)
		return cannot(m, COLLECT_MODEL, e);
	*e = *why;
	error_set(e, why->code, "cannot sample %s: the model does not have it, and: %s",
		m->spec.name, why->message);
	return event_perf_hint(m->spec.name, e) ? -1 : error_hint(e, "%s", why->hint);
}

/* Of an event: the pmu, if it works and counts that event, else the model. */
static int auto_source(struct collect_metric *m, bool attach, struct error *reason, struct error *e)
{
	struct source_options options = {.user = true};
	struct error why = {0};

	if (is_kernels(m)) {
		m->source = COLLECT_OS;
		return 0;
	}
	m->source = COLLECT_MODEL;
	if (!(m->flags & (METRIC_EXACT | METRIC_DATA))) {
		if (source_pmu.probe(&options, &why) == 0 &&
			source_pmu.accepts(&options, &m->spec, &why) == 0) {
			m->source = COLLECT_PMU;
			return 0;
		}
		*reason = why;
	}
	if (!attach && is_models(m))
		return 0;
	if (!attach)
		return refuse_metric(m, &why, e);
	error_set(e, ERR_UNSUPPORTED, "%s: %s%s", m->experiment,
		why.code ? why.message : "the model counts it",
		", and the model cannot attach to a running process");
	return error_hint(e, "run the command under ssrun, or sample time: -pcsamp or -usertime");
}

static int metric_scale(struct collect_metrics *m, const struct machine *machine, struct error *e)
{
	struct machine host;

	for (size_t i = 0; i < m->list.count; i++) {
		struct collect_metric *metric = &m->list.data[i];

		if (!metric->classic)
			continue;
		if (!machine) {
			if (machine_find(NULL, &host, e))
				return -1;
			machine = &host;
		}
		metric->period = collect_scale(metric->classic, (double)machine->model.clock_hz);
	}
	return 0;
}

int collect_choose(struct collect_metrics *m, enum collect_source wanted,
	const struct machine *machine, bool attach, struct error *reason, struct error *e)
{
	const char *model = NULL, *native = NULL;
	bool exact = false, sampled = false, data = false;

	memset(reason, 0, sizeof(*reason));
	for (size_t i = 0; i < m->list.count; i++) {
		struct collect_metric *metric = &m->list.data[i];

		if (wanted == COLLECT_AUTO ? auto_source(metric, attach, reason, e)
					   : wanted_source(metric, wanted, e))
			return -1;
		*(metric->source == COLLECT_MODEL ? &model : &native) = metric->experiment;
		*(metric->flags & METRIC_EXACT ? &exact : &sampled) = true;
		data |= (metric->flags & METRIC_DATA) != 0;
	}
	if (model && native) {
		error_set(e, ERR_CONFLICT,
			"%s samples the command as it is, and %s here one on the model: that is "
			"two runs",
			native, model);
		return error_hint(e,
			"run ssrun once for each (-o FILE); prof shows several "
			"experiments side by side%s",
			data ? " (ssrun -explain -dataspace makes one of two runs)" : "");
	}
	if (exact && sampled)
		return error_set(e, ERR_CONFLICT,
			"an exact experiment (ideal, bbcounts) has a run of its own");
	return metric_scale(m, machine, e);
}

int collect(const struct collect_request *r, struct experiment *x, struct collect_result *result,
	struct error *e)
{
	memset(result, 0, sizeof(*result));
	if (r->archive && archive_create(r->archive, e))
		return -1;
	if (r->metrics->list.count && r->metrics->list.data[0].source == COLLECT_MODEL)
		return collect_model(r, x, result, e);
	return collect_perf(r, x, result, e);
}
