/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The exported metrics, their names and descriptions. */
#include <inttypes.h>
#include <string.h>

#include "base/nearest.h"
#include "export/private.h"
#include "report/report_columns.h"

static bool metrics_taken(const struct export_profile *x, const char *name)
{
	for (size_t i = 0; i + 1 < x->metrics.count; i++)
		if (strcmp(x->metrics.data[i].name, name) == 0)
			return true;
	return false;
}

/* As the columns of reports: "time"; "usertime.time" if that is taken, else "time.2". */
static const char *metrics_fresh_name(struct export_profile *x, size_t index)
{
	const struct prof_metric *m = &x->data->metrics.data[index];
	const struct prof_request *r = x->data->request;
	const char *own = m->metric->short_name[0] ? m->metric->short_name : "count", *name;
	const char *type = r->compare ? "" : r->inputs[m->input].experiment->type;
	int last = 1;

	own = report_text(&x->notes, "%s%s", own, report_column_side(x->data, index));
	name = own;
	if (name && metrics_taken(x, name) && type && type[0] && !strchr(type, ','))
		name = report_text(&x->notes, "%s.%s", type, own);
	if (!name || !metrics_taken(x, name))
		return name;
	for (size_t i = 0; i + 1 < x->metrics.count; i++) {
		int n = report_column_number(x->metrics.data[i].name, own, "");

		last = n > last ? n : last;
	}
	return report_text(&x->notes, "%s.%d", own, last + 1);
}

static int metrics_add_metric(struct export_profile *x, size_t index)
{
	const struct prof_metric *m = &x->data->metrics.data[index];
	const struct experiment_metric *of = m->metric;
	struct export_metric *own = vec_push(&x->metrics);

	if (!own)
		return -1;
	*own = (struct export_metric){.index = index,
		.unit = of->flags & METRIC_CLOCK ? "ns" : of->unit,
		.unit_size = of->period ? of->period : 1,
		.exact = of->flags & METRIC_EXACT,
		.clock = of->flags & METRIC_CLOCK};
	own->name = metrics_fresh_name(x, index);
	return own->name ? 0 : -1;
}

static bool named(const char *const *names, const char *name)
{
	for (; *names; names++)
		if (strcmp(*names, name) == 0)
			return true;
	return false;
}

static int no_metric(const struct export_profile *x, const char *name, struct error *e)
{
	struct nearest near;
	char all[200] = "";

	nearest_init(&near, name);
	for (size_t i = 0; i < x->metrics.count; i++) {
		size_t length = strlen(all);

		nearest_offer(&near, x->metrics.data[i].name);
		snprintf(all + length, sizeof(all) - length, "%s%s", i ? ", " : "",
			x->metrics.data[i].name);
	}
	error_set(e, ERR_NOT_FOUND, "the experiment has no metric '%s'", name);
	return nearest_hint(&near, e, "it has %s", all);
}

/* Keeps those that the request names, or the first one. */
static int select_metrics(struct export_profile *x, struct error *e)
{
	const char *const *names = x->request->metrics;
	size_t kept = 0;

	for (; names && *names; names++) {
		bool found = false;

		for (size_t i = 0; i < x->metrics.count; i++)
			found = found || strcmp(x->metrics.data[i].name, *names) == 0;
		if (!found)
			return no_metric(x, *names, e);
	}
	names = x->request->metrics;
	for (size_t i = 0; i < x->metrics.count; i++)
		if (!names || !*names || named(names, x->metrics.data[i].name))
			x->metrics.data[kept++] = x->metrics.data[i];
	if (x->format->one && kept > 1) {
		if (names && *names) {
			error_set(e, ERR_CONFLICT, "-export %s writes one metric", x->format->name);
			return error_hint(e, "give -metric once, or use another format");
		}
		report_note(&x->notes,
			"-export %s writes one metric, %s: choose another with -metric",
			x->format->name, x->metrics.data[0].name);
		kept = 1;
	}
	x->metrics.count = kept;
	return 0;
}

int export_choose(struct export_profile *x, struct error *e)
{
	for (size_t i = 0; i < x->data->metrics.count; i++)
		if (metrics_add_metric(x, i))
			return error_nomem(e);
	return select_metrics(x, e);
}

int export_describe(struct export_profile *x, struct error *e)
{
	for (size_t i = 0; i < x->metrics.count; i++) {
		struct export_metric *own = &x->metrics.data[i];
		const struct experiment_metric *of = x->data->metrics.data[own->index].metric;
		const char *label = label_name(of->label), *note = of->note ? of->note : "";
		const struct prof_request *r = x->data->request;
		const char *of_file =
			r->count > 1 ? r->inputs[x->data->metrics.data[own->index].input].file
				     : NULL;

		for (size_t n = 1; n < x->data->nodes.count; n++)
			own->samples += export_samples(x, n, i);
		if (own->exact)
			own->text = report_text(&x->notes,
				"%s (%s): %" PRIu64 " %s, exact (%s, %s%s%s)", of->name, own->name,
				own->samples, own->unit, label, of->source, note[0] ? ", " : "",
				note);
		else
			own->text = report_text(&x->notes,
				"%s (%s): %" PRIu64 " samples of %" PRIu64 " %s each (%s, %s%s%s)",
				of->name, own->name, own->samples, own->unit_size, own->unit, label,
				of->source, note[0] ? ", " : "", note);
		if (own->text && of_file)
			own->text = report_text(&x->notes, "%s, of %s", own->text, of_file);
		if (!own->text)
			return error_nomem(e);
	}
	return 0;
}
