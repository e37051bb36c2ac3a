/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Profiles of one event at two periods (ssrun -both) should be equal; if they are not, one period
 * is in step with the program. experiment/compare.h tests it, by the entities of the report's rows.
 */
#include "base/plural.h"
#include "experiment/compare.h"
#include "experiment/order.h"
#include "report/report_columns.h"

enum { SHOWN = 5 };
#define DIFFERS 0.001 /* probability of chance alone, below which a difference counts */

struct grouping {
	const struct prof_data *d;
	const struct prof_sums *s;
	size_t input;
};

static uint64_t group_of(const struct experiment *x, size_t sample, uint64_t *key, void *data)
{
	const struct grouping *g = data;
	const struct experiment_sample *s = experiment_sample_at(x, sample);
	uint64_t count = profile_selected(g->d, g->input, sample);
	const struct experiment_node *node;
	struct profile_place place = {0}, *found;
	long group;

	if (!count)
		return 0;
	node = experiment_node_at(x, s->key.node);
	group = profile_group_find(g->d, g->input, s->key.thread);
	if (group < 0 || node->key.image >= x->images.count)
		return 0;
	place.key.address = node->key.address;
	place.key.image = g->d->image_of.data[g->input][node->key.image];
	place.key.group = (uint32_t)group;
	found = table_find(&g->d->places, &place.key);
	if (!found)
		return 0;
	*key = g->s->of[table_number(&g->d->places, found)];
	return profile_entity_at(g->s, (size_t)*key)->selected ? count : 0;
}

static const char *place_text(
	struct report_table *t, const struct report_row *row, enum prof_grain grain)
{
	if (grain >= PROF_BY_LINE && row->file)
		return report_text(t, "%s, %u", row->file, row->line);
	return row->procedure ? row->procedure : row->image;
}

static void say_groups(struct report_table *t, const struct prof_data *d, const struct prof_sums *s,
	const struct comparison *c, const uint64_t *periods, enum prof_grain grain)
{
	for (size_t i = 0, shown = 0; i < c->groups.count && shown < SHOWN; i++) {
		const struct compare_group *g = &c->groups.data[i];
		struct report_row row;

		if (!g->differs)
			continue;
		row = report_entity_row(t, d, profile_entity_at(s, (size_t)g->key), grain);
		shown++;
		report_note(t, "  %5.1f%% at %llu, %5.1f%% at %llu: %s",
			100 * (double)g->counts[0] / (double)c->samples[0],
			(unsigned long long)periods[0],
			100 * (double)g->counts[1] / (double)c->samples[1],
			(unsigned long long)periods[1], place_text(t, &row, grain));
	}
}

static void say_result(struct report_table *t, const struct prof_data *d, const struct prof_sums *s,
	const struct comparison *c, size_t head, size_t metric, enum prof_grain grain)
{
	const char *name = d->metrics.data[metric].metric->short_name;
	const char *by = profile_grains[grain].name;
	const uint64_t periods[] = {
		d->metrics.data[head].metric->period, d->metrics.data[metric].metric->period};
	bool differs = c->p < DIFFERS;
	const struct report_agreement a = {
		head, metric, by, c->cells, c->statistic, c->p, c->difference, differs};

	t->failed |= vec_add(&t->agreements, a) != 0;
	if (c->cells < 2) {
		report_note(t,
			"%s: too few samples at both periods, or too few different places, to "
			"compare their profiles by %s",
			name, by);
		return;
	}
	report_note(t,
		"%s at periods %llu and %llu: the profiles by %s %s (chi-square %.1f, %u "
		"degree%s of freedom, p %s)",
		name, (unsigned long long)periods[0], (unsigned long long)periods[1], by,
		differs ? "differ by more than chance" : "agree", c->statistic, c->cells - 1,
		plural(c->cells - 1), c->p < 1e-15 ? "< 1e-15" : report_text(t, "= %.2g", c->p));
	if (!differs)
		return;
	report_note(t, "  one of the periods is in step with the program, or the program did not "
		       "do the same all the time; these differ most:");
	say_groups(t, d, s, c, periods, grain);
}

int report_both(struct report_table *t, const struct prof_data *d, const struct prof_sums *s,
	enum prof_grain grain, struct error *e)
{
	for (size_t i = 1; i < d->metrics.count; i++) {
		const struct prof_metric *m = &d->metrics.data[i];
		const struct experiment *x = d->request->inputs[m->input].experiment;
		struct grouping g = {d, s, m->input};
		size_t head = order_metric_head(x, m->index);
		struct comparison c;

		if (head == m->index)
			continue;
		if (experiment_compare(&c, x, head, x, m->index, group_of, &g, e))
			return -1;
		say_result(t, d, s, &c, i - (m->index - head), i, grain);
		compare_fini(&c);
	}
	return 0;
}
