/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/report_entity.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/sort.h"

uint64_t *report_group_sums(
	struct report_table *t, const struct prof_data *d, const struct prof_sums *s, size_t metric)
{
	uint64_t *groups = report_scratch(t, d->groups.count, sizeof(*groups));

	for (size_t i = 0; groups && i < s->entities.count; i++)
		groups[profile_entity_at(s, i)->key.group] += s->own[i * s->metrics + metric];
	return groups;
}

static int entity_by_rank(const void *a, const void *b)
{
	const struct report_rank *x = a, *y = b;

	return sort_falling(x->group, y->group)
		       ?: sort_rising(x->of->key.group, y->of->key.group)
		       ?: sort_falling(x->value, y->value)
		       ?: sort_falling(x->others, y->others)
		       ?: profile_entity_order(x->d, x->of, y->of);
}

struct report_rank *report_ranks(struct report_table *t, const struct prof_data *d,
	const struct prof_sums *s, size_t metric, bool any, size_t *count)
{
	struct report_rank *ranks = report_scratch(t, s->entities.count, sizeof(*ranks));
	const uint64_t *groups = report_group_sums(t, d, s, metric);

	*count = 0;
	for (size_t i = 0; ranks && groups && i < s->entities.count; i++) {
		const struct prof_entity *n = profile_entity_at(s, i);
		const uint64_t *values = (s->inclusive ? s->inclusive : s->own) + i * s->metrics;
		struct report_rank r = {.group = groups[n->key.group],
			.value = values[metric],
			.entity = (uint32_t)i,
			.d = d,
			.of = n};

		for (size_t k = 0; any && k < s->metrics; k++)
			r.others += values[k];
		if (n->selected && (r.value || r.others))
			ranks[(*count)++] = r;
	}
	if (ranks)
		qsort(ranks, *count, sizeof(*ranks), entity_by_rank);
	return groups ? ranks : NULL;
}

const char *report_group_text(struct report_table *t, const struct prof_data *d, uint32_t index)
{
	const struct prof_group *g =
		(const struct prof_group *)(const void *)d->groups.entries + index;
	const char *name = g->command ? g->command : "";
	char rank[24] = "";

	if (d->request->by == PROF_GROUP_CPU)
		return g->key.tid ? report_text(t, "CPU %d", (int)g->key.tid - 1)
				  : "on a CPU that was not recorded";
	if (g->key.rank >= 0)
		snprintf(rank, sizeof(rank), "rank %d ", g->key.rank);
	if (g->key.pid < 0)
		return report_text(t, "command %s", name);
	if (!g->key.pid && !g->key.tid)
		return report_text(t, "%s%s", rank, rank[0] ? name : "all together");
	if (g->key.tid == g->key.pid && d->request->by == PROF_GROUP_THREAD)
		return report_text(t, "%smain thread %d %s", rank, (int)g->key.tid, name);
	if (g->key.tid == g->key.pid || !g->key.tid)
		return report_text(t, "%sprocess %d %s", rank, (int)g->key.pid, name);
	return report_text(t, "%sthread %d of %d %s", rank, (int)g->key.tid, (int)g->key.pid, name);
}

struct report_row report_entity_row(struct report_table *t, const struct prof_data *d,
	const struct prof_entity *n, enum prof_grain grain)
{
	const struct profile_place *p = profile_place_at(d, n->place);
	struct report_row row = {.parent = -1, .image = d->images.data[n->key.image].name};
	struct image_line line = {0};

	if (d->request->threads)
		row.thread = report_group_text(t, d, n->key.group);
	if (grain == PROF_BY_IMAGE)
		return row;
	if (grain == PROF_BY_SOURCE && n->key.file) {
		row.image = NULL;
		row.file = profile_string_at(d, n->key.file);
		row.line = n->key.line;
		return row;
	}
	row.procedure = profile_string_at(d, n->key.procedure);
	row.address = d->name[n->place].begin ? d->name[n->place].begin : p->key.address;
	row.addressed = !d->request->compare;
	if (n->key.inlined)
		row.note = "inlined";
	if (grain >= PROF_BY_LINE) {
		row.address = p->key.address;
		row.file = n->key.file ? profile_string_at(d, n->key.file) : NULL;
		row.line = n->key.line;
		return row;
	}
	if (n->key.inlined)
		d->names.ops->line(d->names.context, p->key.image, row.address, &line);
	else
		profile_function_line(d, p->key.image, row.address, &line);
	row.file = line.file;
	row.line = line.line;
	return row;
}
