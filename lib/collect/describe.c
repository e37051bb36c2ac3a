/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The head of an experiment: facts of the run, its metrics; and messages during the run. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "base/clock.h"
#include "base/proc.h"
#include "base/strbuf.h"
#include "collect/collect.h"

const char *const collect_source_names[] = {[COLLECT_AUTO] = "auto",
	[COLLECT_OS] = "os",
	[COLLECT_PMU] = "pmu",
	[COLLECT_MODEL] = "model"};

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

static int fact_command(const struct collect_request *r, struct experiment *x, struct error *e)
{
	struct strbuf text = {0};
	int rc;

	if (r->all)
		strbuf_printf(&text, "the whole system (-a)%s", r->argv ? ", beside " : "");
	for (size_t i = 0; r->argv && r->argv[i]; i++)
		strbuf_printf(&text, "%s%s", i ? " " : "", r->argv[i]);
	if (!r->argv && r->pid)
		strbuf_printf(&text, "process %d (-pid)", (int)r->pid);
	rc = experiment_fact(x, "command", strbuf_text(&text), e);
	strbuf_fini(&text);
	return rc;
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
		.source = (char *)(source ? source : collect_source_names[m->source]),
		.note = (char *)"",
		.label = labels[m->source],
		/* The model counts each miss of data. */
		.flags = m->flags |
			 (m->source == COLLECT_MODEL && m->flags & METRIC_DATA && m->period == 1
					 ? METRIC_EXACT
					 : 0),
		.period = m->period,
	};

	return experiment_metric(x, &metric, e) < 0 ? -1 : 0;
}

/* The clock that converts sampled time to cycles (prof's cpi); the model adds its own. */
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
	char cpu[128], kernel[160];

	if (uname(&host) != 0)
		return error_sys(e, errno, "uname");
	proc_cpu_name(cpu, sizeof(cpu));
	snprintf(kernel, sizeof(kernel), "%s %s", host.sysname, host.release);
	x->began = clock_of(CLOCK_REALTIME);
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
