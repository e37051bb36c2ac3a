/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sources/profile_paths.h"

#include <stdlib.h>
#include <string.h>

#include "experiment/tables.h"

struct numbered {
	struct profile_node node;
	uint32_t depth, before; /* its number until now */
};

#define ORDER(a, b) ((a) > (b)) - ((a) < (b))

static int compare_depths(const void *x, const void *y)
{
	const struct numbered *a = x, *b = y;

	return ORDER(a->depth, b->depth);
}

static int compare_siblings(const void *x, const void *y)
{
	const struct numbered *a = x, *b = y;
	int order = ORDER(a->node.key.parent, b->node.key.parent);

	if (!order)
		order = ORDER(a->node.key.image, b->node.key.image);
	if (!order)
		order = ORDER(a->node.key.address, b->node.key.address);
	return order ? order : ORDER(a->node.key.length, b->node.key.length);
}

static void profile_paths_measure(const struct table *nodes, struct numbered *all)
{
	for (size_t i = 0; i < nodes->count; i++) {
		const struct profile_node *n = table_at(nodes, i);

		all[i] = (struct numbered){.node = *n,
			.depth = i ? all[n->key.parent].depth + 1 : 0,
			.before = (uint32_t)i};
	}
}

/* Level by level: those of one are in order when their callers' numbers are known. */
static void profile_paths_number(struct numbered *all, size_t count, uint32_t *now)
{
	size_t from = 0, to;

	qsort(all, count, sizeof(*all), compare_depths);
	for (; from < count; from = to) {
		for (to = from; to < count && all[to].depth == all[from].depth; to++)
			all[to].node.key.parent = now[all[to].node.key.parent];
		qsort(all + from, to - from, sizeof(*all), compare_siblings);
		for (size_t i = from; i < to; i++)
			now[all[i].before] = (uint32_t)i;
	}
}

int profile_sort_nodes(struct profile *p, struct error *e)
{
	size_t count = p->nodes.count;
	struct numbered *all = malloc(count * sizeof(*all));
	uint32_t *now = calloc(count, sizeof(*now));
	int rc = 0;

	if (!all || !now) {
		rc = error_nomem(e);
	} else {
		profile_paths_measure(&p->nodes, all);
		profile_paths_number(all, count, now);
		for (size_t i = 0; i < count; i++)
			*(struct profile_node *)table_at(&p->nodes, i) = all[i].node;
		for (size_t i = 0; i < p->samples.count; i++) {
			struct profile_sample *s = table_at(&p->samples, i);

			if (s->key.node != PROFILE_PATH_LOST)
				s->key.node = now[s->key.node];
		}
		row_renumber(&p->objects, &experiment_objects_kind,
			&(struct row_numbers){.to = {[EXPERIMENT_NODES] = now}});
	}
	free(all);
	free(now);
	return rc;
}
