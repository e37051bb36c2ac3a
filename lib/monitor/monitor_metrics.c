/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The status as metrics. */
#include <stdio.h>

#include "base/openmetrics.h"
#include "monitor/monitor_status.h"

static void put_metric(
	struct strbuf *out, const struct monitor_field *m, const struct monitor_status *status)
{
	const char *at = (const char *)status + m->offset;
	bool counter = m->kind == FIELD_COUNTER;
	char name[80];

	snprintf(name, sizeof(name), "perfex_monitor_%s%s%s", m->name, m->unit ? "_" : "",
		m->unit ? m->unit : "");
	openmetrics_family(out, name, counter ? "counter" : "gauge", m->unit, m->help);
	openmetrics_sample(out, name, counter ? "_total" : "", NULL,
		m->kind == FIELD_NUMBER ? *(const double *)(const void *)at
					: (double)*(const uint64_t *)(const void *)at);
}

void monitor_status_metrics(const struct monitor_status *status, bool running, struct strbuf *out)
{
	openmetrics_family(out, "perfex_monitor_running", "gauge", NULL,
		"1: it runs, by this clock; 0: what follows was its last state.");
	openmetrics_sample(out, "perfex_monitor_running", "",
		(const char *[]){"clock", status->clock, "scope", status->scope, NULL}, running);
	for (const struct monitor_field *m = monitor_fields; m->name; m++)
		if (m->kind != FIELD_TEXT)
			put_metric(out, m, status);
	openmetrics_family(out, "perfex_monitor_mapped_ratio", "gauge", "ratio",
		"part of user samples in known files");
	openmetrics_sample(
		out, "perfex_monitor_mapped_ratio", "", NULL, monitor_status_mapped(status));
	openmetrics_end(out);
}
