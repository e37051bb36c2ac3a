/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "report/prof_tree.h"

int prof_calls_init(
	struct prof_calls *c, struct prof_data *d, struct prof_table *t, struct error *e)
{
	memset(c, 0, sizeof(*c));
	if (prof_data_paths(d, e) || prof_data_name(d, false, e) ||
		prof_columns_init(&c->columns, t, d, PROF_COLUMNS_TREE, NULL, e))
		return -1;
	while (!(d->metrics.data[c->metric].metric->flags & METRIC_STACKS))
		c->metric++;
	c->entity = calloc(d->nodes.count + 1, sizeof(*c->entity));
	if (!c->entity || prof_sums_init(&c->sums, d, PROF_BY_PROCEDURE) ||
		prof_sums_inclusive(&c->sums, d)) {
		prof_calls_fini(c);
		return error_nomem(e);
	}
	c->entity[0] = UINT32_MAX;
	for (size_t i = 1; i < d->nodes.count; i++)
		c->entity[i] = c->sums.of[prof_node_at(d, i)->key.place];
	return 0;
}

void prof_calls_fini(struct prof_calls *c)
{
	prof_columns_fini(&c->columns);
	prof_sums_fini(&c->sums);
	free(c->entity);
	c->entity = NULL;
}

double prof_calls_percent(const struct prof_calls *c, uint64_t samples)
{
	uint64_t all = c->columns.data->metrics.data[c->metric].samples;

	return all ? 100 * (double)samples / (double)all : 0;
}

int prof_calls_order(const struct prof_calls *c, uint32_t a, uint32_t b)
{
	const struct prof_data *d = c->columns.data;
	const struct prof_entity *p = prof_entity_at(&c->sums, a), *q = prof_entity_at(&c->sums, b);
	int order;

	if (p->key.group != q->key.group)
		return p->key.group < q->key.group ? -1 : 1;
	order = strcmp(prof_string_at(d, p->key.procedure), prof_string_at(d, q->key.procedure));
	if (!order)
		order = strcmp(d->images.data[p->key.image].image->path,
			d->images.data[q->key.image].image->path);
	if (order)
		return order;
	if (p->key.begin != q->key.begin)
		return p->key.begin < q->key.begin ? -1 : 1;
	return p->key.image < q->key.image ? -1 : p->key.image > q->key.image;
}

long prof_calls_row(struct prof_calls *c, uint32_t entity, enum prof_role role, const uint64_t *own,
	const uint64_t *inclusive)
{
	struct prof_table *t = c->columns.table;
	struct prof_row row;
	long index;

	if (prof_entity_row(
		    t, c->columns.data, prof_entity_at(&c->sums, entity), PROF_BY_PROCEDURE, &row))
		return -1;
	row.role = role;
	index = prof_row_add(t, &row);
	if (index < 0)
		return -1;
	prof_columns_fill(&c->columns, (size_t)index, own ? own : inclusive, inclusive, 0);
	if (!own) {
		struct prof_cell *cells = prof_cells(t, (size_t)index);

		for (size_t i = 0; i < t->columns.count; i++) {
			bool keep = false;

			for (size_t k = 0; k < c->columns.inclusive.count; k++)
				keep = keep || c->columns.inclusive.data[k] == (long)i;
			if (!keep)
				cells[i] = (struct prof_cell){0};
		}
	}
	return index;
}
