/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/report_tree.h"

static int calls_init(
	struct report_calls *c, struct prof_data *d, struct report_table *t, struct error *e)
{
	if (profile_data_paths(d, e) || profile_data_name(d, false, e) ||
		report_columns_init(&c->columns, t, d, REPORT_COLUMNS_TREE, NULL, e))
		return -1;
	while (!(d->metrics.data[c->metric].metric->flags & METRIC_STACKS))
		c->metric++;
	c->entity = report_scratch(t, d->nodes.count, sizeof(*c->entity));
	if (!c->entity || profile_sums_init(&c->sums, d, PROF_BY_PROCEDURE) ||
		profile_sums_inclusive(&c->sums, d))
		return error_nomem(e);
	c->entity[0] = UINT32_MAX;
	for (size_t i = 1; i < d->nodes.count; i++)
		c->entity[i] = c->sums.of[profile_tree_node_at(d, i)->key.place];
	return 0;
}

int report_calls_report(struct prof_data *d, struct report_table *t, const char *title,
	void (*rows)(struct report_calls *c), struct error *e)
{
	struct report_calls c = {.metrics = d->metrics.count};
	int rc;

	if (d->request->quit.cumulative > 0)
		return error_set(e, ERR_CONFLICT,
			"-q with cum%% has no meaning for functions that contain each other");
	rc = calls_init(&c, d, t, e);
	if (rc == 0) {
		t->title = report_text(
			t, "%s %s", title, report_metric_name(d->metrics.data[c.metric].metric));
		rows(&c);
		report_columns_total(&c.columns);
		report_coverage(t, d);
		if (d->request->inlines)
			report_unskid_note(t, d, false);
	}
	profile_sums_fini(&c.sums);
	return report_finish(t, rc, e);
}

double report_calls_percent(const struct report_calls *c, uint64_t samples)
{
	return report_percent(
		(double)samples, (double)c->columns.data->metrics.data[c->metric].samples);
}

size_t report_calls_row(struct report_calls *c, uint32_t entity, enum report_role role,
	const uint64_t *own, const uint64_t *inclusive)
{
	struct report_row row = report_entity_row(c->columns.table, c->columns.data,
		profile_entity_at(&c->sums, entity), PROF_BY_PROCEDURE);
	size_t index;

	row.role = role;
	index = report_row_add(c->columns.table, &row);
	report_columns_fill(&c->columns, index, own, inclusive, 0);
	return index;
}
