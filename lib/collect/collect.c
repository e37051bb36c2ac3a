/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/collect.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "base/strbuf.h"
#include "sources/source.h"

static const char *const source_names[] = {[COLLECT_AUTO] = "auto",
	[COLLECT_OS] = "os",
	[COLLECT_PMU] = "pmu",
	[COLLECT_MODEL] = "model"};

/* The kernel samples it by itself, without a counter of the processor. */
static bool is_kernels(const struct collect_metric *m)
{
	struct event_code code;

	return m->spec.event &&
	       event_encode_for("generic", m->spec.event->number, &code, NULL) == 0 &&
	       code.type == PERF_TYPE_SOFTWARE;
}

/* Of samples with addresses, at 195 MHz: as for secondary misses. */
#define DATA_PERIOD 131

static bool is_models(const struct collect_metric *m)
{
	return m->spec.event && (m->spec.event->flags & EVENT_MODEL) &&
	       m->spec.event->number != EV_WALK_CYCLES;
}

static int cannot(const struct collect_metric *m, enum collect_source s, struct error *e)
{
	error_set(e, ERR_UNSUPPORTED, "%s: %s is nothing that the source %s can sample",
		m->experiment, m->spec.name, source_names[s]);
	return error_hint(e, "ssrun -list shows what samples what on this machine");
}

/* Exact counts are the model's alone, clocks the kernel's. */
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
	/* Each one is counted on the model alone. */
	if (wanted == COLLECT_PMU && (m->flags & METRIC_DATA))
		m->classic = DATA_PERIOD;
	if (!good)
		return cannot(m, wanted, e);
	return wanted == COLLECT_PMU && !m->spec.encoded ? event_encode(&m->spec, e) : 0;
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
		return why.code ? (*e = why, -1) : cannot(m, COLLECT_MODEL, e);
	error_set(e, ERR_UNSUPPORTED, "%s: %s%s", m->experiment,
		why.code ? why.message : "this is the model's",
		", and the model cannot look at what runs already");
	return error_hint(e, "of a running process, ssrun samples time here: -pcsamp, -usertime");
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
	bool model = false, native = false, exact = false, sampled = false;

	memset(reason, 0, sizeof(*reason));
	for (size_t i = 0; i < m->list.count; i++) {
		struct collect_metric *metric = &m->list.data[i];

		if (wanted == COLLECT_AUTO ? auto_source(metric, attach, reason, e)
					   : wanted_source(metric, wanted, e))
			return -1;
		*(metric->source == COLLECT_MODEL ? &model : &native) = true;
		*(metric->flags & METRIC_EXACT ? &exact : &sampled) = true;
	}
	if (model && native) {
		error_set(e, ERR_CONFLICT,
			"time is sampled in a run of the command as it is, and events here in one "
			"on the model: that is two runs");
		return error_hint(e, "run ssrun once for each; prof shows several experiments "
				     "side by side");
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
	if (r->metrics->list.count && r->metrics->list.data[0].source == COLLECT_MODEL)
		return collect_model(r, x, result, e);
	return collect_perf(r, x, result, e);
}

void collect_say(const struct collect_request *r, int level, const char *format, ...)
{
	char line[1024];
	va_list ap;

	if (!r->say)
		return;
	va_start(ap, format);
	vsnprintf(line, sizeof(line), format, ap);
	va_end(ap);
	r->say(r->context, level, line);
}

int collect_rank(void)
{
	static const char *const variables[] = {
		"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "SLURM_PROCID"};

	for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++) {
		const char *text = getenv(variables[i]);
		char *end;
		long rank = text ? strtol(text, &end, 10) : -1;

		if (text && *text && !*end && rank >= 0 && rank < 0x7fffffff)
			return (int)rank;
	}
	return -1;
}

/* ---- facts ----------------------------------------------------------------------------------- */

static int fact_command(const struct collect_request *r, struct experiment *x, struct error *e)
{
	struct strbuf text = {0};
	int rc;

	for (size_t i = 0; r->argv && r->argv[i]; i++)
		strbuf_printf(&text, "%s%s", i ? " " : "", r->argv[i]);
	if (!r->argv && r->pid)
		strbuf_printf(&text, "-pid %d", (int)r->pid);
	else if (!r->argv)
		strbuf_puts(&text, "-a");
	rc = experiment_fact(x, "command", strbuf_text(&text), e);
	strbuf_fini(&text);
	return rc;
}

/* The name that /proc/cpuinfo has; "" on machines where it has none. */
static void cpu_name(char *text, size_t size)
{
	char line[256];
	FILE *f = fopen("/proc/cpuinfo", "re");

	text[0] = '\0';
	while (f && fgets(line, sizeof(line), f)) {
		const char *colon = strchr(line, ':');

		if (strncmp(line, "model name", 10) != 0 || !colon || !colon[1])
			continue;
		line[strcspn(line, "\n")] = '\0';
		snprintf(text, size, "%s", colon + 2);
		break;
	}
	if (f)
		fclose(f);
}

static int collect_describe_metric(
	const struct collect_metric *m, struct experiment *x, const char *source, struct error *e)
{
	static const enum label labels[] = {[COLLECT_OS] = LABEL_MEASURED,
		[COLLECT_PMU] = LABEL_MEASURED,
		[COLLECT_MODEL] = LABEL_MODEL};
	const struct event *event = m->spec.event;
	bool clock = m->flags & METRIC_CLOCK, wall = m->flags & METRIC_WALL;
	struct experiment_metric metric = {
		.event = event && !wall ? event->number : -1,
		.name = (char *)(wall    ? "Elapsed time"
				 : clock ? "CPU time"
				 : event ? event->name
					 : m->spec.name),
		.short_name = (char *)(wall    ? "wall"
				       : clock ? "time"
				       : event ? event->short_name
					       : m->spec.argument),
		.unit = (char *)(clock   ? "ns"
				 : event ? event->unit
					 : "events"),
		.source = (char *)(source ? source : source_names[m->source]),
		.note = (char *)"",
		.label = labels[m->source],
		.flags = m->flags,
		.period = m->period,
	};

	return experiment_metric(x, &metric, e) < 0 ? -1 : 0;
}

/* What turns sampled time into cycles (prof's cpi); the model has a clock of its own, and says so.
 */
static int fact_clock(
	const struct collect_request *r, struct experiment *x, const char *source, struct error *e)
{
	char hz[32];

	if (!r->machine || !r->machine->model.clock_hz || (source && strcmp(source, "model") == 0))
		return 0;
	snprintf(hz, sizeof(hz), "%llu", (unsigned long long)r->machine->model.clock_hz);
	return experiment_fact(x, "clock_hz", hz, e);
}

static int describe_type(const struct collect_request *r, struct experiment *x, struct error *e)
{
	struct strbuf type = {0};

	collect_metrics_type(r->metrics, &type);
	free(x->type);
	x->type = strbuf_take(&type);
	return x->type ? 0 : error_nomem(e);
}

int collect_describe(
	const struct collect_request *r, struct experiment *x, const char *source, struct error *e)
{
	struct utsname host;
	struct timespec now;
	char cpu[128], kernel[160];

	if (uname(&host) != 0)
		return error_sys(e, errno, "uname");
	cpu_name(cpu, sizeof(cpu));
	snprintf(kernel, sizeof(kernel), "%s %s", host.sysname, host.release);
	clock_gettime(CLOCK_REALTIME, &now);
	x->began = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
	if (describe_type(r, x, e) || fact_command(r, x, e) || fact_clock(r, x, source, e) ||
		experiment_fact(x, "host", host.nodename, e) ||
		experiment_fact(x, "machine", host.machine, e) ||
		experiment_fact(x, "kernel", kernel, e) ||
		experiment_fact(x, "version", PERFEX_VERSION, e) ||
		(cpu[0] && experiment_fact(x, "cpu", cpu, e)))
		return -1;
	for (size_t i = 0; i < r->metrics->list.count; i++)
		if (collect_describe_metric(&r->metrics->list.data[i], x, source, e))
			return -1;
	return 0;
}
